package sqlledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// TestUnitWhoseTransactionIsGone has the engine roll the run's transaction back under a run that goes on: SQLite does it
// for a write that was interrupted, MariaDB for a deadlock. What comes after is kept by itself, the record of a success
// too if it were written.
func TestUnitWhoseTransactionIsGone(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		c := openTill(t, s, s.Store)
		c.instead = func(ctx context.Context) error {
			tx, err := sqlledger.Tx(ctx)
			require.NoError(t, err)
			c.loses(ctx, tx)
			_, _ = tx.ExecContext(ctx, c.payment("after"))
			return nil
		}
		_, row, err := c.approve()
		require.Zero(t, c.count(row.Claim), "what was written before is gone")
		if e.dialect == sqlledger.PostgreSQL { // which takes nothing after it
			require.Zero(t, c.count("after"))
			require.ErrorIs(t, err, ledger.ErrUncommitted)
			require.Equal(t, ledger.RunFailed, registry.CodeOf(err))
			require.Equal(t, ledger.Failed, row.Outcome)
		} else {
			require.Equal(t, 1, c.count("after"), "what was written after is not")
			c.interrupted(row, err)
		}
		c.instead = nil
		_, row, err = c.approve()
		require.NoError(t, err, "the connection is free again")
		require.Equal(t, ledger.Succeeded, row.Outcome)
	})
}

// TestUnitEndedByItsRun: where a run ends its transaction itself nobody knows what is kept.
func TestUnitEndedByItsRun(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		c := openTill(t, s, s.Store)
		ends := map[string]func(*sql.Tx) error{"commit": (*sql.Tx).Commit, "roll back": (*sql.Tx).Rollback}
		if e.dialect == sqlledger.MySQL {
			ends["commit by a statement"] = func(tx *sql.Tx) error {
				_, err := tx.Exec("DROP TABLE IF EXISTS " + s.prefix + "nothing")
				return err
			}
		}
		for name, end := range ends {
			c.instead = func(ctx context.Context) error {
				tx, err := sqlledger.Tx(ctx)
				require.NoError(t, err)
				return end(tx)
			}
			_, row, err := c.approve()
			c.interrupted(row, err)
			require.Equal(t, name != "roll back", c.count(row.Claim) == 1, name)
		}
	})
}

// TestUnitInMemory: the end of a transaction that is gone does not end a database in memory.
func TestUnitInMemory(t *testing.T) {
	db := engines[0].connect(t, ":memory:?_pragma=busy_timeout(5000)")
	s, err := sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	c := openTill(t, &store{Store: s, db: db, dialect: sqlledger.SQLite, prefix: "sallyport_"}, s)
	ctx, unit := s.Unit(t.Context())
	tx, err := sqlledger.Tx(ctx)
	require.NoError(t, err)
	c.loses(ctx, tx)
	unit.Undo()
	claimOne(t, s, 1)
}

// TestUnitWhoseCommitIsBusy has a reader in the way of the commit, on a rollback journal and with one connection: whether
// it was applied can be asked at once.
func TestUnitWhoseCommitIsBusy(t *testing.T) {
	e := engines[0]
	dsn := "file:" + filepath.Join(t.TempDir(), "ledger.db") + "?_pragma=synchronous(FULL)&_pragma=busy_timeout(10)"
	s, err := sqlledger.New(e.connect(t, dsn), e.dialect, sqlledger.Options{Timeout: time.Second})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	p := claimOne(t, s, 1)
	rows, err := e.connect(t, dsn).Query("SELECT 1 FROM sallyport_proposals UNION ALL SELECT 2 FROM sallyport_proposals")
	require.NoError(t, err)
	require.True(t, rows.Next())
	ctx, unit := s.Unit(t.Context())
	_, err = sqlledger.Tx(ctx)
	require.NoError(t, err)
	err = unit.Finish(t.Context(), ledgertest.NewFinish(p, p.CreatedAt))
	require.ErrorIs(t, err, ledger.ErrUncommitted)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "nobody waits for the unit's own connection")
	require.NoError(t, rows.Close())
	require.NoError(t, s.Finish(t.Context(), ledgertest.NewFinish(p, p.CreatedAt)))
}

// TestEndIsNotAnswered leaves a commit and a rollback without an answer, and the connection open: nobody waits longer than
// the timeout, once more to clear it up, and nobody is told what is not known.
func TestEndIsNotAnswered(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		if e.dialect == sqlledger.SQLite {
			t.Skip("there is no network between")
		}
		s := e.open(t)
		far, p := e.through(t, s)
		in := func(what string, do func() error) error {
			answer := make(chan error, 1)
			go func() { answer <- do() }()
			select {
			case err := <-answer:
				return err
			case <-time.After(20 * time.Second): // of timeouts of a second
				p.heal()
				require.Fail(t, "it waits for ever", what)
				return <-answer
			}
		}
		row, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		p.once(stall)
		err = in("a claim", func() error {
			_, err := far.Claim(context.Background(), ledgertest.NewClaim(row, "claim-1", row.CreatedAt))
			return err
		})
		require.ErrorIs(t, err, sqlledger.ErrInDoubt)

		ran := claimOne(t, s, 2)
		ctx, unit := far.Unit(context.Background())
		_, err = sqlledger.Tx(ctx)
		require.NoError(t, err)
		p.once(stall)
		err = in("a unit", func() error { return unit.Finish(context.Background(), ledgertest.NewFinish(ran, ran.CreatedAt)) })
		require.ErrorIs(t, err, ledger.ErrUncommitted)

		ctx, unit = far.Unit(context.Background())
		_, err = sqlledger.Tx(ctx)
		require.NoError(t, err)
		p.arm(func(m []byte) cut {
			if bytes.Contains(bytes.ToLower(m), []byte("rollback")) {
				return stall
			}
			return pass
		})
		require.NoError(t, in("a run that failed", func() error { unit.Undo(); return nil }))
		p.arm(nil)
		p.heal()
		require.Zero(t, s.holds(t, row, "claim-1", sqlledger.ErrInDoubt), "it had not happened")
		f := ledgertest.NewFinish(ran, ran.CreatedAt)
		f.Outcome = ledger.Failed
		require.NoError(t, s.Finish(t.Context(), f), "nor had this")
	})
}

// interrupted makes sure that a run is on record as begun, and as nothing else.
func (c *till) interrupted(row ledger.Proposal, err error) {
	c.t.Helper()
	require.Equal(c.t, ledger.Interrupted, registry.CodeOf(err), "%v", err)
	require.NotErrorIs(c.t, err, ledger.ErrUncommitted)
	require.Equal(c.t, ledger.Running, row.Outcome)
	require.Equal(c.t, []ledger.Event{ledger.EventProposed, ledger.EventStarted}, c.events(ledger.AuditQuery{Proposal: row.ID}))
}

func (c *till) payment(claim string) string {
	return fmt.Sprintf("INSERT INTO %s (claim, cents) VALUES ('%s', 1)", c.s.payments(), claim)
}

func (c *till) count(claim string) (n int) {
	require.NoError(c.t, c.s.db.QueryRow("SELECT COUNT(*) FROM "+c.s.payments()+" WHERE claim = '"+claim+"'").Scan(&n))
	return n
}

// loses makes the engine end a transaction for an error.
func (c *till) loses(ctx context.Context, tx *sql.Tx) {
	switch c.s.dialect {
	case sqlledger.SQLite:
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		_, err := tx.ExecContext(short, "INSERT INTO "+c.s.payments()+" (claim, cents)"+
			" WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'n' || i, i FROM n")
		require.ErrorIs(c.t, err, context.DeadlineExceeded)
	case sqlledger.PostgreSQL:
		_, err := tx.ExecContext(ctx, "SELECT 1 / 0")
		require.Error(c.t, err)
	default:
		c.deadlock(ctx, tx)
	}
}

// deadlock has another transaction want what this one has, and the other way round. Whichever waits first, the server
// ends the one that has changed less.
func (c *till) deadlock(ctx context.Context, tx *sql.Tx) {
	other, err := c.s.db.BeginTx(ctx, nil)
	require.NoError(c.t, err)
	defer func() { _ = other.Rollback() }()
	for n := range 20 {
		_, err := other.Exec(c.payment(fmt.Sprint("other-", n)))
		require.NoError(c.t, err)
	}
	_, err = tx.Exec(c.payment("mine"))
	require.NoError(c.t, err)
	waited := make(chan error, 1)
	go func() {
		_, err := other.Exec(c.payment("mine"))
		waited <- err
	}()
	_, err = tx.Exec(c.payment("other-0"))
	require.ErrorContains(c.t, err, "1213")
	require.NoError(c.t, <-waited)
}
