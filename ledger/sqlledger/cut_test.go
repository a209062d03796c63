package sqlledger_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// atOnce runs a test on every engine, side by side with the other tests that do so.
func atOnce(t *testing.T, test func(t *testing.T, e engine)) {
	t.Parallel()
	each(t, test)
}

// nth fails the nth call, before it is made or after.
func nth(n int, after bool, calls *int) func(string) (error, error) {
	return func(string) (error, error) {
		if *calls++; *calls != n {
			return nil, nil
		}
		if after {
			return nil, io.ErrUnexpectedEOF
		}
		return io.ErrUnexpectedEOF, nil
	}
}

// cuttable is one kind of change. It is about a proposal that is open, or claimed by claim-1.
type cuttable struct {
	event   ledger.Event
	claimed bool
	retries bool // a change that was cut is asked for again, and applied
	apply   func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error
}

var cuttables = map[string]cuttable{
	"Propose": {ledger.EventProposed, false, true, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		e := ledgertest.NewEntry("depot", 1)
		e.Proposal.ID, e.Record.Proposal, e.Limits = p.ID, p.ID, ledger.Limits{Session: 999, Principal: 999, Scope: 999}
		e.Proposal.Action = p.ID // which nobody asked for before
		_, err := s.Propose(ctx, e)
		return err
	}},
	"Claim": {ledger.EventStarted, false, true, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		c := ledgertest.NewClaim(p, "claim-1", p.CreatedAt)
		c.Use = &ledger.Use{Grant: p.ID, Limit: 1, Until: c.At.Add(time.Hour)}
		_, err := s.Claim(ctx, c)
		return err
	}},
	"Dismiss": {ledger.EventDismissed, false, true, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		_, err := s.Dismiss(ctx, ledgertest.NewDismissal(p, p.CreatedAt))
		return err
	}},
	"Revise": {ledger.EventDismissed, false, true, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		r := ledgertest.NewRevision(p, 1, p.CreatedAt)
		r.Entry.Proposal.ID = p.ID + " revised"
		r.Entry.Record.Proposal = r.Entry.Proposal.ID
		_, err := s.Revise(ctx, r)
		return err
	}},
	"Finish": {ledger.EventFinished, true, true, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		return s.Finish(ctx, ledgertest.NewFinish(p, p.CreatedAt))
	}},
	"Verify": {ledger.EventVerified, true, true, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		return s.Verify(ctx, ledgertest.NewVerification(p, p.CreatedAt))
	}},
	"Append": {ledger.EventRead, false, false, func(ctx context.Context, s *sqlledger.Store, p ledger.Proposal) error {
		return s.Append(ctx, ledger.Record{At: p.CreatedAt, Event: ledger.EventRead, Session: p.Session, Proposal: p.ID})
	}},
}

// TestCutAtEveryStatement cuts the connection at each call of the database that each kind of change makes, before the
// server gets it and after, on every engine. The caller is told the truth, row and record agree, and all but what must
// not be asked for twice is applied in the end.
func TestCutAtEveryStatement(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		n := 0
		for name, c := range cuttables {
			t.Run(name, func(t *testing.T) {
				for k := 1; ; k++ {
					calls := 0
					for _, after := range []bool{false, true} {
						n++
						p := ledgertest.NewEntry("shop", n).Proposal
						if c.event != ledger.EventProposed {
							_, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", n))
							require.NoError(t, err)
						}
						if c.claimed {
							var err error
							p, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
							require.NoError(t, err)
						}
						calls = 0
						err := c.apply(t.Context(), (&brittle{fail: nth(k, after, &calls)}).over(t, s), p)
						if c.retries {
							require.NoError(t, err, "call %d, after %v", k, after)
						}
						var records int
						for _, scope := range []authz.Scope{"shop", "depot"} {
							trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Proposal: p.ID, Event: c.event})
							require.NoError(t, err)
							records += len(trail)
						}
						switch {
						case err == nil:
							require.Equal(t, 1, records, "call %d, after %v", k, after)
						case !errors.Is(err, sqlledger.ErrInDoubt):
							require.Zero(t, records, "call %d, after %v: %v", k, after, err)
						}
					}
					if calls < k {
						require.Greater(t, k, 4)
						return
					}
				}
			})
		}
		s.agree(t, "shop", nil)
		s.agree(t, "depot", nil)
		var uses, grants int
		require.NoError(t, s.db.QueryRow(s.q("SELECT COUNT(*), COUNT(DISTINCT grant_id) FROM {uses}")).Scan(&uses, &grants))
		require.Equal(t, grants, uses, "one use for each claim by a grant")
	})
}

// TestCutAtEveryStatementOfPurge does it for Purge, which takes rows and their records or neither.
func TestCutAtEveryStatementOfPurge(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		for k := 1; ; k++ {
			calls := 0
			for _, after := range []bool{false, true} {
				scope := authz.Scope(fmt.Sprint("purge-", k, after))
				p, err := s.Propose(t.Context(), ledgertest.NewEntry(scope, 1))
				require.NoError(t, err)
				_, err = s.Dismiss(t.Context(), ledgertest.NewDismissal(p, p.CreatedAt))
				require.NoError(t, err)
				calls = 0
				far := (&brittle{fail: nth(k, after, &calls)}).over(t, s)
				purge := ledger.Purge{Scope: scope, Before: ledgertest.At(time.Hour), Record: ledger.Record{
					At: ledgertest.At(time.Hour), Event: ledger.EventPurged, Session: p.Session,
				}}
				gone, err := far.Purge(t.Context(), purge)
				list, readErr := s.Proposals(t.Context(), ledger.Query{Scope: scope})
				require.NoError(t, readErr)
				trail, readErr := s.Audit(t.Context(), ledger.AuditQuery{Scope: scope})
				require.NoError(t, readErr)
				if len(list) == 0 {
					require.Len(t, trail, 1, "that it was purged")
					require.Equal(t, ledger.EventPurged, trail[0].Event)
				} else {
					require.Len(t, trail, 2, "what is there has its records")
				}
				switch {
				case err == nil:
					require.Equal(t, ledger.Purged{Proposals: 1, Records: 2}, gone)
					require.Empty(t, list, "call %d, after %v", k, after)
				case !errors.Is(err, sqlledger.ErrInDoubt):
					require.Len(t, list, 1, "call %d, after %v: %v", k, after, err)
				}
			}
			if calls < k {
				require.Greater(t, k, 4)
				return
			}
		}
	})
}

// TestCutAtEveryStatementOfAUnit does it for a run that shares its transaction with its outcome. What it wrote is kept
// exactly if its success is on record.
func TestCutAtEveryStatementOfAUnit(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		_, err := s.exec("CREATE TABLE {paid} (id VARCHAR(255) NOT NULL PRIMARY KEY)")
		require.NoError(t, err)
		t.Cleanup(func() {
			_, err := s.exec("DROP TABLE {paid}")
			require.NoError(t, err)
		})
		kept, lost := 0, 0
		for k := 1; ; k++ {
			calls := 0
			for _, after := range []bool{false, true} {
				p := claimOne(t, s, 2*k+map[bool]int{true: 1}[after])
				calls = 0
				far := (&brittle{fail: nth(k, after, &calls)}).over(t, s)
				ctx, unit := far.Unit(t.Context())
				tx, err := sqlledger.Tx(ctx)
				if err == nil {
					_, err = tx.ExecContext(ctx, s.q("INSERT INTO {paid} (id) VALUES (?)"), p.ID)
				}
				f := ledgertest.NewFinish(p, p.CreatedAt)
				if err != nil { // as the registry does when a run fails
					unit.Undo()
					f.Outcome = ledger.Failed
					require.NoError(t, s.Finish(t.Context(), f))
				} else if err := unit.Finish(t.Context(), f); err != nil {
					require.ErrorIs(t, err, ledger.ErrUncommitted)
					f.Outcome = ledger.Failed
					if err := s.Finish(t.Context(), f); err != nil {
						require.ErrorIs(t, err, ledger.ErrConflict)
					}
				}
				var rows int
				require.NoError(t, s.db.QueryRow(s.q("SELECT COUNT(*) FROM {paid} WHERE id = ?"), p.ID).Scan(&rows))
				got, err := s.Proposal(t.Context(), "shop", p.ID)
				require.NoError(t, err)
				require.Equal(t, map[ledger.Outcome]int{ledger.Succeeded: 1, ledger.Failed: 0}[got.Outcome], rows, "call %d, after %v", k, after)
				require.NotEqual(t, ledger.Running, got.Outcome)
				kept, lost = kept+rows, lost+1-rows
			}
			if calls < k {
				break
			}
		}
		require.Greater(t, kept, 2, "the last two, and the one whose answer to commit was lost")
		require.Positive(t, lost)
		s.agree(t, "shop", nil)
	})
}

// TestRedeemCutAtEveryStatement does it for everything that an approval asks the ledger for, from opening the proposal
// to the record of how the run ended; then the approver tries again.
func TestRedeemCutAtEveryStatement(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		near := s.cashier(t, s)
		answered, refused := 0, 0
		for k := 1; ; k++ {
			calls := 0
			for _, after := range []bool{false, true} {
				p, err := near.propose(t.Context(), 2*k+map[bool]int{true: 1}[after])
				require.NoError(t, err)
				calls = 0
				far, err := newCashier((&brittle{fail: nth(k, after, &calls)}).over(t, s), near.paid)
				require.NoError(t, err)
				err = far.approve(t.Context(), p.ID, sam)
				ran := len(near.runs(t)[p.ID])
				if err == nil {
					answered++
					require.Equal(t, 1, ran)
				} else if ran == 0 {
					refused++
				}
				row, readErr := s.Proposal(t.Context(), "shop", p.ID)
				require.NoError(t, readErr)
				again := near.approve(t.Context(), p.ID, tina)
				if row.Decision == ledger.Undecided {
					require.NoError(t, again, "what was not claimed is not lost")
				} else {
					require.Equal(t, ledger.Spent, code(t, again))
				}
				require.Len(t, near.runs(t)[p.ID], 1, "call %d, after %v: %v", k, after, err)
			}
			if calls < k {
				break
			}
		}
		require.Positive(t, answered)
		require.Positive(t, refused, "the read at the beginning cannot be answered")
		s.agree(t, "shop", near.runs(t))
	})
}
