package sqlauthz_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
)

// deaf is a driver that does not hear the answer to a commit: it was applied, or it was not.
type deaf struct {
	of      driver.Driver
	dsn     string
	lose    bool
	applied bool
	then    func() // what others do before the edit is cleared up
}

var errNoAnswer = errors.New("no answer")

func (d *deaf) Driver() driver.Driver { return d.of }

func (d *deaf) Connect(context.Context) (driver.Conn, error) {
	c, err := d.of.Open(d.dsn)
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
	end := tx.Tx.Rollback
	if tx.d.applied {
		end = tx.Tx.Commit
	}
	err := errors.Join(errNoAnswer, end())
	tx.d.then()
	return err
}

// TestCommitWithoutAnswer: an edit whose commit was not answered is answered as applied if it was the last one, and
// otherwise as something that nobody knows, never as refused; edit is called once.
func TestCommitWithoutAnswer(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		lossy := &deaf{of: d.db.Driver(), dsn: d.dsn}
		db := sql.OpenDB(lossy)
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		far, err := sqlauthz.New(db, e.dialect, sqlauthz.Options{Prefix: d.prefix})
		require.NoError(t, err)
		disable := func(d authz.Directory, tool string) (calls int, err error) {
			err = d.Edit(t.Context(), "shop", func(f *authz.Facts) error {
				calls++
				f.Settings.Disabled = append(f.Settings.Disabled, tool)
				return nil
			})
			return calls, err
		}
		others := func() {
			_, err := disable(d, "others")
			require.NoError(t, err)
		}
		for _, c := range []struct {
			name    string
			applied bool
			then    func()
			known   bool
			want    []string
		}{
			{"applied", true, func() {}, true, []string{"mine"}},
			{"not applied", false, func() {}, false, nil},
			{"applied and followed by another", true, others, false, []string{"mine", "others"}},
			{"not applied and followed by another", false, others, false, []string{"others"}},
		} {
			set(t, d, "shop", authz.Facts{})
			lossy.lose, lossy.applied, lossy.then = true, c.applied, c.then
			calls, err := disable(far, "mine")
			require.Equal(t, 1, calls, c.name)
			if c.known {
				require.NoError(t, err, c.name)
			} else {
				require.ErrorIs(t, err, sqlauthz.ErrInDoubt, c.name)
				require.ErrorIs(t, err, errNoAnswer, c.name)
			}
			for _, reader := range []authz.Directory{d, far} {
				require.Equal(t, c.want, facts(t, reader, "shop").Settings.Disabled, c.name)
			}
		}
	})
}
