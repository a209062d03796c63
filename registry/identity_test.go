package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Whoever a model works for, and whatever it may do, Invoke makes no change for it.
func TestAModelChangesNothingByInvoke(t *testing.T) {
	for _, behalf := range []authz.Behalf{authz.Background(), authz.For(sam), authz.For(olga)} {
		for action, params := range map[string]string{"add_note": `{"order_id":"W1"}`, "refund_order": refundW1} {
			s := open(t)
			_, err := s.reg.Invoke(t.Context(), registry.Call{Session: session(t, "bot", behalf), Action: action, Params: []byte(params)})
			s.refused(err, ledger.NeedsApproval, "")
			require.Zero(t, s.effects.Load())
			require.Len(t, s.trail(ledger.AuditQuery{}), 1)
		}
	}
}

func TestAPersonChangesByInvoke(t *testing.T) {
	s := open(t)
	s.run = func(context.Context, Refund) (any, error) { s.pass(time.Second); return s.effects.Add(1), nil }
	res, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam).WithOrigin("web"), Action: "refund_order", Params: []byte(refundW1)})
	require.NoError(t, err)
	require.Equal(t, registry.Result{Value: int64(1), JSON: []byte("1")}, res)
	trail := s.trail(ledger.AuditQuery{})
	require.Len(t, trail, 2)
	require.Equal(t, []ledger.Event{ledger.EventStarted, ledger.EventFinished}, []ledger.Event{trail[0].Event, trail[1].Event})
	require.NotEmpty(t, trail[0].Claim)
	require.Equal(t, s.reg.Now().Add(-time.Second), trail[0].At)
	require.Equal(t, s.reg.Now(), trail[1].At)
	for _, r := range trail {
		require.Equal(t, authz.ID("sam"), r.Operator)
		require.Equal(t, trail[0].Claim, r.Claim)
		require.Equal(t, ledger.Done, r.Code)
		require.Equal(t, `{"cents":500,"order_id":"W1"}`, r.Params.String())
		require.Equal(t, "/users/carla/orders/W1", r.Targets[0].String())
		require.Equal(t, "web", r.Session.Origin())
	}
	require.Equal(t, "1", string(trail[1].Result))

	// The settings bind models. They do not bind a person's own call.
	s.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings = authz.Settings{Disabled: []string{"refund_order"}} })
	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "refund_order", Params: []byte(refundW1)})
	require.NoError(t, err)

	// To ask is not to perform.
	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, carla), Action: "refund_order", Params: []byte(refundW1)})
	s.refused(err, ledger.Forbidden, string(authz.ReasonNoPermission))
	require.EqualValues(t, 2, s.effects.Load())
}

func TestSessionsThatAreNobody(t *testing.T) {
	human, err := authz.NewSession("shop", "sam", authz.Background())
	require.NoError(t, err)
	elsewhere, err := authz.NewSession("moon", "bot", authz.Background())
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		session authz.Session
		code    ledger.Code
		reason  authz.Reason
	}{
		{"a model that was switched off", session(t, "off", authz.Background()), ledger.Unavailable, authz.ReasonInactive},
		{"a model that nobody knows", session(t, "ghost", authz.For(sam)), ledger.Unavailable, authz.ReasonUnknownActor},
		{"a human's id as a model", human, ledger.Unavailable, authz.ReasonWrongKind},
		{"a person who was switched off", person(t, gone), ledger.Unavailable, authz.ReasonInactive},
		{"a person that nobody knows", person(t, authz.LoggedIn("ghost")), ledger.Unavailable, authz.ReasonUnknownActor},
		{"a model's id as a person", person(t, authz.LoggedIn("bot")), ledger.Unavailable, authz.ReasonWrongKind},
		{"for a person who was switched off", session(t, "bot", authz.For(gone)), ledger.Forbidden, authz.ReasonNoPermission},
		{"for a model as a person", session(t, "bot", authz.For(authz.LoggedIn("aide"))), ledger.Forbidden, authz.ReasonNoPermission},
	} {
		t.Run(c.name, func(t *testing.T) {
			for action, params := range map[string]string{"find_order": `{"order_id":"W1"}`, "add_note": `{"order_id":"W1"}`} {
				s := open(t)
				_, err := s.reg.Invoke(t.Context(), registry.Call{Session: c.session, Action: action, Params: []byte(params)})
				s.refused(err, c.code, string(c.reason))
				_, err = s.reg.Admit(t.Context(), registry.Call{Session: c.session, Action: action, Params: []byte(params)}, nobody)
				s.refused(err, c.code, string(c.reason))
				refusal(t, s.reg.Available(t.Context(), c.session, action), c.code, string(c.reason))
				require.Zero(t, s.effects.Load())
			}
		})
	}

	s := open(t)
	_, err = s.reg.Invoke(t.Context(), registry.Call{Action: "add_note", Params: []byte(`{"order_id":"W1"}`)})
	refusal(t, err, ledger.Unavailable, string(authz.ReasonInvalidSession))
	refusal(t, s.reg.Available(t.Context(), authz.Session{}, "add_note"), ledger.Unavailable, string(authz.ReasonInvalidSession))
	_, err = s.reg.AppendTools(t.Context(), nil, authz.Session{})
	refusal(t, err, ledger.Unavailable, string(authz.ReasonInvalidSession))
	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: elsewhere, Action: "add_note", Params: []byte(`{"order_id":"W1"}`)})
	refusal(t, err, ledger.Unavailable, "unknown_scope")
	trail := s.trail(ledger.AuditQuery{Scope: "moon"})
	require.Equal(t, "unknown_scope", trail[0].Reason)
}

func TestOperatorsWhoAreNobody(t *testing.T) {
	for _, c := range []struct {
		name   string
		who    authz.Person
		reason authz.Reason
	}{
		{"nobody", nobody, authz.ReasonUnknownActor},
		{"unknown", authz.LoggedIn("ghost"), authz.ReasonUnknownActor},
		{"inactive", gone, authz.ReasonInactive},
		{"a model", authz.LoggedIn("bot"), authz.ReasonWrongKind},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			d := s.opened(sam)
			d.Operator = c.who
			_, err := s.reg.Redeem(t.Context(), d)
			require.Zero(t, s.effects.Load())
			if c.who.IsZero() {
				refusal(t, err, ledger.Forbidden, string(c.reason)) // on record in no scope: nobody has none
			} else {
				s.refused(err, ledger.Forbidden, string(c.reason))
			}
			_, err = s.reg.Review(t.Context(), "shop", d.Proposal, c.who)
			refusal(t, err, ledger.Forbidden, string(c.reason))
			_, _, err = s.reg.Rework(t.Context(), "shop", d.Proposal, c.who, []byte(refundW1))
			refusal(t, err, ledger.Forbidden, string(c.reason))
			_, err = s.reg.Preview(t.Context(), "shop", d.Proposal, c.who)
			refusal(t, err, ledger.Forbidden, string(c.reason))
			refusal(t, s.desk.Dismiss(t.Context(), "shop", d.Proposal, c.who, "no"), ledger.Forbidden, string(c.reason))
			require.Equal(t, ledger.Undecided, s.row(d.Proposal).Decision)

			for name, door := range doors(s, d) { // nor do they learn which proposals there are
				require.Equal(t, door(c.who, noSuchProposal), door(c.who, d.Proposal), name)
			}
		})
	}
}

// A name is found, and a session allowed, before any parameter is looked at.
func TestOrderOfRefusals(t *testing.T) {
	bad := []byte(`{"order_id":1e400,`)
	background := session(t, "bot", authz.Background())
	for _, c := range []struct {
		name   string
		prep   func(*shop)
		call   registry.Call
		code   ledger.Code
		reason string
	}{
		{"no such tool", nil, registry.Call{Session: background, Action: "find_ordr", Params: bad}, ledger.Unknown, "unknown_tool"},
		{"the permission is no tool", nil, registry.Call{Session: person(t, olga), Action: "proposals:read", Params: bad}, ledger.Unknown, "unknown_tool"},
		{"disabled", func(s *shop) {
			s.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"add_note"} })
		}, registry.Call{Session: background, Action: "add_note", Params: bad}, ledger.Unavailable, "disabled"},
		{"above the ceiling", func(s *shop) {
			s.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Ceiling = authz.Propose })
		}, registry.Call{Session: background, Action: "add_note", Params: bad}, ledger.Unavailable, "above_ceiling"},
		{"outside the allowlist", nil, registry.Call{Session: background.WithTools(authz.Only("find_order")), Action: "add_note", Params: bad}, ledger.Unavailable, "not_listed"},
		{"the model lacks the right", nil, registry.Call{Session: session(t, "scout", authz.For(olga)), Action: "add_note", Params: bad}, ledger.Unavailable, "above_ceiling"},
		{"the parameters have no exact form", nil, registry.Call{Session: background, Action: "find_order", Params: []byte(`{"order_id":"W1","order_id":"W2"}`)}, ledger.Invalid, "duplicate_name"},
		{"the parameters do not fit", nil, registry.Call{Session: background, Action: "find_order", Params: []byte(`{"order_id":7}`)}, ledger.Invalid, ""},
		{"the principal lacks the right", nil, registry.Call{Session: session(t, "bot", authz.For(audrey)), Action: "find_order", Params: []byte(`{"order_id":"none"}`)}, ledger.Forbidden, "no_permission"},
		{"no such record", nil, registry.Call{Session: background, Action: "find_order", Params: []byte(`{"order_id":"W9"}`)}, ledger.Forbidden, "no_target"},
		{"no canonical path", func(s *shop) { s.give("W/9", "carla") }, registry.Call{Session: background, Action: "find_order", Params: []byte(`{"order_id":"W/9"}`)}, ledger.Forbidden, "no_target"},
		{"somebody else's record", nil, registry.Call{Session: session(t, "bot", authz.For(dave)), Action: "find_order", Params: []byte(`{"order_id":"W1"}`)}, ledger.Forbidden, "not_on_target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			if c.prep != nil {
				c.prep(s)
			}
			_, err := s.reg.Invoke(t.Context(), c.call)
			s.refused(err, c.code, c.reason)
			require.Len(t, s.trail(ledger.AuditQuery{}), 1)
		})
	}
}

// What the host's own look-ups do wrong refuses the call; it never widens it.
func TestHostLookupsThatFail(t *testing.T) {
	type spec = registry.Spec[Refund]
	boom := errors.New("database is away")
	for _, c := range []struct {
		name   string
		change func(*spec)
		code   ledger.Code
		reason string
	}{
		{"target fails", func(p *spec) { p.Target = target(nil, boom) }, ledger.RunFailed, "target"},
		{"no targets", func(p *spec) { p.Target = target(nil, nil) }, ledger.Forbidden, "no_target"},
		{"a zero target", func(p *spec) { p.Target = target([]authz.Path{{}}, nil) }, ledger.Forbidden, "no_target"},
		{"one of two denied", func(p *spec) {
			p.Target = target([]authz.Path{authz.MustPath("/users/carla"), authz.MustPath("/users/dave")}, nil)
		}, ledger.Forbidden, "not_on_target"},
		{"target panics", func(p *spec) { p.Target = nilMapTarget }, ledger.RunFailed, "target"},
		{"version fails", func(p *spec) { p.Version = version("", boom) }, ledger.RunFailed, "version"},
		{"version finds nothing", func(p *spec) { p.Version = version("", registry.ErrNoTarget) }, ledger.Forbidden, "no_target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, func(_ *shop, p *plan) { c.change(&p.refund) })
			_, err := s.desk.Propose(t.Context(), registry.Call{Session: session(t, "bot", authz.For(carla)), Action: "refund_order", Params: []byte(refundW1)})
			s.refused(err, c.code, c.reason)
		})
	}
}

func TestSourceOfFactsThatFails(t *testing.T) {
	down := errors.New("directory is away")
	s := open(t, func(s *shop, p *plan) {
		p.Source = authz.SourceFunc(func(ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
			if s.ownerOf("down") != "" {
				return nil, down
			}
			return s.people.Facts(ctx, scope, ids)
		})
	})
	d := s.opened(sam)
	s.give("down", "yes")
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "add_note", Params: []byte(`{"order_id":"W1"}`)})
	require.ErrorIs(t, s.refused(err, ledger.RunFailed, "no_facts"), down)
	_, err = s.reg.Redeem(t.Context(), d)
	require.ErrorIs(t, s.refused(err, ledger.RunFailed, "no_facts"), down)
	tools, err := s.reg.AppendTools(t.Context(), []int{7}, session(t, "bot", authz.Background()))
	require.ErrorIs(t, refusal(t, err, ledger.RunFailed, "no_facts"), down)
	require.Equal(t, []int{7}, tools)
	require.ErrorIs(t, s.reg.Available(t.Context(), person(t, sam), "add_note"), down)
	_, err = s.reg.Visible(t.Context(), "shop", sam, []ledger.Proposal{s.row(d.Proposal)})
	require.ErrorIs(t, err, down)
	require.Zero(t, s.effects.Load())
}

func TestCatalogIndexes(t *testing.T) {
	s := open(t)
	names := func(session authz.Session) string {
		tools, err := s.reg.AppendTools(t.Context(), nil, session)
		require.NoError(t, err)
		var list []string
		for _, i := range tools {
			list = append(list, s.reg.Actions()[i].Name)
			require.NoError(t, s.reg.Available(t.Context(), session, s.reg.Actions()[i].Name))
		}
		return strings.Join(list, " ")
	}
	require.Equal(t, "add_note find_order refund_order", names(person(t, olga)), "what guards proposals is no tool")
	require.Equal(t, "add_note find_order refund_order", names(session(t, "bot", authz.For(sam))))
	require.Equal(t, "find_order refund_order", names(person(t, carla)))
	require.Equal(t, "find_order", names(session(t, "scout", authz.For(olga))))
	require.Equal(t, "", names(session(t, "off", authz.For(olga))))
	require.Equal(t, "refund_order", names(session(t, "bot", authz.For(sam)).WithTools(authz.Only("refund_order", "proposals:read"))))
	refusal(t, s.reg.Available(t.Context(), session(t, "bot", authz.For(audrey)), "add_note"), ledger.Forbidden, "no_permission")
}

func target(paths []authz.Path, err error) func(context.Context, Refund) ([]authz.Path, error) {
	return func(context.Context, Refund) ([]authz.Path, error) { return paths, err }
}

func nilMapTarget(context.Context, Refund) ([]authz.Path, error) {
	seen := map[bool]map[string]bool{}[true] // nil, as a forgotten make leaves it
	seen["x"] = true
	return nil, nil
}

func version(v string, err error) func(context.Context, Refund) (string, error) {
	return func(context.Context, Refund) (string, error) { return v, err }
}
