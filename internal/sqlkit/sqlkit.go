// Package sqlkit is what the SQL stores of this module share: dialects and their text, a schema with versions,
// transactions whose outcome is known, and columns that keep every text as it is.
//
// It imports no driver, sets nothing outside of itself, and keeps no prepared statement and no state of a session.
package sqlkit

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Dialect says which database it is. The zero Dialect is none.
type Dialect uint8

// The dialects.
const (
	SQLite Dialect = iota + 1
	PostgreSQL
	MySQL // and MariaDB
)

// String returns the dialect's name in lower case.
func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "sqlite"
	case PostgreSQL:
		return "postgresql"
	case MySQL:
		return "mysql"
	}
	return fmt.Sprintf("Dialect(%d)", uint8(d))
}

// ErrInDoubt says that nobody knows whether a change was applied.
var ErrInDoubt = errors.New("sql: it is not known whether the change was applied")

// Options are what a host may choose. The stores document them.
type Options struct {
	Prefix      string
	Timeout     time.Duration
	Environment string
	Random      io.Reader
}

var (
	prefixes     = regexp.MustCompile(`^(?:[a-z_][a-z0-9_]*\.)?(?:[a-z_][a-z0-9_]*)?$`)
	environments = regexp.MustCompile(`^[A-Za-z0-9._:/-]{0,100}$`)
)

// Check returns the options with their defaults.
func (o Options) Check(d Dialect) (Options, error) {
	o.Prefix = cmp.Or(o.Prefix, "sallyport_")
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	if o.Random == nil {
		o.Random = rand.Reader
	}
	switch {
	case d < SQLite || d > MySQL:
		return o, fmt.Errorf("sql: there is no %v", d)
	case len(o.Prefix) > 32 || !prefixes.MatchString(o.Prefix):
		return o, fmt.Errorf("sql: %q is no prefix of table names", o.Prefix)
	case d == SQLite && strings.Contains(o.Prefix, "."):
		return o, fmt.Errorf("sql: %q: SQLite has no schemas", o.Prefix)
	case o.Timeout < 0:
		return o, errors.New("sql: the timeout is negative")
	case !environments.MatchString(o.Environment):
		return o, fmt.Errorf("sql: %q is no name of an environment", o.Environment)
	}
	return o, nil
}

// DB is a host's database as one store sees it. It is safe for concurrent use.
type DB struct {
	*sqlx.DB
	Dialect Dialect
	Options Options
	Tx      sql.TxOptions
	schema  Schema
	known   func(error) (Fault, bool)
}

// New returns the view of a store that has a schema, and errors of its own that it knows. It does not talk to the
// database yet.
func New(db *sql.DB, d Dialect, o Options, s Schema, known func(error) (Fault, bool)) (*DB, error) {
	o, err := o.Check(d)
	if err != nil {
		return nil, err
	}
	if db == nil {
		return nil, errors.New("sql: no database")
	}
	k := &DB{DB: sqlx.NewDb(db, d.String()), Dialect: d, Options: o, schema: s, known: known}
	if d != SQLite {
		// A default of SERIALIZABLE would answer a lost race by an error instead of no row.
		k.Tx.Isolation = sql.LevelReadCommitted
	}
	return k, nil
}

// Text puts the prefix and the dialect's parameters into a statement.
func (k *DB) Text(query string) string {
	query = Names(k.Options.Prefix).Replace(query)
	if k.Dialect == PostgreSQL {
		return sqlx.Rebind(sqlx.DOLLAR, query)
	}
	return query
}

// Names replaces {name} by the name of a table and [name] by a name that takes no schema.
func Names(prefix string) *strings.Replacer {
	return strings.NewReplacer("{", prefix, "}", "", "[", prefix[strings.Index(prefix, ".")+1:], "]", "")
}

// ErrHeld says that a run function has joined a transaction and then asked for something that would wait for it.
var ErrHeld = errors.New("sql: the run's transaction is open")

// Holder is a transaction that a context may carry.
type Holder interface{ Holds(db *sql.DB) bool }

type holderKey struct{}

// Hold returns a context that carries a holder.
func Hold(ctx context.Context, h Holder) context.Context {
	return context.WithValue(ctx, holderKey{}, h)
}

// HolderOf returns the holder that a context carries, or nil.
func HolderOf(ctx context.Context) Holder {
	h, _ := ctx.Value(holderKey{}).(Holder)
	return h
}

// Free refuses what would wait for the transaction of the very run that asks for it: where a pool has one connection,
// or a database one writer, it would wait for ever.
func (k *DB) Free(ctx context.Context) error {
	if h := HolderOf(ctx); h != nil && h.Holds(k.DB.DB) {
		return ErrHeld
	}
	return nil
}
