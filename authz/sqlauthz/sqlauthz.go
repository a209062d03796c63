// Package sqlauthz keeps an [authz.Directory] in a host's own database: SQLite, PostgreSQL, or MySQL and MariaDB.
//
// [New] makes a [Directory] of the host's *sql.DB and an explicit [Dialect]. [Directory.Migrate] creates and upgrades the
// tables, only when it is called; [Schema] prints the same statements for hosts that apply them by other means. The
// tables lie beside those of ledger/sqlledger, with the same prefix if you like, and ask the same of the database: its
// package comment and its Check say what.
//
// The facts of a scope are one snapshot with a version. [Directory.Facts] asks for the version, and answers with the
// snapshot that it has if that is the same: every process sees an edit of any other at its next decision. That costs one
// look-up by key, however large the scope is. After an edit each process reads the scope once, with all of its actors:
// a tenth of a second or so for ten thousand, which is as large as a scope should be. A host with larger ones writes a
// Source of its own over its own tables. Whoever changes rows by hand adds one to the scope's version, or the change is
// seen only by processes that start later.
//
// A row that cannot be restored, and facts that a directory would not keep, refuse every decision in their scope: the
// error is [ErrRow] and names the place. A standing grant is kept with its seal and believed by nobody without it.
// Actors are made by [Directory.Edit] alone: a row keeps a digest of its scope, id and kind, and one of them changed by
// hand is such an error, as is an actor inserted without it. The digest has no key and stops slips, not a forger.
//
// A scope, an id, a tool or a seal of more than 255 bytes is refused with [authz.ErrFacts], as is any other text or list of
// 16 MiB.
//
// The package imports no driver, sets nothing outside of itself, and keeps no prepared statement and no state of a
// session, so that it works through PgBouncer in transaction mode and in every mode of a driver. It is tested with
// modernc.org/sqlite, with pgx on PostgreSQL and with go-sql-driver/mysql on MariaDB; MySQL itself is not tested.
package sqlauthz

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
)

// Dialect says which database it is. It is never guessed from a driver's name. The zero Dialect is none.
type Dialect uint8

// The dialects.
const (
	SQLite     = Dialect(sqlkit.SQLite)
	PostgreSQL = Dialect(sqlkit.PostgreSQL)
	MySQL      = Dialect(sqlkit.MySQL) // and MariaDB
)

// String returns the dialect's name in lower case.
func (d Dialect) String() string { return sqlkit.Dialect(d).String() }

// Errors of a [Directory], beside those of the contract.
var (
	// ErrInDoubt says that nobody knows whether an edit was applied: the database did not answer its commit.
	ErrInDoubt = sqlkit.ErrInDoubt
	// ErrSchema says that the tables are not this program's: they have a newer version, or another environment's
	// name, or there are none.
	ErrSchema = sqlkit.ErrSchema
	// ErrRow says that what the tables hold is not what a directory keeps.
	ErrRow = errors.New("sqlauthz: a row cannot be restored")
)

// Options are what a host may choose. All processes of one directory choose the same Prefix and Environment.
type Options struct {
	// Prefix comes before the name of every table: lower-case letters, digits and underscores, at most 32
	// of them. One that ends in a dot is a schema (on MySQL, a database), and one like "people.sp_" is both;
	// SQLite takes no schema. The zero value means "sallyport_".
	Prefix string

	// Timeout bounds an edit, the wait for a connection included; one that ended in doubt has it once more to be
	// cleared up. An edit that began is bounded by it alone, not by the caller's context. Zero means five seconds.
	Timeout time.Duration

	// Environment is recorded by the first Migrate that names one, such as "production"; a Migrate that names
	// another is refused from then on. It has at most 100 letters, digits and any of . _ : / -.
	Environment string

	// Random is read for a mark that tells one edit from everybody else's. Nil means crypto/rand.Reader.
	Random io.Reader
}

//go:embed schema/*.sql
var files embed.FS

var tables = sqlkit.Schema{Name: "sqlauthz", Meta: "{authz_meta}", Version: 1, Files: files}

// Schema returns the statements that make an empty directory of the newest version. [Directory.Migrate] does the
// same, and upgrades older ones.
func Schema(d Dialect, o Options) ([]string, error) {
	return tables.Statements(sqlkit.Dialect(d), sqlkit.Options(o))
}

// Directory is an [authz.Directory] in a database. It is safe for concurrent use, by any number of processes.
type Directory struct {
	db  *sqlkit.DB
	sql statements

	mu     sync.Mutex
	scopes map[authz.Scope]*snapshot
}

// New returns a Directory on a database whose tables [Directory.Migrate] or [Schema] made. It does not talk to the
// database yet. The host keeps and closes db.
func New(db *sql.DB, d Dialect, o Options) (*Directory, error) {
	k, err := sqlkit.New(db, sqlkit.Dialect(d), sqlkit.Options(o), tables, faultOf)
	if err != nil {
		return nil, fmt.Errorf("sqlauthz: %w", err)
	}
	return &Directory{db: k, sql: newStatements(k), scopes: map[authz.Scope]*snapshot{}}, nil
}

// Migrate makes the tables, or upgrades them to the version that this package knows, and records the
// environment's name. It may run in several processes at once; all but one wait. Tables of a newer version or of
// another environment are left alone, with [ErrSchema]. Nothing else ever changes the schema.
func (d *Directory) Migrate(ctx context.Context) error { return d.db.Migrate(ctx) }

// snapshot is the latest facts of a scope that this process has read.
type snapshot struct {
	turn  chan struct{} // holds one while they are read
	mark  mark
	facts *authz.Facts
}

// mark tells one state of a scope from every other: edits change both, and a person who edits by hand the version.
type mark struct {
	Version int64  `db:"version"`
	Attempt string `db:"attempt"`
}

// Facts implements [authz.Source]. It returns the facts of every actor of the scope.
func (d *Directory) Facts(ctx context.Context, scope authz.Scope, _ []authz.ID) (*authz.Facts, error) {
	if err := d.db.Free(ctx); err != nil {
		return nil, err
	}
	var now mark
	err := d.db.GetContext(ctx, &now, d.sql.mark, sqlkit.Keep(string(scope)))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, authz.ErrUnknownScope
	case err != nil:
		return nil, fmt.Errorf("sqlauthz: read the version of the facts: %w", err)
	}
	s := d.snapshot(scope)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("sqlauthz: wait for the facts: %w", ctx.Err())
	}
	defer func() { <-s.turn }()
	if s.facts != nil && s.mark == now {
		return s.facts, nil
	}
	var read *scopeRow
	var facts *authz.Facts
	if err := sqlkit.Reading(func() (err error) { read, facts, err = d.read(ctx, scope); return err }); err != nil {
		return nil, err
	}
	if s.facts == nil || s.mark != read.mark() {
		s.mark, s.facts = read.mark(), facts
	}
	return s.facts, nil
}

func (d *Directory) snapshot(scope authz.Scope) *snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.scopes[scope]
	if s == nil {
		s = &snapshot{turn: make(chan struct{}, 1)}
		d.scopes[scope] = s
	}
	return s
}

// read returns the facts of a scope, from one snapshot of the database.
func (d *Directory) read(ctx context.Context, scope authz.Scope) (*scopeRow, *authz.Facts, error) {
	o := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if d.db.Dialect == sqlkit.SQLite {
		o = nil // whose transactions are snapshots
	}
	tx, err := d.db.BeginTxx(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("sqlauthz: read the facts: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	return d.load(ctx, tx, scope)
}

// load reads a scope in a transaction; it is [authz.ErrUnknownScope] if there is none.
func (d *Directory) load(ctx context.Context, tx *sqlx.Tx, scope authz.Scope) (*scopeRow, *authz.Facts, error) {
	id := sqlkit.Keep(string(scope))
	var row scopeRow
	var actors []actorRow
	var grants []grantRow
	err := tx.GetContext(ctx, &row, d.sql.scope, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, authz.ErrUnknownScope
	}
	if err == nil {
		err = tx.SelectContext(ctx, &actors, d.sql.actors, id)
	}
	if err == nil {
		err = tx.SelectContext(ctx, &grants, d.sql.grants, id)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sqlauthz: read the facts: %w", err)
	}
	if row.Version == 0 {
		return &row, new(authz.Facts), nil // a scope that is being made
	}
	facts, err := decode(&row, actors, grants)
	if err == nil {
		err = facts.Validate(nil)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: scope %q: %w", ErrRow, row.Scope, err)
	}
	return &row, facts, nil
}

// Edit implements [authz.Directory]. It calls edit once, while it holds the lock of the scope: edit must not use the
// database.
func (d *Directory) Edit(ctx context.Context, scope authz.Scope, edit func(*authz.Facts) error) error {
	if scope == "" {
		return authz.ErrUnknownScope
	}
	e := new(sqlkit.Encoder)
	id := e.Short("the scope", string(scope))
	if e.Err != nil {
		return fmt.Errorf("%w: %w", authz.ErrFacts, e.Err)
	}
	attempt, err := d.db.Attempt()
	if err != nil {
		return err
	}
	c := &sqlkit.Change{Attempt: attempt}
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, d.sql.lock, id); err != nil {
			return err
		}
		row, old, err := d.load(ctx, tx, scope)
		if err != nil {
			return err
		}
		if err := d.edit(ctx, tx, row, old, attempt, edit); err != nil {
			return &sqlkit.Failure{Fault: sqlkit.Refused, Err: err} // nothing is committed, and edit is called once only
		}
		return nil
	}
	c.Mine = func(ctx context.Context) (bool, error) { return d.left(ctx, id, attempt) }
	return d.db.Apply(ctx, c)
}

func (d *Directory) edit(ctx context.Context, tx *sqlx.Tx, row *scopeRow, old *authz.Facts, attempt string, edit func(*authz.Facts) error) error {
	next := old.Clone()
	if err := edit(next); err != nil {
		return err
	}
	if row.Version == 0 {
		old = nil
	}
	if err := next.Validate(old); err != nil {
		return err
	}
	return d.write(ctx, tx, row, old, next, attempt)
}

// left says whether the latest edit of a scope has left this mark. It takes the scope's lock, and so waits for a
// commit that is still under way.
func (d *Directory) left(ctx context.Context, id, attempt string) (bool, error) {
	tx, err := d.db.BeginTxx(ctx, &d.db.Tx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, d.sql.lock, id); err != nil {
		return false, err
	}
	var now mark
	if err := tx.GetContext(ctx, &now, d.sql.mark, id); err != nil {
		return false, err
	}
	return now.Attempt == attempt, nil
}

// faultOf knows errors after which asking again does not help.
func faultOf(err error) (sqlkit.Fault, bool) { return sqlkit.Final, errors.Is(err, ErrRow) }

var _ authz.Directory = (*Directory)(nil)
