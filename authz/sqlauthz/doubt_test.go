package sqlauthz_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/authztest"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
)

// deaf is a driver that does not hear the answer to a commit: it was applied, or it was not.
type deaf struct {
	dsn     string
	lose    bool
	applied bool
}

var errNoAnswer = errors.New("no answer")

func (d *deaf) Driver() driver.Driver { return new(sqlite.Driver) }

func (d *deaf) Connect(context.Context) (driver.Conn, error) {
	c, err := d.Driver().Open(d.dsn)
	return &deafConn{c, d}, err
}

type deafConn struct {
	driver.Conn
	d *deaf
}

func (c *deafConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	return &deafTx{tx, c.d}, err
}

func (c *deafConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
}

func (c *deafConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

type deafTx struct {
	driver.Tx
	d *deaf
}

func (tx *deafTx) Commit() error {
	if !tx.d.lose {
		return tx.Tx.Commit()
	}
	tx.d.lose = false
	if tx.d.applied {
		return errors.Join(errNoAnswer, tx.Tx.Commit())
	}
	return errors.Join(errNoAnswer, tx.Tx.Rollback())
}

// TestCommitWithoutAnswer: an edit whose commit was not answered is answered as applied if it was, and otherwise as
// something that nobody knows; edit is called once.
func TestCommitWithoutAnswer(t *testing.T) {
	d := engines[0].open(t)
	set(t, d, "shop", authztest.Full())
	lossy := &deaf{dsn: d.dsn}
	db := sql.OpenDB(lossy)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	far, err := sqlauthz.New(db, sqlauthz.SQLite, sqlauthz.Options{Prefix: d.prefix})
	require.NoError(t, err)
	for i, applied := range []bool{true, false, true} {
		lossy.lose, lossy.applied = true, applied
		calls := 0
		err := far.Edit(t.Context(), "shop", func(f *authz.Facts) error {
			calls++
			f.Settings.Disabled = append(f.Settings.Disabled, "later")
			return nil
		})
		require.Equal(t, 1, calls)
		if applied {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, sqlauthz.ErrInDoubt)
			require.ErrorIs(t, err, errNoAnswer)
		}
		require.Len(t, facts(t, d, "shop").Settings.Disabled, []int{3, 3, 4}[i])
		require.Equal(t, facts(t, d, "shop"), facts(t, far, "shop"))
	}
}
