package sqlledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

func TestMain(m *testing.M) {
	if err := mysql.SetLogger(new(mysql.NopLogger)); err != nil { // of connections that tests cut
		panic(err)
	}
	if task := os.Getenv(childVariable); task != "" {
		fmt.Fprintln(os.Stderr, child(task))
		os.Exit(1)
	}
	if task := os.Getenv(cashierVariable); task != "" {
		if err := cashierChild(task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The tests run on SQLite, and on PostgreSQL and MariaDB where SALLYPORT_TEST_POSTGRES and SALLYPORT_TEST_MYSQL hold
// the DSN of a database in which they may make tables and schemas, such as
//
//	SALLYPORT_TEST_POSTGRES='postgres://postgres@127.0.0.1:5432/test?sslmode=disable'
//	SALLYPORT_TEST_MYSQL='root@tcp(127.0.0.1:3306)/test'
//
// SALLYPORT_TEST_PGBOUNCER may hold that of the same PostgreSQL behind PgBouncer in transaction mode.

// engine is a database that the tests run against, in one way of connecting to it.
type engine struct {
	name    string
	dialect sqlledger.Dialect
	env     string // names the variable that holds its DSN
	dsn     func(base string) string
	variant bool // the same engine as another one, in another mode of its driver
}

var engines = []engine{
	{name: "sqlite", dialect: sqlledger.SQLite},
	{name: "postgresql", dialect: sqlledger.PostgreSQL, env: "SALLYPORT_TEST_POSTGRES"},
	{name: "postgresql, simple_protocol", dialect: sqlledger.PostgreSQL, env: "SALLYPORT_TEST_POSTGRES", dsn: with("default_query_exec_mode=simple_protocol"), variant: true},
	{name: "postgresql, exec", dialect: sqlledger.PostgreSQL, env: "SALLYPORT_TEST_POSTGRES", dsn: with("default_query_exec_mode=exec"), variant: true},
	{name: "postgresql, serializable", dialect: sqlledger.PostgreSQL, env: "SALLYPORT_TEST_POSTGRES", dsn: with("default_transaction_isolation=serializable"), variant: true},
	{name: "mariadb", dialect: sqlledger.MySQL, env: "SALLYPORT_TEST_MYSQL"},
	{name: "mariadb, interpolateParams", dialect: sqlledger.MySQL, env: "SALLYPORT_TEST_MYSQL", dsn: with("interpolateParams=true"), variant: true},
	{name: "mariadb, clientFoundRows", dialect: sqlledger.MySQL, env: "SALLYPORT_TEST_MYSQL", dsn: with("clientFoundRows=true"), variant: true},
	{name: "mariadb, serializable", dialect: sqlledger.MySQL, env: "SALLYPORT_TEST_MYSQL", dsn: with("tx_isolation=%27SERIALIZABLE%27"), variant: true},
	{name: "postgresql through pgbouncer, exec", dialect: sqlledger.PostgreSQL, env: "SALLYPORT_TEST_PGBOUNCER", dsn: with("default_query_exec_mode=exec"), variant: true},
}

// with adds a setting to a DSN.
func with(setting string) func(string) string {
	return func(dsn string) string {
		if strings.Contains(dsn, "?") {
			return dsn + "&" + setting
		}
		return dsn + "?" + setting
	}
}

// base returns the engine's DSN, or skips the test.
func (e engine) base(tb testing.TB) string {
	dsn := os.Getenv(e.env)
	if dsn == "" {
		tb.Skipf("%s holds no DSN", e.env)
	}
	return dsn
}

// connect opens a pool on a DSN of the engine, on the test's own file for SQLite.
func (e engine) connect(tb testing.TB, dsn string) *sql.DB {
	db, err := e.dial(dsn)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })
	return db
}

func (e engine) dial(dsn string) (*sql.DB, error) {
	driver := map[sqlledger.Dialect]string{sqlledger.SQLite: "sqlite", sqlledger.PostgreSQL: "pgx", sqlledger.MySQL: "mysql"}[e.dialect]
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	if e.dialect == sqlledger.SQLite {
		db.SetMaxOpenConns(1)
	}
	return db, nil
}

// address returns the DSN of the test's own database: a file of its own on SQLite.
func (e engine) address(tb testing.TB) string {
	if e.dialect == sqlledger.SQLite {
		return "file:" + filepath.Join(tb.TempDir(), "ledger.db") + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	dsn := e.base(tb)
	if e.dsn != nil {
		dsn = e.dsn(dsn)
	}
	return dsn
}

// options returns a prefix that no other test has.
func options(tb testing.TB) sqlledger.Options {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, tb.Name(), os.Getpid()) // a hash takes everything
	return sqlledger.Options{Prefix: fmt.Sprintf("t%08x_", h.Sum32())}
}

// store is a Store whose rows a test can change by hand.
type store struct {
	*sqlledger.Store
	db      *sql.DB
	dialect sqlledger.Dialect
	prefix  string
	dsn     string
}

var tables = []string{"records_guard", "proposals", "records", "scopes", "grants", "uses", "meta", "joined"}

// open returns an empty store of the engine, which the end of the test removes.
func (e engine) open(tb testing.TB) *store {
	dsn := e.address(tb)
	db := e.connect(tb, dsn)
	o := options(tb)
	tb.Cleanup(func() {
		if e.dialect == sqlledger.SQLite {
			return
		}
		for _, name := range tables {
			_, err := db.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+o.Prefix+name)
			require.NoError(tb, err)
		}
		if e.dialect == sqlledger.PostgreSQL {
			_, err := db.ExecContext(context.Background(), "DROP FUNCTION IF EXISTS "+o.Prefix+"refuse_change")
			require.NoError(tb, err)
		}
	})
	s, err := sqlledger.New(db, e.dialect, o)
	require.NoError(tb, err)
	require.NoError(tb, s.Migrate(tb.Context()))
	return &store{Store: s, db: db, dialect: e.dialect, prefix: o.Prefix, dsn: dsn}
}

// Join implements [ledgertest.Joiner].
func (s *store) Join(ctx context.Context, key string) error {
	if _, err := s.exec("CREATE TABLE IF NOT EXISTS {joined} (id VARCHAR(64) PRIMARY KEY)"); err != nil {
		return err
	}
	tx, err := sqlledger.Tx(ctx)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, s.q("INSERT INTO {joined} (id) VALUES (?)"), key)
	return err
}

// Joined implements [ledgertest.Joiner].
func (s *store) Joined(ctx context.Context, key string) (bool, error) {
	var n int
	err := s.db.QueryRowContext(ctx, s.q("SELECT COUNT(*) FROM {joined} WHERE id = ?"), key).Scan(&n)
	return n == 1, err
}

var _ ledgertest.Joiner = (*store)(nil)

var variantClause = regexp.MustCompile(`(?i)claim|uses|every_|zero|times_are|_once|race`)

// TestStore runs the contract on every store there is.
func TestStore(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		ledgertest.TestStore(t, func(*testing.T) ledger.Store { return new(ledger.Memory) })
	})
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.address(t) // skips all of it at once
			ledgertest.TestStore(t, func(t *testing.T) ledger.Store {
				if e.variant && !variantClause.MatchString(t.Name()) {
					t.Skip("of the modes of a driver, only what binds and compares values and what races is tested")
				}
				return e.open(t)
			})
		})
	}
}

// each runs a test on every engine, in the default mode of its driver, all engines side by side.
func each(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines {
		if !e.variant {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				test(t, e)
			})
		}
	}
}

// twin returns a Store on a pool of its own over the same tables, as another process has it.
func (e engine) twin(tb testing.TB, s *store, change func(*sqlledger.Options)) *sqlledger.Store {
	o := sqlledger.Options{Prefix: s.prefix}
	if change != nil {
		change(&o)
	}
	twin, err := sqlledger.New(e.connect(tb, s.dsn), e.dialect, o)
	require.NoError(tb, err)
	return twin
}
