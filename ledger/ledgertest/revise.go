package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

func revises(t *suite) {
	old := t.fresh(entry(1), "the first")
	at := old.ExpiresAt // a late revision is one too, as a late no is a no
	r := NewRevision(old, 2, at)
	next, err := t.store.Revise(t.Context(), r)
	require.NoError(t, err, "Revise of an undecided proposal")
	t.same(r.Entry.Proposal, next, "Revise must return the successor")
	t.same(r.Entry.Proposal, t.get(next), "the successor must be stored")
	old.Decision, old.DecidedBy, old.DecidedAt, old.Note = ledger.Dismissed, "sam", at, r.Dismissal.Note
	t.same(old, t.get(old), "the predecessor must be dismissed")
	require.Equal(t, []ledger.Event{ledger.EventDismissed, ledger.EventProposed}, t.events(old), "the predecessor's records")
	require.Equal(t, []ledger.Event{ledger.EventProposed}, t.events(next), "the successor's record")
	trail := t.audit(ledger.AuditQuery{Scope: shop})
	require.Equal(t, []string{old.ID, next.ID}, []string{trail[1].Proposal, trail[2].Proposal}, "the dismissal is recorded before the successor")
	t.claim(next, "claim-1", at)
}

func revisesUndecidedOnly(t *suite) {
	revise := func(p ledger.Proposal) func(context.Context) (ledger.Proposal, error) {
		return func(ctx context.Context) (ledger.Proposal, error) {
			return t.store.Revise(ctx, NewRevision(p, 9, At(time.Minute)))
		}
	}
	no := t.dismiss(t.fresh(entry(1), "the first"), At(time.Minute))
	t.conflict(no, "Revise of a dismissed proposal", revise(no))
	won := t.claim(t.fresh(entry(2), "the second"), "claim-1", At(time.Minute))
	t.conflict(won, "Revise of a claimed proposal", revise(won))
	missing := entry(3).Proposal
	t.refused(ledger.ErrNotFound, "Revise of an unknown proposal", func(ctx context.Context) error {
		_, err := revise(missing)(ctx)
		return err
	})
}

func revisesWithinLimits(t *suite) {
	l := ledger.Limits{Session: 1, Principal: 1, Scope: 1}
	old := t.fresh(limited(l, entry(1)), "the only one")
	r := NewRevision(old, 2, At(time.Minute))
	r.Entry.Limits = l
	next, err := t.store.Revise(t.Context(), r)
	require.NoError(t, err, "a successor takes the room of its predecessor")
	e := limited(ledger.Limits{Scope: 1}, entry(3))
	t.limited("scope", e, "the successor counts")
	t.dismiss(next, At(time.Minute))
	t.fresh(e, "nothing is open")
}

func revisesAllOrNothing(t *suite) {
	old := t.fresh(entry(1), "the first")
	t.fresh(entry(2), "the second")
	r := NewRevision(old, 3, At(time.Minute))
	r.Entry.Limits = ledger.Limits{Principal: 1}
	t.refused(ledger.ErrLimit, "the second fills the limit", func(ctx context.Context) error {
		_, err := t.store.Revise(ctx, r)
		t.limitError(err, "principal", "Revise")
		return err
	})
	t.limited("scope", limited(ledger.Limits{Scope: 2}, entry(4)), "the predecessor is open and counts")
	t.same(old, t.propose(twin(5)), "the predecessor is open and is returned")
	t.claim(old, "claim-1", At(time.Minute))
}

func revisesWithoutCollapse(t *suite) {
	old, same := t.fresh(entry(1), "the first"), t.fresh(entry(2), "the second")
	r := NewRevision(old, 3, At(time.Minute))
	r.Entry.Proposal.Params = same.Params
	next, err := t.store.Revise(t.Context(), r)
	require.NoError(t, err, "Revise to what is open already")
	require.Equal(t, r.Entry.Proposal.ID, next.ID, "Revise must insert the successor, although an identical proposal is open")
	t.same(r.Entry.Proposal, t.get(next), "the successor must be stored")
}
