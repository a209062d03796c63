package sqlledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// BenchmarkClaim claims through the Store and by hand in turn, on the same connection and with the same
// statements, and reports how fast the Store is in parts of the speed by hand.
func BenchmarkClaim(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			s := e.open(b)
			s.db.SetMaxOpenConns(1)
			var store, hand time.Duration
			var rows []ledger.Proposal
			n := 0
			b.ResetTimer()
			for b.Loop() {
				if len(rows) < 2 {
					b.StopTimer()
					for range 200 {
						n++
						p, err := s.Propose(b.Context(), ledgertest.NewEntry(authz.Scope(fmt.Sprint("scope-", n/200)), n))
						require.NoError(b, err)
						rows = append(rows, p)
					}
					b.StartTimer()
				}
				start := time.Now()
				_, err := s.Claim(b.Context(), ledgertest.NewClaim(rows[0], "claim-1", rows[0].CreatedAt))
				store += time.Since(start)
				require.NoError(b, err)
				start = time.Now()
				err = s.claimByHand(b.Context(), rows[1])
				hand += time.Since(start)
				require.NoError(b, err)
				rows = rows[2:]
			}
			b.ReportMetric(float64(hand)/float64(store), "of-by-hand")
			b.ReportMetric(float64(store.Microseconds())/float64(b.N), "µs/claim")
			b.ReportMetric(0, "ns/op")
		})
	}
}

const rowColumns = "scope, actor, kind, principal, background, via, tools, run, origin, conversation, id, action, params, targets, definition, version, created_at, expires_at, supersedes, revised_by, seal, " +
	"decision, decided_by, decided_at, note, claim, grant_id, run_by, outcome, finished_at, result, error, told, baseline, unmeasured, verify_at, verdict, measured, verified_at"

// claimByHand does what Claim does in plain database/sql.
func (s *store) claimByHand(ctx context.Context, p ledger.Proposal) error {
	o := &sql.TxOptions{}
	if s.dialect != sqlledger.SQLite {
		o.Isolation = sql.LevelReadCommitted
	}
	tx, err := s.db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	query := "UPDATE {proposals} SET decision = 'claimed', decided_by = ?, decided_at = ?, claim = ?, run_by = ?, grant_id = ? WHERE scope = ? AND id = ? AND decision = '' AND expires_at > ?"
	at := p.CreatedAt.UnixMicro()
	scope := string(p.Session.Scope())
	args := []any{"sam", at, "claim-1", at, "", scope, p.ID, at}
	if s.dialect == sqlledger.MySQL {
		if _, err := tx.ExecContext(ctx, s.q(query), args...); err != nil {
			return err
		}
		query, args = "SELECT "+rowColumns+" FROM {proposals} WHERE scope = ? AND id = ?", []any{scope, p.ID}
	} else {
		query += " RETURNING " + rowColumns
	}
	into := make([]any, 39)
	for i := range into {
		into[i] = new(sql.NullString)
	}
	if err := tx.QueryRowContext(ctx, s.q(query), args...).Scan(into...); err != nil {
		return err
	}
	if _, err := canon.Stored(into[12].(*sql.NullString).String); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, s.q(`INSERT INTO {records} (scope, actor, kind, principal, background, via, tools, run, origin, conversation, at, event, code, reason, operator, action, targets, params, proposal, claim, grant_id, result, error, times, decides, attempt)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
		scope, "assistant", "model", "olga", 0, "", "", "", "", "", at, "started", "done", "", "sam", p.Action, `["/orders/W42"]`, p.Params.String(), p.ID, "claim-1", "", "", "", 0, p.ID, "0123456789ABCDEFGHIJKLMN")
	if err != nil {
		return err
	}
	return tx.Commit()
}
