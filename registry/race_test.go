package registry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Many people decide about one proposal at once, in two tabs, by approving and dismissing. One of them wins,
// and all others are told what became of the proposal: nothing else, although the run of the winner changes
// the very version that the losers compare.
func TestOneDecisionWins(t *testing.T) {
	rounds := 250
	if testing.Short() {
		rounds = 10
	}
	for _, c := range []struct {
		name       string
		dismissers int
		moves      bool // the run changes the target's version
	}{
		{"approvals", 0, false},
		{"approvals of a run that changes the version", 0, true},
		{"approvals and dismissals", 32, false},
		{"approvals of a run that changes the version, and dismissals", 32, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, func(s *shop, p *plan) {
				var mu sync.Mutex
				versions := map[string]int{}
				p.refund.Version = func(_ context.Context, r Refund) (string, error) {
					mu.Lock()
					defer mu.Unlock()
					return fmt.Sprint(versions[r.ID]), nil
				}
				s.run = func(_ context.Context, r Refund) (any, error) {
					mu.Lock()
					defer mu.Unlock()
					if c.moves {
						versions[r.ID]++
					}
					return s.effects.Add(1), nil
				}
			})
			for range rounds {
				s.pass(1000)
				race(t, s, c.dismissers)
			}
			require.EqualValues(t, s.effects.Load(), len(s.trail(ledger.AuditQuery{Event: ledger.EventStarted})))
			if c.dismissers == 0 {
				require.EqualValues(t, rounds, s.effects.Load())
			}
		})
	}
}

// race lets 64 goroutines decide about one proposal.
func race(t *testing.T, s *shop, dismissers int) {
	const all = 64
	before := s.effects.Load()
	d := s.opened(sam)
	o, err := s.desk.Open(t.Context(), "shop", d.Proposal, tina)
	require.NoError(t, err)
	tabs := []registry.Redemption{d, o.Redemption()}
	errs := make([]error, all)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			<-start
			if i%2 == 0 && i/2 < dismissers {
				errs[i] = s.desk.Dismiss(t.Context(), "shop", d.Proposal, carla, "no")
			} else {
				_, errs[i] = s.desk.Approve(t.Context(), tabs[i/2%2])
			}
		})
	}
	close(start)
	wg.Wait()

	row := s.row(d.Proposal)
	code, reason, runs := ledger.Spent, string(ledger.StateExecuted), int64(1)
	if row.Decision == ledger.Dismissed {
		code, reason, runs = ledger.WasDismissed, "", 0
	}
	require.Equal(t, before+runs, s.effects.Load())
	winner := -1
	for i, err := range errs {
		if err == nil {
			require.Equal(t, -1, winner, "two winners: %d and %d", winner, i)
			winner = i
			continue
		}
		r, ok := errors.AsType[*registry.Refusal](err)
		if !ok || r.Code != code || r.Reason != reason || r.Proposal == nil || r.Proposal.Decision != row.Decision {
			require.Fail(t, "a loser was told something else", "%v, but the proposal is %s", err, row.Decision)
		}
	}
	require.NotEqual(t, -1, winner, "nobody won")
	by := authz.ID("sam")
	switch dismisses := winner%2 == 0 && winner/2 < dismissers; {
	case dismisses:
		by = "carla"
	case winner/2%2 == 1:
		by = "tina"
	}
	require.Equal(t, by, row.DecidedBy)
	require.Equal(t, by == "carla", row.Decision == ledger.Dismissed)
}
