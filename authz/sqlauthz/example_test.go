package sqlauthz_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type refund struct {
	Order string `json:"order"`
	Cents int    `json:"cents" jsonschema:"minimum=1"`
}

// openShop builds a shop's registry on its database: people, models and the ledger, side by side under one prefix.
func openShop(ctx context.Context, db *sql.DB) (*sqlauthz.Directory, *registry.Registry, error) {
	people, err := sqlauthz.New(db, sqlauthz.SQLite, sqlauthz.Options{Environment: "production"})
	if err != nil {
		return nil, nil, err
	}
	book, err := sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{Environment: "production"})
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(people.Migrate(ctx), book.Migrate(ctx)); err != nil {
		return nil, nil, err
	}
	keys, err := token.NewRing("example", token.Key{ID: "k1", Secret: []byte("a secret for this example only..")})
	if err != nil {
		return nil, nil, err
	}
	give := registry.Define("give_refund", registry.Spec[refund]{
		Description: "Give money back for an order.", Mode: authz.Propose, Permission: "refunds:edit",
	}, func(_ context.Context, r refund) (string, error) {
		return fmt.Sprintf("%d cents for %s", r.Cents, r.Order), nil
	})
	reg, err := registry.New(registry.Config{Actions: []*registry.Action{give}, Source: people, Ledger: book, Keys: keys})
	return people, reg, err
}

// A shop keeps everything in one SQLite file. A model asks for a refund, the process ends, and the next one knows
// the people, the model and what it asked for: Olga approves it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	start := func() (*sql.DB, *sqlauthz.Directory, *approval.Desk) {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db")+
			"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			log.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		people, reg, err := openShop(ctx, db)
		if err != nil {
			log.Fatal(err)
		}
		return db, people, approval.NewDesk(reg)
	}

	db, people, desk := start()
	err = people.Edit(ctx, "shop", func(f *authz.Facts) error {
		f.Settings.Ceiling = authz.Propose
		f.Actors = append(f.Actors,
			authz.Actor{ID: "olga", Name: "Olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			authz.Actor{ID: "assistant", Name: "Assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	olga := authz.LoggedIn("olga") // as your login says
	session, err := authz.NewSession("shop", "assistant", authz.For(olga))
	if err != nil {
		log.Fatal(err)
	}
	asked, err := desk.Propose(ctx, registry.Call{Session: session, Action: "give_refund", Params: []byte(`{"order": "W42", "cents": 950}`)})
	if err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}

	db, _, desk = start()
	opening, err := desk.Open(ctx, "shop", asked.Proposal.ID, olga)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(opening.Proposal.Session, "wants", opening.Proposal.Action, opening.Proposal.Params)
	result, err := desk.Approve(ctx, opening.Redemption())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("approved:", string(result.JSON))
	_, err = desk.Approve(ctx, opening.Redemption())
	fmt.Println("a second click:", registry.CodeOf(err))
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// assistant for olga in shop wants give_refund {"cents":950,"order":"W42"}
	// approved: "950 cents for W42"
	// a second click: spent
}
