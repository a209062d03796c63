package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

func (t *suite) finishing(f ledger.Finish) func(context.Context) error {
	return func(ctx context.Context) error { return t.store.Finish(ctx, f) }
}

func (t *suite) verifying(v ledger.Verification) func(context.Context) error {
	return func(ctx context.Context) error { return t.store.Verify(ctx, v) }
}

func (t *suite) dismissing(d ledger.Dismissal) func(context.Context) (ledger.Proposal, error) {
	return func(ctx context.Context) (ledger.Proposal, error) { return t.store.Dismiss(ctx, d) }
}

func finishes(t *suite) {
	p := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	f := NewFinish(p, At(2*time.Minute))
	f.VerifyAt = At(time.Hour)
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish of a claimed run")
	p.Outcome, p.FinishedAt, p.Result, p.VerifyAt = f.Outcome, f.At, f.Result, f.VerifyAt
	t.same(p, t.get(p), "the outcome must be stored")
	require.Equal(t, []ledger.Event{ledger.EventFinished, ledger.EventProposed, ledger.EventStarted}, t.events(p), "the finished record")
}

func finishesOwnClaim(t *suite) {
	open := t.fresh(entry(1), "the first")
	t.refused(ledger.ErrConflict, "Finish of an open proposal", t.finishing(NewFinish(open, At(time.Minute))))
	f := NewFinish(open, At(time.Minute))
	f.Claim = "claim-1"
	t.refused(ledger.ErrConflict, "Finish of an open proposal by a claim that it does not have", t.finishing(f))
	no := t.dismiss(t.fresh(entry(2), "the second"), At(time.Minute))
	t.refused(ledger.ErrConflict, "Finish of a dismissed proposal", t.finishing(NewFinish(no, At(time.Minute))))
	won := t.claim(open, "claim-1", At(time.Minute))
	f = NewFinish(won, At(time.Minute))
	for _, id := range []string{"", "claim-2", "Claim-1", "claim-1 "} {
		f.Claim = id
		t.refused(ledger.ErrConflict, "Finish by another claim, "+id, t.finishing(f))
	}
	t.refused(ledger.ErrNotFound, "Finish of an unknown proposal", t.finishing(NewFinish(entry(3).Proposal, At(time.Minute))))
	f = NewFinish(won, At(time.Minute))
	f.Outcome = ledger.Running
	t.refused(ledger.ErrConflict, "Finish without an outcome", t.finishing(f))
}

func finishesOnce(t *suite) {
	p := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	errs := make([]error, 8)
	race(len(errs), func(i int) {
		f := NewFinish(p, At(time.Minute))
		if i%2 == 0 {
			f.Outcome = ledger.Failed
		}
		errs[i] = t.store.Finish(t.Context(), f)
	})
	t.one(errs, "Finish")
	t.refused(ledger.ErrConflict, "Finish of a finished run", t.finishing(NewFinish(p, At(2*time.Minute))))
	require.Equal(t, []ledger.Event{ledger.EventFinished, ledger.EventProposed, ledger.EventStarted}, t.events(p), "one finished record")
}

// one makes sure that one of several changes was applied and that the others were conflicts.
func (t *suite) one(errs []error, what string) {
	t.Helper()
	var applied int
	for _, err := range errs {
		if err == nil {
			applied++
		} else {
			require.ErrorIs(t, err, ledger.ErrConflict, "a %s that loses a race must get a conflict", what)
		}
	}
	require.Equal(t, 1, applied, "exactly one %s must be applied", what)
}

func finishesLate(t *suite) {
	p := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	late := p.RunBy.Add(time.Hour)
	require.Equal(t, ledger.StateInterrupted, p.State(late), "the run is interrupted by now")
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(p, late)), "what is known late is known")
	got := t.get(p)
	require.Equal(t, ledger.Succeeded, got.Outcome, "a late outcome must be stored")
	require.Equal(t, late, got.FinishedAt, "a late outcome must be stored with its time")

	judged := t.claim(t.fresh(entry(2), "the second"), "claim-2", At(time.Minute))
	v := NewVerification(judged, late)
	v.Verdict, v.Measured, v.Why = ledger.Unmeasured, nil, "the run was interrupted"
	require.NoError(t, t.store.Verify(t.Context(), v), "Verify of an interrupted run")
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(judged, late)), "what is known after the verdict is known")
	got = t.get(judged)
	require.Equal(t, ledger.Succeeded, got.Outcome, "an outcome after the verdict must be stored")
	require.Equal(t, "the run was interrupted", got.Unmeasured, "the verdict's reason must stand")
}

func dismisses(t *suite) {
	p := t.fresh(entry(1), "the first")
	d := NewDismissal(p, At(time.Minute))
	got, err := t.store.Dismiss(t.Context(), d)
	require.NoError(t, err, "Dismiss of an open proposal")
	p.Decision, p.DecidedBy, p.DecidedAt, p.Note = ledger.Dismissed, d.By, d.At, d.Note
	t.same(p, got, "Dismiss must return the dismissed proposal")
	t.same(p, t.get(p), "the dismissal must be stored")
	require.Equal(t, []ledger.Event{ledger.EventDismissed, ledger.EventProposed}, t.events(p), "the dismissed record")
}

func dismissesExpired(t *suite) {
	p := t.fresh(entry(1), "the first")
	got := t.dismiss(p, p.ExpiresAt.Add(time.Hour))
	require.Equal(t, ledger.Dismissed, got.Decision, "a late no is a no")
	require.Equal(t, p.ExpiresAt.Add(time.Hour), t.get(p).DecidedAt, "a late no must be stored with its time")
}

func dismissesUndecidedOnly(t *suite) {
	no := t.dismiss(t.fresh(entry(1), "the first"), At(time.Minute))
	again := NewDismissal(no, At(2*time.Minute))
	again.By, again.Note = "eve", "another reason"
	t.conflict(no, "Dismiss of a dismissed proposal", t.dismissing(again))
	won := t.claim(t.fresh(entry(2), "the second"), "claim-1", At(time.Minute))
	t.conflict(won, "Dismiss of a claimed proposal", t.dismissing(NewDismissal(won, At(2*time.Minute))))
	t.refused(ledger.ErrNotFound, "Dismiss of an unknown proposal", func(ctx context.Context) error {
		_, err := t.store.Dismiss(ctx, NewDismissal(entry(3).Proposal, At(time.Minute)))
		return err
	})
}

func verifies(t *suite) {
	p := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	f := NewFinish(p, At(time.Minute))
	f.Unmeasured = "the measure failed"
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	p = t.get(p)
	v := NewVerification(p, At(time.Hour))
	require.NoError(t, t.store.Verify(t.Context(), v), "Verify of a finished run")
	p.Verdict, p.Measured, p.VerifiedAt = v.Verdict, v.Measured, v.At
	t.same(p, t.get(p), "the verdict must be stored, and a reason given before must stay")
	events := []ledger.Event{ledger.EventFinished, ledger.EventProposed, ledger.EventStarted, ledger.EventVerified}
	require.Equal(t, events, t.events(p), "the verified record")

	lost := t.claim(t.fresh(entry(2), "the second"), "claim-2", At(time.Minute))
	v = NewVerification(lost, At(time.Hour))
	v.Verdict, v.Measured, v.Why = ledger.Unmeasured, nil, "the run was interrupted"
	require.NoError(t, t.store.Verify(t.Context(), v), "Verify of an interrupted run")
	lost.Verdict, lost.Unmeasured, lost.VerifiedAt = ledger.Unmeasured, v.Why, v.At
	t.same(lost, t.get(lost), "why there is nothing to compare must be stored")
}

func verifiesOnce(t *suite) {
	p := t.fresh(entry(1), "the first")
	t.refused(ledger.ErrConflict, "Verify of an open proposal", t.verifying(NewVerification(p, At(time.Minute))))
	no := t.dismiss(t.fresh(entry(2), "the second"), At(time.Minute))
	t.refused(ledger.ErrConflict, "Verify of a dismissed proposal", t.verifying(NewVerification(no, At(time.Minute))))
	t.refused(ledger.ErrNotFound, "Verify of an unknown proposal", t.verifying(NewVerification(entry(3).Proposal, At(time.Minute))))
	t.claim(p, "claim-1", At(time.Minute))
	v := NewVerification(p, At(time.Minute))
	v.Verdict = ledger.Unverified
	t.refused(ledger.ErrConflict, "Verify without a verdict", t.verifying(v))
	errs := make([]error, 8)
	race(len(errs), func(i int) {
		v := NewVerification(p, At(time.Hour))
		v.Verdict = []ledger.Verdict{ledger.Improved, ledger.Worsened}[i%2]
		errs[i] = t.store.Verify(t.Context(), v)
	})
	t.one(errs, "verdict")
	t.refused(ledger.ErrConflict, "Verify of a verified proposal", t.verifying(NewVerification(p, At(2*time.Hour))))
}
