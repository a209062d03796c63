package approval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// revise replaces the parameters of a proposal.
func (o *office) revise(t *testing.T, id string, person authz.Person, order string, cents int) (approval.Proposed, error) {
	t.Helper()
	return o.desk.Revise(t.Context(), scope, id, person, params(order, cents))
}

// A revision puts the old proposal away and a new one in its place, in one step: other parameters, another
// hash, the same requester, and a token only of its own.
func TestRevise(t *testing.T) {
	o := openOffice(t, nil)
	old := o.propose(t, ann, "refund", "a1", 500).Proposal
	kept := o.open(t, old.ID, sue).Redemption()
	next, err := o.revise(t, old.ID, sam, "a2", 300)
	require.NoError(t, err)

	was := o.row(t, old.ID)
	require.Equal(t, ledger.StateDismissed, was.State(o.now()))
	require.Equal(t, "superseded by "+next.Proposal.ID, was.Note)
	require.Equal(t, sam.ID(), was.DecidedBy)
	require.Equal(t, []string{"proposed needs_approval ", "dismissed dismissed sam"}, o.events(t, old.ID))

	p := next.Proposal
	require.Equal(t, o.row(t, p.ID), p)
	require.Equal(t, old.ID, p.Supersedes)
	require.Equal(t, old.Session, p.Session)
	require.Equal(t, []authz.ID{"sam"}, p.RevisedBy)
	require.Equal(t, `{"cents":300,"order":"a2"}`, p.Params.String())
	require.NotEqual(t, old.Params.Hash(), p.Params.Hash())
	require.Equal(t, []authz.Path{authz.MustPath("/customers/ann/a2")}, p.Targets)
	require.Equal(t, []string{"proposed needs_approval sam"}, o.events(t, p.ID))
	require.Equal(t, "waiting", o.status(t, sessionFor(t, ann), p.ID).Status, "the revision is the model's own, too")

	_, err = o.desk.Approve(t.Context(), kept)
	requireRefused(t, ledger.WasDismissed, err)
	kept.Proposal = p.ID
	_, err = o.desk.Approve(t.Context(), kept)
	requireRefused(t, ledger.BadToken, err)
	kept.Shown = p.Params.Hash()
	_, err = o.desk.Approve(t.Context(), kept)
	requireRefused(t, ledger.BadToken, err)
	require.Zero(t, o.runs.Load())

	res, err := o.desk.Approve(t.Context(), registry.Redemption{
		Scope: scope, Proposal: p.ID, Operator: sam, Token: next.Token, Shown: p.Params.Hash(),
	})
	require.NoError(t, err)
	require.Equal(t, "300", string(res.JSON))
}

// Everything is checked anew: the new parameters, their targets for the requester and for the reviser, and
// whether the action is still there. Nothing is changed by a revision that is refused.
func TestReviseRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		person  authz.Person
		order   string
		cents   int
		code    ledger.Code
		prepare func(*testing.T, *office, string)
	}{
		{"invalid parameters", sam, "a1", 0, ledger.Invalid, nil},
		{"a record that does not exist", sam, "none", 5, ledger.Forbidden, nil},
		{"beyond the principal's records", sam, "b1", 5, ledger.Forbidden, nil},
		{"beyond the reviser's rights", sam, "a2", 5, ledger.Forbidden, func(t *testing.T, o *office, _ string) {
			o.edit(t, "sam", func(_ *authz.Facts, a *authz.Actor) {
				a.Overrides = []authz.Override{{At: authz.MustPath("/customers/ann/a2"), Effect: authz.Deny, Of: []authz.Permission{authz.Every}}}
			})
		}},
		{"beyond the model's rights", sam, "a2", 5, ledger.Forbidden, func(t *testing.T, o *office, _ string) {
			o.edit(t, "assistant", func(_ *authz.Facts, a *authz.Actor) {
				a.Overrides = []authz.Override{{At: authz.MustPath("/customers/ann/a2"), Effect: authz.Deny, Of: []authz.Permission{authz.Every}}}
			})
		}},
		{"by who only oversees", audra, "a1", 6, ledger.Forbidden, nil},
		{"by a stranger", bob, "a1", 6, ledger.Unknown, nil},
		{"after the end", sam, "a1", 6, ledger.WasExpired, func(_ *testing.T, o *office, _ string) { o.pass(registry.DefaultLifetime) }},
		{"after a no", sam, "a1", 6, ledger.WasDismissed, func(t *testing.T, o *office, id string) {
			require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, ann, "no"))
		}},
		{"after the run", sam, "a1", 6, ledger.Spent, func(t *testing.T, o *office, id string) {
			require.NoError(t, o.approve(t, id, sue))
		}},
		{"when the tool was disabled", sam, "a1", 6, ledger.Unavailable, func(t *testing.T, o *office, _ string) {
			o.edit(t, "sam", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"refund"} })
		}},
		{"when the principal may no longer ask", sam, "a1", 6, ledger.Forbidden, func(t *testing.T, o *office, _ string) {
			o.edit(t, "ann", func(_ *authz.Facts, a *authz.Actor) { a.Overrides = nil })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOffice(t, nil)
			id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
			if test.prepare != nil {
				test.prepare(t, o, id)
			}
			before := o.row(t, id)
			p, err := o.revise(t, id, test.person, test.order, test.cents)
			requireRefused(t, test.code, err)
			require.Equal(t, approval.Proposed{}, p)
			require.Equal(t, before, o.row(t, id))
			rows, err := o.book.Proposals(t.Context(), ledger.Query{Scope: scope})
			require.NoError(t, err)
			require.Len(t, rows, 1)
		})
	}
}

// Who may only ask may revise what was asked in their name, and is no nearer to approving it.
func TestThePrincipalRevises(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 500).Proposal.ID
	p, err := o.revise(t, id, ann, "a1", 300)
	require.NoError(t, err)
	require.True(t, p.Token.IsZero())
	require.Equal(t, []authz.ID{"ann"}, p.Proposal.RevisedBy)
	require.NoError(t, o.approve(t, p.Proposal.ID, sam))
}

// Revisions form a chain: each knows the one before and everybody who had a hand in it; only the last is open.
func TestAChainOfRevisions(t *testing.T) {
	o := openOffice(t, func(c *registry.Config) { c.Limits = &ledger.Limits{Session: 1} })
	id := o.propose(t, ann, "pay", "a1", 1).Proposal.ID
	chain := []string{id}
	for i, person := range []authz.Person{sam, ann, sam} {
		p, err := o.revise(t, id, person, "a1", 2+i)
		require.NoError(t, err, "its predecessor takes no place")
		require.Equal(t, id, p.Proposal.Supersedes)
		id = p.Proposal.ID
		chain = append(chain, id)
	}
	require.Equal(t, []authz.ID{"sam", "ann", "sam"}, o.row(t, id).RevisedBy)
	for _, old := range chain[:3] {
		_, err := o.revise(t, old, sam, "a1", 9)
		requireRefused(t, ledger.WasDismissed, err)
		requireRefused(t, ledger.WasDismissed, o.open(t, old, sue).Refusal)
	}
	require.NoError(t, o.approve(t, id, sue))
	require.EqualValues(t, 1, o.runs.Load())
}

// A revision lives as long as a proposal made at that moment, and its predecessor's end does not matter.
func TestARevisionHasItsOwnEnd(t *testing.T) {
	o := openOffice(t, nil)
	old := o.propose(t, ann, "refund", "a1", 5).Proposal
	o.pass(registry.DefaultLifetime / 2)
	p, err := o.revise(t, old.ID, sam, "a1", 6)
	require.NoError(t, err)
	require.Equal(t, old.ExpiresAt.Add(registry.DefaultLifetime/2), p.Proposal.ExpiresAt)
	o.pass(old.ExpiresAt.Sub(o.now()))
	require.NoError(t, o.approve(t, p.Proposal.ID, sam))
}
