// Mcpserver serves the shop of examples/shop to any MCP client: a model may look at what is its customer's, and
// what changes something waits for staff.
//
//	go run ./examples/mcpserver                          for one local client, on standard input and output
//	go run ./examples/mcpserver -http 127.0.0.1:8801     for many, by streamable HTTP at /mcp
//
// Beside the server, staff decide on another terminal:
//
//	go run ./examples/mcpserver pending
//	go run ./examples/mcpserver show ID
//	go run ./examples/mcpserver approve ID [HASH]
//	go run ./examples/mcpserver dismiss ID [REASON...]
//
// For Claude Desktop, or an IDE, build it and name the binary as a server's command; README.md has the lines. The
// Inspector takes either way:
//
//	npx @modelcontextprotocol/inspector go run ./examples/mcpserver
//
// A customer of HTTP is whose -token a client sends. Without one a token is made for the customer of -customer,
// and printed.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/examples/internal/operator"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "mcpserver:", err)
		os.Exit(1)
	}
}

type options struct {
	http, customer, file, dsn string
	stateful                  bool
	tokens                    tokens
}

// run serves, or does what staff asked for. Standard output is the client's while a server uses it.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	o := options{tokens: tokens{}}
	flags := flag.NewFlagSet("mcpserver", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&o.http, "http", "", "serve HTTP on this address instead of standard input and output")
	flags.StringVar(&o.customer, "customer", "isabella_lopez_6490", "whom the model works for")
	flags.Var(o.tokens, "token", "with -http: CUSTOMER=TOKEN, for each customer whose client may come")
	flags.BoolVar(&o.stateful, "stateful", false, "with -http: keep sessions, for clients before 2026-07-28 that want to hear of changes")
	flags.StringVar(&o.dsn, "dsn", "memory", "where the shop is kept while it is open: memory, or as in examples/shop")
	flags.StringVar(&o.file, "operator", operator.DefaultFile("mcpserver"), "file by which the subcommands find the server")
	flags.Usage = func() {
		fmt.Fprintf(log, "mcpserver [flags] [subcommand]\n\nSubcommands, for staff:\n%s\n\nFlags:\n", operator.Usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return operator.Run(ctx, o.file, out, flags.Args()...)
	}
	return serve(ctx, o, log)
}

// serve opens the shop for as long as a client or ctx wants.
func serve(ctx context.Context, o options, log io.Writer) (err error) {
	place, err := store.Passing(ctx, o.dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	shop, err := store.New(ctx, place)
	if err != nil {
		return err
	}
	c := shop.Config("1")
	c.Now, c.Lifetime = nil, time.Hour // of a real day, with time to walk to another terminal
	if err := shop.Build(c); err != nil {
		return err
	}
	stop, err := operator.Start(operator.Config{
		Desk: func() *approval.Desk { return shop.Desk }, Scope: store.Scope, Person: authz.LoggedIn(store.Sam), File: o.file,
	})
	if err != nil {
		return err
	}
	defer stop()
	server, err := mcptools.NewServer(mcptools.Config{
		Gate: shop.Gate, Identify: o.tokens.identify, Stateful: o.stateful,
		Name: "sallyport-shop", Version: "1",
		Instructions: "You help a customer of a shop. What changes something waits for the shop's staff; proposal_status says what became of it.",
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "mcpserver: staff decide with the subcommands pending, show, approve and dismiss\n")
	if o.http != "" {
		return serveHTTP(ctx, o, server, log)
	}
	session, err := sessionOf(o.customer)
	if err != nil {
		return err
	}
	return server.ServeStdio(ctx, session)
}

func serveHTTP(ctx context.Context, o options, handler http.Handler, log io.Writer) error {
	if len(o.tokens) == 0 {
		token := rand.Text()
		o.tokens[sha256.Sum256([]byte(token))] = o.customer
		fmt.Fprintf(log, "mcpserver: the token of %s is %s\n", o.customer, token)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.http)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "mcpserver: serving http://%s/mcp\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// sessionOf is the assistant's, for a customer.
func sessionOf(customer string) (authz.Session, error) {
	return authz.NewSession(store.Scope, store.Assistant, authz.For(authz.LoggedIn(authz.ID(customer))))
}

// tokens has for the hash of each token whose it is.
type tokens map[[sha256.Size]byte]string

func (t tokens) identify(_ *http.Request, token string) (authz.Session, error) {
	customer, ok := t[sha256.Sum256([]byte(token))]
	if !ok {
		return authz.Session{}, errors.New("no such token")
	}
	return sessionOf(customer)
}

// Set adds the token of a customer, CUSTOMER=TOKEN.
func (t tokens) Set(s string) error {
	customer, token, ok := strings.Cut(s, "=")
	if !ok || customer == "" || token == "" {
		return errors.New("want CUSTOMER=TOKEN")
	}
	t[sha256.Sum256([]byte(token))] = customer
	return nil
}

// String shows no token.
func (t tokens) String() string { return fmt.Sprintf("%d tokens", len(t)) }
