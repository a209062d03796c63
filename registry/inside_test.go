package registry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

var noteW1 = []byte(`{"order_id":"W1"}`)

// deeds are what a run function may try with the context it was given. None of them may work inside a read.
func deeds(s *shop, d registry.Redemption) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"change": func(ctx context.Context) error {
			_, err := s.reg.Invoke(ctx, registry.Call{Action: "add_note", Params: noteW1})
			return err
		},
		"change without a deadline": func(ctx context.Context) error {
			_, err := s.reg.Invoke(context.WithoutCancel(ctx), registry.Call{Action: "add_note", Params: noteW1})
			return err
		},
		"propose": func(ctx context.Context) error {
			_, err := s.desk.Propose(ctx, registry.Call{Action: "add_note", Params: noteW1})
			return err
		},
		"approve": func(ctx context.Context) error { _, err := s.desk.Approve(ctx, d); return err },
		"open":    func(ctx context.Context) error { _, err := s.desk.Open(ctx, "shop", d.Proposal, sam); return err },
		"dismiss": func(ctx context.Context) error { return s.desk.Dismiss(ctx, "shop", d.Proposal, sam, "no") },
		"revise": func(ctx context.Context) error {
			_, err := s.desk.Revise(ctx, "shop", d.Proposal, sam, []byte(`{"order_id":"W1","cents":1}`))
			return err
		},
		"preview": func(ctx context.Context) error {
			_, err := s.reg.Preview(ctx, "shop", d.Proposal, sam)
			return err
		},
	}
}

func TestInsideARead(t *testing.T) {
	for _, caller := range []authz.Session{session(t, "bot", authz.For(sam)), person(t, olga)} {
		for name := range deeds(nil, registry.Redemption{}) {
			t.Run(caller.Kind().String()+" "+name, func(t *testing.T) {
				s := open(t)
				d := s.opened(sam)
				var inner error
				s.look = func(ctx context.Context) error {
					inner = deeds(s, d)[name](ctx)
					return nil
				}
				_, err := s.reg.Invoke(t.Context(), registry.Call{Session: caller, Action: "find_order", Params: noteW1})
				require.NoError(t, err)
				want := authz.ReasonInsideRun
				if name == "change" || name == "change without a deadline" || name == "propose" {
					want = authz.ReasonChangeInRead
				}
				r := refusal(t, inner, ledger.Forbidden, string(want))
				require.Nil(t, r.Proposal)
				trail := s.trail(ledger.AuditQuery{Event: ledger.EventRefused})
				require.Len(t, trail, 1)
				require.Equal(t, string(want), trail[0].Reason)
				require.Equal(t, caller.Stored(), trail[0].Session.Stored(), "on record as the one whose call it was")
				require.Zero(t, s.effects.Load())
				require.Equal(t, ledger.Undecided, s.row(d.Proposal).Decision)
			})
		}
	}
}

// An approved change is still the model's call: it neither decides about proposals nor changes more by itself.
func TestInsideAnApprovedChange(t *testing.T) {
	for name, want := range map[string]struct {
		code   ledger.Code
		reason string
	}{
		"change": {ledger.NeedsApproval, ""}, "approve": {ledger.Forbidden, "inside_run"}, "open": {ledger.Forbidden, "inside_run"},
		"dismiss": {ledger.Forbidden, "inside_run"}, "revise": {ledger.Forbidden, "inside_run"}, "preview": {ledger.Forbidden, "inside_run"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			other, err := s.desk.Propose(t.Context(), registry.Call{Session: session(t, "bot", authz.For(carla)), Action: "refund_order", Params: []byte(`{"order_id":"W1","cents":7}`)})
			require.NoError(t, err)
			o, err := s.desk.Open(t.Context(), "shop", other.Proposal.ID, sam)
			require.NoError(t, err)
			d := s.opened(sam)
			var inner error
			s.run = func(ctx context.Context, _ Refund) (any, error) {
				s.run = nil
				inner = deeds(s, o.Redemption())[name](ctx)
				return nil, nil
			}
			if name == "change" {
				s.edit("carla", func(_ *authz.Facts, a *authz.Actor) { a.Roles = []string{authz.Editor} })
			}
			_, err = s.desk.Approve(t.Context(), d)
			require.NoError(t, err)
			s.refused(inner, want.code, want.reason)
			require.Zero(t, s.effects.Load())
			require.Equal(t, ledger.Undecided, s.row(other.Proposal.ID).Decision)
		})
	}
}

// A person's own change may make another one, under the same name, and decides about nothing.
func TestInsideAPersonsChange(t *testing.T) {
	s := open(t)
	d := s.opened(sam)
	var approving error
	s.run = func(ctx context.Context, _ Refund) (any, error) {
		_, approving = s.desk.Approve(ctx, d)
		return s.reg.Invoke(ctx, registry.Call{Action: "add_note", Params: noteW1})
	}
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, olga).WithRun("r9"), Action: "refund_order", Params: []byte(refundW1)})
	require.NoError(t, err)
	refusal(t, approving, ledger.Forbidden, string(authz.ReasonInsideRun))
	require.EqualValues(t, 1, s.effects.Load(), "the note")
	notes := s.trail(ledger.AuditQuery{Action: "add_note", Run: "r9", Actor: "olga"})
	require.Len(t, notes, 2)
	require.Equal(t, authz.ID("olga"), notes[0].Operator)
}

// A run keeps its identity: actor, principal, scope and run. What it pretends to be instead is refused, and
// on record as its own doing.
func TestInsideWithAnotherIdentity(t *testing.T) {
	caller := session(t, "bot", authz.For(carla)).WithTools(authz.Only("find_order"))
	moon, err := authz.NewSession("moon", "bot", authz.For(carla))
	require.NoError(t, err)
	for name, other := range map[string]authz.Session{
		"another model":        session(t, "aide", authz.For(carla)),
		"another principal":    session(t, "bot", authz.For(olga)),
		"no principal":         session(t, "bot", authz.Background()),
		"the principal itself": person(t, carla).WithRun("run-1"),
		"a person":             person(t, olga).WithRun("run-1"),
		"another run":          session(t, "bot", authz.For(carla)).WithRun("run-2"),
		"no run":               session(t, "bot", authz.For(carla)).WithRun(""),
		"another scope":        moon.WithRun("run-1"),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			var errs []error
			s.look = func(ctx context.Context) error {
				s.look = nil
				_, err := s.reg.Invoke(ctx, registry.Call{Session: other, Action: "find_order", Params: noteW1})
				errs = append(errs, err, s.reg.Available(ctx, other, "find_order"))
				_, err = s.desk.Propose(ctx, registry.Call{Session: other, Action: "add_note", Params: noteW1})
				errs = append(errs, err)
				return nil
			}
			_, err := s.reg.Invoke(t.Context(), registry.Call{Session: caller, Action: "find_order", Params: noteW1})
			require.NoError(t, err)
			require.Len(t, errs, 3)
			for _, err := range errs {
				s.refused(err, ledger.Forbidden, string(authz.ReasonOtherIdentity))
			}
			for _, r := range s.trail(ledger.AuditQuery{Event: ledger.EventRefused}) {
				require.Equal(t, caller.Stored(), r.Session.Stored())
				require.Contains(t, r.Error, string(other.Actor()))
			}
			require.Empty(t, s.trail(ledger.AuditQuery{Scope: "moon"}), "nothing is written into a scope by a stranger to it")
		})
	}
}

func TestInsideItsOwnIdentity(t *testing.T) {
	caller := session(t, "bot", authz.For(carla)).WithConversation("c1").WithOrigin("chat")
	sub, err := caller.Delegate("aide")
	require.NoError(t, err)
	for name, inner := range map[string]authz.Session{
		"a zero session":   {},
		"the same session": caller,
		"a sub-agent":      sub,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			var nested error
			s.look = func(ctx context.Context) error {
				s.look = nil
				_, nested = s.reg.Invoke(ctx, registry.Call{Session: inner, Action: "find_order", Params: noteW1})
				if !inner.IsZero() && inner.Actor() == "aide" { // more than read it may not
					_, err := s.reg.Invoke(ctx, registry.Call{Session: inner, Action: "add_note", Params: noteW1})
					s.refused(err, ledger.Forbidden, string(authz.ReasonChangeInRead))
				}
				return nil
			}
			_, err := s.reg.Invoke(t.Context(), registry.Call{Session: caller, Action: "find_order", Params: noteW1})
			require.NoError(t, err)
			require.NoError(t, nested)
			reads := s.trail(ledger.AuditQuery{Event: ledger.EventRead})
			require.Len(t, reads, 2)
			want := inner
			if inner.IsZero() {
				want = caller
			}
			require.Equal(t, want.Stored(), reads[0].Session.Stored())
		})
	}
}

// A session built anew inside a run is its caller's in everything but the allowlist, which it must not lose.
func TestInsideTheAllowlistOnlyNarrows(t *testing.T) {
	s := open(t, func(_ *shop, p *plan) {
		p.Actions = append(p.Actions, defined("other_read", authz.Read, func(s *registry.Spec[Order]) { s.Permission = "orders:read" }))
	})
	wide := session(t, "bot", authz.Background())
	var errs []error
	s.look = func(ctx context.Context) error {
		for _, inner := range []authz.Session{{}, wide} {
			_, err := s.reg.Invoke(ctx, registry.Call{Session: inner, Action: "other_read", Params: noteW1})
			errs = append(errs, err)
		}
		return nil
	}
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: wide.WithTools(authz.Only("find_order")), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	require.Len(t, errs, 2)
	for _, err := range errs {
		refusal(t, err, ledger.Unavailable, string(authz.ReasonNotListed))
	}
}

func TestCallFrom(t *testing.T) {
	_, inside := registry.CallFrom(t.Context())
	require.False(t, inside)
	require.False(t, registry.May(t.Context(), "orders:read", authz.Root()), "outside a run nobody may anything")

	s := open(t)
	var got registry.Current
	note := func(ctx context.Context) { got, inside = registry.CallFrom(ctx) }
	s.run = func(ctx context.Context, _ Refund) (any, error) { note(ctx); return nil, nil }
	s.look = func(ctx context.Context) error { note(ctx); return nil }

	d := s.opened(sam)
	_, err := s.desk.Approve(t.Context(), d)
	require.NoError(t, err)
	row := s.row(d.Proposal)
	require.True(t, inside)
	require.Equal(t, row.Session.Stored(), got.Session.Stored())
	require.Equal(t, registry.Current{
		Session: got.Session, Operator: "sam", Action: "refund_order", Proposal: d.Proposal, Claim: row.Claim, At: s.reg.Now(),
	}, got)
	require.NotEmpty(t, got.Claim)

	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, tina), Action: "refund_order", Params: []byte(refundW1)})
	require.NoError(t, err)
	started := s.trail(ledger.AuditQuery{Actor: "tina", Event: ledger.EventStarted})
	require.Equal(t, registry.Current{Session: got.Session, Operator: "tina", Action: "refund_order", Claim: started[0].Claim, At: s.reg.Now()}, got)
	require.NotEqual(t, row.Claim, got.Claim)

	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, tina), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	require.Equal(t, registry.Current{Session: got.Session, Operator: "tina", Action: "find_order", At: s.reg.Now()}, got)

	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: session(t, "bot", authz.For(carla)), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	require.Equal(t, registry.Current{Session: got.Session, Action: "find_order", At: s.reg.Now()}, got)
}

// A list filters what it returns by what caller and principal both may read.
func TestMay(t *testing.T) {
	s := open(t, func(s *shop, p *plan) {
		p.Actions = []*registry.Action{registry.Define("list_orders", registry.Spec[struct{}]{
			Description: "List the orders one may see.", Mode: authz.Read, Permission: "orders:read",
		}, func(ctx context.Context, _ struct{}) ([]string, error) {
			list := []string{}
			for _, id := range []string{"W1", "W2"} {
				if path, _ := s.path(id); registry.May(ctx, "orders:read", path[0]) {
					list = append(list, id)
				}
			}
			require.False(t, registry.May(ctx, "unheard:of", authz.Root()))
			require.False(t, registry.May(ctx, "orders:read", authz.Path{}))
			return list, nil
		})}
	})
	s.edit("carla", func(_ *authz.Facts, a *authz.Actor) { a.Roles = []string{authz.Viewer} })
	s.edit("carla", func(_ *authz.Facts, a *authz.Actor) {
		a.Overrides = []authz.Override{{At: authz.MustPath("/users/dave"), Effect: authz.Deny, Of: []authz.Permission{"orders:read"}}}
	})
	for _, c := range []struct {
		session authz.Session
		want    string
	}{
		{person(t, sam), `["W1","W2"]`}, {person(t, carla), `["W1"]`},
		{session(t, "bot", authz.For(carla)), `["W1"]`}, {session(t, "bot", authz.Background()), `["W1","W2"]`},
	} {
		res, err := s.reg.Invoke(t.Context(), registry.Call{Session: c.session, Action: "list_orders", Params: []byte(`{}`)})
		require.NoError(t, err)
		require.Equal(t, c.want, string(res.JSON))
	}
}
