package sqlledger_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// A ledger in a SQLite file. Two people click at the same time, the process ends, and another one opens the file:
// one claim has won, and it has won for good.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	open := func() (*sql.DB, *sqlledger.Store) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db")+
			"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			log.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		store, err := sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{Environment: "production"})
		if err != nil {
			log.Fatal(err)
		}
		if err := store.Migrate(ctx); err != nil {
			log.Fatal(err)
		}
		warnings, err := store.Check(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, w := range warnings {
			fmt.Println("warning:", w)
		}
		return db, store
	}

	db, store := open()
	p, err := store.Propose(ctx, ledgertest.NewEntry("shop", 1)) // registry and desk do this for a host
	if err != nil {
		log.Fatal(err)
	}
	for _, click := range []string{"click-1", "click-2"} {
		_, err := store.Claim(ctx, ledgertest.NewClaim(p, click, p.CreatedAt))
		switch {
		case errors.Is(err, ledger.ErrConflict):
			fmt.Println(click, "is too late")
		case err != nil:
			log.Fatal(err) // nobody knows: do not run
		default:
			fmt.Println(click, "may run")
		}
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}

	db, store = open()
	p, err = store.Claim(ctx, ledgertest.NewClaim(p, "click-3", p.CreatedAt))
	fmt.Println("after a restart:", p.Claim, "has it;", err)
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// click-1 may run
	// click-2 is too late
	// after a restart: click-1 has it; ledger: not applied
}

// What the refund writes is committed together with the record that it succeeded, or not at all: a process that dies in
// between has refunded nothing. The claim was committed before.
func ExampleTx() {
	type Refund struct {
		Order string `json:"order"`
		Cents int64  `json:"cents" jsonschema:"minimum=1"`
	}
	refund := registry.Define("refund_order", registry.Spec[Refund]{
		Description: "Refund part of an order.", Permission: "refunds:edit", Mode: authz.Propose,
	}, func(ctx context.Context, p Refund) (string, error) {
		tx, err := sqlledger.Tx(ctx) // from here on the run shares the ledger's transaction
		if err != nil {
			return "", err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE orders SET paid = paid - ? WHERE id = ?", p.Cents, p.Order); err != nil {
			return "", err
		}
		return "refunded", nil
	})
	fmt.Println(refund.Name, "waits for a person:", refund.Mode)
	// Output: refund_order waits for a person: propose
}

// The statements that make the tables, for those who review or apply them by other means.
func ExampleSchema() {
	statements, err := sqlledger.Schema(sqlledger.SQLite, sqlledger.Options{Prefix: "audit_"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(statements[0])
	fmt.Println(statements[len(statements)-1])
	// Output:
	// CREATE TABLE IF NOT EXISTS audit_meta (
	//   one INTEGER NOT NULL PRIMARY KEY,
	//   version INTEGER NOT NULL,
	//   environment TEXT NOT NULL
	// ) STRICT
	// INSERT INTO audit_meta (one, version, environment) VALUES (1, 1, '')
}
