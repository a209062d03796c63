package main

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

// place is where a shop keeps its people, its ledger and its own records.
type place struct {
	people authz.Directory
	book   ledger.Store
	office *office
	memory *ledger.Memory // the book, in memory only
	close  func() error
}

// inMemory is a place that is gone when the program ends.
func inMemory() *place {
	p := &place{people: new(authz.Memory), memory: new(ledger.Memory), office: new(office), close: func() error { return nil }}
	p.book = p.memory
	return p
}

// database is one that the shop can use, as a DSN names it.
type database struct {
	driver  string
	dsn     string
	dialect sqlledger.Dialect
}

// databaseOf reads a DSN: postgres://…, one of go-sql-driver/mysql with an address in it, or the name of a file for SQLite.
func databaseOf(dsn string) database {
	switch {
	case strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://"):
		return database{"pgx", dsn, sqlledger.PostgreSQL}
	case strings.Contains(dsn, "@tcp(") || strings.Contains(dsn, "@unix("):
		return database{"mysql", dsn, sqlledger.MySQL}
	}
	return database{"sqlite", "file:" + dsn + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)", sqlledger.SQLite}
}

// open opens the place in a database, with tables that have this prefix, which it makes if need be.
func (d database) open(ctx context.Context, prefix string) (_ *place, err error) {
	db, err := sql.Open(d.driver, d.dsn)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if d.dialect == sqlledger.SQLite {
		db.SetMaxOpenConns(1)
	}
	book, err := sqlledger.New(db, d.dialect, sqlledger.Options{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	people, err := sqlauthz.New(db, sqlauthz.Dialect(d.dialect), sqlauthz.Options{Prefix: prefix})
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
	archive, err := openArchive(ctx, db, d.dialect, prefix)
	if err != nil {
		return nil, err
	}
	return &place{people: people, book: book, office: &office{archive: archive}, close: db.Close}, nil
}

// passing opens a place that is removed when it is closed: in a SQLite file of its own, or in tables of their own on a
// server.
func passing(ctx context.Context, dsn string) (*place, error) {
	if dsn == "memory" {
		return inMemory(), nil
	}
	if dsn == "" {
		dir, err := os.MkdirTemp("", "shop")
		if err != nil {
			return nil, err
		}
		p, err := databaseOf(filepath.Join(dir, "shop.db")).open(ctx, "shop_")
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		closed := p.close
		p.close = func() error { return errors.Join(closed(), os.RemoveAll(dir)) }
		return p, nil
	}
	prefix := "shop" + strings.ToLower(rand.Text()[:8]) + "_"
	p, err := databaseOf(dsn).open(ctx, prefix)
	if err != nil {
		return nil, err
	}
	closed, db := p.close, p.office.archive.db
	p.close = func() error {
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
