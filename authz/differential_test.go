package authz_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sallyport-dev/sallyport/authz"
)

var (
	decisions = flag.Int("decisions", 200_000, "how many decisions to compare with the reference")
	seed      = flag.Uint64("seed", 1, "the first seed of the random worlds")
)

// compare puts one random session's questions to the view and to the reference, and returns how many
// decisions were compared.
func compare(t require.TestingT, p pick, w *world, v *authz.View, seen map[string]int) int {
	r := reference{w}
	s := w.randomSession(p, t)
	count := 0
	same := func(want, got authz.Decision, format string, args ...any) {
		count++
		if want != got {
			require.Equal(t, want, got, "%s: %s", s, fmt.Sprintf(format, args...))
		}
		seen[fmt.Sprint(want.Allowed, " ", want.Reason)]++
	}
	agree := func(want, got bool, format string, args ...any) {
		count++
		if want != got {
			require.Equal(t, want, got, "%s: %s", s, fmt.Sprintf(format, args...))
		}
		seen[fmt.Sprint(want)]++
	}
	tool := p(len(w.tools))
	for range 6 {
		tool = (tool + 1 + p(len(w.tools))) % len(w.tools)
		targets, q, person := randomTargets(p), authz.Question(p(2)), authz.LoggedIn(one(p, append(humans, models[0], "stranger", "")))
		if own := ownTarget(w.tools[tool]); !own.IsZero() && p.chance(80) {
			targets = []authz.Path{own}
		}
		same(r.Check(s, tool, targets, q), v.Check(s, tool, targets, q), "check of %+v on %v, %d", w.tools[tool], targets, q)
		same(r.Person(person, tool, targets, q), v.Person(person, tool, targets, q), "%v: %+v on %v, %d", person, w.tools[tool], targets, q)
		same(r.Available(s, tool), v.Available(s, tool), "available: %+v", w.tools[tool])
		agree(r.Could(s, tool), v.Could(s, tool), "could: %+v", w.tools[tool])
		path := one(p, append(paths, authz.Path{}))
		permission := one(p, []authz.Permission{w.tools[tool].Permission, w.tools[tool].Ask, "gone:edit", authz.Every})
		agree(r.May(s, permission, path), v.May(s, permission, path), "may: %s on %s", permission, path)
		agree(r.MayRead(s, path), v.MayRead(s, path), "may read: %s", path)
	}
	want, got := r.Tools(s), v.AppendTools(nil, s)
	require.Equal(t, want, got, "%s: catalog", s)
	return count + len(w.tools)
}

// TestAgainstReference compares the compiled view with the reference. A failure names the world's seed, with
// which -seed begins.
func TestAgainstReference(t *testing.T) {
	seen := map[string]int{}
	for count, n := 0, *seed; count < *decisions; n++ {
		p := pick(rand.New(rand.NewPCG(n, 0)).IntN)
		tools, permissions := 8, 5
		if n%50 == 0 {
			tools, permissions = 150, 140 // more than one word of bits
		}
		w := randomWorld(p, tools, permissions)
		v := w.view(t)
		ok := t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			for range 20 {
				count += compare(t, p, w, v, seen)
			}
		})
		require.True(t, ok, "-seed %d repeats it", n)
	}
	// A comparison in which some answer never occurs would prove nothing about it.
	for _, why := range []authz.Reason{
		authz.ReasonNoPermission, authz.ReasonUnknownActor, authz.ReasonInactive, authz.ReasonWrongKind, authz.ReasonNoTarget,
		authz.ReasonDisabled, authz.ReasonAboveCeiling, authz.ReasonNotListed, authz.ReasonDenyGrant, authz.ReasonGrantMissing,
		authz.ReasonDenyOverride, authz.ReasonDenyBelow, authz.ReasonInvalidSession,
	} {
		require.Greater(t, seen["false "+string(why)], 100, why)
	}
	for _, answer := range []string{"true " + string(authz.ReasonRole), "true " + string(authz.ReasonAllowOverride), "true", "false"} {
		require.Greater(t, seen[answer], 1000, answer)
	}
}

// TestAgainstReferenceShrinking is the same comparison in few worlds, for the sake of small counterexamples.
func TestAgainstReferenceShrinking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pickFrom(t)
		w := randomWorld(p, 1+p(4), 3)
		v := w.view(t)
		for range 3 {
			compare(t, p, w, v, map[string]int{})
		}
	})
}

// pickFrom chooses with rapid, which shrinks towards zero: towards the first name, the fewest rules.
func pickFrom(t *rapid.T) pick {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
}
