package sqlauthz_test

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/authztest"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
)

// engine is a database that the tests run against, in one way of connecting to it. The servers' are skipped unless
// SALLYPORT_TEST_POSTGRES, SALLYPORT_TEST_MYSQL and SALLYPORT_TEST_PGBOUNCER hold a DSN.
type engine struct {
	name, driver string
	dialect      sqlauthz.Dialect
	env, setting string
}

var engines = []engine{
	{"sqlite", "sqlite", sqlauthz.SQLite, "", ""},
	{"postgresql", "pgx", sqlauthz.PostgreSQL, "SALLYPORT_TEST_POSTGRES", ""},
	{"postgresql, simple_protocol", "pgx", sqlauthz.PostgreSQL, "SALLYPORT_TEST_POSTGRES", "default_query_exec_mode=simple_protocol"},
	{"postgresql, exec", "pgx", sqlauthz.PostgreSQL, "SALLYPORT_TEST_POSTGRES", "default_query_exec_mode=exec"},
	{"postgresql, serializable", "pgx", sqlauthz.PostgreSQL, "SALLYPORT_TEST_POSTGRES", "default_transaction_isolation=serializable"},
	{"mariadb", "mysql", sqlauthz.MySQL, "SALLYPORT_TEST_MYSQL", ""},
	{"mariadb, interpolateParams", "mysql", sqlauthz.MySQL, "SALLYPORT_TEST_MYSQL", "interpolateParams=true"},
	{"mariadb, clientFoundRows", "mysql", sqlauthz.MySQL, "SALLYPORT_TEST_MYSQL", "clientFoundRows=true"},
	{"mariadb, serializable", "mysql", sqlauthz.MySQL, "SALLYPORT_TEST_MYSQL", "tx_isolation=%27SERIALIZABLE%27"},
	{"postgresql through pgbouncer, exec", "pgx", sqlauthz.PostgreSQL, "SALLYPORT_TEST_PGBOUNCER", "default_query_exec_mode=exec"},
}

// directory is a Directory whose rows a test can change by hand.
type directory struct {
	*sqlauthz.Directory
	db     *sql.DB
	engine engine
	dsn    string
	prefix string
}

func (e engine) address(t testing.TB) string {
	if e.env == "" {
		return "file:" + filepath.Join(t.TempDir(), "people.db") + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	dsn := os.Getenv(e.env)
	if dsn == "" {
		t.Skipf("%s holds no DSN", e.env)
	}
	if e.setting != "" {
		dsn += map[bool]string{true: "&", false: "?"}[strings.Contains(dsn, "?")] + e.setting
	}
	return dsn
}

func (e engine) connect(t testing.TB, dsn string) *sql.DB {
	db, err := sql.Open(e.driver, dsn)
	require.NoError(t, err)
	db.SetMaxOpenConns(8)
	if e.env == "" {
		db.SetMaxOpenConns(1)
	}
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// open returns an empty directory, which the end of the test removes.
func (e engine) open(t testing.TB) *directory {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, t.Name(), os.Getpid()) // a hash takes everything
	d := &directory{engine: e, dsn: e.address(t), prefix: fmt.Sprintf("t%08x_", h.Sum32())}
	d.db = e.connect(t, d.dsn)
	if e.env != "" {
		t.Cleanup(func() {
			for _, table := range []string{"meta", "scopes", "actors", "grants"} {
				_, err := d.db.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+d.prefix+"authz_"+table)
				require.NoError(t, err)
			}
		})
	}
	d.Directory = d.twin(t, nil)
	require.NoError(t, d.Migrate(t.Context()))
	return d
}

// twin returns a Directory over the same tables as another process has it, or on the same pool without a DSN.
func (d *directory) twin(t testing.TB, change func(*sqlauthz.Options)) *sqlauthz.Directory {
	db := d.db
	if d.Directory != nil {
		db = d.engine.connect(t, d.dsn)
	}
	o := sqlauthz.Options{Prefix: d.prefix}
	if change != nil {
		change(&o)
	}
	twin, err := sqlauthz.New(db, d.engine.dialect, o)
	require.NoError(t, err)
	return twin
}

// exec changes rows by hand; {x} is the name of a table.
func (d *directory) exec(t testing.TB, query string) {
	t.Helper()
	for _, table := range []string{"meta", "scopes", "actors", "grants"} {
		query = strings.ReplaceAll(query, "{"+table+"}", d.prefix+"authz_"+table)
	}
	_, err := d.db.ExecContext(t.Context(), query)
	require.NoError(t, err)
}

func each(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines {
		if e.setting == "" {
			t.Run(e.name, func(t *testing.T) { test(t, e) })
		}
	}
}

// TestDirectory runs the contract on every directory there is.
func TestDirectory(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		authztest.TestDirectory(t, func(*testing.T) authz.Directory { return new(authz.Memory) })
	})
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			e.address(t) // skips all of it at once
			authztest.TestDirectory(t, func(t *testing.T) authz.Directory { return e.open(t) })
		})
	}
}

// apart is a directory that is read in one process and edited in another.
type apart struct {
	authz.Source
	there *sqlauthz.Directory
}

func (a apart) Edit(ctx context.Context, scope authz.Scope, edit func(*authz.Facts) error) error {
	return a.there.Edit(ctx, scope, edit)
}

// TestDirectoryOfTwoPools runs the contract where one pool reads what only the other edits: no mixed snapshot,
// no late edit, no scope that is not known yet.
func TestDirectoryOfTwoPools(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		e.address(t)
		authztest.TestDirectory(t, func(t *testing.T) authz.Directory {
			d := e.open(t)
			return apart{d, d.twin(t, nil)}
		})
	})
}
