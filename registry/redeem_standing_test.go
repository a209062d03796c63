package registry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type parcel struct {
	ID string `json:"id"`
}

// depot has one action, a model with a standing grant for it, and a clock.
type depot struct {
	people *authz.Memory
	book   *ledger.Memory
	reg    *registry.Registry
	desk   *approval.Desk
	model  authz.Session
	now    time.Time
	runs   int
}

func openDepot(t *testing.T) *depot {
	t.Helper()
	key, err := token.NewKey("k1")
	require.NoError(t, err)
	keys, err := token.NewRing("test", key)
	require.NoError(t, err)
	d := &depot{people: new(authz.Memory), book: new(ledger.Memory), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	send := registry.Define("send", registry.Spec[parcel]{Description: "Send.", Permission: "parcels:send", Mode: authz.Execute},
		func(context.Context, parcel) (string, error) { d.runs++; return "sent", nil })
	s := &authz.Standing{
		ID: "g1", By: "olga", Since: d.now, Until: d.now.Add(time.Hour), Below: authz.Root(), Definition: send.Definition,
	}
	require.NoError(t, authz.SealStanding(keys, "depot", "mira", "send", s))
	require.NoError(t, d.people.Set("depot", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute, Standing: true},
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "mira", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{
				{Tool: "send", Effect: authz.Allow, Standing: s},
			}},
		},
	}))
	d.reg, err = registry.New(registry.Config{
		Actions: []*registry.Action{send}, Source: d.people, Ledger: d.book, Keys: keys, Now: func() time.Time { return d.now },
	})
	require.NoError(t, err)
	d.desk = approval.NewDesk(d.reg)
	d.model, err = authz.NewSession("depot", "mira", authz.For(authz.LoggedIn("olga")))
	require.NoError(t, err)
	return d
}

func (d *depot) propose(t *testing.T, session authz.Session) approval.Proposed {
	t.Helper()
	p, err := d.desk.Propose(t.Context(), registry.Call{Session: session, Action: "send", Params: []byte(`{"id":"p1"}`)})
	require.NoError(t, err)
	return p
}

func TestRedeemStandingRunsOnce(t *testing.T) {
	d := openDepot(t)
	p := d.propose(t, d.model)
	require.Equal(t, "g1", p.Standing)
	res, err := d.reg.RedeemStanding(t.Context(), "depot", p.Proposal.ID)
	require.NoError(t, err)
	require.Equal(t, p.Proposal.ID, res.Proposal)
	require.Equal(t, "sent", res.Value)
	_, err = d.reg.RedeemStanding(t.Context(), "depot", p.Proposal.ID)
	require.Equal(t, ledger.Spent, registry.CodeOf(err))
	require.False(t, registry.Undecided(err))
	require.Equal(t, 1, d.runs)
}

func TestRedeemStandingRefuses(t *testing.T) {
	for _, c := range []struct {
		name      string
		prepare   func(t *testing.T, d *depot, id string)
		code      ledger.Code
		undecided bool
	}{
		{"a dismissed proposal", func(t *testing.T, d *depot, id string) {
			require.NoError(t, d.desk.Dismiss(t.Context(), "depot", id, authz.LoggedIn("olga"), "no"))
		}, ledger.WasDismissed, false},
		{"an expired proposal", func(_ *testing.T, d *depot, _ string) { d.now = d.now.Add(registry.DefaultLifetime) }, ledger.WasExpired, false},
		{"a proposal that was tampered with", func(t *testing.T, d *depot, id string) {
			require.NoError(t, d.book.Tamper("depot", id, func(p *ledger.Proposal) { p.ExpiresAt = p.ExpiresAt.Add(time.Hour) }))
		}, ledger.Tampered, false},
		{"above the ceiling", func(t *testing.T, d *depot, id string) {
			require.NoError(t, d.people.Edit(t.Context(), "depot", func(f *authz.Facts) error { f.Settings.Ceiling = authz.Read; return nil }))
		}, ledger.Unavailable, false},
		{"without a grant", func(t *testing.T, d *depot, id string) {
			require.NoError(t, d.people.Edit(t.Context(), "depot", func(f *authz.Facts) error { f.Actors[1].Grants = nil; return nil }))
		}, ledger.NeedsApproval, true},
		{"where standing grants are off", func(t *testing.T, d *depot, id string) {
			require.NoError(t, d.people.Edit(t.Context(), "depot", func(f *authz.Facts) error { f.Settings.Standing = false; return nil }))
		}, ledger.NeedsApproval, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDepot(t)
			p := d.propose(t, d.model)
			c.prepare(t, d, p.Proposal.ID)
			_, err := d.reg.RedeemStanding(t.Context(), "depot", p.Proposal.ID)
			require.Equal(t, c.code, registry.CodeOf(err), "%v", err)
			require.Equal(t, c.undecided, registry.Undecided(err))
			require.Equal(t, 0, d.runs)
		})
	}
}

func TestRedeemStandingOfNoProposal(t *testing.T) {
	d := openDepot(t)
	p := d.propose(t, d.model)
	_, err := d.reg.RedeemStanding(t.Context(), "depot", "01890000-0000-7000-8000-000000000000")
	require.Equal(t, ledger.Unknown, registry.CodeOf(err))
	_, err = d.reg.RedeemStanding(t.Context(), "elsewhere", p.Proposal.ID)
	require.Equal(t, ledger.Unknown, registry.CodeOf(err), "another scope has no such proposal")
	require.Equal(t, 0, d.runs)
}

// What a person proposed through a desk waits for a click, also where the person gave a model a grant.
func TestAPersonHasNoStandingGrant(t *testing.T) {
	d := openDepot(t)
	person, err := authz.NewPersonSession("depot", authz.LoggedIn("olga"))
	require.NoError(t, err)
	p := d.propose(t, person)
	require.Empty(t, p.Standing)
	_, err = d.reg.RedeemStanding(t.Context(), "depot", p.Proposal.ID)
	require.Equal(t, ledger.NeedsApproval, registry.CodeOf(err))
	require.True(t, registry.Undecided(err))
	require.Equal(t, 0, d.runs)
}

// A caller who has gone claims nothing.
func TestRedeemStandingOfACallerWhoHasGone(t *testing.T) {
	d := openDepot(t)
	p := d.propose(t, d.model)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := d.reg.RedeemStanding(ctx, "depot", p.Proposal.ID)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, registry.Undecided(err))
	require.Equal(t, 0, d.runs)
}

func TestUndecidedIsAboutRefusalsOfOpenProposals(t *testing.T) {
	require.False(t, registry.Undecided(nil))
	require.False(t, registry.Undecided(errors.New("x")))
	require.False(t, registry.Undecided(&registry.Refusal{Code: ledger.NeedsApproval}))
	open := &ledger.Proposal{}
	require.True(t, registry.Undecided(&registry.Refusal{Code: ledger.Forbidden, Proposal: open}))
	for _, code := range []ledger.Code{ledger.Tampered, ledger.WasExpired, ledger.Stale, ledger.Unknown, ledger.Unavailable} {
		require.False(t, registry.Undecided(&registry.Refusal{Code: code, Proposal: open}), code)
	}
	spent := &ledger.Proposal{Decision: ledger.Claimed}
	require.False(t, registry.Undecided(&registry.Refusal{Code: ledger.Forbidden, Proposal: spent}))
}
