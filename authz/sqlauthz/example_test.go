package sqlauthz_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
)

// People and models in a SQLite file, beside the ledger if there is one. What one process changes the next one finds.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "people")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db")+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	open := func() *sqlauthz.Directory {
		people, err := sqlauthz.New(db, sqlauthz.SQLite, sqlauthz.Options{Environment: "production"})
		if err != nil {
			log.Fatal(err)
		}
		if err := people.Migrate(ctx); err != nil {
			log.Fatal(err)
		}
		return people // for registry.Config.Source, and for package registry/directory
	}

	people := open()
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
	facts, err := open().Facts(ctx, "shop", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range facts.Actors {
		fmt.Println(a.Name, "is a", a.Kind, "with the role", a.Roles[0])
	}
	// Output:
	// Olga is a human with the role owner
	// Assistant is a model with the role editor
}
