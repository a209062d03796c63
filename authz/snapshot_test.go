package authz_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// Two states between which a directory is switched. In either one the assistant's refund for olga is refused:
// in the first she may not ask for it, in the second the assistant may not. Whoever mixes the two, such as
// the model of one with the principal of the other, allows it.
func states() (first, second authz.Facts) {
	facts := func(assistant, principal string) authz.Facts {
		return authz.Facts{
			Settings: authz.Settings{Ceiling: authz.Execute},
			Actors: []authz.Actor{
				{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{assistant}},
				{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{principal}},
			},
		}
	}
	// The third role keeps the model's ceiling out of this.
	first, second = facts(authz.Editor, authz.Viewer), facts(authz.Viewer, authz.Editor)
	second.Actors[0].Roles = append(second.Actors[0].Roles, "reader")
	second.Roles = []authz.Role{{Name: "reader", Permissions: []authz.Permission{"orders:read"}}}
	return first, second
}

// TestMixedSnapshotsWouldShow proves that the two states tell a mixed decision from an honest one.
func TestMixedSnapshotsWouldShow(t *testing.T) {
	first, second := states()
	s, at := modelSession(t), []authz.Path{authz.Root()}
	allowed := func(f authz.Facts) bool {
		return viewOf(t, newPolicy(t, fixed(&f))).Check(s, refund, at, authz.ToAsk).Allowed
	}
	require.False(t, allowed(first))
	require.False(t, allowed(second))
	mixed := second
	mixed.Actors = []authz.Actor{first.Actors[0], second.Actors[1]}
	require.True(t, allowed(mixed))
}

// TestNoDecisionMixesSnapshots checks while the directory is switched between the two states. Whatever a view
// answers, it is one of the states' answers and the same throughout.
func TestNoDecisionMixesSnapshots(t *testing.T) {
	first, second := states()
	m := new(authz.Memory)
	require.NoError(t, m.Set("shop", first))
	p, s, at := newPolicy(t, m), modelSession(t), []authz.Path{authz.Root()}

	const checkers, enough, most = 4, 200, 1_000_000
	var done atomic.Bool
	var edits, work sync.WaitGroup
	edits.Go(func() {
		for i := 0; !done.Load(); i++ {
			if err := m.Set("shop", []authz.Facts{second, first}[i%2]); err != nil {
				t.Error(err)
			}
			runtime.Gosched()
		}
	})
	var inFirst, inSecond atomic.Int64
	for range checkers {
		work.Go(func() {
			var buf []int
			for n := 0; n < most && min(inFirst.Load(), inSecond.Load()) < enough; n++ {
				v, err := p.View(context.Background(), "shop", s.Actors()...)
				if err != nil {
					t.Error(err)
					return
				}
				d := v.Check(s, refund, at, authz.ToAsk)
				buf = v.AppendTools(buf[:0], s)
				listed, asks := len(buf) == 2, v.May(s, "refunds:request", at[0])
				principal := v.Person(olga, refund, at, authz.ToAsk).Allowed
				again := v.Check(s, refund, at, authz.ToAsk)
				switch {
				case d.Allowed || asks || v.Could(s, refund):
					t.Errorf("a decision mixed two snapshots: %+v", d)
				case d != again || listed == principal || (d.Who == "olga") != listed:
					t.Errorf("view %d is not of one mind: %+v, %+v, listed %v, principal %v", v.Number(), d, again, listed, principal)
				case !v.MayRead(s, at[0]):
					t.Error("both may read in either state")
				}
				if principal {
					inSecond.Add(1)
				} else {
					inFirst.Add(1)
				}
			}
		})
	}
	work.Wait()
	done.Store(true)
	edits.Wait()
	require.GreaterOrEqual(t, min(inFirst.Load(), inSecond.Load()), int64(enough), "both states were seen")
}

// TestSharedView asks one fresh view from many sides at once: what is compiled on first use is compiled once.
func TestSharedView(t *testing.T) {
	first, _ := states()
	s, at := modelSession(t), []authz.Path{authz.Root()}
	for range 20 {
		v := viewOf(t, newPolicy(t, fixed(&first)))
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				if got := v.AppendTools(nil, s); len(got) != 2 {
					t.Errorf("listed %v", got)
				}
				if d := v.Check(s, refund, at, authz.ToAsk); d.Who != "olga" || d.Allowed {
					t.Errorf("%+v", d)
				}
			})
		}
		work.Wait()
	}
}

// TestConcurrentEdits: no edit is lost.
func TestConcurrentEdits(t *testing.T) {
	m := new(authz.Memory)
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for j := range 10 {
				err := m.Edit(context.Background(), "shop", func(f *authz.Facts) error {
					f.Actors = append(f.Actors, authz.Actor{ID: authz.ID([]byte{'a' + byte(i), '0' + byte(j)}), Kind: authz.Human})
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	require.Len(t, factsOf(t, m).Actors, 80)
}
