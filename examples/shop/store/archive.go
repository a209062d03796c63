package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// archive keeps the shop's records in two tables beside the ledger's: documents, and the number of the latest change. A
// process keeps what it has read and asks for that number; it reads again what has changed since. A change counts the
// number up first, so that changes wait for one another, and is made in the transaction in which the ledger records how
// the run ended.
type archive struct {
	db      *sql.DB
	dollars bool // parameters are $1
	prefix  string

	mu     sync.Mutex
	latest state
	dirty  map[[2]string]bool // documents that are not the sample's any more
}

// state is what the shop held after a change.
type state struct {
	number   int64
	snapshot backoffice.Snapshot
}

// querier is a database or a transaction.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// openArchive makes the tables if need be and fills them with the sample data.
func openArchive(ctx context.Context, db *sql.DB, d sqlledger.Dialect, prefix string) (*archive, error) {
	a := &archive{db: db, dollars: d == sqlledger.PostgreSQL, prefix: prefix, dirty: map[[2]string]bool{}}
	text := map[sqlledger.Dialect]string{sqlledger.MySQL: "MEDIUMTEXT CHARACTER SET utf8mb4"}[d]
	if text == "" {
		text = "TEXT"
	}
	for _, q := range []string{
		"CREATE TABLE IF NOT EXISTS {shop} (one SMALLINT NOT NULL PRIMARY KEY, number BIGINT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS {documents} (kind VARCHAR(10) NOT NULL, id VARCHAR(60) NOT NULL, number BIGINT NOT NULL, body " + text + " NOT NULL, PRIMARY KEY (kind, id))",
	} {
		if _, err := db.ExecContext(ctx, a.text(q)); err != nil {
			return nil, err
		}
	}
	var shops int
	if err := db.QueryRowContext(ctx, a.text("SELECT COUNT(*) FROM {shop}")).Scan(&shops); err != nil || shops > 0 {
		return a, err
	}
	sample, err := backoffice.Sample()
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, a.text("INSERT INTO {shop} (one, number) VALUES (1, 1)")); err != nil {
		return nil, err
	}
	err = documents(sample.Data(), func(kind, id, body string) error {
		_, err := tx.ExecContext(ctx, a.text("INSERT INTO {documents} (kind, id, number, body) VALUES (?, ?, 1, ?)"), kind, id, body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, tx.Commit()
}

func (a *archive) text(query string) string {
	query = strings.NewReplacer("{", a.prefix, "}", "").Replace(query)
	if a.dollars {
		return sqlx.Rebind(sqlx.DOLLAR, query)
	}
	return query
}

// documents calls do with every record.
func documents(d backoffice.Data, do func(kind, id, body string) error) error {
	if err := collection("users", d.Users, do); err != nil {
		return err
	}
	if err := collection("orders", d.Orders, do); err != nil {
		return err
	}
	return collection("products", d.Products, do)
}

func collection[T any](kind string, records map[string]T, do func(kind, id, body string) error) error {
	for id, record := range records {
		body, err := json.Marshal(record)
		if err == nil {
			err = do(kind, id, string(body))
		}
		if err != nil {
			return fmt.Errorf("%s/%s: %w", kind, id, err)
		}
	}
	return nil
}

// now returns the shop as the database has it.
func (a *archive) now(ctx context.Context) (*backoffice.Shop, error) {
	s, err := a.read(ctx, a.db)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.number > a.latest.number {
		a.latest = s
	}
	return backoffice.New(s.snapshot), nil
}

// read returns what the shop holds, from what is known and what has changed since.
func (a *archive) read(ctx context.Context, q querier) (state, error) {
	a.mu.Lock()
	s := a.latest
	a.mu.Unlock()
	known := s.number
	if err := q.QueryRowContext(ctx, a.text("SELECT number FROM {shop}")).Scan(&s.number); err != nil || s.number == known {
		return s, err
	}
	rows, err := q.QueryContext(ctx, a.text("SELECT kind, id, number, body FROM {documents} WHERE number > ?"), known)
	if err != nil {
		return s, err
	}
	defer func() { _ = rows.Close() }()
	fresh := backoffice.Data{Users: map[string]*backoffice.User{}, Orders: map[string]*backoffice.Order{}, Products: map[string]*backoffice.Product{}}
	for rows.Next() {
		var kind, id, body string
		var number int64
		if err := rows.Scan(&kind, &id, &number, &body); err != nil {
			return s, err
		}
		s.number = max(s.number, number) // a change that was committed between the two questions
		if err := decode(fresh, kind, id, body); err != nil {
			return s, fmt.Errorf("%s/%s: %w", kind, id, err)
		}
	}
	s.snapshot = s.snapshot.With(fresh)
	return s, rows.Err()
}

func decode(d backoffice.Data, kind, id, body string) error {
	switch kind {
	case "users":
		return record(d.Users, id, body)
	case "orders":
		return record(d.Orders, id, body)
	case "products":
		return record(d.Products, id, body)
	}
	return fmt.Errorf("unknown kind of document")
}

func record[T any](records map[string]*T, id, body string) error {
	records[id] = new(T)
	return json.Unmarshal([]byte(body), records[id])
}

// change makes a change in the run's transaction.
func (a *archive) change(ctx context.Context, do func(*backoffice.Shop) error) error {
	tx, err := sqlledger.Tx(ctx)
	if err != nil {
		return err
	}
	return a.changeIn(ctx, tx, do)
}

func (a *archive) changeIn(ctx context.Context, q querier, do func(*backoffice.Shop) error) error {
	if _, err := q.ExecContext(ctx, a.text("UPDATE {shop} SET number = number + 1")); err != nil {
		return err
	}
	s, err := a.read(ctx, q)
	if err != nil {
		return err
	}
	shop := backoffice.New(s.snapshot)
	if err := do(shop); err != nil {
		return err
	}
	return a.write(ctx, q, s.number, shop.Snapshot().Since(s.snapshot), true)
}

func (a *archive) write(ctx context.Context, q querier, number int64, records backoffice.Data, dirty bool) error {
	return documents(records, func(kind, id, body string) error {
		a.mu.Lock()
		a.dirty[[2]string{kind, id}] = dirty
		a.mu.Unlock()
		_, err := q.ExecContext(ctx, a.text("UPDATE {documents} SET number = ?, body = ? WHERE kind = ? AND id = ?"), number, body, kind, id)
		return err
	})
}

// reset puts the sample's records back in the place of those that this process has changed.
func (a *archive) reset(ctx context.Context, sample backoffice.Snapshot) error {
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	err = a.changeIn(ctx, tx, func(*backoffice.Shop) error { return nil })
	if err != nil {
		return err
	}
	s, err := a.read(ctx, tx)
	if err != nil {
		return err
	}
	old := backoffice.Data{Users: map[string]*backoffice.User{}, Orders: map[string]*backoffice.Order{}, Products: map[string]*backoffice.Product{}}
	data := sample.Data()
	a.mu.Lock()
	for d, dirty := range a.dirty {
		switch {
		case !dirty:
		case d[0] == "users":
			old.Users[d[1]] = data.Users[d[1]]
		case d[0] == "orders":
			old.Orders[d[1]] = data.Orders[d[1]]
		}
	}
	a.mu.Unlock()
	if err := a.write(ctx, tx, s.number, old, false); err != nil {
		return err
	}
	return tx.Commit()
}
