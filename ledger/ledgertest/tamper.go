package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Tamperer is what a store may offer beside [ledger.Store], so that tests can change a stored row behind the
// ledger's back. The error is [ledger.ErrNotFound] for a row that does not exist.
type Tamperer interface {
	Tamper(scope authz.Scope, id string, change func(*ledger.Proposal)) error
}

// standsTampering turns decided rows back to undecided, as somebody with access to a database could.
func standsTampering(t *suite) {
	won := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	no := t.dismiss(t.fresh(entry(2), "the second"), At(time.Minute))
	old := t.fresh(entry(3), "the third")
	_, err := t.store.Revise(t.Context(), NewRevision(old, 4, At(time.Minute)))
	require.NoError(t, err, "Revise")
	for _, p := range []ledger.Proposal{won, no, old} {
		err := t.store.(Tamperer).Tamper(shop, p.ID, func(row *ledger.Proposal) {
			row.Decision, row.DecidedBy, row.DecidedAt = ledger.Undecided, "", time.Time{}
			row.Note, row.Claim, row.RunBy = "", "", time.Time{}
		})
		require.NoError(t, err, "Tamper")
		row := t.get(p)
		require.Equal(t, ledger.StateProposed, row.State(At(time.Minute)), "the row says that it is open")
		for _, claim := range []string{"claim-9", "claim-1"} {
			for _, m := range t.changes(claim)[:3] {
				t.conflict(row, m.name+" of what was decided before, whatever the row says", func(ctx context.Context) (ledger.Proposal, error) {
					return m.do(ctx, row)
				})
			}
		}
	}
	require.ErrorIs(t, t.store.(Tamperer).Tamper(shop, "no such id", func(*ledger.Proposal) {}), ledger.ErrNotFound, "Tamper with an unknown row")
}
