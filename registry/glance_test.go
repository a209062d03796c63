package registry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// A list says of each proposal what opening it says, as far as rights go, and costs one reading of the facts.
func TestGlancesAgreeWithReviews(t *testing.T) {
	s := open(t)
	id := s.propose().Proposal.ID
	for _, who := range []authz.Person{sam, carla, dave, authz.LoggedIn("bot"), authz.LoggedIn("nobody"), {}} {
		for _, state := range []ledger.Decision{ledger.Undecided, ledger.Claimed} {
			row := s.row(id)
			row.Decision = state
			list, err := s.reg.Glances(t.Context(), "shop", who, []ledger.Proposal{row})
			require.NoError(t, err)
			review, err := s.reg.Review(t.Context(), "shop", id, who)
			if err != nil {
				require.Empty(t, list, who.ID())
				continue
			}
			require.Len(t, list, 1)
			require.Equal(t, review.Card, list[0].Card)
			require.Equal(t, review.Card, s.reg.Card(&row))
			require.Equal(t, review.Refusal == nil && state == ledger.Undecided, list[0].Decides, who.ID())
			require.Equal(t, review.Dismiss && state == ledger.Undecided, list[0].Dismiss, who.ID())
			require.Equal(t, who == sam, list[0].Operates, who.ID())
		}
	}
	row := s.row(id)
	row.Note, row.Action = "x", "gone"
	list, err := s.reg.Glances(t.Context(), "shop", sam, []ledger.Proposal{row})
	require.NoError(t, err)
	require.Empty(t, list, "the seal does not hold")
	require.Zero(t, s.reg.Card(&row))
	list, err = s.reg.Glances(t.Context(), "other", sam, []ledger.Proposal{s.row(id)})
	require.True(t, err != nil || len(list) == 0, "it is of another scope")
}

// What the trail, the counts and the reasons behind decisions are for is asked in one place, and recorded by
// whoever asks.
func TestOverseeing(t *testing.T) {
	s := open(t)
	before := len(s.trail(ledger.AuditQuery{Scope: "shop"}))
	require.NoError(t, s.reg.Oversees(t.Context(), "shop", olga))
	refusal(t, s.reg.Oversees(t.Context(), "shop", sam), ledger.Forbidden, "no_permission")
	refusal(t, s.reg.Oversees(t.Context(), "shop", authz.LoggedIn("bot")), ledger.Forbidden, "wrong_kind")
	require.NoError(t, s.reg.Known(t.Context(), "shop", sam))
	refusal(t, s.reg.Known(t.Context(), "shop", authz.LoggedIn("bot")), ledger.Unavailable, "wrong_kind")
	refusal(t, s.reg.Known(t.Context(), "shop", authz.Person{}), ledger.Unavailable, "unknown_actor")
	refusal(t, s.reg.Known(t.Context(), "nowhere", sam), ledger.Unavailable, "unknown_scope")
	require.Len(t, s.trail(ledger.AuditQuery{Scope: "shop"}), before)
}

func TestWhoIsShownAChange(t *testing.T) {
	s := open(t, func(s *shop, p *plan) {
		p.Actions = append(p.Actions, registry.Define("close_shop", registry.Spec[struct{}]{
			Description: "Close.", Mode: authz.Propose, Permission: "shop:close", Explicit: true,
		}, func(context.Context, struct{}) (string, error) { return "", nil }))
	})
	shows := func(session authz.Session, action string, paths ...authz.Path) bool {
		ok, err := s.reg.Shows(t.Context(), session, action, paths)
		require.NoError(t, err)
		return ok
	}
	hers := authz.MustPath("/users/carla/orders/W1")
	require.True(t, shows(person(t, sam), "add_note", authz.Root()))
	require.True(t, shows(person(t, carla), "add_note", hers))
	require.False(t, shows(person(t, carla), "add_note", authz.Root()))
	require.False(t, shows(person(t, carla), "add_note", hers, authz.Root()))
	require.False(t, shows(person(t, sam), "add_note", authz.Root(), authz.Path{}), "no path is none that anybody may read")

	// Of what administers the scope those know who could do it too, or oversee it.
	for _, action := range []string{"close_shop", "gone"} {
		require.True(t, shows(person(t, olga), action, authz.Root()), action)
		require.False(t, shows(person(t, sam), action, authz.Root()), action)
		require.False(t, shows(session(t, "bot", authz.For(olga)), action, authz.Root()), action)
		require.False(t, shows(person(t, carla), action), action)
	}
	s.edit("sam", func(_ *authz.Facts, a *authz.Actor) { a.Roles = append(a.Roles, "auditor") })
	require.True(t, shows(person(t, sam), "close_shop", authz.Root()))
	require.True(t, shows(person(t, sam), "gone", authz.Root()))

	_, err := s.reg.Shows(t.Context(), authz.Session{}, "add_note", nil)
	refusal(t, err, ledger.Unavailable, "invalid_session")
}

// The matrix is what Explain says of each model and action.
func TestMatrixIsWhatExplainSays(t *testing.T) {
	s := open(t)
	_, err := s.reg.Matrix(t.Context(), sam, "shop", "bot")
	refusal(t, err, ledger.Forbidden, "no_permission")
	table, err := s.reg.Matrix(t.Context(), olga, "shop", "bot", "ghost")
	require.NoError(t, err)
	require.Len(t, table, 2)
	for m, id := range []authz.ID{"bot", "ghost"} {
		for i, a := range s.reg.Actions() {
			e, err := s.reg.Explain(t.Context(), olga, session(t, id, authz.Background()), a.Name)
			require.NoError(t, err)
			e.View = table[m][i].View
			require.Equal(t, e, table[m][i], a.Name)
		}
	}
	_, err = s.reg.Matrix(t.Context(), olga, "shop", "")
	refusal(t, err, ledger.Invalid, "invalid_session")
}
