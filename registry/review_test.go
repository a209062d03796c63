package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const noSuchProposal = "01890a5d-ac96-774b-bcce-b302099a8057"

// doors are the ways in which a person names a proposal.
func doors(s *shop, d registry.Redemption) map[string]func(authz.Person, string) error {
	ctx := context.Background()
	return map[string]func(authz.Person, string) error{
		"review":  func(who authz.Person, id string) error { _, err := s.reg.Review(ctx, "shop", id, who); return err },
		"open":    func(who authz.Person, id string) error { _, err := s.desk.Open(ctx, "shop", id, who); return err },
		"preview": func(who authz.Person, id string) error { _, err := s.reg.Preview(ctx, "shop", id, who); return err },
		"dismiss": func(who authz.Person, id string) error { return s.desk.Dismiss(ctx, "shop", id, who, "no") },
		"revise": func(who authz.Person, id string) error {
			_, err := s.desk.Revise(ctx, "shop", id, who, []byte(refundW1))
			return err
		},
		"rework": func(who authz.Person, id string) error {
			_, _, err := s.reg.Rework(ctx, "shop", id, who, []byte(refundW1))
			return err
		},
		"redeem": func(who authz.Person, id string) error {
			d := d
			d.Operator, d.Proposal = who, id
			_, err := s.reg.Redeem(ctx, d)
			return err
		},
	}
}

// For whoever has no part in it, a proposal is exactly what a made-up id is, in every state and at every door.
func TestStrangersFindNothing(t *testing.T) {
	for _, state := range []string{"open", "spent", "dismissed", "expired"} {
		for name := range doors(nil, registry.Redemption{}) {
			t.Run(state+" "+name, func(t *testing.T) {
				s := open(t)
				d := s.opened(sam)
				switch state {
				case "spent":
					_, err := s.desk.Approve(t.Context(), d)
					require.NoError(t, err)
				case "dismissed":
					require.NoError(t, s.desk.Dismiss(t.Context(), "shop", d.Proposal, sam, "no"))
				case "expired":
					s.pass(registry.DefaultLifetime)
				}
				door := doors(s, d)[name]
				real := refusal(t, door(dave, d.Proposal), ledger.Unknown, "unknown_proposal")
				random := refusal(t, door(dave, noSuchProposal), ledger.Unknown, "unknown_proposal")
				require.Equal(t, random, real)
				trail := s.trail(ledger.AuditQuery{Event: ledger.EventRefused, Proposal: d.Proposal})
				require.Len(t, trail, 1, "the trail knows which one it was")
				require.Equal(t, authz.ID("dave"), trail[0].Operator)
				require.Equal(t, "unknown_proposal", trail[0].Reason)
				if name == "redeem" {
					require.Contains(t, trail[0].Error, "user_mismatch", "and that the token was somebody else's")
				}
			})
		}
	}
}

func TestWhoSeesAProposal(t *testing.T) {
	s := open(t)
	d := s.opened(sam)
	revised, err := s.desk.Revise(t.Context(), "shop", d.Proposal, tina, []byte(`{"order_id":"W1","cents":400}`))
	require.NoError(t, err)
	s.edit("tina", func(_ *authz.Facts, a *authz.Actor) { a.Roles = nil })
	for _, c := range []struct {
		who            authz.Person
		dismiss        bool
		code           ledger.Code
		reason, see    string
		mayReviseAgain ledger.Code
	}{
		{carla, true, ledger.Forbidden, "no_permission", "the principal", ledger.Done},
		{sam, true, ledger.Done, "", "who may approve", ledger.Done},
		{olga, true, ledger.Done, "", "who may approve", ledger.Done},
		{tina, false, ledger.Forbidden, "no_permission", "who revised it", ledger.Forbidden},
		{audrey, false, ledger.Forbidden, "no_permission", "who oversees", ledger.Forbidden},
	} {
		v, err := s.reg.Review(t.Context(), "shop", revised.Proposal.ID, c.who)
		require.NoError(t, err, c.see)
		require.Equal(t, ledger.StateProposed, v.State)
		require.Equal(t, c.dismiss, v.Dismiss, c.see)
		require.Equal(t, s.reg.Now(), v.At)
		require.Equal(t, revised.Proposal, v.Proposal)
		require.Equal(t, c.code, registry.CodeOf(v.Refusal), c.see)
		if c.code != ledger.Done {
			refusal(t, v.Refusal, c.code, c.reason)
			s.refusedPreview(revised.Proposal.ID, c.who, c.code, c.reason)
		}
		seen, err := s.reg.Visible(t.Context(), "shop", c.who, []ledger.Proposal{s.row(d.Proposal), s.row(revised.Proposal.ID)})
		require.NoError(t, err)
		require.NotEmpty(t, seen, c.see)
		if !c.dismiss {
			s.refused(s.desk.Dismiss(t.Context(), "shop", revised.Proposal.ID, c.who, "no"), ledger.Forbidden, "no_permission")
		}
		_, _, err = s.reg.Rework(t.Context(), "shop", revised.Proposal.ID, c.who, []byte(refundW1))
		require.Equal(t, c.mayReviseAgain, registry.CodeOf(err), c.see)
	}
	for _, who := range []authz.Person{dave, gone, nobody, authz.LoggedIn("bot")} {
		seen, err := s.reg.Visible(t.Context(), "shop", who, []ledger.Proposal{s.row(d.Proposal)})
		require.NoError(t, err)
		require.Empty(t, seen)
	}
	seen, err := s.reg.Visible(t.Context(), "moon", olga, []ledger.Proposal{s.row(d.Proposal)})
	require.Equal(t, ledger.Unavailable, registry.CodeOf(err), "a scope that nobody knows")
	require.Empty(t, seen, "another scope's")
}

func (s *shop) refusedPreview(id string, who authz.Person, code ledger.Code, reason string) {
	_, err := s.reg.Preview(context.Background(), "shop", id, who)
	s.refused(err, code, reason)
}

func TestReviewOfWhatIsDecided(t *testing.T) {
	s := open(t)
	d := s.opened(sam)
	_, err := s.desk.Approve(t.Context(), d)
	require.NoError(t, err)
	v, err := s.reg.Review(t.Context(), "shop", d.Proposal, carla)
	require.NoError(t, err)
	require.Equal(t, ledger.StateExecuted, v.State)
	refusal(t, v.Refusal, ledger.Spent, "executed")
	require.False(t, v.Dismiss)
	s.refusedPreview(d.Proposal, sam, ledger.Spent, "executed")

	d = s.opened(sam)
	s.pass(registry.DefaultLifetime)
	v, err = s.reg.Review(t.Context(), "shop", d.Proposal, sam)
	require.NoError(t, err)
	refusal(t, v.Refusal, ledger.WasExpired, "")
	require.True(t, v.Dismiss, "a late no is still a no")
	require.NoError(t, s.desk.Dismiss(t.Context(), "shop", d.Proposal, sam, "too late"))
	s.refused(s.desk.Dismiss(t.Context(), "shop", d.Proposal, sam, "again"), ledger.WasDismissed, "")
}

// What a card says is the author's; what a parameter says stands in quotation marks, and nothing hides in it.
func TestCard(t *testing.T) {
	type gift struct {
		To    string `json:"to"`
		Note  string `json:"note,omitempty"`
		N     uint64 `json:"n"`
		Place struct {
			City string `json:"city"`
		} `json:"place"`
		Tags []string `json:"tags,omitempty"`
	}
	send := registry.Define("send_gift", registry.Spec[gift]{
		Title: "Send a gift", Description: "Sends.", Permission: "gifts:edit", Mode: authz.Propose, Risk: registry.RiskHigh, Reach: "a stranger", Undo: "none",
		Sentence: "Send {n} to {to} in {place.city}, saying {note}; tags {tags} {{really}}.",
	}, done[gift])
	s := open(t, func(_ *shop, p *plan) { p.Actions = []*registry.Action{send} })
	for params, want := range map[string]string{
		`{"to":"Ann","n":18446744073709551615,"place":{"city":"Bonn"}}`:                 `Send 18446744073709551615 to "Ann" in "Bonn", saying (none); tags (none) {really}.`,
		`{"to":"a\u202eb\u200b\u0007\"\\ {n}","n":1,"place":{"city":"A\nB"},"note":""}`: `Send 1 to "a\u202eb\u200b\u0007\"\\ {n}" in "A\nB", saying ""; tags (none) {really}.`,
		`{"to":"x","n":2,"place":{"city":"y"},"tags":["a","\u202e"]}`:                   `Send 2 to "x" in "y", saying (none); tags "[\"a\",\"\u202e\"]" {really}.`,
	} {
		p, err := s.desk.Propose(t.Context(), registry.Call{Session: session(t, "bot", authz.For(sam)), Action: "send_gift", Params: []byte(params)})
		require.NoError(t, err)
		v, err := s.reg.Review(t.Context(), "shop", p.Proposal.ID, sam)
		require.NoError(t, err)
		require.Equal(t, registry.Card{Title: "Send a gift", Sentence: want, Risk: registry.RiskHigh, Reach: "a stranger", Undo: "none"}, v.Card)
	}
}

// A preview is the viewer's own read: what it looks up is looked up, and recorded, as the viewer's.
func TestPreview(t *testing.T) {
	s := open(t)
	d := s.opened(sam)
	var call registry.Current
	var nested, changed, approved error
	var may bool
	s.lines = func(ctx context.Context) error {
		call, _ = registry.CallFrom(ctx)
		may = registry.May(ctx, "notes:edit", authz.Root())
		_, nested = s.reg.Invoke(ctx, registry.Call{Action: "find_order", Params: noteW1})
		_, changed = s.reg.Invoke(ctx, registry.Call{Action: "add_note", Params: noteW1})
		_, approved = s.desk.Approve(ctx, d)
		return nil
	}
	lines, err := s.reg.Preview(t.Context(), "shop", d.Proposal, sam)
	require.NoError(t, err)
	require.Equal(t, []registry.Difference{{Label: "Refunded", Before: "0", After: "500"}}, lines)
	require.NoError(t, nested)
	require.True(t, may, "sam may, though carla may not")
	refusal(t, changed, ledger.Forbidden, string(authz.ReasonChangeInRead))
	refusal(t, approved, ledger.Forbidden, string(authz.ReasonInsideRun))
	require.Equal(t, authz.ID("sam"), call.Session.Actor())
	require.Equal(t, authz.Human, call.Session.Kind())
	require.Equal(t, d.Proposal, call.Proposal)
	require.Empty(t, call.Claim)
	reads := s.trail(ledger.AuditQuery{Event: ledger.EventRead})
	require.Len(t, reads, 1)
	require.Equal(t, authz.ID("sam"), reads[0].Session.Actor())
	require.Zero(t, s.effects.Load())

	for _, fail := range []func(context.Context) error{
		func(context.Context) error { return errors.New("no database") },
		func(context.Context) error { panic("no database") },
	} {
		s.lines = fail
		_, err = s.reg.Preview(t.Context(), "shop", d.Proposal, sam)
		require.ErrorContains(t, refusal(t, err, ledger.RunFailed, "preview"), "no database")
	}

	s = open(t, func(_ *shop, p *plan) { p.refund.Preview = nil })
	lines, err = s.reg.Preview(t.Context(), "shop", s.opened(sam).Proposal, sam)
	require.NoError(t, err)
	require.Nil(t, lines)
}

func TestRework(t *testing.T) {
	s := open(t)
	d := s.opened(sam)
	less := []byte(`{"cents": 400, "order_id": "W1"}`)
	a, old, err := s.reg.Rework(t.Context(), "shop", d.Proposal, sam, less)
	require.NoError(t, err)
	require.Equal(t, d.Proposal, old.ID)
	require.Empty(t, old.RevisedBy)
	require.Equal(t, `{"cents":400,"order_id":"W1"}`, a.Params.String())
	require.True(t, a.MayDecide)
	require.Equal(t, "bot", string(a.Session.Actor()))

	for _, c := range []struct {
		name   string
		params string
		who    authz.Person
		code   ledger.Code
		reason string
	}{
		{"parameters that do not fit", `{"order_id":"W1","cents":0}`, sam, ledger.Invalid, ""},
		{"a record that is not there", `{"order_id":"W9","cents":1}`, sam, ledger.Forbidden, "no_target"},
		{"a record that the principal may not ask about", `{"order_id":"W2","cents":1}`, sam, ledger.Forbidden, "not_on_target"},
		{"a record that the principal may not ask about, by the principal", `{"order_id":"W2","cents":1}`, carla, ledger.Forbidden, "not_on_target"},
	} {
		_, _, err := s.reg.Rework(t.Context(), "shop", d.Proposal, c.who, []byte(c.params))
		s.refused(err, c.code, c.reason, c.name)
		trail := s.trail(ledger.AuditQuery{Event: ledger.EventRefused})
		require.Equal(t, d.Proposal, trail[len(trail)-1].Proposal, c.name)
		require.Equal(t, c.who.ID(), trail[len(trail)-1].Operator)
	}
	s.give("W1b", "carla")
	s.edit("sam", func(_ *authz.Facts, a *authz.Actor) {
		a.Overrides = []authz.Override{{At: authz.MustPath("/users/carla/orders/W1b"), Of: []authz.Permission{"refunds:edit", "refunds:request"}}}
	})
	_, _, err = s.reg.Rework(t.Context(), "shop", d.Proposal, sam, []byte(`{"order_id":"W1b","cents":1}`))
	s.refused(err, ledger.Forbidden, "deny_override", "the reviser may not ask for it")

	_, err = s.desk.Revise(t.Context(), "shop", d.Proposal, carla, less)
	require.NoError(t, err)
	_, _, err = s.reg.Rework(t.Context(), "shop", d.Proposal, sam, less)
	s.refused(err, ledger.WasDismissed, "")
	_, err = s.desk.Approve(t.Context(), d)
	s.refused(err, ledger.WasDismissed, "")
	require.Zero(t, s.effects.Load())
}
