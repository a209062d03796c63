package sqlauthz_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// BenchmarkFacts asks for the facts of scopes of several sizes, while nothing changes and after each edit of one
// actor, the edit not counted.
func BenchmarkFacts(b *testing.B) {
	for _, e := range engines {
		if e.setting != "" {
			continue
		}
		for _, actors := range []int{10, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/unchanged/%d", e.name, actors), func(b *testing.B) {
				d := e.staffedBy(b, actors)
				want := facts(b, d, "shop")
				b.ReportAllocs()
				for b.Loop() {
					f, err := d.Facts(b.Context(), "shop", nil)
					if err != nil || f != want {
						b.Fatal("other facts: ", err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/changed/%d", e.name, actors), func(b *testing.B) {
				d := e.staffedBy(b, actors)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					require.NoError(b, d.Edit(b.Context(), "shop", func(f *authz.Facts) error { f.Actors[0].Active = !f.Actors[0].Active; return nil }))
					b.StartTimer()
					facts(b, d, "shop")
				}
			})
		}
	}
}

// staffedBy returns a directory with a scope of so many actors, each with a role, an override and a grant.
func (e engine) staffedBy(b *testing.B, actors int) *directory {
	d := e.open(b)
	f := authz.Facts{}
	for i := range actors {
		f.Actors = append(f.Actors, authz.Actor{
			ID: authz.ID(fmt.Sprint("model-", i)), Name: fmt.Sprint("Model ", i), Kind: authz.Model, Active: true, Roles: []string{authz.Editor},
			Overrides: []authz.Override{{At: authz.MustPath(fmt.Sprint("/orders/", i)), Effect: authz.Deny, Of: []authz.Permission{"orders:edit"}}},
			Grants:    []authz.Grant{{Tool: "add_note", Effect: authz.Allow}},
		})
	}
	set(b, d, "shop", f)
	return d
}
