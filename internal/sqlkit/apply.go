package sqlkit

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
)

// tries bounds how often one change is begun.
const tries = 10

// Change is what one transaction does. Work starts with the statement that takes its lock, which on SQLite is the
// lock of the database: a transaction that began by reading could not wait for it. It returns an error of the
// store if it finds that it must not be applied, which undoes it.
type Change struct {
	Attempt string // a mark that a committed change leaves behind, the same in every try
	Locks   bool   // whether a second try waits for an earlier one that is still being committed
	Work    func(ctx context.Context, tx *sqlx.Tx) error
	Mine    func(ctx context.Context) (bool, error) // whether the mark is there
}

// Attempt returns a mark for a change.
func (k *DB) Attempt() (string, error) {
	var b [15]byte
	if _, err := io.ReadFull(k.Options.Random, b[:]); err != nil {
		return "", fmt.Errorf("sql: mark of a change: %w", err)
	}
	return base32.StdEncoding.EncodeToString(b[:]), nil
}

// Apply runs a change until it is known to be applied, or known not to be, or its time is up. Each try is one
// transaction, and the same in everything. The caller's context ends it only while nothing has begun: a commit
// that is cancelled in flight may be applied or not.
//
// A try that ended in doubt is followed by another one, whose first statement waits for what is left of the
// first: either the change is still to be made, and is made now, or it is refused, and then the mark in the audit
// trail tells whether by itself. It has the timeout once more.
func (k *DB) Apply(ctx context.Context, c *Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := k.Free(ctx); err != nil {
		return err
	}
	limit, cancel := k.Own(ctx)
	defer cancel()
	return k.tryAll(ctx, ctx, limit, c, false)
}

// clearUp goes on after a try that ended in doubt.
func (k *DB) clearUp(ctx context.Context, c *Change) error {
	limit, cancel := k.Own(ctx)
	defer cancel()
	return k.tryAll(ctx, limit, limit, c, true)
}

// tryAll waits for a connection until waiting ends, and for everything until limit does.
func (k *DB) tryAll(ctx, waiting, limit context.Context, c *Change, doubt bool) error {
	for try := 1; ; try++ {
		err := k.try(waiting, limit, c.Work)
		if err == nil {
			return nil
		}
		switch k.FaultOf(err) {
		case Refused:
			if !doubt {
				return err
			}
			return k.Settle(ctx, c, err)
		case Final, Duplicate:
			return unapplied(doubt, err)
		case Doubtful:
			switch {
			case !c.Locks:
				return k.Settle(ctx, c, err)
			case !doubt:
				return k.clearUp(ctx, c)
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
	return fmt.Errorf("sql: not applied: %w", err)
}

// Settle answers a change that was in doubt and was then refused: by itself, or by another one?
func (k *DB) Settle(ctx context.Context, c *Change, refused error) error {
	ctx, cancel := k.Own(ctx)
	defer cancel()
	var mine bool
	err := Reading(func() (err error) {
		mine, err = c.Mine(ctx)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	case mine:
		return nil
	case k.FaultOf(refused) == Refused:
		return refused
	}
	return unapplied(true, refused)
}

// Own returns the context of a change that began: the caller's values, and a timeout of its own.
func (k *DB) Own(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), k.Options.Timeout)
}

// try runs work in one transaction, until limit at the latest. Whatever fails, nothing is committed: after some
// errors a transaction goes on, without the statement that failed or outside of any transaction.
func (k *DB) try(waiting, limit context.Context, work func(context.Context, *sqlx.Tx) error) error {
	end, _ := limit.Deadline()
	waiting, cancel := context.WithDeadline(waiting, end)
	defer cancel()
	conn, err := k.Connx(waiting)
	if err != nil {
		return &Failure{Again, err}
	}
	if err = waiting.Err(); err == nil {
		var tx *sqlx.Tx
		if tx, err = conn.BeginTxx(limit, &k.Tx); err == nil {
			return k.within(limit, conn, tx, work)
		}
	}
	_ = conn.Close()
	return &Failure{Again, err}
}

// within runs work in a transaction that has begun.
func (k *DB) within(limit context.Context, conn *sqlx.Conn, tx *sqlx.Tx, work func(context.Context, *sqlx.Tx) error) error {
	done := false
	defer func() {
		if !done { // also where work panics
			_ = k.Leave(limit, conn, tx.Rollback)
		}
	}()
	if err := work(limit, tx); err != nil {
		return err
	}
	done = true
	if err := k.Leave(limit, conn, tx.Commit); err != nil {
		return &Failure{Doubtful, err}
	}
	return nil
}

// Leave ends a transaction and gives its connection back. It waits until limit at the latest: not every driver gives
// up a commit or a rollback that a server does not answer. The connection of such a one comes back when it has failed.
func (k *DB) Leave(limit context.Context, conn *sqlx.Conn, end func() error) error {
	leave := func() error {
		err := end()
		if err != nil && !errors.Is(err, sql.ErrTxDone) {
			k.abandon(conn)
		}
		_ = conn.Close()
		return err
	}
	if k.Dialect == SQLite {
		return leave() // there is no server
	}
	left := make(chan error, 1)
	go func() { left <- leave() }()
	select {
	case err := <-left:
		return err
	case <-limit.Done():
		return limit.Err()
	}
}

// abandon makes sure that a transaction whose end failed does not live on in the pool. SQLite keeps it open
// if the commit was busy; it is rolled back there, since closing the connection would end a database in memory.
func (k *DB) abandon(conn *sqlx.Conn) {
	if k.Dialect != SQLite {
		Discard(conn)
		return
	}
	ctx, cancel := k.Own(context.Background())
	defer cancel()
	_, _ = conn.ExecContext(ctx, "ROLLBACK") // refused where nothing is open any more
}

// Discard closes a connection instead of giving it back.
func Discard(conn *sqlx.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// Reading repeats a read that the database refused for what others did at the time.
func Reading(read func() error) error {
	for try := 1; ; try++ {
		if err := read(); err == nil || try == tries || FaultOf(err) != Again {
			return err
		}
	}
}
