package sqlledger_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// explaining is a driver that asks SQLite for the plan of each statement before it runs it.
type explaining struct {
	dsn   string
	plans *[]string
}

func (e explaining) Driver() driver.Driver { return new(sqlite.Driver) }

func (e explaining) Connect(context.Context) (driver.Conn, error) {
	c, err := e.Driver().Open(e.dsn)
	return &explainingConn{c, e.plans}, err
}

type explainingConn struct {
	driver.Conn
	plans *[]string
}

func (c *explainingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c *explainingConn) explain(ctx context.Context, q string, args []driver.NamedValue) error {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, "EXPLAIN QUERY PLAN "+q, args)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for rows.Next(row) == nil {
		*c.plans = append(*c.plans, fmt.Sprint(row[len(row)-1]))
	}
	return rows.Close()
}

func (c *explainingConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.explain(ctx, q, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c *explainingConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.explain(ctx, q, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

// TestPlans pins which index each statement uses on SQLite, and that none scans or sorts a whole table.
func TestPlans(t *testing.T) {
	s := engines[0].open(t)
	claimOne(t, s, 1)
	open, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 2))
	require.NoError(t, err)
	var plans []string
	db := sql.OpenDB(explaining{s.dsn, &plans})
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	x, err := sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{Prefix: s.prefix})
	require.NoError(t, err)
	ctx, now := t.Context(), ledgertest.At(0)
	list := func(states ...ledger.State) func() error {
		return func() error {
			_, err := x.Proposals(ctx, ledger.Query{Scope: "shop", States: states, At: now, Before: open.Cursor()})
			return err
		}
	}
	for _, c := range []struct {
		name string
		run  func() error
		want []string
	}{
		{"pending", list(ledger.StateProposed), []string{"USING INDEX {proposals_pending} (scope=? AND created_at>? AND created_at<?)", "{scopes}"}},
		{"executed", list(ledger.StateExecuted), []string{"USING INDEX {proposals_list} (scope=? AND created_at<?)"}},
		{"all", list(), []string{"USING INDEX {proposals_list} (scope=? AND created_at<?)"}},
		{"due", func() error { _, err := x.Due(ctx, now, 0); return err }, []string{"USING INDEX {proposals_due} (due_at<?)", "TEMP B-TREE FOR ORDER BY"}},
		{"audit", func() error { _, err := x.Audit(ctx, ledger.AuditQuery{Scope: "shop"}); return err },
			[]string{"USING INDEX {records_list} (scope=? AND seq>?)"}},
		{"audit of a proposal", func() error { _, err := x.Audit(ctx, ledger.AuditQuery{Scope: "shop", Proposal: open.ID}); return err },
			[]string{"USING INDEX {records_proposal} (scope=? AND proposal=? AND seq>?)"}},
		{"propose", func() error {
			e := ledgertest.NewEntry("shop", 3)
			e.Limits = ledger.Limits{Session: 9, Principal: 9, Scope: 9}
			_, err := x.Propose(ctx, e)
			return err
		}, []string{"USING INDEX {proposals_party} (party=? AND expires_at>?)", "TEMP B-TREE FOR ORDER BY",
			"USING COVERING INDEX {proposals_party} (party=? AND expires_at>?)", "{scopes}",
			"USING COVERING INDEX {proposals_pending} (scope=? AND created_at>?)"}},
		{"purge", func() error {
			_, err := x.Purge(ctx, ledger.Purge{Scope: "shop", Before: now.Add(time.Hour), Limit: 50, Record: ledger.Record{At: now, Event: ledger.EventPurged, Session: open.Session}})
			return err
		}, []string{"USING INDEX {proposals_list} (scope=? AND created_at<?)", "USING INDEX {records_list} (scope=?)", "USING COVERING INDEX sqlite_autoindex_{proposals}_1"}},
		{"claim", func() error {
			_, err := x.Claim(ctx, ledgertest.NewClaim(open, "claim-1", open.CreatedAt))
			return err
		}, []string{"{proposals} USING INDEX sqlite_autoindex_{proposals}_1 (scope=? AND id=?)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plans = nil
			require.NoError(t, c.run())
			var used []string
			for _, p := range plans {
				require.False(t, strings.HasPrefix(p, "SCAN "+s.prefix), "%s", p)
				if strings.Contains(p, "USING") || strings.Contains(p, "TEMP") {
					used = append(used, p)
				}
			}
			require.Len(t, used, len(c.want), "%s", strings.Join(used, "\n"))
			for i, want := range c.want {
				require.Contains(t, used[i], strings.NewReplacer("{", s.prefix, "}", "").Replace(want))
			}
		})
	}
}
