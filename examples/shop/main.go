// Shop is the back office of an online shop that lets an AI model work in it as a user among users.
//
// The model has an account of its own, the customer's rights bound it, and what moves money waits for a
// member of staff:
//
//	go run ./examples/shop                           the shop in a browser: a chat, and the console at /console/
//	go run ./examples/shop -tell                     one conversation, told on the terminal
//	go run ./examples/shop -chat                     a conversation of your own; a script plays the model
//	go run ./examples/shop -replay                   all 488 recorded tasks, compared with the recording
//	go run ./examples/shop -replay -approve none     the same with nobody approving: nothing changes
//	go run ./examples/shop -replay -attack           every write attacked in every way we know
//
// Those with -replay print a table and exit with status 1 on any difference. Nothing needs a key or a network.
//
// Ledger, people and the shop's own records are in one SQLite database, or by -dsn in PostgreSQL or MariaDB. The shop in a
// browser goes on where it was left; all others use tables that are removed in the end. What an approved call writes is committed together with the record that it succeeded. The attacks
// are played in memory, where rows can be changed behind the ledger's back.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/registry"
)

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8080", "where the shop is open for browsers")
	flag.DurationVar(&o.life, "life", registry.DefaultLifetime, "how long a proposal of the shop in a browser waits, in whole seconds")
	flag.BoolVar(&o.tell, "tell", false, "tell one conversation on the terminal")
	flag.BoolVar(&o.chat, "chat", false, "chat on the terminal")
	flag.BoolVar(&o.replay, "replay", false, "replay all recorded tasks and compare")
	flag.StringVar(&o.approve, "approve", "all", "with -replay: which proposals staff approve, all or none")
	flag.BoolVar(&o.attack, "attack", false, "with -replay: attack every write")
	flag.StringVar(&o.dsn, "dsn", "", "where to keep everything: a SQLite file, postgres://…, user@tcp(…)/db, or memory; default a SQLite file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

type options struct {
	tell, chat, replay, attack bool
	approve, dsn, addr         string
	life                       time.Duration
}

func run(ctx context.Context, input io.Reader, out io.Writer, o options) error {
	switch {
	case o.approve != "all" && o.approve != "none":
		return fmt.Errorf("-approve is %q, not all or none", o.approve)
	case !o.replay && (o.attack || o.approve != "all"):
		return fmt.Errorf("-attack and -approve need -replay")
	case o.chat && o.replay || o.tell && (o.chat || o.replay):
		return fmt.Errorf("-tell, -chat and -replay are three things")
	case o.chat:
		model, name, err := modelOf(os.Getenv)
		if err != nil {
			return err
		}
		return in(ctx, o.dsn, func(w *store.World) error { return chatWith(ctx, input, out, model, name, w) })
	case o.attack && o.approve != "all":
		return fmt.Errorf("-attack approves what it has to; leave -approve away")
	case o.attack:
		return attackAll(ctx, out)
	case o.replay:
		return replayAll(ctx, out, o.approve == "all", o.dsn)
	}
	if o.tell {
		return in(ctx, o.dsn, func(w *store.World) error { return tell(ctx, out, w) })
	}
	return serve(ctx, out, o)
}

// in opens a shop for as long as do takes.
func in(ctx context.Context, dsn string, do func(*store.World) error) (err error) {
	p, err := store.Passing(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	w, err := store.New(ctx, p)
	if err != nil {
		return err
	}
	return do(w)
}
