package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jmoiron/sqlx"
)

// ErrSchema says that the tables are not this program's: they have a newer version, or another environment's
// name, or there are none.
var ErrSchema = errors.New("sqlledger: the tables are not for this program")

// Migrate makes the tables, or upgrades them to the version that this package knows, and records the
// environment's name. It may run in several processes at once; all but one wait. Tables of a newer version or of
// another environment are left alone, with [ErrSchema]. Nothing else ever changes the schema.
func (s *Store) Migrate(ctx context.Context) error {
	for try := 1; ; try++ {
		err := s.migrate(ctx)
		if err == nil || errors.Is(err, ErrSchema) {
			return err
		}
		if try == tries || ctx.Err() != nil || faultOf(err) != again {
			return fmt.Errorf("sqlledger: migrate: %w", err)
		}
		time.Sleep(time.Duration(try) * 10 * time.Millisecond)
	}
}

// migrate holds a lock for as long as it takes. PostgreSQL and SQLite do it all in one transaction. MySQL ends a
// transaction at every such statement, so each of them does nothing where it was applied before.
func (s *Store) migrate(ctx context.Context) (err error) {
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	begin, commit, rollback := "BEGIN", "COMMIT", "ROLLBACK"
	switch s.dialect {
	case SQLite:
		begin = "BEGIN IMMEDIATE"
	case MySQL:
		begin, commit, rollback = "DO 0", "DO 0", "DO 0"
		var locked sql.NullInt64
		if err := conn.GetContext(ctx, &locked, "SELECT GET_LOCK(?, 60)", s.lockName()); err != nil {
			return err
		}
		if locked.Int64 != 1 {
			return errors.New("another process is at it for a minute")
		}
		defer func() {
			if _, e := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(?)", s.lockName()); e != nil {
				discard(conn) // which releases it
			}
		}()
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	if err = s.upgrade(ctx, conn); err == nil {
		_, err = conn.ExecContext(ctx, commit)
	}
	if err != nil {
		if _, e := conn.ExecContext(context.WithoutCancel(ctx), rollback); e != nil && s.dialect != SQLite {
			discard(conn)
		}
	}
	return err
}

// lockName tells ledgers apart that share a server.
func (s *Store) lockName() string { return "sqlledger " + s.options.Prefix }

func (s *Store) upgrade(ctx context.Context, conn *sqlx.Conn) error {
	if s.dialect == PostgreSQL {
		h := fnv.New64a()
		_, _ = h.Write([]byte(s.lockName()))
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(h.Sum64())); err != nil {
			return err
		}
	}
	run := func(name string) error {
		for _, statement := range step(s.dialect, s.options, name) {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("step %s: %w", name, err)
			}
		}
		return nil
	}
	if err := run("0"); err != nil {
		return err
	}
	have, err := s.schema(ctx, conn)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	fresh := err != nil
	for v := have.Version + 1; v <= version; v++ {
		if err := run(fmt.Sprint(v)); err != nil {
			return err
		}
	}
	write := "UPDATE {meta} SET version = ?, environment = ? WHERE one = 1"
	if fresh {
		write = "INSERT INTO {meta} (one, version, environment) VALUES (1, ?, ?)"
	}
	if have.Environment == "" {
		have.Environment = s.options.Environment
	}
	_, err = conn.ExecContext(ctx, s.text(write), version, have.Environment)
	return err
}

// meta is what the database says about its tables.
type meta struct {
	Version     int
	Environment string
}

// schema reads it, and refuses what this program must not touch.
func (s *Store) schema(ctx context.Context, q sqlx.QueryerContext) (meta, error) {
	var m meta
	if err := sqlx.GetContext(ctx, q, &m, s.sql.readSchema); err != nil {
		return meta{}, err
	}
	switch {
	case m.Version > version:
		return m, fmt.Errorf("%w: they have version %d, and this program knows %d", ErrSchema, m.Version, version)
	case m.Environment != "" && m.Environment != s.options.Environment:
		return m, fmt.Errorf("%w: they are of environment %q, not %q", ErrSchema, m.Environment, s.options.Environment)
	}
	return m, nil
}
