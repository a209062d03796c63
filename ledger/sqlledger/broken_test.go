package sqlledger_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// brittle is a driver over another one whose calls fail where a test says so: before they are made or after. A
// connection is broken from then on, and closes. Calls are "open", "begin", "exec", "query", "commit" and
// "rollback".
type brittle struct {
	driver.Connector // nil for SQLite at dsn
	dsn              string
	fail             func(call string) (before, after error)
}

func (b *brittle) Driver() driver.Driver { return new(sqlite.Driver) }

// server returns a connector whose statements are one call each, for brittle and watching. It is nil for SQLite.
func (e engine) server(dsn string) (driver.Connector, error) {
	switch e.dialect {
	case sqlledger.PostgreSQL:
		return stdlib.GetDefaultDriver().(*stdlib.Driver).OpenConnector(dsn)
	case sqlledger.MySQL:
		return mysql.MySQLDriver{}.OpenConnector(with("interpolateParams=true")(dsn))
	}
	return nil, nil
}

func (b *brittle) Connect(ctx context.Context) (driver.Conn, error) {
	if before, _ := b.fail("open"); before != nil {
		return nil, before
	}
	connect := func(context.Context) (driver.Conn, error) { return b.Driver().Open(b.dsn) }
	if b.Connector != nil {
		connect = b.Connector.Connect
	}
	c, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return &brittleConn{Conn: c, brittle: b}, nil
}

type brittleConn struct {
	driver.Conn
	brittle *brittle
	broken  bool
}

func (c *brittleConn) IsValid() bool { return !c.broken }

func brittleCall[T any](c *brittleConn, name string, do func() (T, error)) (T, error) {
	var nothing T
	if c.broken {
		return nothing, driver.ErrBadConn
	}
	before, after := c.brittle.fail(name)
	if before != nil {
		c.broken = true
		return nothing, before
	}
	v, err := do()
	if after != nil {
		c.broken = true
		return nothing, after
	}
	return v, err
}

func (c *brittleConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := brittleCall(c, "begin", func() (driver.Tx, error) { return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o) })
	return &brittleTx{tx, c}, err
}

func (c *brittleConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	return brittleCall(c, "exec", func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args) })
}

func (c *brittleConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	var rows driver.Rows
	answer, err := brittleCall(c, "query", func() (driver.Rows, error) {
		var err error
		rows, err = c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
		return rows, err
	})
	if err != nil && rows != nil {
		err = errors.Join(err, rows.Close()) // an answer that is lost is not read either
	}
	return answer, err
}

type brittleTx struct {
	driver.Tx
	conn *brittleConn
}

func (tx *brittleTx) end(name string, do func() error) error {
	_, err := brittleCall(tx.conn, name, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (tx *brittleTx) Commit() error   { return tx.end("commit", tx.Tx.Commit) }
func (tx *brittleTx) Rollback() error { return tx.end("rollback", tx.Tx.Rollback) }

// over opens a Store whose calls of the database fail where b says.
func (b *brittle) over(t *testing.T, s *store) *sqlledger.Store {
	b.dsn = s.dsn
	var err error
	b.Connector, err = engine{dialect: s.dialect}.server(s.dsn)
	require.NoError(t, err)
	db := sql.OpenDB(b)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	far, err := sqlledger.New(db, s.dialect, sqlledger.Options{Prefix: s.prefix})
	require.NoError(t, err)
	return far
}

// TestFaultsThatStay has a database that refuses one kind of call each time.
func TestFaultsThatStay(t *testing.T) {
	for _, c := range []struct {
		call  string
		after bool
		doubt bool
	}{
		{"open", false, false}, {"begin", false, false}, {"begin", true, false},
		{"query", false, true}, {"exec", false, true}, {"commit", false, true}, {"commit", true, true},
	} {
		t.Run(fmt.Sprint(c.call, c.after), func(t *testing.T) {
			s := engines[0].open(t)
			p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
			require.NoError(t, err)
			reached := false
			far := (&brittle{fail: func(call string) (error, error) {
				reached = reached || call == c.call
				switch {
				case reached && call == "query", call == c.call && !c.after:
					return io.ErrUnexpectedEOF, nil // from then on nothing can be read either
				case call == c.call:
					return nil, io.ErrUnexpectedEOF
				}
				return nil, nil
			}}).over(t, s)
			_, err = far.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
			require.Error(t, err)
			require.Equal(t, c.doubt, errors.Is(err, sqlledger.ErrInDoubt), "%v", err)
			s.holds(t, p, "claim-1", err)
		})
	}
}

// TestRollbackFails makes sure that a connection which may still have a transaction does not go back to the pool.
func TestRollbackFails(t *testing.T) {
	s := engines[0].open(t)
	p := claimOne(t, s, 1)
	opens := 0
	far := (&brittle{fail: func(call string) (error, error) {
		switch call {
		case "open":
			opens++
		case "rollback":
			return io.ErrUnexpectedEOF, nil
		}
		return nil, nil
	}}).over(t, s)
	for range 3 {
		_, err := far.Claim(t.Context(), ledgertest.NewClaim(p, "claim-2", p.CreatedAt))
		require.ErrorIs(t, err, ledger.ErrConflict)
	}
	require.GreaterOrEqual(t, opens, 3)
}

// TestBusyCommit has readers in the way of a commit on a rollback journal: the transaction is rolled back and does
// not live on in the pool.
func TestBusyCommit(t *testing.T) {
	e := engines[0]
	dsn := "file:" + filepath.Join(t.TempDir(), "ledger.db") + "?_pragma=synchronous(FULL)&_pragma=busy_timeout(10)"
	s, err := sqlledger.New(e.connect(t, dsn), e.dialect, sqlledger.Options{Timeout: 300 * time.Millisecond})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
	require.NoError(t, err)

	reader := e.connect(t, dsn)
	rows, err := reader.Query("SELECT 1 FROM sallyport_proposals UNION ALL SELECT 2 FROM sallyport_proposals")
	require.NoError(t, err)
	require.True(t, rows.Next())
	_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
	require.ErrorIs(t, err, sqlledger.ErrInDoubt)
	require.NoError(t, rows.Close())
	p, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "claim-2", p.CreatedAt))
	require.NoError(t, err, "the connection is free again")
	require.Equal(t, "claim-2", p.Claim)
}

// TestDiskFull and a file that cannot be written refuse a claim, and it has not happened.
func TestDiskFull(t *testing.T) {
	s := engines[0].open(t)
	p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
	require.NoError(t, err)
	_, err = s.exec("PRAGMA max_page_count = 1") // as many as there are
	require.NoError(t, err)
	c := ledgertest.NewClaim(p, "claim-1", p.CreatedAt)
	c.Record.Error = strings.Repeat("x", 1<<20)
	_, err = s.Claim(t.Context(), c)
	require.ErrorContains(t, err, "full")
	require.Zero(t, s.holds(t, p, "claim-1", err))
}

func TestReadOnlyFile(t *testing.T) {
	s := engines[0].open(t)
	p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
	require.NoError(t, err)
	s.dsn = strings.Replace(s.dsn, "?", "?mode=ro&", 1)
	far, err := sqlledger.New(engines[0].connect(t, s.dsn), sqlledger.SQLite, sqlledger.Options{Prefix: s.prefix})
	require.NoError(t, err)
	_, err = far.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
	require.ErrorContains(t, err, "readonly")
	require.Zero(t, s.holds(t, p, "claim-1", err))
}

// TestNoRandomness refuses a change that could not be told from others.
func TestNoRandomness(t *testing.T) {
	s := engines[0].open(t)
	empty, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { require.NoError(t, empty.Close()) }()
	far := engines[0].twin(t, s, func(o *sqlledger.Options) { o.Random = empty })
	p := ledgertest.NewEntry("shop", 1).Proposal
	_, err = far.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
	require.ErrorIs(t, err, io.EOF)
	_, err = far.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
	require.ErrorIs(t, err, io.EOF)
	_, err = far.Revise(t.Context(), ledgertest.NewRevision(p, 2, p.CreatedAt))
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, far.Finish(t.Context(), ledgertest.NewFinish(p, p.CreatedAt)), io.EOF)
	require.ErrorIs(t, far.Append(t.Context(), ledgertest.NewEntry("shop", 1).Record), io.EOF)
}
