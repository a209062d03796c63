package approval_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// Who may approve gets a token, who is involved or oversees may look, and for everybody else the proposal is
// as unknown as one that never was.
func TestWhoOpensWhat(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	for _, test := range []struct {
		person  authz.Person
		refusal ledger.Code
		dismiss bool
	}{
		{sam, ledger.Done, true},
		{sue, ledger.Done, true},
		{ann, ledger.Forbidden, true}, // it is hers to withdraw
		{audra, ledger.Forbidden, false},
	} {
		opening := o.open(t, id, test.person)
		require.Equal(t, test.refusal, registry.CodeOf(opening.Refusal), test.person.ID())
		require.Equal(t, test.dismiss, opening.Dismiss, test.person.ID())
		require.Equal(t, ledger.StateProposed, opening.State)
		require.Equal(t, o.row(t, id), opening.Proposal)
		require.Equal(t, registry.Card{
			Title: "Title of refund", Sentence: `Pay 5 cents for "a1".`, Risk: registry.RiskHigh, Reach: "one order", Undo: "none",
		}, opening.Card)
		if test.refusal != ledger.Done {
			_, err := o.desk.Approve(t.Context(), opening.Redemption())
			require.Error(t, err)
			requireRefused(t, ledger.BadToken, err) // no token at all
		}
	}
	for _, person := range []authz.Person{bob, stan} {
		_, known := o.desk.Open(t.Context(), scope, id, person)
		_, random := o.desk.Open(t.Context(), scope, absent, person)
		requireRefused(t, ledger.Unknown, known)
		require.Equal(t, random, known, "an existing proposal answers differently from a made-up id")
	}
	require.Zero(t, o.runs.Load())
}

// Who is not a person of this scope, by the facts of this moment, opens nothing: neither what is there nor
// what is not.
func TestNobodyOpensAnything(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, sam, "refund", "a1", 5).Proposal.ID
	o.edit(t, "sue", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	for name, person := range map[string]authz.Person{
		"nobody": {}, "unknown": authz.LoggedIn("mallory"), "inactive": sue, "a model": authz.LoggedIn("assistant"),
	} {
		_, known := o.desk.Open(t.Context(), scope, id, person)
		_, random := o.desk.Open(t.Context(), scope, absent, person)
		requireRefused(t, ledger.Forbidden, known)
		require.Equal(t, random, known, name)
		requireRefused(t, ledger.Forbidden, o.desk.Dismiss(t.Context(), scope, id, person, "no"))
		_, err := o.desk.Revise(t.Context(), scope, id, person, params("a1", 6))
		requireRefused(t, ledger.Forbidden, err)
	}
	_, err := o.desk.Open(t.Context(), "elsewhere", id, sam)
	requireRefused(t, ledger.Unavailable, err)
	require.NoError(t, o.people.Set("elsewhere", facts()))
	_, err = o.desk.Open(t.Context(), "elsewhere", id, sam)
	requireRefused(t, ledger.Unknown, err)
	require.Equal(t, ledger.Undecided, o.row(t, id).Decision)
}

// A token is one person's, for one proposal and what they saw.
func TestATokenIsForOnePersonAndOneProposal(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	other := o.propose(t, ann, "refund", "a1", 6).Proposal.ID
	good, others := o.open(t, id, sam).Redemption(), o.open(t, other, sam).Redemption()
	for name, bend := range map[string]func(*registry.Redemption){
		"another operator":       func(r *registry.Redemption) { r.Operator = sue },
		"another proposal":       func(r *registry.Redemption) { r.Proposal = other },
		"another token":          func(r *registry.Redemption) { r.Token = others.Token },
		"other parameters shown": func(r *registry.Redemption) { r.Shown = others.Shown },
		"nothing shown":          func(r *registry.Redemption) { r.Shown = canon.Hash{} },
	} {
		r := good
		bend(&r)
		_, err := o.desk.Approve(t.Context(), r)
		require.Error(t, err, name)
		requireRefused(t, ledger.BadToken, err)
	}
	require.Zero(t, o.runs.Load())
	_, err := o.desk.Approve(t.Context(), good)
	require.NoError(t, err)
	_, err = o.desk.Approve(t.Context(), good)
	spent := requireRefused(t, ledger.Spent, err)
	require.Equal(t, ledger.Succeeded, spent.Proposal.Outcome)
	require.EqualValues(t, 1, o.runs.Load())
}

// What changed between asking and opening is in the refusal, and there is no token. Looking stays possible,
// and so does saying no.
func TestOpeningWhatCanNoLongerBeApproved(t *testing.T) {
	for _, test := range []struct {
		name   string
		code   ledger.Code
		change func(*office)
	}{
		{"the tool was disabled", ledger.Unavailable, func(o *office) {
			o.edit(t, "sam", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"refund"} })
		}},
		{"the ceiling dropped", ledger.Unavailable, func(o *office) {
			o.edit(t, "sam", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Ceiling = authz.Read })
		}},
		{"the model was deactivated", ledger.Unavailable, func(o *office) {
			o.edit(t, "assistant", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
		}},
		{"the customer may no longer ask", ledger.Forbidden, func(o *office) {
			o.edit(t, "ann", func(_ *authz.Facts, a *authz.Actor) { a.Overrides = nil })
		}},
		{"the target changed", ledger.Stale, func(o *office) { o.version = func() string { return "2" } }},
		{"the definition changed", ledger.Stale, func(o *office) {
			o.rebuild(t, func(c *registry.Config) { c.Actions = o.actions("2") })
		}},
		{"it expired", ledger.WasExpired, func(o *office) { o.pass(registry.DefaultLifetime) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOffice(t, nil)
			id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
			before := o.open(t, id, sam).Redemption()
			test.change(o)
			opening := o.open(t, id, sam)
			requireRefused(t, test.code, opening.Refusal)
			require.Equal(t, `Pay 5 cents for "a1".`, opening.Card.Sentence)
			_, err := o.desk.Approve(t.Context(), before)
			requireRefused(t, test.code, err)
			require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, "overtaken"))
			require.Zero(t, o.runs.Load())
		})
	}
}

// An action that is gone leaves proposals that can be looked at and put away, and nothing else.
func TestOpeningWhatNoActionStandsFor(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	o.rebuild(t, func(c *registry.Config) {
		c.Actions, c.ProposeOnly = c.Actions[2:], []authz.Permission{"payments:edit"}
		c.Roles[0].Permissions = []authz.Permission{"payments:edit", "labels:edit"}
	})
	o.edit(t, "ann", func(_ *authz.Facts, a *authz.Actor) { a.Overrides = nil })
	opening := o.open(t, id, ann)
	requireRefused(t, ledger.Unknown, opening.Refusal)
	require.Equal(t, registry.Card{}, opening.Card)
	_, err := o.desk.Open(t.Context(), scope, id, sam)
	requireRefused(t, ledger.Unknown, err)
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, audra, "nobody else is left"))
}

// Whoever changes a row behind the ledger's back finds that nothing believes it any more.
func TestATamperedProposal(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	good := o.open(t, id, sam).Redemption()
	require.NoError(t, o.book.Tamper(scope, id, func(p *ledger.Proposal) { p.ExpiresAt = p.ExpiresAt.Add(time.Hour) }))
	_, err := o.desk.Open(t.Context(), scope, id, sam)
	requireRefused(t, ledger.Tampered, err)
	_, err = o.desk.Approve(t.Context(), good)
	requireRefused(t, ledger.Tampered, err)
	requireRefused(t, ledger.Tampered, o.desk.Dismiss(t.Context(), scope, id, sam, "no"))
	_, err = o.desk.Revise(t.Context(), scope, id, sam, params("a1", 6))
	requireRefused(t, ledger.Tampered, err)
	list, err := o.desk.Pending(t.Context(), scope, sam, ledger.Cursor{})
	require.NoError(t, err)
	require.Empty(t, list)
}

// A ledger that does not answer decides nothing, and every error has its type.
func TestALedgerThatFails(t *testing.T) {
	for _, method := range []string{"Proposal", "Propose", "Dismiss", "Revise", "Claim", "Proposals"} {
		var store *ledgertest.Faulty
		o := openOffice(t, func(c *registry.Config) {
			store = ledgertest.NewFaulty(c.Ledger)
			c.Ledger = store
		})
		id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
		redemption := o.open(t, id, sam).Redemption()
		store.Inject(ledgertest.Fault{Method: method})
		lost := map[bool]ledger.Code{true: ledger.RunFailed, false: ledger.Unrecorded}[method == "Proposal"]
		for what, try := range map[string]func(context.Context) error{
			"Dismiss": func(ctx context.Context) error { return o.desk.Dismiss(ctx, scope, id, sam, "no") },
			"Revise": func(ctx context.Context) error {
				_, err := o.desk.Revise(ctx, scope, id, sam, params("a1", 6))
				return err
			},
			"Claim": func(ctx context.Context) error { _, err := o.desk.Approve(ctx, redemption); return err },
		} {
			if method == "Proposal" || method == what {
				requireRefused(t, lost, try(t.Context()))
			}
		}
		if method == "Proposals" {
			list, err := o.desk.Pending(t.Context(), scope, sam, ledger.Cursor{})
			requireRefused(t, ledger.RunFailed, err)
			require.Nil(t, list)
		}
		store.Heal()
		require.Equal(t, ledger.StateProposed, o.open(t, id, sam).State, method)
		require.Zero(t, o.runs.Load())
	}
}
