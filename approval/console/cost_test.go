package console_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// counting is a ledger that counts how often it is asked for anything.
type counting struct {
	ledger.Store
	mu sync.Mutex
	n  map[string]int
}

func (c *counting) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what]++
}

func (c *counting) Proposal(ctx context.Context, scope authz.Scope, id string) (ledger.Proposal, error) {
	c.note("proposal")
	return c.Store.Proposal(ctx, scope, id)
}

func (c *counting) Proposals(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
	c.note("proposals")
	return c.Store.Proposals(ctx, q)
}

func (c *counting) Tally(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
	c.note("tally")
	return c.Store.Tally(ctx, q)
}

func (c *counting) Uses(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
	c.note("uses")
	return c.Store.Uses(ctx, scope, grants)
}

func (c *counting) Audit(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
	c.note("audit")
	return c.Store.Audit(ctx, q)
}

func (c *counting) Append(ctx context.Context, r ledger.Record) error {
	c.note("append")
	return c.Store.Append(ctx, r)
}

// screens are the first pages that a console asks for, and searches that find nothing and so look at everything
// they may.
func screens(id string) []string {
	return []string{
		"/proposals?text=nowhere", "/proposals?action=pay", "/audit?text=nowhere", "/audit?operator=nobody",
		"/actions", "/proposals?state=proposed", "/proposals?mine=true", "/proposals", "/proposals?state=dismissed", "/proposals?text=a1",
		"/proposals/" + id, "/audit", "/audit?text=refund", "/audit?proposal=" + id, "/settings", "/grants", "/models", "/outcomes",
		"page:/", "page:/?text=nowhere", "page:/ledger", "page:/ledger?text=nowhere", "page:/proposals/" + id, "page:/tools", "page:/tools/refund",
		"page:/models", "page:/settings", "page:/audit", "page:/audit?text=nowhere", "page:/outcomes",
	}
}

// What a page costs does not depend on how much the ledger holds: the same look-ups for a few proposals and for
// many.
func TestPagesCostAConstantNumberOfQueries(t *testing.T) {
	book := &counting{Store: new(ledger.Memory), n: map[string]int{}}
	s := openOn(t, book, nil)
	id := s.propose("refund", "a1", 1)
	cost := func(as, path string) string {
		book.n = map[string]int{}
		s.do(as, "GET", path, nil, 200)
		return fmt.Sprint(book.n)
	}
	before := map[string]string{}
	for _, path := range screens(id) {
		before[path] = cost("olga", path)
	}
	staff := cost("sam", "/proposals")
	for i := range 700 {
		s.propose("refund", "a1", i+2)
	}
	for _, path := range screens(id) {
		require.Equal(t, before[path], cost("olga", path), path)
	}
	require.Equal(t, staff, cost("sam", "/proposals"))
	require.Equal(t, "map[proposals:1]", staff)
	require.Equal(t, "map[audit:1 proposal:2 proposals:1]", cost("olga", "/proposals/"+id))
}

// BenchmarkFirstPages asks for every first page with as many proposals in the ledger as
// SALLYPORT_BENCH_PROPOSALS says, such as 1000000: on SQLite, and on PostgreSQL where SALLYPORT_TEST_POSTGRES
// has a server. What it costs to fill the ledger is not counted.
func BenchmarkFirstPages(b *testing.B) {
	rows, _ := strconv.Atoi(os.Getenv("SALLYPORT_BENCH_PROPOSALS"))
	if rows == 0 {
		b.Skip("set SALLYPORT_BENCH_PROPOSALS to a number of proposals")
	}
	for _, e := range []struct {
		name, driver, dsn string
		dialect           sqlledger.Dialect
	}{
		{"sqlite", "sqlite", "file:" + filepath.Join(b.TempDir(), "ledger.db") + "?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(5000)", sqlledger.SQLite},
		{"postgresql", "pgx", os.Getenv("SALLYPORT_TEST_POSTGRES"), sqlledger.PostgreSQL},
	} {
		b.Run(e.name, func(b *testing.B) {
			if e.dsn == "" {
				b.Skip("set SALLYPORT_TEST_POSTGRES")
			}
			db, err := sql.Open(e.driver, e.dsn)
			require.NoError(b, err)
			defer func() { require.NoError(b, db.Close()) }()
			if e.dialect == sqlledger.SQLite {
				db.SetMaxOpenConns(1)
			}
			const prefix = "bench_console_"
			drop := func() {
				for _, table := range []string{"proposals", "records", "scopes", "grants", "uses", "meta"} {
					_, err := db.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+prefix+table)
					require.NoError(b, err)
				}
			}
			drop()
			defer drop()
			book, err := sqlledger.New(db, e.dialect, sqlledger.Options{Prefix: prefix})
			require.NoError(b, err)
			require.NoError(b, book.Migrate(b.Context()))
			s := openOn(b, book, nil)
			s.fill(b, db, e.dialect, prefix, rows)
			id := s.propose("refund", "a1", 7)
			for _, path := range screens(id) {
				b.Run(strings.ReplaceAll(path, id, "ID"), func(b *testing.B) {
					for b.Loop() {
						w := httptest.NewRecorder()
						s.console.ServeHTTP(w, request(b, "olga", "GET", path, nil))
						require.Equal(b, 200, w.Code)
					}
				})
			}
		})
	}
}

// fill puts proposals with sound seals into the tables, and three records for each, as years would.
func (s *shop) fill(b *testing.B, db *sql.DB, dialect sqlledger.Dialect, prefix string, rows int) {
	b.Helper()
	began := time.Now()
	p, err := s.book.Proposal(b.Context(), scope, s.propose("refund", "a1", 1))
	require.NoError(b, err)
	data, err := db.QueryContext(b.Context(), "SELECT * FROM "+prefix+"proposals")
	require.NoError(b, err)
	columns, err := data.Columns()
	require.NoError(b, err)
	template := make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range into {
		into[i] = &template[i]
	}
	require.True(b, data.Next())
	require.NoError(b, data.Scan(into...))
	require.NoError(b, data.Close())
	var names []string
	var keep []int
	for i, name := range columns {
		if name != "due_at" { // the database works it out
			names, keep = append(names, name), append(keep, i)
		}
	}
	reg := s.reg.Load()
	const batch = 500
	now := p.CreatedAt
	tx, err := db.BeginTx(b.Context(), nil)
	require.NoError(b, err)
	for start := 0; start < rows; start += batch {
		var places []string
		var args []any
		for i := start; i < min(start+batch, rows); i++ {
			q := p
			q.CreatedAt = now.Add(-time.Duration(rows-i) * time.Second)
			q.ExpiresAt = q.CreatedAt.Add(5 * time.Minute).Truncate(time.Second)
			q.ID, err = reg.NewID(q.CreatedAt)
			require.NoError(b, err)
			require.NoError(b, ledger.Seal(s.keys, &q))
			set := map[string]any{
				"id": q.ID, "created_at": q.CreatedAt.UnixMicro(), "expires_at": q.ExpiresAt.UnixMicro(), "seal": q.Seal,
				"decision": "claimed", "decided_by": "sam", "decided_at": q.CreatedAt.Add(time.Second).UnixMicro(), "claim": "c",
				"outcome": "succeeded", "finished_at": q.CreatedAt.Add(2 * time.Second).UnixMicro(), "run_by": q.ExpiresAt.UnixMicro(),
				"result": `{"paid":1}`, "verdict": "unmeasured",
			}
			if i%5 == 0 {
				set = map[string]any{
					"id": q.ID, "created_at": set["created_at"], "expires_at": set["expires_at"], "seal": q.Seal,
					"decision": "dismissed", "decided_by": "sue", "decided_at": set["decided_at"], "note": "no",
				}
			} else if i%7 == 0 || i > rows-300 {
				set = map[string]any{"id": q.ID, "created_at": set["created_at"], "expires_at": set["expires_at"], "seal": q.Seal}
			}
			var marks []string
			for _, k := range keep {
				v, ok := set[columns[k]]
				if !ok {
					v = template[k]
				}
				args = append(args, v)
				if dialect == sqlledger.PostgreSQL {
					marks = append(marks, "$"+strconv.Itoa(len(args)))
				} else {
					marks = append(marks, "?")
				}
			}
			places = append(places, "("+strings.Join(marks, ",")+")")
		}
		_, err := tx.ExecContext(b.Context(), "INSERT INTO "+prefix+"proposals ("+strings.Join(names, ",")+") VALUES "+strings.Join(places, ","), args...)
		require.NoError(b, err)
	}
	for _, event := range []string{"proposed", "started", "finished"} {
		_, err := tx.ExecContext(b.Context(), `INSERT INTO `+prefix+`records (at, event, code, reason, scope, actor, kind, principal, background, via, tools, run, origin,
			conversation, operator, action, targets, params, proposal, claim, grant_id, result, error, times, attempt)
			SELECT created_at, '`+event+`', 'done', '', scope, actor, kind, principal, background, via, tools, run, origin,
			conversation, decided_by, action, targets, params, id, claim, '', result, error, 1, '' FROM `+prefix+`proposals ORDER BY created_at`)
		require.NoError(b, err)
	}
	require.NoError(b, tx.Commit())
	_, err = db.ExecContext(b.Context(), "ANALYZE")
	require.NoError(b, err)
	b.Logf("%d proposals in %v", rows, time.Since(began).Round(time.Second))
}
