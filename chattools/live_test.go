package chattools_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// flips are pairs of facts. Neither allows mira to use move or peek for ben on c1; each part of either does,
// beside the right part of the other. So a decision that mixes two snapshots shows. Together they change
// settings, grants, roles and overrides.
var flips = []struct {
	name string
	a, b func(f *authz.Facts, mira, ben *authz.Actor)
}{
	{"ceiling and disabled tools",
		func(f *authz.Facts, _, _ *authz.Actor) { f.Settings.Disabled = []string{"move", "peek"} },
		func(f *authz.Facts, mira, _ *authz.Actor) { f.Settings.Ceiling, mira.Roles = authz.Read, nil }},
	{"role of the model and its override",
		func(_ *authz.Facts, mira, _ *authz.Actor) {
			mira.Overrides = []authz.Override{{At: authz.Root(), Of: []authz.Permission{authz.Every}}}
		},
		func(_ *authz.Facts, mira, _ *authz.Actor) { mira.Roles = nil }},
	{"model and principal",
		func(_ *authz.Facts, mira, _ *authz.Actor) { mira.Roles = nil },
		func(_ *authz.Facts, _, ben *authz.Actor) { ben.Roles = nil }},
	{"activity of model and principal",
		func(_ *authz.Facts, mira, _ *authz.Actor) { mira.Active = false },
		func(_ *authz.Facts, _, ben *authz.Actor) { ben.Active = false }},
	{"role of the principal and deny grants of the model",
		func(_ *authz.Facts, mira, _ *authz.Actor) {
			mira.Grants = append(mira.Grants, authz.Grant{Tool: "move"}, authz.Grant{Tool: "peek"})
		},
		func(_ *authz.Facts, _, ben *authz.Actor) { ben.Roles = nil }},
	{"subtrees of model and principal",
		func(_ *authz.Facts, mira, ben *authz.Actor) { only(mira, "/yard/c1"); only(ben, "/yard/c2") },
		func(_ *authz.Facts, mira, ben *authz.Actor) { only(mira, "/yard/c2"); only(ben, "/yard/c1") }},
}

// only leaves an actor everything below a path and nothing else.
func only(a *authz.Actor, path string) {
	a.Roles = nil
	a.Overrides = []authz.Override{{At: authz.MustPath(path), Effect: authz.Allow, Of: []authz.Permission{authz.Every}}}
}

// flipped returns the facts with one side of a flip.
func flipped(good *authz.Facts, change func(f *authz.Facts, mira, ben *authz.Actor)) authz.Facts {
	f := authz.Facts{Settings: good.Settings, Actors: slices.Clone(good.Actors)}
	mira, ben := people(&f)
	mira.Grants = slices.Clone(mira.Grants)
	change(&f, mira, ben)
	return f
}

func people(f *authz.Facts) (mira, ben *authz.Actor) {
	at := func(id authz.ID) *authz.Actor {
		return &f.Actors[slices.IndexFunc(f.Actors, func(a authz.Actor) bool { return a.ID == id })]
	}
	return at("mira"), at("ben")
}

// mixture takes each part from one of two snapshots, as the bits of which say.
func mixture(a, b authz.Facts, which int) authz.Facts {
	f := authz.Facts{Settings: a.Settings, Actors: slices.Clone(a.Actors)}
	mira, ben := people(&f)
	otherMira, otherBen := people(&b)
	for i, take := range []func(){
		func() { f.Settings.Ceiling = b.Settings.Ceiling },
		func() { f.Settings.Disabled = b.Settings.Disabled },
		func() { mira.Roles = otherMira.Roles },
		func() { mira.Overrides = otherMira.Overrides },
		func() { mira.Grants = otherMira.Grants },
		func() { mira.Active = otherMira.Active },
		func() { ben.Roles, ben.Overrides = otherBen.Roles, otherBen.Overrides },
		func() { ben.Active = otherBen.Active },
	} {
		if which&(1<<i) != 0 {
			take()
		}
	}
	return f
}

func TestNoDecisionMixesTwoSnapshots(t *testing.T) {
	for _, flip := range flips {
		t.Run(flip.name, func(t *testing.T) {
			y := openYard(t)
			y.inside = func(context.Context) { y.runs.Add(1) }
			y.give(t, "move", "g1", nil)
			set := func(facts authz.Facts) { require.NoError(t, y.people.Set("port", facts)) }
			session := y.mira(t, "ben")
			admitted := func() bool {
				_, err := y.reg.Admit(t.Context(), registry.Call{Session: session, Action: "move", Params: []byte(`{"id":"c1"}`)}, authz.LoggedIn("olga"))
				return err == nil
			}
			good, err := y.people.Facts(t.Context(), "port", nil)
			require.NoError(t, err)
			a, b := flipped(good, flip.a), flipped(good, flip.b)
			mixtures := 0
			for which := range 1 << 8 {
				if set(mixture(a, b, which)); admitted() {
					mixtures++
				}
			}
			require.NotZero(t, mixtures, "a decision that mixes the two would show")

			set(a)
			var stop atomic.Bool
			var others sync.WaitGroup
			for range 2 {
				others.Go(func() {
					for !stop.Load() {
						set(b)
						set(a)
					}
				})
			}
			var bad atomic.Pointer[string]
			tell := func(format string, args ...any) {
				s := fmt.Sprintf(format, args...)
				bad.Store(&s)
			}
			together(64, func(int) {
				for range 12 {
					for _, tool := range []string{"move", "peek"} {
						switch a := y.call(t.Context(), session, tool, "c1", ""); a.Status {
						case chattools.Unknown, chattools.Forbidden:
						default:
							tell("%s was answered %+v", tool, a)
						}
					}
					if admitted() {
						tell("move was admitted")
					}
				}
			})
			stop.Store(true)
			others.Wait()
			if s := bad.Load(); s != nil {
				require.Fail(t, *s)
			}
			require.EqualValues(t, 0, y.runs.Load())
			require.Empty(t, y.rows(t))
		})
	}
}

// A catalog is of one snapshot: never both the tools of one and those of another.
func TestNoCatalogMixesTwoSnapshots(t *testing.T) {
	y := openYard(t)
	session := y.mira(t, "ben")
	set := func(disabled ...string) { y.off(t, func(s *authz.Settings) { s.Disabled = disabled }) }
	set("move", "sell")
	var stop atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !stop.Load() {
			set("lift", "seal")
			set("move", "sell")
		}
	})
	var mixed atomic.Int64
	together(64, func(int) {
		for range 50 {
			tools, err := y.gate.Catalog(t.Context(), session)
			has := map[string]bool{}
			for _, tool := range tools {
				has[tool.Name] = true
			}
			if err != nil || len(has) != 4 || has["move"] != has["sell"] || has["lift"] != has["seal"] || has["move"] == has["lift"] {
				mixed.Add(1)
			}
		}
	})
	stop.Store(true)
	other.Wait()
	require.EqualValues(t, 0, mixed.Load())
}

// However many call and list meanwhile, a right that was taken away is gone at the next call, and back at the
// next one after it was given back.
func TestARevokedRightIsGoneAtTheNextCall(t *testing.T) {
	y := openYard(t)
	y.inside = func(context.Context) {}
	y.give(t, "move", "g1", nil)
	session := y.mira(t, "ben")
	var stop atomic.Bool
	var crowd sync.WaitGroup
	for i := range 63 {
		crowd.Go(func() {
			for n := 0; !stop.Load(); n++ {
				y.call(t.Context(), session, "move", fmt.Sprintf("x%d-%d", i, n%2), "")
				_, _ = y.gate.Catalog(t.Context(), session)
			}
		})
	}
	set := func(settings authz.Settings, mira, ben func(*authz.Actor)) {
		y.edit(t, "mira", func(f *authz.Facts, a *authz.Actor) {
			f.Settings = settings
			for i := range f.Actors {
				switch f.Actors[i].ID {
				case "mira":
					mira(&f.Actors[i])
				case "ben":
					ben(&f.Actors[i])
				}
			}
		})
	}
	on := authz.Settings{Ceiling: authz.Execute, Standing: true}
	same := func(*authz.Actor) {}
	roles := func(names ...string) func(*authz.Actor) { return func(a *authz.Actor) { a.Roles = names } }
	overrides := func(o ...authz.Override) func(*authz.Actor) { return func(a *authz.Actor) { a.Overrides = o } }
	everything := authz.Override{At: authz.MustPath("/yard/c"), Of: []authz.Permission{authz.Every}}
	before := y.runsOf("c")
	for round := range 3 {
		for _, step := range []struct {
			gone, back func()
			tool       string
			want       chattools.Status
		}{
			{func() { set(authz.Settings{Ceiling: authz.Read, Standing: true}, same, same) }, func() { set(on, same, same) }, "move", chattools.Unknown},
			{func() { set(authz.Settings{Ceiling: authz.Execute}, same, same) }, func() { set(on, same, same) }, "move", chattools.NeedsApproval},
			{func() { set(on, roles(), same) }, func() { set(on, roles(authz.Editor), same) }, "peek", chattools.Unknown},
			{func() { set(on, same, roles()) }, func() { set(on, same, roles(authz.Editor)) }, "peek", chattools.Forbidden},
			{func() { set(on, overrides(everything), same) }, func() { set(on, overrides(), same) }, "peek", chattools.Forbidden},
			{func() { set(on, same, overrides(everything)) }, func() { set(on, same, overrides()) }, "move", chattools.Forbidden},
		} {
			step.gone()
			got := y.call(t.Context(), session, step.tool, "c", "").Status
			step.back()
			after := y.call(t.Context(), session, step.tool, "c", "").Status
			if got != step.want || after != chattools.Done {
				stop.Store(true)
				crowd.Wait()
				require.Equal(t, []chattools.Status{step.want, chattools.Done}, []chattools.Status{got, after}, "round %d, %s", round, step.tool)
			}
		}
	}
	stop.Store(true)
	crowd.Wait()
	require.Equal(t, before+9, y.runsOf("c"), "move ran when it might, and only then")
	for _, p := range y.rows(t) {
		require.NotEqual(t, ledger.Dismissed, p.Decision)
	}
}

func (y *yard) runsOf(id string) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.moved[id]
}
