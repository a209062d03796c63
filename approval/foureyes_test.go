package approval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Under four eyes nobody behind the request may approve it: not in whose name it was asked, not who revised
// it, and not with a token that the keys' holder made for them.
func TestFourEyes(t *testing.T) {
	o := openOffice(t, nil)
	mine := func(id string, person authz.Person) error {
		row := o.row(t, id)
		b, err := registry.Binding(&row, person, o.now())
		require.NoError(t, err)
		forged, err := o.reg.Keys().Sign(b)
		require.NoError(t, err)
		_, err = o.desk.Approve(t.Context(), registry.Redemption{
			Scope: scope, Proposal: id, Operator: person, Token: forged, Shown: row.Params.Hash(),
		})
		return err
	}
	refused := func(id string, person authz.Person) {
		t.Helper()
		opening := o.open(t, id, person)
		require.Equal(t, string(authz.ReasonSamePerson), requireRefused(t, ledger.Forbidden, opening.Refusal).Reason)
		require.Equal(t, string(authz.ReasonSamePerson), requireRefused(t, ledger.Forbidden, mine(id, person)).Reason)
	}

	id := o.propose(t, sam, "pay", "a1", 5).Proposal.ID
	refused(id, sam)
	revised, err := o.desk.Revise(t.Context(), scope, id, sue, params("a1", 6))
	require.NoError(t, err)
	require.Equal(t, token.Token{}, revised.Token)
	refused(revised.Proposal.ID, sam)
	refused(revised.Proposal.ID, sue)
	require.Zero(t, o.runs.Load())

	o.edit(t, "stan", func(_ *authz.Facts, a *authz.Actor) { a.Roles = []string{"staff"} })
	require.NoError(t, o.approve(t, revised.Proposal.ID, stan))
	require.EqualValues(t, 1, o.runs.Load())
}

// Without four eyes the same people may.
func TestTwoEyes(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, sam, "refund", "a1", 5).Proposal.ID
	revised, err := o.desk.Revise(t.Context(), scope, id, sue, params("a1", 6))
	require.NoError(t, err)
	require.False(t, revised.Token.IsZero())
	require.NoError(t, o.approve(t, revised.Proposal.ID, sam))
}

// Nobody stands behind a background model, so whoever may perform the action may approve it.
func TestFourEyesInTheBackground(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, authz.Person{}, "pay", "a1", 5).Proposal.ID
	requireRefused(t, ledger.Forbidden, o.open(t, id, audra).Refusal)
	require.NoError(t, o.approve(t, id, sam))
}
