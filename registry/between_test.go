package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// claiming is a store in which something happens right after a claim.
type claiming struct {
	ledger.Store
	then func()
}

func (s *claiming) Claim(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
	p, err := s.Store.Claim(ctx, c)
	if err == nil && s.then != nil {
		s.then()
	}
	return p, err
}

// What changes between the claim and the run is seen: the proposal is spent, and nothing has run.
func TestChangesBetweenClaimAndRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		then   func(*shop)
		code   ledger.Code
		reason string
	}{
		{"the tool is disabled", func(s *shop) {
			s.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"refund_order"} })
		}, ledger.Unavailable, "disabled"},
		{"the ceiling sinks", func(s *shop) {
			s.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Ceiling = authz.Read })
		}, ledger.Unavailable, "above_ceiling"},
		{"a grant denies", func(s *shop) {
			s.edit("bot", func(_ *authz.Facts, a *authz.Actor) { a.Grants = []authz.Grant{{Tool: "refund_order"}} })
		}, ledger.Unavailable, "deny_grant"},
		{"the model is switched off", func(s *shop) {
			s.edit("bot", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
		}, ledger.Unavailable, "inactive"},
		{"the principal is switched off", func(s *shop) {
			s.edit("carla", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
		}, ledger.Forbidden, "inactive"},
		{"the operator is switched off", func(s *shop) {
			s.edit("sam", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
		}, ledger.Forbidden, "inactive"},
		{"the operator loses the right", func(s *shop) {
			s.edit("sam", func(_ *authz.Facts, a *authz.Actor) { a.Roles = nil })
		}, ledger.Forbidden, "no_permission"},
		{"the target is denied to the operator", func(s *shop) {
			s.edit("sam", func(_ *authz.Facts, a *authz.Actor) {
				a.Overrides = []authz.Override{{At: authz.MustPath("/users"), Of: []authz.Permission{authz.Every}}}
			})
		}, ledger.Forbidden, "deny_override"},
		{"the target moves", func(s *shop) { s.give("W1", "dave") }, ledger.Stale, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &claiming{}
			s := open(t, func(_ *shop, p *plan) {
				p.store = func(real ledger.Store) ledger.Store { store.Store = real; return store }
			})
			d := s.opened(sam)
			measured := false
			s.read = func() (float64, error) { measured = true; return 1, nil }
			sub, err := s.reg.Subscribe(person(t, olga))
			require.NoError(t, err)
			store.then = func() { c.then(s) }
			_, err = s.desk.Approve(t.Context(), d)
			r := refusal(t, err, c.code, c.reason)
			require.Equal(t, ledger.Claimed, r.Proposal.Decision)
			require.Zero(t, s.effects.Load())
			require.False(t, measured)
			none(t, sub)

			row := s.row(d.Proposal)
			require.Equal(t, ledger.Claimed, row.Decision)
			require.Equal(t, ledger.Failed, row.Outcome)
			require.Contains(t, row.Error, string(c.code))
			require.Contains(t, row.Error, c.reason)
			require.Empty(t, row.Told)
			require.Equal(t, "the run failed", row.Unmeasured)
			trail := s.trail(ledger.AuditQuery{Proposal: d.Proposal})
			require.Equal(t, ledger.EventFinished, trail[len(trail)-1].Event)
			require.Equal(t, ledger.RunFailed, trail[len(trail)-1].Code)
			_, err = s.desk.Approve(t.Context(), d)
			require.NotEqual(t, ledger.Done, registry.CodeOf(err))
			require.Zero(t, s.effects.Load())
		})
	}
}

// The baseline is measured between the claim and the run, so that neither a lost claim nor the effect is in it.
func TestBaselineIsTakenBetweenClaimAndRun(t *testing.T) {
	var order []string
	s := open(t, func(_ *shop, p *plan) {
		p.store = func(real ledger.Store) ledger.Store {
			return &claiming{Store: real, then: func() { order = append(order, "claim") }}
		}
	})
	s.read = func() (float64, error) { order = append(order, "measure"); return 41.5, nil }
	s.run = func(context.Context, Refund) (any, error) { order = append(order, "run"); return nil, nil }
	d := s.opened(sam)
	require.Empty(t, order, "neither proposing nor opening measures")
	_, err := s.desk.Approve(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, []string{"claim", "measure", "run"}, order)
	require.Equal(t, 41.5, *s.row(d.Proposal).Baseline)

	s.read = func() (float64, error) { return 0, errors.New("meter is off") }
	d = s.opened(sam)
	_, err = s.desk.Approve(t.Context(), d)
	require.NoError(t, err, "a measurement that fails does not fail the action")
	row := s.row(d.Proposal)
	require.Nil(t, row.Baseline)
	require.Equal(t, "the baseline could not be measured: meter is off", row.Unmeasured)
	require.Equal(t, ledger.Succeeded, row.Outcome)
}

// Four eyes: none of the humans behind a request may approve it, neither who asked nor who reworded it.
func TestFourEyes(t *testing.T) {
	four := func(_ *shop, p *plan) { p.refund.FourEyes = true }
	propose := func(s *shop, session authz.Session) string {
		p, err := s.desk.Propose(t.Context(), registry.Call{Session: session, Action: "refund_order", Params: []byte(refundW1)})
		require.NoError(t, err)
		require.True(t, p.Token.IsZero(), "whoever asks gets no token")
		return p.Proposal.ID
	}
	approve := func(s *shop, id string, who authz.Person) error {
		o, err := s.desk.Open(t.Context(), "shop", id, who)
		require.NoError(t, err)
		if o.Refusal != nil {
			require.True(t, o.Token.IsZero())
			return o.Refusal
		}
		_, err = s.desk.Approve(t.Context(), o.Redemption())
		return err
	}
	delegated, err := session(t, "bot", authz.For(sam)).Delegate("aide")
	require.NoError(t, err)
	for name, session := range map[string]authz.Session{
		"the principal": session(t, "bot", authz.For(sam)), "the principal of a delegation": delegated, "a human who asks": person(t, sam),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, four)
			id := propose(s, session)
			refusal(t, approve(s, id, sam), ledger.Forbidden, string(authz.ReasonSamePerson))
			// A token signed for them all the same does not help.
			row := s.row(id)
			b, err := registry.Binding(&row, sam, s.reg.Now())
			require.NoError(t, err)
			tok, err := s.reg.Keys().Sign(b)
			require.NoError(t, err)
			_, err = s.reg.Redeem(t.Context(), registry.Redemption{Scope: "shop", Proposal: id, Operator: sam, Token: tok, Shown: row.Params.Hash()})
			s.refused(err, ledger.Forbidden, string(authz.ReasonSamePerson))
			require.Zero(t, s.effects.Load())
			require.NoError(t, approve(s, id, tina))
			require.EqualValues(t, 1, s.effects.Load())
		})
	}

	s := open(t, four)
	id := propose(s, session(t, "bot", authz.For(carla)))
	p, err := s.desk.Revise(t.Context(), "shop", id, sam, []byte(`{"order_id":"W1","cents":400}`))
	require.NoError(t, err)
	require.True(t, p.Token.IsZero(), "whoever rewords it gets no token")
	p, err = s.desk.Revise(t.Context(), "shop", p.Proposal.ID, tina, []byte(`{"order_id":"W1","cents":300}`))
	require.NoError(t, err)
	require.Equal(t, []authz.ID{"sam", "tina"}, p.Proposal.RevisedBy)
	refusal(t, approve(s, p.Proposal.ID, sam), ledger.Forbidden, string(authz.ReasonSamePerson))
	refusal(t, approve(s, p.Proposal.ID, tina), ledger.Forbidden, string(authz.ReasonSamePerson))
	require.NoError(t, approve(s, p.Proposal.ID, olga))

	s = open(t) // without the rule, who may perform may also approve what was asked for them
	id = func() string {
		p, err := s.desk.Propose(t.Context(), registry.Call{Session: session(t, "bot", authz.For(sam)), Action: "refund_order", Params: []byte(refundW1)})
		require.NoError(t, err)
		require.False(t, p.Token.IsZero())
		return p.Proposal.ID
	}()
	require.NoError(t, approve(s, id, sam))
}

// A row that was changed behind the ledger's back does not run, whatever was changed.
func TestTamperedRows(t *testing.T) {
	other := session(t, "aide", authz.For(carla))
	for name, change := range map[string]func(*ledger.Proposal){
		"action":     func(p *ledger.Proposal) { p.Action = "add_note" },
		"session":    func(p *ledger.Proposal) { p.Session = other },
		"run":        func(p *ledger.Proposal) { p.Session = p.Session.WithRun("run-2") },
		"allowlist":  func(p *ledger.Proposal) { p.Session = p.Session.WithTools(authz.Only("refund_order")) },
		"targets":    func(p *ledger.Proposal) { p.Targets = []authz.Path{authz.MustPath("/users/dave/orders/W2")} },
		"no targets": func(p *ledger.Proposal) { p.Targets = nil },
		"definition": func(p *ledger.Proposal) { p.Definition = "x" },
		"version":    func(p *ledger.Proposal) { p.Version = "x" },
		"created":    func(p *ledger.Proposal) { p.CreatedAt = p.CreatedAt.Add(1000) },
		"expires":    func(p *ledger.Proposal) { p.ExpiresAt = p.ExpiresAt.Add(1e9) },
		"supersedes": func(p *ledger.Proposal) { p.Supersedes = p.ID },
		"revised by": func(p *ledger.Proposal) { p.RevisedBy = []authz.ID{"tina"} },
		"seal":       func(p *ledger.Proposal) { p.Seal = "" },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			d := s.opened(sam)
			require.NoError(t, s.memory.Tamper("shop", d.Proposal, change))
			_, err := s.desk.Approve(t.Context(), d)
			require.ErrorIs(t, s.refused(err, ledger.Tampered, ""), ledger.ErrTampered)
			_, err = s.desk.Open(t.Context(), "shop", d.Proposal, sam)
			require.ErrorIs(t, refusal(t, err, ledger.Tampered, ""), ledger.ErrTampered)
			require.Zero(t, s.effects.Load())
			seen, err := s.reg.Visible(t.Context(), "shop", olga, []ledger.Proposal{s.row(d.Proposal)})
			require.NoError(t, err)
			require.Empty(t, seen)
		})
	}

	// What is not sealed helps no more: a row turned back runs no second time.
	s := open(t)
	d := s.opened(sam)
	_, err := s.desk.Approve(t.Context(), d)
	require.NoError(t, err)
	require.NoError(t, s.memory.Tamper("shop", d.Proposal, func(p *ledger.Proposal) {
		p.Decision, p.DecidedBy, p.Claim, p.Outcome = ledger.Undecided, "", "", ledger.Running
	}))
	_, err = s.desk.Approve(t.Context(), d)
	s.refused(err, ledger.Tampered, "")
	require.EqualValues(t, 1, s.effects.Load())
	s.refused(s.desk.Dismiss(t.Context(), "shop", d.Proposal, sam, "no"), ledger.Tampered, "")
	require.NoError(t, s.memory.Tamper("shop", d.Proposal, func(p *ledger.Proposal) { p.Decision = "approved" }))
	_, err = s.desk.Approve(t.Context(), d)
	s.refused(err, ledger.Spent, "interrupted")
}

// An action that a new release no longer has cannot be approved. An overseer can still put the proposal away.
func TestVanishedAction(t *testing.T) {
	a := newAttempt(t)
	a.release(func() { a.removed = true })
	a.refused(a.redeem(), ledger.Unknown, "unknown_tool")
	v, err := a.approver.Review(t.Context(), "shop", a.with.Proposal, olga)
	require.NoError(t, err)
	refusal(t, v.Refusal, ledger.Unknown, "unknown_tool")
	require.True(t, v.Dismiss)
	require.Zero(t, v.Card)
	v, err = a.approver.Review(t.Context(), "shop", a.with.Proposal, carla)
	require.NoError(t, err)
	require.True(t, v.Dismiss, "it was asked in her name")
	_, err = a.approver.Review(t.Context(), "shop", a.with.Proposal, tina)
	refusal(t, err, ledger.Unknown, "unknown_proposal")

	desk := approval.NewDesk(a.approver)
	require.NoError(t, desk.Dismiss(t.Context(), "shop", a.with.Proposal, olga, "no such thing any more"))
	row := a.row(a.with.Proposal)
	require.Equal(t, ledger.StateDismissed, row.State(a.reg.Now()))
	a.refused(a.redeem(), ledger.WasDismissed, "")
}
