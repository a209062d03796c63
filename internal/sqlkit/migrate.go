package sqlkit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// ErrSchema says that the tables are not this program's: they have a newer version, or another environment's
// name, or there are none.
var ErrSchema = errors.New("sql: the tables are not for this program")

// Migrate makes the tables, or upgrades them to the version that this package knows, and records the
// environment's name. It may run in several processes at once; all but one wait. Tables of a newer version or of
// another environment are left alone, with [ErrSchema]. Nothing else ever changes the schema.
func (k *DB) Migrate(ctx context.Context) error {
	for try := 1; ; try++ {
		err := k.migrate(ctx)
		if err == nil || errors.Is(err, ErrSchema) {
			return err
		}
		if try == tries || ctx.Err() != nil || FaultOf(err) != Again {
			return fmt.Errorf("sql: migrate: %w", err)
		}
		time.Sleep(time.Duration(try) * 10 * time.Millisecond)
	}
}

// migrate holds a lock for as long as it takes. PostgreSQL and SQLite do it all in one transaction, on PostgreSQL of READ
// COMMITTED: another one would not see what was made while it waited for the lock. MySQL ends a transaction at every
// such statement, so each of them does nothing where it was applied before; what comes last is committed, since
// connections may have autocommit off.
func (k *DB) migrate(ctx context.Context) (err error) {
	conn, err := k.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	begin := "BEGIN ISOLATION LEVEL READ COMMITTED"
	switch k.Dialect {
	case SQLite:
		begin = "BEGIN IMMEDIATE"
	case MySQL:
		begin = "DO 0"
		var locked sql.NullInt64
		if err := conn.GetContext(ctx, &locked, "SELECT GET_LOCK(?, 60)", k.lockName()); err != nil {
			return err
		}
		if locked.Int64 != 1 {
			return errors.New("another process is at it for a minute")
		}
		defer func() {
			if _, e := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(?)", k.lockName()); e != nil {
				Discard(conn) // which releases it
			}
		}()
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	if err = k.upgrade(ctx, conn); err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		if _, e := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); e != nil && k.Dialect != SQLite {
			Discard(conn)
		}
	}
	return err
}

// lockName tells ledgers apart that share a server.
func (k *DB) lockName() string { return k.schema.Name + " " + k.Options.Prefix }

func (k *DB) upgrade(ctx context.Context, conn *sqlx.Conn) error {
	if k.Dialect == PostgreSQL {
		h := fnv.New64a()
		_, _ = h.Write([]byte(k.lockName()))
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(h.Sum64())); err != nil {
			return err
		}
	}
	run := func(name string) error {
		for _, statement := range k.schema.Step(k.Dialect, k.Options, name) {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("step %s: %w", name, err)
			}
		}
		return nil
	}
	if err := run("0"); err != nil {
		return err
	}
	have, err := k.Recorded(ctx, conn)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	fresh := err != nil
	for v := have.Version + 1; v <= k.schema.Version; v++ {
		if err := run(fmt.Sprint(v)); err != nil {
			return err
		}
	}
	write := "UPDATE " + k.schema.Meta + " SET version = ?, environment = ? WHERE one = 1"
	if fresh {
		write = "INSERT INTO " + k.schema.Meta + " (one, version, environment) VALUES (1, ?, ?)"
	}
	if have.Environment == "" {
		have.Environment = k.Options.Environment
	}
	_, err = conn.ExecContext(ctx, k.Text(write), k.schema.Version, have.Environment)
	return err
}

// Meta is what the database says about the tables of a schema.
type Meta struct {
	Version     int    `db:"version"`
	Environment string `db:"environment"`
}

// Recorded reads it, and refuses what this program must not touch.
func (k *DB) Recorded(ctx context.Context, q sqlx.QueryerContext) (Meta, error) {
	var m Meta
	if err := sqlx.GetContext(ctx, q, &m, k.Text("SELECT version, environment FROM "+k.schema.Meta+" WHERE one = 1")); err != nil {
		return Meta{}, err
	}
	switch {
	case m.Version > k.schema.Version:
		return m, fmt.Errorf("%w: they have version %d, and this program knows %d", ErrSchema, m.Version, k.schema.Version)
	case m.Environment != "" && m.Environment != k.Options.Environment:
		return m, fmt.Errorf("%w: they are of environment %q, not %q", ErrSchema, m.Environment, k.Options.Environment)
	}
	return m, nil
}

// Schema is the tables of one store: numbered files of statements for each dialect, and the table that says which of
// them were applied.
type Schema struct {
	Name    string // of the store, for locks
	Meta    string // the table, as in "{meta}"
	Version int    // the newest
	Files   fs.FS  // DIALECT_N.sql
}

// Statements returns what makes empty tables of the newest version.
func (s Schema) Statements(d Dialect, o Options) ([]string, error) {
	o, err := o.Check(d)
	if err != nil {
		return nil, err
	}
	var list []string
	for v := range s.Version + 1 {
		list = append(list, s.Step(d, o, fmt.Sprint(v))...)
	}
	set := fmt.Sprintf("INSERT INTO %s (one, version, environment) VALUES (1, %d, '%s')", s.Meta, s.Version, o.Environment)
	return append(list, Names(o.Prefix).Replace(set)), nil
}

// Step reads the statements of one file, which blank lines separate.
func (s Schema) Step(d Dialect, o Options, name string) []string {
	text, err := fs.ReadFile(s.Files, "schema/"+d.String()+"_"+name+".sql")
	if err != nil {
		panic(err) // a file that is embedded
	}
	var list []string
	for s := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(s), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "--") {
			lines = lines[1:]
		}
		if len(lines) > 0 {
			list = append(list, Names(o.Prefix).Replace(strings.TrimSuffix(strings.Join(lines, "\n"), ";")))
		}
	}
	return list
}
