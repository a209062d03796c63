package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// Place is where a shop keeps its people, its ledger and its own records.
type Place struct {
	People authz.Directory
	Book   ledger.Store
	Office *Office
	Memory *ledger.Memory // the book, in memory only
	Close  func() error
}

// InMemory is a place that is gone when the program ends.
func InMemory() *Place {
	p := &Place{People: new(authz.Memory), Memory: new(ledger.Memory), Office: new(Office), Close: func() error { return nil }}
	p.Book = p.Memory
	return p
}

// Database is one that the shop can use, as a DSN names it.
type Database struct {
	Driver  string
	DSN     string
	Dialect sqlledger.Dialect
}

// DatabaseOf reads a DSN: postgres://…, one of go-sql-driver/mysql with an address in it, or the name of a file for SQLite.
func DatabaseOf(dsn string) Database {
	switch {
	case strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://"):
		return Database{"pgx", dsn, sqlledger.PostgreSQL}
	case strings.Contains(dsn, "@tcp(") || strings.Contains(dsn, "@unix("):
		return Database{"mysql", dsn, sqlledger.MySQL}
	}
	return Database{"sqlite", "file:" + dsn + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", sqlledger.SQLite}
}

// Open opens the place in a database, with tables that have this prefix, which it makes if need be.
func (d Database) Open(ctx context.Context, prefix string) (_ *Place, err error) {
	db, err := sql.Open(d.Driver, d.DSN)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if d.Dialect == sqlledger.SQLite {
		db.SetMaxOpenConns(1)
	}
	book, err := sqlledger.New(db, d.Dialect, sqlledger.Options{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	people, err := sqlauthz.New(db, sqlauthz.Dialect(d.Dialect), sqlauthz.Options{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	if err := book.Migrate(ctx); err != nil {
		return nil, err
	}
	if err := people.Migrate(ctx); err != nil {
		return nil, err
	}
	warnings, err := book.Check(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "shop: the database:", w)
	}
	archive, err := openArchive(ctx, db, d.Dialect, prefix)
	if err != nil {
		return nil, err
	}
	return &Place{People: people, Book: book, Office: &Office{archive: archive}, Close: db.Close}, nil
}

// Passing opens a place that is removed when it is closed: in a SQLite file of its own, or in tables of their own on a
// server.
func Passing(ctx context.Context, dsn string) (*Place, error) {
	if dsn == "memory" {
		return InMemory(), nil
	}
	if dsn == "" {
		dir, err := os.MkdirTemp("", "shop")
		if err != nil {
			return nil, err
		}
		p, err := DatabaseOf(filepath.Join(dir, "shop.db")).Open(ctx, "shop_")
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		closed := p.Close
		p.Close = func() error { return errors.Join(closed(), os.RemoveAll(dir)) }
		return p, nil
	}
	prefix := "shop" + strings.ToLower(rand.Text()[:8]) + "_"
	p, err := DatabaseOf(dsn).Open(ctx, prefix)
	if err != nil {
		return nil, err
	}
	closed, db := p.Close, p.Office.archive.db
	p.Close = func() error {
		for _, table := range []string{
			"shop", "documents", "proposals", "records", "scopes", "grants", "uses", "meta", "authz_scopes", "authz_actors", "authz_grants", "authz_meta",
		} {
			if _, e := db.ExecContext(context.Background(), "DROP TABLE "+prefix+table); e != nil {
				err = errors.Join(err, e)
			}
		}
		return errors.Join(err, closed())
	}
	return p, nil
}
