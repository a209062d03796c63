package mcpgateway_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
)

func sqlite(t *testing.T, file string) *mcpgateway.SQLite {
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s, err := mcpgateway.NewSQLite(t.Context(), db)
	require.NoError(t, err)
	return s
}

// TestStore holds what a Store promises.
func TestStore(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]mcpgateway.Store{
		"memory": new(mcpgateway.Memory), "sqlite": sqlite(t, filepath.Join(t.TempDir(), "pins.db")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			none, err := store.Load(ctx, "a")
			require.NoError(t, err)
			require.Equal(t, mcpgateway.Pins{}, none)

			one := mcpgateway.Pins{Revision: 1, Servers: []mcpgateway.Server{{Name: "s", Address: "x", Tools: []json.RawMessage{[]byte(`{"n":18446744073709551615}`)}}}}
			for _, revision := range []int64{0, 2, -1} {
				wrong := one
				wrong.Revision = revision
				require.ErrorIs(t, store.Save(ctx, "a", wrong), mcpgateway.ErrConflict)
			}
			require.NoError(t, store.Save(ctx, "a", one))
			require.ErrorIs(t, store.Save(ctx, "a", one), mcpgateway.ErrConflict)
			got, err := store.Load(ctx, "a")
			require.NoError(t, err)
			require.Equal(t, one, got)

			got.Servers[0].Tools[0][1] = 'x' // it is the caller's own
			got, err = store.Load(ctx, "a")
			require.NoError(t, err)
			require.Equal(t, one, got)
			other, err := store.Load(ctx, "b")
			require.NoError(t, err)
			require.Equal(t, mcpgateway.Pins{}, other)

			var wins, losses int
			var mu sync.Mutex
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					err := store.Save(ctx, "a", mcpgateway.Pins{Revision: 2})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						wins++
					} else {
						losses++
					}
				})
			}
			all.Wait()
			require.Equal(t, [2]int{1, 7}, [2]int{wins, losses})
		})
	}
}

// TestRestart: what was accepted is there after a restart without a connection, and what has changed meanwhile is
// noticed at the first call.
func TestRestart(t *testing.T) {
	t.Parallel()
	store := sqlite(t, filepath.Join(t.TempDir(), "pins.db"))
	kept := func(c *mcpgateway.Config) { c.Store = store }
	before := newWorld(t, kept)
	require.NoError(t, before.trust("up", "plain"))
	before.Close()

	after := newWorld(t, kept)
	require.Equal(t, []string{"up_note", "up_read"}, after.names())
	require.Empty(t, after.peers)
	after.switchMode("rug pulled")
	_, err := after.does("up_note", `{}`)
	require.Equal(t, mcpgateway.Changed, reasonOf(err))
	require.Equal(t, chattools.Done, after.call(after.bot, "up_read", `{}`).Status)
}

// TestElsewhere: of two processes that change the servers of one scope, one is told to look again, and then has
// what the other did.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	store := new(mcpgateway.Memory)
	kept := func(c *mcpgateway.Config) { c.Store = store }
	a, b := newWorld(t, kept), newWorld(t, kept)
	require.NoError(t, a.trust("one", "plain"))
	_, err := b.does("mcp_add_server", mcpgateway.Added{Name: "two", Address: "plain"})
	require.ErrorContains(t, err, "look again")
	require.Equal(t, []string{"one_note", "one_read"}, b.names())
	require.NoError(t, b.trust("two", "plain"))
	require.Len(t, b.names(), 4)
}
