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

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// watching is a driver that asks a server for the plan of each statement before it runs it.
type watching struct {
	driver.Connector
	dialect sqlledger.Dialect
	plans   *[]string
}

func (w watching) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	return &watchingConn{c, w}, err
}

type watchingConn struct {
	driver.Conn
	watching
}

func (c *watchingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func (c *watchingConn) explain(ctx context.Context, q string, args []driver.NamedValue) error {
	if strings.HasPrefix(q, "INSERT") {
		return nil // which goes by its key
	}
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, "EXPLAIN "+q, args)
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(rows.Columns()))
	for rows.Next(row) == nil {
		line := fmt.Sprint(row[0])
		if c.dialect == sqlledger.MySQL { // id, select_type, table, type, possible_keys, key, key_len, ref, rows, Extra
			line = fmt.Sprintf("%s %s %s %s; %s", row[2], row[3], row[5], row[6], row[9])
		}
		*c.plans = append(*c.plans, line)
	}
	return rows.Close()
}

func (c *watchingConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.explain(ctx, q, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c *watchingConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.explain(ctx, q, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

// watch opens a Store whose plans are noted.
func (e engine) watch(t *testing.T, s *store, plans *[]string) *sqlledger.Store {
	connector, err := e.server(s.dsn)
	require.NoError(t, err)
	db := sql.OpenDB(watching{connector, e.dialect, plans})
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	watched, err := sqlledger.New(db, e.dialect, sqlledger.Options{Prefix: s.prefix})
	require.NoError(t, err)
	return watched
}

// fill puts n proposals with two records each into the tables, a second apart up to now. Half of them are in one
// scope and of one principal, the others in a hundred; one in ten is undecided, and most of those have expired. So a
// planner knows a ledger that has been in use for a while.
func (s *store) fill(t *testing.T, n int, now time.Time) {
	series, pad := fmt.Sprintf("generate_series(CAST(1 AS BIGINT), %d) AS g(i)", n), "'old-' || lpad(CAST(i AS TEXT), 9, '0')"
	scope := "CASE WHEN i % 2 = 0 THEN 'shop' ELSE 'scope-' || CAST(i % 200 AS TEXT) END"
	if s.dialect == sqlledger.MySQL {
		series, pad = fmt.Sprintf("(SELECT CAST(seq AS SIGNED) AS i FROM seq_1_to_%d) AS g", n), "CONCAT('old-', LPAD(i, 9, '0'))"
		scope = "CASE WHEN i % 2 = 0 THEN 'shop' ELSE CONCAT('scope-', i % 200) END"
	}
	at := fmt.Sprintf("(%d + i * 1000000)", now.Add(-time.Duration(n)*time.Second).UnixMicro())
	never := "-62135596800000000"
	open := func(then, otherwise string) string {
		return "CASE WHEN i % 10 = 0 THEN " + then + " ELSE " + otherwise + " END"
	}
	for _, q := range []string{
		`INSERT INTO {proposals} (` + rowColumns + `, identity, party, talk) SELECT ` + scope + `, 'assistant', 'model', 'olga', 0, '', '', '', '', '', ` + pad +
			`, 'refund_order', CAST(? AS CHAR(15)), '["/orders/W42"]', 'definition-1', '', ` + at + `, ` + at + ` + 3600000000, '', '', 'k1.seal', ` +
			open("''", "'claimed'") + `, ` + open("''", "'sam'") + `, ` + open(never, at) + `, '', ` + open("''", pad) + `, '', ` + open(never, at) + `, ` +
			open("''", "'succeeded'") + `, ` + open(never, at) + `, '', '', '', NULL, '', ` + open(never, at) + `, ` + open("''", "'unmeasured'") + `, NULL, ` +
			open(never, at) + `, ` + pad + `, CASE WHEN i % 2 = 0 THEN 'party' ELSE ` + pad + ` END, 'talk' FROM ` + series,
		`INSERT INTO {records} (` + recordColumns + `, decides, attempt) SELECT ` + scope + `, 'assistant', 'model', 'olga', 0, '', '', '', '', '', ` + at +
			`, 'proposed', 'needs_approval', '', '', 'refund_order', '', CAST(? AS CHAR(15)), ` + pad + `, '', '', '', '', 0, NULL, '' FROM ` + series,
		`INSERT INTO {records} (` + recordColumns + `, decides, attempt) SELECT ` + scope + `, 'assistant', 'model', 'olga', 0, '', '', '', '', '', ` + at +
			`, 'started', 'done', '', 'sam', 'refund_order', '', CAST(? AS CHAR(15)), ` + pad + `, '', '', '', '', 0, ` + pad + `, '' FROM ` + series,
		`INSERT INTO {scopes} (scope, life) SELECT DISTINCT scope, 3600000000 FROM {proposals} WHERE scope NOT IN (?, 'shop')`,
	} {
		_, err := s.exec(q, `{"cents":10000}`)
		require.NoError(t, err, "%.200s", q)
	}
	for _, table := range []string{"{proposals}", "{records}", "{scopes}"} {
		_, err := s.exec(map[sqlledger.Dialect]string{sqlledger.PostgreSQL: "VACUUM ANALYZE ", sqlledger.MySQL: "ANALYZE TABLE "}[s.dialect] + table)
		require.NoError(t, err)
	}
}

const recordColumns = "scope, actor, kind, principal, background, via, tools, run, origin, conversation, at, event, code, reason, operator, action, targets, params, proposal, claim, grant_id, result, error, times"

// TestPlansOfServers pins which index each statement uses on a server, as far into it as the cursor goes, and that none
// scans or sorts a whole table.
func TestPlansOfServers(t *testing.T) {
	type plan struct{ postgresql, mariadb []string }
	each(t, func(t *testing.T, e engine) {
		if e.dialect == sqlledger.SQLite {
			t.Skip("TestPlans does this")
		}
		s := e.open(t)
		now := ledgertest.At(0)
		open, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		s.fill(t, 20_000, now)
		middle := ledger.Cursor{CreatedAt: now.Add(-10_000 * time.Second), ID: "old-000010000"}
		var plans []string
		x := e.watch(t, s, &plans)
		ctx := t.Context()
		list := func(before ledger.Cursor, states ...ledger.State) func() error {
			return func() error {
				_, err := x.Proposals(ctx, ledger.Query{Scope: "shop", States: states, At: now, Before: before, Limit: 50})
				return err
			}
		}
		audit := func(q ledger.AuditQuery) func() error {
			return func() error {
				if q.Scope, q.Limit = "scope-1", 50; e.dialect == sqlledger.MySQL {
					q.Scope = "shop" // PostgreSQL reads half of all records as well by the primary key
				}
				_, err := x.Audit(ctx, q)
				return err
			}
		}
		// The few that are due or identical are sorted, a window, and what PostgreSQL takes for few of a small scope.
		sorts := map[string]bool{"due": true, "propose": true, "purge": true, "pending of the newest": true, "audit of a proposal among the first": true}
		for _, c := range []struct {
			name string
			run  func() error
			want plan
		}{
			{"pending", list(ledger.Cursor{}, ledger.StateProposed), plan{[]string{"Backward using {proposals_pending}"}, []string{"range pending 522"}}},
			{"pending on", list(open.Cursor(), ledger.StateProposed), plan{[]string{"Backward using {proposals_pending}"}, []string{"range pending 522"}}},
			{"expired", list(middle, ledger.StateExpired), plan{[]string{"Backward using {proposals_pending}"}, []string{"range pending 522"}}},
			{"all", list(middle), plan{[]string{"Backward using {proposals_list}"}, []string{"range list 265"}}},
			{"verified", list(middle, ledger.StateVerified), plan{[]string{"Backward using {proposals_list}"}, []string{"range list 265"}}},
			{"pending of the newest", func() error {
				_, err := x.Proposals(ctx, ledger.Query{Scope: "shop", States: []ledger.State{ledger.StateProposed}, At: now, Before: middle, Window: 100})
				return err
			}, plan{[]string{"Backward using {proposals_list}"}, []string{"range list 265"}}},
			{"due", func() error { _, err := x.Due(ctx, now, 50); return err }, plan{[]string{"using {proposals_due}"}, []string{"range due 9"}}},
			{"audit", audit(ledger.AuditQuery{After: 20_000}), plan{[]string{"Scan using {records_list}"}, []string{"range list 265"}}},
			{"audit backwards", audit(ledger.AuditQuery{Before: 20_000, Newest: true}), plan{[]string{"Backward using {records_list}"}, []string{"range list 265"}}},
			{"audit of a proposal", audit(ledger.AuditQuery{Proposal: "old-000010001"}), plan{[]string{"using {records_proposal}"}, []string{"range proposal 522"}}},
			{"audit of a proposal among the first", audit(ledger.AuditQuery{Proposal: "old-000010001", After: 20_000, Window: 10}), plan{[]string{"Scan using {records_list}"}, []string{"range list 265"}}},
			{"propose", func() error {
				e := ledgertest.NewEntry("shop", 3)
				e.Limits = ledger.Limits{Session: 99_999, Principal: 99_999, Scope: 99_999}
				_, err := x.Propose(ctx, e)
				return err
			}, plan{[]string{"using {proposals_party}", "using {proposals_party}", "{proposals_pending}"}, []string{"range party 522", "range party 522", "range pending 522"}}},
			{"claim", func() error { _, err := x.Claim(ctx, ledgertest.NewClaim(open, "claim-1", open.CreatedAt)); return err },
				plan{[]string{"using {proposals}_pkey"}, []string{"range PRIMARY 514", "const PRIMARY 514"}}},
			{"purge", func() error {
				_, err := x.Purge(ctx, ledger.Purge{Scope: "scope-1", Before: now.Add(-10_000 * time.Second), Limit: 50, Record: ledger.Record{
					At: now, Event: ledger.EventPurged, Session: open.Session,
				}})
				return err
			}, plan{[]string{"{proposals_list}", "{records_list}", "using {proposals}_pkey", "using {records_proposal}"}, []string{"range list 265", "ref list 257", "range PRIMARY 514", "range proposal 514"}}},
			{"finish", func() error { f := ledgertest.NewFinish(open, now); f.Claim = "claim-1"; return x.Finish(ctx, f) },
				plan{[]string{"using {proposals}_pkey"}, []string{"range PRIMARY 514"}}},
		} {
			t.Run(c.name, func(t *testing.T) {
				plans = nil
				require.NoError(t, c.run())
				text := strings.Join(plans, "\n")
				names := strings.NewReplacer("{", s.prefix, "}", "")
				want := c.want.postgresql
				if e.dialect == sqlledger.MySQL {
					want = c.want.mariadb
				}
				for _, w := range want {
					_, after, found := strings.Cut(text, names.Replace(w))
					require.True(t, found, "%s in\n%s", w, text)
					text = after
				}
				for _, scan := range []string{"Seq Scan on " + s.prefix + "proposals", "Seq Scan on " + s.prefix + "records", "_proposals ALL", "_proposals index", "_records ALL", "_records index"} {
					require.NotContains(t, strings.Join(plans, "\n"), scan)
				}
				if !sorts[c.name] {
					require.NotContains(t, strings.ToLower(strings.Join(plans, "\n")), "sort")
				}
			})
		}
	})
}
