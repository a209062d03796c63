package authz_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sallyport-dev/sallyport/authz"
)

// TestExplainsTheDecision: an explanation has the decision of the check, the step that made it, and the same
// text each time.
func TestExplainsTheDecision(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		v := w.view(t)
		for i := range w.tools {
			explained(t, v.Explain(s, i, nil, authz.ToAsk), v.Available(s, i))
			for range 4 {
				targets, q := randomTargets(p), authz.Question(p(2))
				if targets == nil {
					targets = []authz.Path{}
				}
				e := v.Explain(s, i, targets, q)
				explained(t, e, v.Check(s, i, targets, q))
				require.Equal(t, e, v.Explain(s, i, targets, q))
			}
		}
	})
}

// explained holds an explanation against the decision that it is of.
func explained(t require.TestingT, e authz.Explanation, d authz.Decision) {
	require.Equal(t, d, e.Decision)
	require.NotEmpty(t, e.Steps)
	decided := slices.DeleteFunc(slices.Clone(e.Steps), func(s authz.Step) bool { return !s.Decided })
	refusals := slices.DeleteFunc(slices.Clone(decided), func(s authz.Step) bool { return s.Allows })
	for _, s := range e.Steps {
		require.NotEmpty(t, s.Rule)
		require.NotEmpty(t, s.Layer)
	}
	if d.Allowed {
		require.Empty(t, refusals, "%s", e)
		require.True(t, slices.ContainsFunc(decided, func(s authz.Step) bool { return s.Who == d.Who && s.Reason == d.Reason }), "%s", e)
		return
	}
	require.Len(t, refusals, 1, "%s", e)
	last := decided[len(decided)-1]
	require.Equal(t, refusals[0], last, "nothing is decided after a refusal: %s", e)
	require.Equal(t, []any{d.Who, d.Reason, d.Target}, []any{last.Who, last.Reason, last.Target}, "%s", e)
}

// TestBelow: what an actor can use at or below a path is what it can use on one of the paths there.
func TestBelow(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, _ authz.Session) {
		for i := range w.tools {
			w.tools[i].Whole = false // what denies a change of everything is no matter of one path
		}
		v := w.view(t)
		for _, id := range append(slices.Clone(humans), models...) {
			path := one(p, paths)
			var want []int
			for i, tool := range w.tools {
				if slices.ContainsFunc(paths, func(q authz.Path) bool { return path.Contains(q) && usable(t, v, id, i, tool, q) }) {
					want = append(want, i)
				}
			}
			require.Equal(t, want, v.Below(id, path), "%s below %s", id, path)
		}
		require.Empty(t, v.Below("stranger", authz.Root()))
		require.Empty(t, v.Below(humans[0], authz.Path{}))
	})
}

// usable asks an actor of either kind about one path.
func usable(t require.TestingT, v *authz.View, id authz.ID, tool int, known authz.Tool, path authz.Path) bool {
	s, err := authz.NewSession("shop", id, authz.Background())
	require.NoError(t, err)
	at := []authz.Path{path}
	if v.Human(authz.LoggedIn(id)).Allowed {
		person := authz.LoggedIn(id)
		return v.Person(person, tool, at, authz.ToPerform).Allowed || v.Person(person, tool, at, authz.ToAsk).Allowed
	}
	if known.Mode == authz.Read {
		return v.Check(s, tool, at, authz.ToPerform).Allowed
	}
	return v.Check(s, tool, at, authz.ToAsk).Allowed
}

// TestWhoMay: the list is of those whom the check allows, and no model performs a change.
func TestWhoMay(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, _ authz.Session) {
		v := w.view(t)
		for i, tool := range w.tools {
			targets, q := []authz.Path{one(p, paths)}, authz.Question(p(2))
			var want []authz.ID
			for _, a := range w.facts.Actors {
				as := q
				if tool.Mode == authz.Read {
					as = authz.ToPerform
				}
				s, err := authz.NewSession("shop", a.ID, authz.Background())
				require.NoError(t, err)
				performs := as == authz.ToPerform && tool.Mode != authz.Read
				if v.Person(authz.LoggedIn(a.ID), i, targets, as).Allowed || !performs && v.Check(s, i, targets, as).Allowed {
					want = append(want, a.ID)
				}
			}
			slices.Sort(want)
			require.Equal(t, want, v.WhoMay(i, targets, q))
		}
	})
}

// TestExplanationText: the text names the rule that decided, and the one that it outranks.
func TestExplanationText(t *testing.T) {
	f := authz.Facts{Actors: []authz.Actor{{
		ID: "ann", Kind: authz.Human, Active: true, Roles: []string{authz.Owner},
		Overrides: []authz.Override{
			{At: authz.MustPath("/lib"), Effect: authz.Allow, Of: []authz.Permission{"orders:read"}},
			{At: authz.MustPath("/lib/f"), Effect: authz.Deny, Of: []authz.Permission{authz.Every}},
		},
	}}}
	s, err := authz.NewPersonSession("shop", authz.LoggedIn("ann"))
	require.NoError(t, err)
	e := viewOf(t, newPolicy(t, fixed(&f))).Explain(s, findOrders, []authz.Path{authz.MustPath("/lib/f/x")}, authz.ToPerform)
	require.Equal(t, `refused (deny_override), by view 1
-> ann: no on /lib/f/x, deny_override: the override of ann at /lib/f denies orders:read, nearer than the one of ann at /lib, which allows it
   ann: yes on /lib/f/x, role: owner has orders:read
`, e.String())
	require.True(t, strings.HasPrefix(authz.Explanation{}.String(), "refused"))
}
