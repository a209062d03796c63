package sqlledger_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// together runs do in n goroutines at once and returns their errors.
func together(n int, do func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// TestClaimersOfTwoPools lets 64 claimers race over two pools, as two processes do.
func TestClaimersOfTwoPools(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		stores := []*sqlledger.Store{s.Store, e.twin(t, s, nil)}
		for round := range 3 {
			p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", round+1))
			require.NoError(t, err)
			won := 0
			for _, err := range together(64, func(i int) error {
				_, err := stores[i%2].Claim(t.Context(), ledgertest.NewClaim(p, fmt.Sprint("claim-", i), p.CreatedAt))
				return err
			}) {
				if err == nil {
					won++
				} else {
					require.ErrorIs(t, err, ledger.ErrConflict)
				}
			}
			require.Equal(t, 1, won)
			trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Proposal: p.ID, Event: ledger.EventStarted})
			require.NoError(t, err)
			require.Len(t, trail, 1)
		}
	})
}

// TestUsesOverTwoPools lets the uses of one standing grant race over two pools.
func TestUsesOverTwoPools(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		stores := []*sqlledger.Store{s.Store, e.twin(t, s, nil)}
		const n, limit = 32, 3
		rows := make([]ledger.Proposal, n)
		for i := range n {
			var err error
			rows[i], err = s.Propose(t.Context(), ledgertest.NewEntry("shop", i+1))
			require.NoError(t, err)
		}
		won := 0
		for _, err := range together(n, func(i int) error {
			c := ledgertest.NewClaim(rows[i], fmt.Sprint("claim-", i), rows[i].CreatedAt)
			c.Use = &ledger.Use{Grant: "grant-1", Limit: limit, Until: c.At.Add(time.Hour)}
			_, err := stores[i%2].Claim(t.Context(), c)
			return err
		}) {
			if err == nil {
				won++
			} else {
				require.ErrorIs(t, err, ledger.ErrGrantSpent)
			}
		}
		require.Equal(t, limit, won)
		var uses int
		require.NoError(t, s.db.QueryRow(s.q("SELECT COUNT(*) FROM {uses}")).Scan(&uses))
		require.Equal(t, limit, uses, "one row per use")
	})
}

// TestCancelledWhileClaiming cancels contexts at random times: whatever the caller is told holds.
func TestCancelledWhileClaiming(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		var undone, done int
		for n := range 60 {
			p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", n+1))
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n*n)*time.Microsecond)
			_, err = s.Claim(ctx, ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
			cancel()
			got, readErr := s.Proposal(t.Context(), "shop", p.ID)
			require.NoError(t, readErr)
			if err == nil {
				done++
				require.Equal(t, "claim-1", got.Claim)
			} else {
				undone++
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, ledger.Undecided, got.Decision, "a context that ends prevents a change, or lets it be")
			}
		}
		t.Logf("%d claims began in time, %d did not", done, undone)
		require.Positive(t, undone)
	})
}

// TestWaitingForTheLock holds the row, or on SQLite the database, in another transaction: for less than the
// timeout, and for more.
func TestWaitingForTheLock(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		dsn := s.dsn
		if e.dialect == sqlledger.SQLite {
			s.dsn += "&_pragma=busy_timeout(20)" // so that busy comes back and is tried again
		}
		impatient := e.twin(t, s, func(o *sqlledger.Options) { o.Timeout = 100 * time.Millisecond })
		patient := e.twin(t, s, nil)
		s.dsn = dsn

		other := e.connect(t, dsn)
		tx, err := other.Begin()
		require.NoError(t, err)
		_, err = tx.Exec(s.q("UPDATE {proposals} SET note = 'x'"))
		require.NoError(t, err)
		_, err = impatient.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
		require.Error(t, err)
		for _, target := range []error{ledger.ErrConflict, ledger.ErrNotFound, ledger.ErrGrantSpent} {
			require.NotErrorIs(t, err, target, "nobody knows yet who wins")
		}
		time.AfterFunc(50*time.Millisecond, func() { _ = tx.Rollback() })
		_, err = patient.Claim(t.Context(), ledgertest.NewClaim(p, "claim-2", p.CreatedAt))
		require.NoError(t, err)
		got, err := s.Proposal(t.Context(), "shop", p.ID)
		require.NoError(t, err)
		require.Equal(t, "claim-2", got.Claim, "the impatient claim left nothing behind")
	})
}

// TestDeadlocks makes transactions by hand that take the ledger's locks in the other order.
func TestDeadlocks(t *testing.T) {
	for _, e := range engines[1:] {
		if e.variant {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			s := e.open(t)
			for n := range 2 {
				p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", n+1))
				require.NoError(t, err)
				held := make(chan struct{})
				errs := together(2, func(i int) error {
					if i == 1 { // the proposal, then its scope: Revise takes them the other way round
						tx, err := s.db.Begin()
						if err != nil {
							return err
						}
						_, err = tx.Exec(s.q("UPDATE {proposals} SET note = 'x' WHERE id = ?"), p.ID)
						close(held)
						if err == nil {
							time.Sleep(20 * time.Millisecond)
							_, _ = tx.Exec(s.q("UPDATE {scopes} SET life = life + 1"))
						}
						return errors.Join(err, tx.Rollback())
					}
					<-held
					_, err := s.Revise(t.Context(), ledgertest.NewRevision(p, 100+n, p.CreatedAt))
					return err
				})
				require.NoError(t, errs[0], "a deadlock is tried again")
				if !errors.Is(errs[1], sql.ErrTxDone) {
					require.NoError(t, errs[1])
				}
			}
		})
	}
}
