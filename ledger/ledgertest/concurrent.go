package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// concurrentUse calls every method from many goroutines and then looks whether rows and records agree.
func concurrentUse(t *suite) {
	const workers, proposals = 8, 10
	var mu sync.Mutex
	var failed []error
	note := func(err error) {
		if err == nil || errors.Is(err, ledger.ErrConflict) || errors.Is(err, ledger.ErrNotFound) || errors.Is(err, ledger.ErrLimit) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, err)
	}
	at := At(time.Minute)
	race(workers, func(w int) {
		ctx := t.Context()
		for n := 1; n <= proposals; n++ {
			scope := []authz.Scope{shop, depot}[n%2]
			e := NewEntry(scope, n)
			e.Limits = ledger.Limits{Scope: proposals}
			p := e.Proposal
			_, err := t.store.Propose(ctx, e)
			note(err)
			_, err = t.store.Proposal(ctx, scope, p.ID)
			note(err)
			switch claim := fmt.Sprint("claim-", w, "-", n); (w + n) % 4 {
			case 0:
				_, err = t.store.Claim(ctx, NewClaim(p, claim, at))
				note(err)
				f := NewFinish(p, at)
				f.Claim = claim
				note(t.store.Finish(ctx, f))
				note(t.store.Verify(ctx, NewVerification(p, at)))
			case 1:
				_, err = t.store.Dismiss(ctx, NewDismissal(p, at))
				note(err)
			case 2:
				_, err = t.store.Revise(ctx, NewRevision(p, 100*n+w, at))
				note(err)
			default:
				note(t.store.Append(ctx, e.Record))
			}
			_, err = t.store.Proposals(ctx, ledger.Query{Scope: scope, At: at, States: []ledger.State{ledger.StateProposed}})
			note(err)
			_, err = t.store.Due(ctx, At(time.Hour), 0)
			note(err)
			_, err = t.store.Audit(ctx, ledger.AuditQuery{Scope: scope})
			note(err)
		}
	})
	require.Empty(t, failed, "concurrent use")
	for _, scope := range []authz.Scope{shop, depot} {
		for _, p := range t.list(ledger.Query{Scope: scope, Limit: everything}) {
			count := map[ledger.Event]int{}
			for _, e := range t.events(p) {
				count[e]++
			}
			is := func(b bool) int {
				if b {
					return 1
				}
				return 0
			}
			require.Equal(t, is(p.Decision == ledger.Claimed), count[ledger.EventStarted], "a started record for each claim")
			require.Equal(t, is(p.Decision == ledger.Dismissed), count[ledger.EventDismissed], "a dismissed record for each dismissal")
			require.Equal(t, is(p.Outcome != ledger.Running), count[ledger.EventFinished], "a finished record for each outcome")
			require.Equal(t, is(p.Verdict != ledger.Unverified), count[ledger.EventVerified], "a verified record for each verdict")
		}
	}
}
