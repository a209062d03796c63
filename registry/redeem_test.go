package registry_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// attempt is a redemption about to be made, and the shop around it.
type attempt struct {
	*shop
	plan     *plan
	with     registry.Redemption
	tinas    registry.Redemption // of the same proposal
	approver *registry.Registry  // that redeems, on the same ledger

	revised, changed, removed bool // in the next release
}

// obstacle is one thing that stands against a redemption that would otherwise succeed.
type obstacle struct {
	name   string
	put    func(*attempt)
	code   ledger.Code
	reason string
}

// obstacles are in the order in which Redeem looks at them: of two, the earlier one is the answer.
var obstacles = []obstacle{
	{"the operator was switched off", func(a *attempt) {
		a.edit("sam", func(_ *authz.Facts, sam *authz.Actor) { sam.Active = false })
	}, ledger.Forbidden, "inactive"},
	{"the row was changed", func(a *attempt) {
		require.NoError(a.t, a.memory.Tamper("shop", a.with.Proposal, func(p *ledger.Proposal) { p.Version += "x" }))
	}, ledger.Tampered, ""},
	{"it was dismissed", func(a *attempt) {
		_, err := a.memory.Dismiss(context.Background(), ledger.Dismissal{Scope: "shop", Proposal: a.with.Proposal, By: "carla", At: a.reg.Now()})
		require.NoError(a.t, err)
	}, ledger.WasDismissed, ""},
	{"it expired", func(a *attempt) { a.pass(registry.DefaultLifetime) }, ledger.WasExpired, ""},
	{"the action is gone", func(a *attempt) { a.release(func() { a.removed = true }) }, ledger.Unknown, "unknown_tool"},
	{"the tool is disabled", func(a *attempt) {
		a.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"refund_order"} })
	}, ledger.Unavailable, "disabled"},
	{"the ceiling sank", func(a *attempt) {
		a.edit("", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Ceiling = authz.Read })
	}, ledger.Unavailable, "above_ceiling"},
	{"a grant denies", func(a *attempt) {
		a.edit("bot", func(_ *authz.Facts, bot *authz.Actor) { bot.Grants = []authz.Grant{{Tool: "refund_order"}} })
	}, ledger.Unavailable, "deny_grant"},
	{"the model lost the right", func(a *attempt) {
		a.edit("bot", func(_ *authz.Facts, bot *authz.Actor) { bot.Roles = nil })
	}, ledger.Unavailable, "no_permission"},
	{"the definition changed", func(a *attempt) {
		a.release(func() { a.revised = true })
	}, ledger.Stale, ""},
	{"the target moved", func(a *attempt) { a.give("W1", "dave") }, ledger.Stale, ""},
	{"the target changed", func(a *attempt) {
		a.release(func() { a.changed = true })
	}, ledger.Stale, ""},
	{"the token is another's", func(a *attempt) {
		a.with.Token = a.tinas.Token
	}, ledger.BadToken, "user_mismatch"},
	{"something else was shown", func(a *attempt) { a.with.Shown[31] ^= 1 }, ledger.BadToken, "params_changed"},
	{"the principal lost the right to ask", func(a *attempt) {
		a.edit("carla", func(_ *authz.Facts, carla *authz.Actor) { carla.Overrides = nil })
	}, ledger.Forbidden, "no_permission"},
	{"the operator lost the right", func(a *attempt) {
		a.edit("sam", func(_ *authz.Facts, sam *authz.Actor) { sam.Roles = []string{authz.Viewer} })
	}, ledger.Forbidden, "no_permission"},
}

// release replaces the registry that redeems, as a release of the host would.
func (a *attempt) release(change func()) {
	change()
	c, spec := a.plan.Config, a.plan.refund
	c.ProposeOnly = nil
	if a.revised {
		spec.Revision = "2"
	}
	if a.changed {
		spec.Version = version("2", nil)
	}
	c.Actions = a.actions(spec)
	if a.removed {
		c.Actions = c.Actions[:1]
	}
	var err error
	a.approver, err = registry.New(c)
	require.NoError(a.t, err)
}

func newAttempt(t testing.TB) *attempt {
	a := &attempt{}
	a.shop = open(t, func(_ *shop, p *plan) { a.plan = p })
	a.approver, a.with = a.reg, a.opened(sam)
	o, err := a.desk.Open(t.Context(), "shop", a.with.Proposal, tina)
	require.NoError(t, err)
	a.tinas = o.Redemption()
	return a
}

func (a *attempt) redeem() error {
	_, err := a.approver.Redeem(context.Background(), a.with)
	return err
}

func TestRedeemWithNothingAgainstIt(t *testing.T) {
	a := newAttempt(t)
	require.NoError(t, a.redeem())
	require.EqualValues(t, 1, a.effects.Load())
	require.Equal(t, authz.ID("sam"), a.row(a.with.Proposal).DecidedBy)
}

func TestRedeemOneObstacle(t *testing.T) {
	for _, o := range obstacles {
		t.Run(o.name, func(t *testing.T) {
			a := newAttempt(t)
			before := len(a.trail(ledger.AuditQuery{Event: ledger.EventRefused}))
			o.put(a)
			r := a.refused(a.redeem(), o.code, o.reason)
			require.Len(t, a.trail(ledger.AuditQuery{Event: ledger.EventRefused}), before+1)
			require.Zero(t, a.effects.Load())
			require.Zero(t, a.started())
			if o.code == ledger.Tampered || o.reason == "inactive" {
				require.Nil(t, r.Proposal)
			} else {
				require.Equal(t, a.with.Proposal, r.Proposal.ID)
			}
			last := a.trail(ledger.AuditQuery{})
			rec := last[len(last)-1]
			require.Equal(t, authz.ID("sam"), rec.Operator)
			if r.Proposal != nil {
				require.Equal(t, a.with.Proposal, rec.Proposal)
				require.Equal(t, authz.ID("bot"), rec.Session.Actor())
				require.Equal(t, "refund_order", rec.Action)
			}
		})
	}
}

// Of two obstacles the earlier one is the answer, whichever was put up first.
func TestRedeemTwoObstacles(t *testing.T) {
	for i, first := range obstacles {
		for _, second := range obstacles[i+1:] {
			for _, order := range [][]obstacle{{first, second}, {second, first}} {
				a := newAttempt(t)
				order[0].put(a)
				order[1].put(a)
				want := first
				if blind := first.name == "the action is gone" || second.name == "the operator lost the right"; blind && (first.reason == "user_mismatch" || second.reason == "user_mismatch") {
					want = obstacle{code: ledger.Unknown, reason: "unknown_proposal"} // they neither see it nor hold a token of it
				}
				refusal(t, a.redeem(), want.code, want.reason, order[0].name, order[1].name)
				require.Zero(t, a.effects.Load())
			}
		}
	}
}

// Once somebody else approved it, that is the answer, whatever else has happened.
func TestRedeemWhatIsSpent(t *testing.T) {
	for _, o := range obstacles[2:] {
		a := newAttempt(t)
		_, err := a.desk.Approve(t.Context(), a.tinas)
		require.NoError(t, err)
		if o.code != ledger.WasDismissed {
			o.put(a)
		}
		r := a.refused(a.redeem(), ledger.Spent, "executed", o.name)
		require.Equal(t, ledger.Succeeded, r.Proposal.Outcome)
		require.EqualValues(t, 1, a.effects.Load())
	}
}

// deciding is a store in which somebody decides right after a redemption has read the row.
type deciding struct {
	ledger.Store
	decide func()
}

func (s *deciding) Proposal(ctx context.Context, scope authz.Scope, id string) (ledger.Proposal, error) {
	p, err := s.Store.Proposal(ctx, scope, id)
	if decide := s.decide; decide != nil {
		s.decide = nil
		decide()
	}
	return p, err
}

// A decision between the first look and the claim is the answer, also where the loser would have been refused
// for another reason by then.
func TestRedeemWhatIsDecidedMeanwhile(t *testing.T) {
	for _, o := range obstacles[4:] {
		for _, dismissed := range []bool{false, true} {
			store := &deciding{}
			a := &attempt{}
			a.shop = open(t, func(_ *shop, p *plan) {
				a.plan = p
				p.store = func(real ledger.Store) ledger.Store { store.Store = real; return store }
			})
			a.plan.Config.Ledger = store
			a.approver, a.with = a.reg, a.opened(sam)
			opening, err := a.desk.Open(t.Context(), "shop", a.with.Proposal, tina)
			require.NoError(t, err)
			a.tinas = opening.Redemption()
			decide := func() {
				if dismissed {
					require.NoError(t, a.desk.Dismiss(t.Context(), "shop", a.with.Proposal, carla, "no"))
				} else {
					_, err := a.desk.Approve(t.Context(), a.tinas)
					require.NoError(t, err)
				}
			}
			if o.code == ledger.BadToken || o.code == ledger.Unknown || o.name == "the definition changed" || o.name == "the target changed" {
				o.put(a)
				store.decide = decide
			} else {
				store.decide = func() { decide(); o.put(a) }
			}
			if dismissed {
				a.refused(a.redeem(), ledger.WasDismissed, "", o.name)
			} else {
				a.refused(a.redeem(), ledger.Spent, "executed", o.name)
			}
		}
	}
}

// Any token but the operator's own for this proposal is refused with the first reason that applies.
func TestRedeemTokens(t *testing.T) {
	other := func(change func(*token.Binding)) func(*attempt) token.Token {
		return func(a *attempt) token.Token {
			row := a.row(a.with.Proposal)
			b, err := registry.Binding(&row, sam, a.reg.Now())
			require.NoError(a.t, err)
			change(&b)
			signed, err := a.reg.Keys().Sign(b)
			require.NoError(a.t, err)
			return signed
		}
	}
	for _, c := range []struct {
		name   string
		token  func(*attempt) token.Token
		code   ledger.Code
		reason string
	}{
		{"the right one, signed again", other(func(*token.Binding) {}), ledger.Done, ""},
		{"none", func(*attempt) token.Token { return token.Token{} }, ledger.BadToken, "malformed"},
		{"text", func(*attempt) token.Token { tok, _ := token.Parse("yes"); return tok }, ledger.BadToken, "malformed"},
		{"one bit off", func(a *attempt) token.Token {
			text := []byte(a.with.Token.Reveal())
			if text[20]++; !strings.ContainsRune("BCDEFGHIJKLMNOPQRSTUVWXYZbcdefghijklmnopqrstuvwxyz123456789", rune(text[20])) {
				text[20] = 'A'
			}
			tok, _ := token.Parse(string(text))
			return tok
		}, ledger.BadToken, "bad_signature"},
		{"another scope", other(func(b *token.Binding) { b.Scope = "moon" }), ledger.BadToken, "bad_signature"},
		{"over already", other(func(b *token.Binding) { b.Issued, b.Expires = b.Issued.Add(-2*time.Second), b.Issued }), ledger.WasExpired, "expired"},
		{"not issued yet", other(func(b *token.Binding) { b.Issued = b.Issued.Add(time.Minute) }), ledger.WasExpired, "expired"},
		{"another tool", other(func(b *token.Binding) { b.Tool = "add_note" }), ledger.BadToken, "tool_mismatch"},
		{"another user", other(func(b *token.Binding) { b.User = "tina" }), ledger.BadToken, "user_mismatch"},
		{"another proposal", other(func(b *token.Binding) { b.Proposal[0]++ }), ledger.BadToken, "params_changed"},
		{"other parameters", other(func(b *token.Binding) { b.Params[0]++ }), ledger.BadToken, "params_changed"},
		{"another end", other(func(b *token.Binding) { b.Expires = b.Expires.Add(time.Second) }), ledger.BadToken, "params_changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAttempt(t)
			a.with.Token = c.token(a)
			err := a.redeem()
			if c.code == ledger.Done {
				require.NoError(t, err)
				return
			}
			a.refused(err, c.code, c.reason)
			require.Equal(t, ledger.Undecided, a.row(a.with.Proposal).Decision)
			for _, r := range a.trail(ledger.AuditQuery{}) {
				if text := a.with.Token.Reveal(); text != "" {
					require.NotContains(t, r.Error, text)
				}
			}
		})
	}
	a := newAttempt(t)
	a.with.Shown = canon.Hash{}
	a.refused(a.redeem(), ledger.BadToken, "params_changed")
}

// The end is exact: a microsecond before it counts, it itself does not, and nothing extends it.
func TestRedeemAtTheVeryEnd(t *testing.T) {
	for _, c := range []struct {
		early time.Duration
		code  ledger.Code
	}{{time.Second, ledger.Done}, {time.Microsecond, ledger.Done}, {0, ledger.WasExpired}, {-time.Microsecond, ledger.WasExpired}} {
		s := open(t)
		s.pass(300 * time.Millisecond)
		d := s.opened(sam)
		row := s.row(d.Proposal)
		require.Equal(t, row.ExpiresAt, row.ExpiresAt.Truncate(time.Second))
		require.LessOrEqual(t, row.ExpiresAt.Sub(row.CreatedAt), registry.DefaultLifetime)
		s.pass(row.ExpiresAt.Sub(s.reg.Now()) - c.early)
		_, err := s.desk.Approve(t.Context(), d)
		require.Equal(t, c.code, registry.CodeOf(err), c.early)
		require.Equal(t, c.code == ledger.Done, s.effects.Load() == 1)
	}
}
