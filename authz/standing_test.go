package authz_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

func keys(t *testing.T, fill byte) *token.Ring {
	t.Helper()
	r, err := token.NewRing("test", token.Key{ID: "k1", Secret: bytes.Repeat([]byte{fill}, 32)})
	require.NoError(t, err)
	return r
}

// standing is a grant for an hour below one person's orders.
func standing() authz.Standing {
	return authz.Standing{
		ID: "g1", By: "sam", Since: noon, Until: noon.Add(time.Hour), Uses: 3,
		Below: authz.MustPath("/users/u1"), Definition: "d1",
	}
}

func TestStandingSeal(t *testing.T) {
	ring, good := keys(t, 1), standing()
	require.NoError(t, authz.SealStanding(ring, "shop", "assistant", "refund", &good))
	require.NoError(t, authz.CheckStanding(ring, "shop", "assistant", "refund", &good))

	for name, edit := range map[string]func(*authz.Standing){
		"id":         func(s *authz.Standing) { s.ID = "g2" },
		"giver":      func(s *authz.Standing) { s.By = "eve" },
		"since":      func(s *authz.Standing) { s.Since = s.Since.Add(-time.Microsecond) },
		"until":      func(s *authz.Standing) { s.Until = s.Until.Add(time.Microsecond) },
		"uses":       func(s *authz.Standing) { s.Uses = 0 },
		"below":      func(s *authz.Standing) { s.Below = authz.Root() },
		"definition": func(s *authz.Standing) { s.Definition = "d2" },
		"ask only":   func(s *authz.Standing) { s.AskOnly = true },
		"seal":       func(s *authz.Standing) { s.Seal = "" },
		"moved text": func(s *authz.Standing) { s.ID, s.By = "g1s", "am" },
	} {
		bad := good
		edit(&bad)
		require.ErrorIs(t, authz.CheckStanding(ring, "shop", "assistant", "refund", &bad), authz.ErrStanding, name)
	}
	require.ErrorIs(t, authz.CheckStanding(ring, "mall", "assistant", "refund", &good), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(ring, "shop", "helper", "refund", &good), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(ring, "shop", "assistant", "set_role", &good), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(keys(t, 2), "shop", "assistant", "refund", &good), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(new(token.Ring), "shop", "assistant", "refund", &good), authz.ErrStanding)
}

func TestStandingFaults(t *testing.T) {
	for name, edit := range map[string]func(*authz.Standing){
		"no id":         func(s *authz.Standing) { s.ID = "" },
		"no giver":      func(s *authz.Standing) { s.By = "" },
		"no path":       func(s *authz.Standing) { s.Below = authz.Path{} },
		"negative uses": func(s *authz.Standing) { s.Uses = -1 },
		"no time":       func(s *authz.Standing) { s.Until = s.Since },
		"backwards":     func(s *authz.Standing) { s.Until = s.Since.Add(-time.Hour) },
		"too long":      func(s *authz.Standing) { s.Until = s.Since.Add(authz.MaxStanding + time.Microsecond) },
	} {
		s := standing()
		edit(&s)
		require.ErrorIs(t, authz.SealStanding(keys(t, 1), "shop", "assistant", "refund", &s), authz.ErrStanding, name)
		require.Empty(t, s.Seal, name)
	}
	s := standing()
	require.ErrorIs(t, authz.SealStanding(new(token.Ring), "shop", "assistant", "refund", &s), authz.ErrStanding)
	s.Until = s.Since.Add(authz.MaxStanding)
	require.NoError(t, authz.SealStanding(keys(t, 1), "shop", "assistant", "refund", &s), "the longest")
}

func TestStandingCovers(t *testing.T) {
	s := standing()
	in, out := authz.MustPath("/users/u1/orders/W42"), authz.MustPath("/users/u10")
	tests := []struct {
		name    string
		at      time.Time
		targets []authz.Path
		want    bool
	}{
		{"at its beginning", noon, []authz.Path{in}, true},
		{"at its last instant", s.Until.Add(-1), []authz.Path{in, s.Below}, true},
		{"before", noon.Add(-1), []authz.Path{in}, false},
		{"at its end", s.Until, []authz.Path{in}, false},
		{"another target", noon, []authz.Path{out}, false},
		{"one target outside", noon, []authz.Path{in, out}, false},
		{"above it", noon, []authz.Path{authz.MustPath("/users")}, false},
		{"no path", noon, []authz.Path{{}}, false},
		{"no target", noon, nil, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, s.Covers(tt.at, tt.targets), tt.name)
	}
	require.False(t, new(authz.Standing).Covers(noon, []authz.Path{in}))
}

// TestStandingOfACaller: only the model itself has its grants, and only where the settings turn them on.
func TestStandingOfACaller(t *testing.T) {
	one, two := standing(), standing()
	two.ID = "g2"
	facts := authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute, Standing: true},
		Actors: []authz.Actor{
			{ID: "assistant", Kind: authz.Model, Active: true, Grants: []authz.Grant{
				{Tool: "refund", Effect: authz.Allow, Standing: &one}, {Tool: "refund", Effect: authz.Allow, Standing: &two},
				{Tool: "set_role", Effect: authz.Deny, Standing: &one}, {Tool: "find_orders", Effect: authz.Allow},
			}},
			{ID: "helper", Kind: authz.Model, Active: true},
			{ID: "olga", Kind: authz.Human, Active: true, Grants: []authz.Grant{{Tool: "refund", Effect: authz.Allow, Standing: &one}}},
		},
	}
	v, s := viewOf(t, newPolicy(t, fixed(&facts))), modelSession(t)
	require.Equal(t, []*authz.Standing{&one, &two}, v.Standing(s, refund))
	require.Empty(t, v.Standing(s, findOrders))
	require.Empty(t, v.Standing(s, setRole), "a deny is no approval")
	require.Empty(t, v.Standing(delegated(t, s, "helper"), refund), "a grant is not delegated")
	require.Empty(t, v.Standing(authz.Session{}, refund))
	own, err := authz.NewPersonSession("shop", olga)
	require.NoError(t, err)
	require.Empty(t, v.Standing(own, refund))

	off := facts
	off.Settings.Standing = false
	require.Empty(t, viewOf(t, newPolicy(t, fixed(&off))).Standing(s, refund))
}

// TestMemoryKeepsStanding: a standing grant is an allow with an id of its own, and is copied in and out.
func TestMemoryKeepsStanding(t *testing.T) {
	m, given := directory(t), standing()
	give := func(id string, e authz.Effect) error {
		s := given
		s.ID = id
		return m.Edit(t.Context(), "shop", func(f *authz.Facts) error {
			f.Actors[1].Grants = append(f.Actors[1].Grants, authz.Grant{Tool: "refund", Effect: e, Standing: &s})
			return nil
		})
	}
	require.NoError(t, give("g1", authz.Allow))
	require.ErrorIs(t, give("g1", authz.Allow), authz.ErrFacts)
	require.ErrorIs(t, give("", authz.Allow), authz.ErrFacts)
	require.ErrorIs(t, give("g2", authz.Deny), authz.ErrFacts)
	require.NoError(t, give("g2", authz.Allow))

	var kept *authz.Standing
	require.NoError(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error { kept = f.Actors[1].Grants[1].Standing; return nil }))
	kept.By = "eve"
	require.Equal(t, given, *factsOf(t, m).Actors[1].Grants[1].Standing)
}
