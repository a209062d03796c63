package sqlledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// ErrNoUnit is what [Tx] returns where there is no run to share a transaction with.
var ErrNoUnit = errors.New("sqlledger: this context is not that of a run function that changes something, or its run has ended")

// ErrInUnit says that a run function which has joined its transaction called another action. Its records could
// not be written beside an open transaction on every database, so they are not written on any: call other
// actions before [Tx].
var ErrInUnit = sqlkit.ErrHeld

// Tx returns the transaction in which the ledger will record how the present run ended, and begins it if this is
// the first call of the run. What a run function writes by it is committed together with the outcome if the
// function returns no error, and rolled back otherwise. Neither commit nor roll it back yourself, also by a statement
// that does (on MySQL, one such as CREATE TABLE), and do not use it after the run. Return the error of a statement that
// fails: some take the whole transaction with them, and what is written after that is kept by itself. A run that
// goes on is never recorded as a success then; it is interrupted, since nobody knows what is kept of it.
//
// It is a transaction of READ COMMITTED, on SQLite one that holds the lock of the database: with one connection,
// all that the function reads and writes from then on has to go through it. It is [ErrNoUnit] outside of a run
// function of a change, or with another kind of ledger.
func Tx(ctx context.Context) (*sql.Tx, error) {
	u, ok := sqlkit.HolderOf(ctx).(*unit)
	if !ok {
		return nil, ErrNoUnit
	}
	return u.join(ctx)
}

// unit is a [ledger.Unit].
type unit struct {
	store *Store

	mu    sync.Mutex
	conn  *sqlx.Conn
	tx    *sqlx.Tx
	ended bool
}

// savepoint is there as long as the run's transaction is. MySQL and SQLite end it by themselves for some errors (a
// deadlock, a write that was interrupted) and at once take what comes next for a transaction of its own. PostgreSQL
// takes nothing more until it is rolled back.
const savepoint = "sallyport_run"

// errEnded says that the run's transaction is not there any more when its outcome is to be written.
var errEnded = errors.New("sqlledger: the run's transaction ended before its run, and nobody knows what is kept of it")

// Unit implements [ledger.Transactor].
func (s *Store) Unit(ctx context.Context) (context.Context, ledger.Unit) {
	u := &unit{store: s}
	return sqlkit.Hold(ctx, u), u
}

// Holds implements [sqlkit.Holder].
func (u *unit) Holds(db *sql.DB) bool { return u.store.db.DB.DB == db && u.open() }

func (u *unit) open() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tx != nil && !u.ended
}

// ending reports whether a run has joined the transaction that is to be ended now. A unit that nobody joined ends here.
func (u *unit) ending() (joined bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return false, fmt.Errorf("%w: the unit of work has ended", ledger.ErrConflict)
	}
	u.ended = u.tx == nil
	return !u.ended, nil
}

func (u *unit) join(ctx context.Context) (*sql.Tx, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.ended:
		return nil, ErrNoUnit
	case u.tx != nil:
		return u.tx.Tx, nil
	}
	if err := u.begin(ctx); err != nil {
		return nil, fmt.Errorf("sqlledger: begin the run's transaction: %w", err)
	}
	return u.tx.Tx, nil
}

// begin does not tie the transaction to the caller's context, which may end between the run and the commit.
func (u *unit) begin(ctx context.Context) error {
	s := u.store
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTxx(context.WithoutCancel(ctx), &s.db.Tx)
	if err == nil && s.dialect == SQLite {
		// A transaction that began by reading could not wait for its turn to write.
		_, err = tx.ExecContext(ctx, s.db.Text("UPDATE {meta} SET version = version WHERE one = 1"))
	}
	if err == nil && s.dialect != PostgreSQL {
		_, err = tx.ExecContext(ctx, "SAVEPOINT "+savepoint)
	}
	if err != nil {
		if tx != nil {
			_ = tx.Rollback()
		}
		_ = conn.Close()
		return err
	}
	u.conn, u.tx = conn, tx
	return nil
}

// Finish implements [ledger.Unit].
func (u *unit) Finish(ctx context.Context, f ledger.Finish) error {
	if joined, err := u.ending(); err != nil {
		return err
	} else if !joined {
		return u.store.Finish(ctx, f)
	}
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &f.Record)
	args := finishing(e, &f)
	if e.Err != nil || f.Outcome == ledger.Running {
		u.Undo()
		return fmt.Errorf("%w: %w", ledger.ErrUncommitted, cmp.Or(e.Err, ledger.ErrConflict))
	}
	return u.commit(ctx, record, func(ctx context.Context) error {
		return applied(u.tx.ExecContext(ctx, u.store.sql.finish, args...))
	})
}

// Append implements [ledger.Unit].
func (u *unit) Append(ctx context.Context, r ledger.Record) error {
	if joined, err := u.ending(); err != nil {
		return err
	} else if !joined {
		return u.store.Append(ctx, r)
	}
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &r)
	if e.Err != nil {
		u.Undo()
		return fmt.Errorf("%w: %w", ledger.ErrUncommitted, e.Err)
	}
	return u.commit(ctx, record, func(context.Context) error { return nil })
}

// commit ends the transaction with its record. It is tried once: the run's own statements cannot be repeated.
func (u *unit) commit(ctx context.Context, record *recordRow, work func(context.Context) error) error {
	s := u.store
	limit, cancel := s.db.Own(ctx)
	defer cancel()
	c, err := s.newChange(record)
	if err == nil {
		err = u.still(limit)
	}
	if err == nil {
		err = work(limit)
	}
	if err == nil {
		err = s.insertRecord(limit, u.tx, c, record, none)
	}
	if err != nil {
		u.Undo()
		switch {
		case errors.Is(err, errEnded):
			return err
		case errors.Is(err, sql.ErrTxDone): // by the run itself
			return fmt.Errorf("%w: %w", errEnded, err)
		}
		return fmt.Errorf("%w: %w", ledger.ErrUncommitted, err)
	}
	u.mu.Lock()
	u.ended = true
	u.mu.Unlock()
	if err := s.db.Leave(limit, u.conn, u.tx.Commit); err != nil {
		if err := s.db.Settle(ctx, c, err); err != nil {
			return fmt.Errorf("%w: %w", ledger.ErrUncommitted, err)
		}
	}
	return nil
}

// still makes sure that the transaction is the one that the run joined.
func (u *unit) still(ctx context.Context) error {
	if u.store.dialect == PostgreSQL {
		return nil
	}
	_, err := u.tx.ExecContext(ctx, "RELEASE SAVEPOINT "+savepoint)
	if err != nil && u.store.db.FaultOf(err) == sqlkit.Final {
		return fmt.Errorf("%w: %w", errEnded, err) // the server has no such savepoint
	}
	return err
}

// Undo implements [ledger.Unit].
func (u *unit) Undo() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return
	}
	u.ended = true
	if u.tx == nil {
		return
	}
	limit, cancel := u.store.db.Own(context.Background())
	defer cancel()
	_ = u.store.db.Leave(limit, u.conn, u.tx.Rollback)
}

var _ ledger.Transactor = (*Store)(nil)
