package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

func (t *suite) claiming(c ledger.Claim) func(context.Context) (ledger.Proposal, error) {
	return func(ctx context.Context) (ledger.Proposal, error) { return t.store.Claim(ctx, c) }
}

func claims(t *suite) {
	p := t.fresh(entry(1), "the first")
	c := NewClaim(p, "claim-1", At(time.Minute))
	got, err := t.store.Claim(t.Context(), c)
	require.NoError(t, err, "Claim of an open proposal")
	p.Decision, p.DecidedBy, p.DecidedAt, p.Claim, p.RunBy = ledger.Claimed, c.By, c.At, c.ID, c.RunBy
	t.same(p, got, "Claim must return the claimed proposal")
	t.same(p, t.get(p), "the claim must be stored")
	trail := t.audit(ledger.AuditQuery{Scope: shop, Proposal: p.ID, Event: ledger.EventStarted})
	require.Len(t, trail, 1, "a claim must have its started record")
	c.Record.Seq = trail[0].Seq
	require.Equal(t, flattenRecord(c.Record), flattenRecord(trail[0]), "the started record must be the claim's")
	t.refused(ledger.ErrNotFound, "Claim of an unknown proposal", func(ctx context.Context) error {
		_, err := t.store.Claim(ctx, NewClaim(entry(2).Proposal, "claim-2", At(time.Minute)))
		return err
	})
}

func claimsOnce(t *suite) {
	const n, rounds = 64, 4
	for round := range rounds {
		p := t.fresh(entry(round+1), "another round")
		rows, errs := make([]ledger.Proposal, n), make([]error, n)
		race(n, func(i int) {
			rows[i], errs[i] = t.store.Claim(t.Context(), NewClaim(p, fmt.Sprint("claim-", round, "-", i), At(time.Minute)))
		})
		var winners []string
		for i, err := range errs {
			if err == nil {
				winners = append(winners, fmt.Sprint("claim-", round, "-", i))
			} else {
				require.ErrorIs(t, err, ledger.ErrConflict, "who loses a race must get a conflict")
			}
		}
		require.Len(t, winners, 1, "of %d racing claims exactly one must be applied", n)
		final := t.get(p)
		require.Equal(t, winners[0], final.Claim, "the row must name the claim that was applied")
		for _, row := range rows {
			t.same(final, row, "every claim must be answered with the row as it stands, the winner's claim in it")
		}
		require.Equal(t, []ledger.Event{ledger.EventProposed, ledger.EventStarted}, t.events(p), "one started record")
	}
}

func claimsUntilExpiry(t *suite) {
	first, second := t.fresh(entry(1), "the first"), t.fresh(entry(2), "the second")
	for _, at := range []time.Time{first.ExpiresAt, first.ExpiresAt.Add(time.Microsecond), first.ExpiresAt.Add(time.Hour)} {
		t.conflict(first, "Claim of an expired proposal at "+at.Format(time.TimeOnly+".000000"), t.claiming(NewClaim(first, "claim-1", at)))
	}
	t.claim(second, "claim-2", second.ExpiresAt.Add(-time.Microsecond))
	t.claim(first, "claim-3", first.ExpiresAt.Add(-time.Microsecond)) // on a clock that is behind
}

func claimsAgain(t *suite) {
	p := t.fresh(entry(1), "the first")
	c := NewClaim(p, "claim-1", At(time.Minute))
	first := t.claim(p, c.ID, c.At)
	before := t.world()
	for _, at := range []time.Time{c.At, c.At.Add(time.Second), p.ExpiresAt} {
		got, err := t.store.Claim(t.Context(), NewClaim(p, c.ID, at))
		require.NoError(t, err, "the claim that was applied must be answered as applied when it is asked again")
		t.same(first, got, "the answer must be the row as it was claimed")
	}
	require.Equal(t, before, t.world(), "the claim that was applied must change nothing when it is asked again")
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(first, At(time.Minute))), "Finish")
	got, err := t.store.Claim(t.Context(), c)
	require.NoError(t, err, "after the run too the claim that was applied must be answered as applied")
	t.same(t.get(p), got, "the answer must be the row as it stands")
}

func claimsUndecidedOnly(t *suite) {
	won := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	t.conflict(won, "Claim of a claimed proposal", t.claiming(NewClaim(won, "claim-2", At(time.Minute))))
	t.conflict(won, "Claim of a claimed proposal, by a claim id that differs by case", t.claiming(NewClaim(won, "Claim-1", At(time.Minute))))
	no := t.dismiss(t.fresh(entry(2), "the second"), At(time.Minute))
	t.conflict(no, "Claim of a dismissed proposal", t.claiming(NewClaim(no, "claim-3", At(time.Minute))))
}

func claimsNeedID(t *suite) {
	p := t.fresh(entry(1), "the first")
	t.conflict(p, "Claim without an id", t.claiming(NewClaim(p, "", At(time.Minute))))
	p = t.dismiss(p, At(time.Minute))
	t.conflict(p, "Claim of a dismissed proposal without an id", t.claiming(NewClaim(p, "", At(time.Minute))))
}

// decidesOnce lets claims, dismissals and revisions of one proposal race, each with its like and with the others.
func decidesOnce(t *suite) {
	const n = 12
	for round, contest := range [][]string{
		{"claim"}, {"dismissal"}, {"revision"},
		{"claim", "dismissal"}, {"dismissal", "claim"}, {"claim", "revision"}, {"revision", "claim"}, {"dismissal", "revision"}, {"revision", "dismissal"},
		{"claim", "dismissal", "revision"}, {"revision", "claim", "dismissal"}, {"dismissal", "revision", "claim"},
	} {
		p := t.fresh(entry(round+1), "another round")
		var mu sync.Mutex
		var applied []string
		var failed []error
		race(n, func(i int) {
			var err error
			what := contest[i%len(contest)]
			switch what {
			case "claim":
				_, err = t.store.Claim(t.Context(), NewClaim(p, fmt.Sprint("claim-", round, "-", i), At(time.Minute)))
			case "dismissal":
				_, err = t.store.Dismiss(t.Context(), NewDismissal(p, At(time.Minute)))
			case "revision":
				_, err = t.store.Revise(t.Context(), NewRevision(p, 100+round*n+i, At(time.Minute)))
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				applied = append(applied, what)
			case !errors.Is(err, ledger.ErrConflict):
				failed = append(failed, err)
			}
		})
		require.Empty(t, failed, "who loses a race must get a conflict")
		require.Len(t, applied, 1, "of claims, dismissals and revisions that race exactly one must be applied")
		decision, event := ledger.Dismissed, ledger.EventDismissed
		if applied[0] == "claim" {
			decision, event = ledger.Claimed, ledger.EventStarted
		}
		require.Equal(t, decision, t.get(p).Decision, "the row must have the decision that was applied, a %s", applied[0])
		want := map[ledger.Event][]ledger.Event{
			ledger.EventDismissed: {ledger.EventDismissed, ledger.EventProposed},
			ledger.EventStarted:   {ledger.EventProposed, ledger.EventStarted},
		}[event]
		require.Equal(t, want, t.events(p), "the audit trail must have the decision that was applied and no other")
		var successors int
		for _, s := range t.list(ledger.Query{Scope: shop, Limit: everything}) {
			if s.Supersedes == p.ID {
				successors++
			}
		}
		require.Equal(t, applied[0] == "revision", successors == 1, "only a revision that was applied has a successor")
		require.LessOrEqual(t, successors, 1, "a proposal has one successor at most")
	}
}
