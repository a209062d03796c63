package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/registry"
)

// places are where the tests open shops. Servers are skipped unless their variable holds a DSN.
var places = []struct{ name, dsn, env string }{
	{name: "memory", dsn: "memory"},
	{name: "sqlite"},
	{name: "postgresql", env: "SALLYPORT_TEST_POSTGRES"},
	{name: "mariadb", env: "SALLYPORT_TEST_MYSQL"},
}

func everywhere(t *testing.T, test func(t *testing.T, w *store.World)) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			if p.env != "" {
				if p.dsn = os.Getenv(p.env); p.dsn == "" {
					t.Skipf("%s holds no DSN", p.env)
				}
			}
			place, err := store.Passing(t.Context(), p.dsn)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, place.Close()) })
			w, err := store.New(t.Context(), place)
			require.NoError(t, err)
			test(t, w)
		})
	}
}

// TestReplayOnEveryStore plays every twelfth recorded task, with and without approvals; all of them are played by the
// program itself. Nothing may differ from the recording anywhere.
func TestReplayOnEveryStore(t *testing.T) {
	want := map[bool]map[string]int{}
	everywhere(t, func(t *testing.T, w *store.World) {
		for _, approve := range []bool{true, false} {
			r := newReplay(w, approve)
			for i, task := range tasks(t) {
				if i%12 == 0 {
					require.NoError(t, r.task(t.Context(), task), task.ID)
					r.Pass(registry.DefaultRunLimit)
				}
			}
			require.NoError(t, r.check(t.Context()))
			require.Empty(t, r.unexpected)
			require.Positive(t, r.counts["proposed"])
			if want[approve] == nil {
				want[approve] = r.counts
			}
			require.Equal(t, want[approve], r.counts, "as in memory")
		}
	})
}
