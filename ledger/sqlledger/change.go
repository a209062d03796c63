package sqlledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// tries bounds how often one change is begun.
const tries = 10

// change is what one transaction does. It starts with the statement that takes its lock, which on SQLite is the
// lock of the database: a transaction that began by reading could not wait for it. It returns an error of the
// contract if it finds that it must not be applied, which undoes it.
type change struct {
	record  *recordRow // the record by which a committed change is known again
	attempt string     // its mark, the same in every try
	locks   bool       // whether a second try waits for an earlier one that is still being committed
	work    func(ctx context.Context, tx *sqlx.Tx) error
}

func (s *Store) newChange(r *recordRow) (*change, error) {
	var b [15]byte
	if _, err := io.ReadFull(s.options.Random, b[:]); err != nil {
		return nil, fmt.Errorf("sqlledger: mark of a change: %w", err)
	}
	return &change{record: r, attempt: base32.StdEncoding.EncodeToString(b[:]), locks: true}, nil
}

// apply runs a change until it is known to be applied, or known not to be, or its time is up. Each try is one
// transaction, and the same in everything. The caller's context ends it only while nothing has begun: a commit
// that is cancelled in flight may be applied or not.
//
// A try that ended in doubt is followed by another one, whose first statement waits for what is left of the
// first: either the change is still to be made, and is made now, or it is refused, and then the mark in the audit
// trail tells whether by itself. It has the timeout once more.
func (s *Store) apply(ctx context.Context, c *change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.free(ctx); err != nil {
		return err
	}
	doubt, waiting := false, ctx
	limit, cancel := s.own(ctx)
	defer func() { cancel() }()
	for try := 1; ; try++ {
		err := s.try(waiting, limit, c.work)
		if err == nil {
			return nil
		}
		switch faultOf(err) {
		case decided:
			if !doubt {
				return err
			}
			return s.settle(ctx, c, err)
		case final, duplicate:
			return unapplied(doubt, err)
		case doubtful:
			if !c.locks {
				return s.settle(ctx, c, err)
			}
			if !doubt {
				cancel()
				limit, cancel = s.own(ctx)
				doubt, waiting = true, limit
			}
		}
		pause := time.NewTimer(time.Duration(rand.Int64N(int64(time.Millisecond) << min(try, 6))))
		select {
		case <-waiting.Done():
		case <-limit.Done():
		case <-pause.C:
		}
		pause.Stop()
		if try == tries || waiting.Err() != nil || limit.Err() != nil {
			return unapplied(doubt, err)
		}
	}
}

// unapplied is the error of a change that was given up.
func unapplied(doubt bool, err error) error {
	if doubt {
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return fmt.Errorf("sqlledger: not applied: %w", err)
}

// settle answers a change that was in doubt and was then refused: by itself, or by another one?
func (s *Store) settle(ctx context.Context, c *change, refused error) error {
	ctx, cancel := s.own(ctx)
	defer cancel()
	var n int
	err := reading(func() error {
		return s.db.GetContext(ctx, &n, s.sql.mine, c.record.Scope, c.record.Proposal, c.attempt)
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	case n > 0:
		return nil
	case faultOf(refused) == decided:
		return refused
	}
	return unapplied(true, refused)
}

// own returns the context of a change that began: the caller's values, and a timeout of its own.
func (s *Store) own(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.options.Timeout)
}

// try runs work in one transaction, until limit at the latest. Whatever fails, nothing is committed: after some
// errors a transaction goes on, without the statement that failed or outside of any transaction.
func (s *Store) try(waiting, limit context.Context, work func(context.Context, *sqlx.Tx) error) error {
	end, _ := limit.Deadline()
	waiting, cancel := context.WithDeadline(waiting, end)
	defer cancel()
	conn, err := s.db.Connx(waiting)
	if err != nil {
		return &failure{again, err}
	}
	defer func() { _ = conn.Close() }()
	if err := waiting.Err(); err != nil {
		return &failure{again, err}
	}
	tx, err := conn.BeginTxx(limit, &s.tx)
	if err != nil {
		return &failure{again, err}
	}
	if err := work(limit, tx); err != nil {
		if e := tx.Rollback(); e != nil && !errors.Is(e, sql.ErrTxDone) {
			discard(conn)
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		s.abandon(conn)
		return &failure{doubtful, err}
	}
	return nil
}

// abandon makes sure that a transaction whose commit failed does not live on in the pool. SQLite keeps it open
// if the commit was busy; it is rolled back there, since closing the connection would end a database in memory.
func (s *Store) abandon(conn *sqlx.Conn) {
	if s.dialect != SQLite {
		discard(conn)
		return
	}
	ctx, cancel := s.own(context.Background())
	defer cancel()
	_, _ = conn.ExecContext(ctx, "ROLLBACK") // refused where nothing is open any more
}

// discard closes a connection instead of giving it back.
func discard(conn *sqlx.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// insertRecord writes the record of a change. A decision is unique per proposal, whatever its row says.
func (s *Store) insertRecord(ctx context.Context, tx *sqlx.Tx, c *change, r *recordRow, decides sql.NullString) error {
	_, err := tx.ExecContext(ctx, s.sql.insertRecord, append(r.values(), decides, c.attempt)...)
	if decides.Valid && faultOf(err) == duplicate {
		return errDenied
	}
	return err
}

// errDenied says that a decision is on record, whatever the row says.
var errDenied = fmt.Errorf("%w: a decision is on record", ledger.ErrConflict)

// decision is the value of the column by which decision records are unique.
func decision(id string) sql.NullString { return sql.NullString{String: keep(id), Valid: true} }

// undecided refines the refusal of a decision: a proposal that could be decided when it was read, and on which no
// decision is on record, was not there yet when the change looked for it.
func undecided(p ledger.Proposal, refused error, open bool) (ledger.Proposal, error) {
	if open && p.Decision == ledger.Undecided && errors.Is(refused, ledger.ErrConflict) && !errors.Is(refused, errDenied) {
		return ledger.Proposal{}, ledger.ErrNotFound
	}
	return p, refused
}

// standing returns a refused change's proposal as it stands, read in a transaction of its own: the one that
// lost may still see what was before. It replaces the refusal only if the proposal is not found or not readable.
func (s *Store) standing(ctx context.Context, scope authz.Scope, id string, refused error) (ledger.Proposal, error) {
	ctx, cancel := s.own(ctx)
	defer cancel()
	var p ledger.Proposal
	err := reading(func() (err error) {
		p, err = s.Proposal(ctx, scope, id)
		return err
	})
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return ledger.Proposal{}, err
	case err != nil:
		return ledger.Proposal{}, fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return p, refused
}

// reading repeats a read that the database refused for what others did at the time.
func reading(read func() error) error {
	for try := 1; ; try++ {
		if err := read(); err == nil || try == tries || faultOf(err) != again {
			return err
		}
	}
}
