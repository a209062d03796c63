package sqlledger_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// pooler is a driver that does to its client what PgBouncer may do in transaction mode, and does it always: each transaction, and each statement
// outside of one, has a connection to the server that is not the one before. Whatever is left in a session is missed.
type pooler struct{ driver.Connector }

func (p pooler) Connect(ctx context.Context) (driver.Conn, error) {
	c := new(pooledConn)
	for i := range c.servers {
		server, err := p.Connector.Connect(ctx)
		if err != nil {
			return nil, err
		}
		c.servers[i] = server
	}
	return c, nil
}

type pooledConn struct {
	servers [2]driver.Conn
	turn    int
	inside  bool // a transaction
}

func (c *pooledConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("nothing is prepared")
}
func (c *pooledConn) Begin() (driver.Tx, error) { return nil, errors.New("without a context") }
func (c *pooledConn) Close() error              { return errors.Join(c.servers[0].Close(), c.servers[1].Close()) }

// server returns the connection of the next statement.
func (c *pooledConn) server() driver.Conn {
	if !c.inside {
		c.turn = 1 - c.turn
	}
	return c.servers[c.turn]
}

func (c *pooledConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.server().(driver.ConnBeginTx).BeginTx(ctx, o)
	c.inside = err == nil
	return pooledTx{tx, c}, err
}

func (c *pooledConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	server := c.server()
	switch word, _, _ := strings.Cut(q, " "); word {
	case "BEGIN":
		c.inside = true
	case "COMMIT", "ROLLBACK":
		c.inside = false
	}
	return server.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c *pooledConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	return c.server().(driver.QueryerContext).QueryContext(ctx, q, args)
}

type pooledTx struct {
	driver.Tx
	conn *pooledConn
}

func (tx pooledTx) Commit() error {
	tx.conn.inside = false
	return tx.Tx.Commit()
}

func (tx pooledTx) Rollback() error {
	tx.conn.inside = false
	return tx.Tx.Rollback()
}

// TestThroughAPooler makes the tables through a pooler in transaction mode, runs every statement and lets claims race, in
// the modes of pgx that prepare nothing in the server's session; and so through PgBouncer where there is one.
func TestThroughAPooler(t *testing.T) {
	for _, e := range engines {
		if !strings.HasSuffix(e.name, "exec") && !strings.HasSuffix(e.name, "simple_protocol") {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			s := e.open(t)
			s.unmake(t)
			connector, err := e.server(s.dsn)
			require.NoError(t, err)
			if !strings.Contains(e.name, "pgbouncer") {
				connector = pooler{connector}
			}
			db := sql.OpenDB(connector)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			db.SetMaxOpenConns(4)
			if !strings.Contains(e.name, "pgbouncer") {
				_, err = db.Exec("SET application_name = 'kept'")
				require.NoError(t, err)
				var name string
				require.NoError(t, db.QueryRow("SHOW application_name").Scan(&name))
				require.NotEqual(t, "kept", name, "another session")
			}
			far, err := sqlledger.New(db, e.dialect, sqlledger.Options{Prefix: s.prefix})
			require.NoError(t, err)
			require.NoError(t, far.Migrate(t.Context()))
			require.NoError(t, far.Migrate(t.Context()), "again")
			require.Empty(t, settings(t, far))
			everyStatement(t, far)
			p, err := far.Propose(t.Context(), ledgertest.NewEntry("shop", 20))
			require.NoError(t, err)
			won := 0
			for _, err := range together(16, func(i int) error {
				_, err := far.Claim(t.Context(), ledgertest.NewClaim(p, string(rune('a'+i)), p.CreatedAt))
				return err
			}) {
				if err == nil {
					won++
				} else {
					require.ErrorIs(t, err, ledger.ErrConflict)
				}
			}
			require.Equal(t, 1, won)
		})
	}
}
