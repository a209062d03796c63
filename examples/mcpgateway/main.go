// Mcpgateway puts approvals in front of any MCP server, in one command:
//
//	go run ./examples/mcpgateway -- npx -y @modelcontextprotocol/server-memory
//	go run ./examples/mcpgateway -read 'read_*,list_*' -- npx -y @modelcontextprotocol/server-filesystem /srv/files
//	go run ./examples/mcpgateway https://mcp.example.com/mcp
//
// It serves the server's tools to one local client on standard input and output, or by -http to clients with a
// token. What -read names runs at once, and with -believe what calls itself read-only; everything else waits until
// you decide on another terminal:
//
//	go run ./examples/mcpgateway pending
//	go run ./examples/mcpgateway show ID
//	go run ./examples/mcpgateway approve ID [HASH]
//	go run ./examples/mcpgateway dismiss ID [REASON...]
//
// The tools that a server has at the first start are accepted, since you chose it. A tool that is different later
// is printed and unavailable until you start once with -accept. Ledger and accepted tools are in a SQLite file, the
// keys of approvals beside it.
package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/examples/internal/operator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "mcpgateway:", err)
		os.Exit(1)
	}
}

type options struct {
	name, http, db, file, token string
	read                        []string
	believe, accept             bool
	upstream                    []string // a command, or an address
}

// run serves, or does what the operator asked for. Standard output is the client's while a server uses it.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	var o options
	var read string
	flags := flag.NewFlagSet("mcpgateway", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.StringVar(&o.name, "name", "up", "what the names of the server's tools begin with: a small letter and more or digits")
	flags.StringVar(&read, "read", "", "patterns of tools that only read, such as read_*,list_*")
	flags.BoolVar(&o.believe, "believe", false, "a tool that calls itself read-only is a read too")
	flags.BoolVar(&o.accept, "accept", false, "accept the server's tools as they are now")
	flags.StringVar(&o.db, "db", defaultDB(), "SQLite file of the ledger and of what was accepted; its directory is made")
	flags.StringVar(&o.http, "http", "", "serve HTTP on this address instead of standard input and output")
	flags.StringVar(&o.file, "operator", operator.DefaultFile("mcpgateway"), "file by which the subcommands find the gateway")
	flags.Usage = func() {
		fmt.Fprintf(log, "mcpgateway [flags] -- COMMAND [ARGUMENTS...]\nmcpgateway [flags] https://ADDRESS\nmcpgateway [flags] SUBCOMMAND\n\nSubcommands, for the operator:\n%s\n\nFlags:\n", operator.Usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.upstream = flags.Args()
	if len(o.upstream) == 0 {
		flags.Usage()
		return errors.New("the server to put approvals in front of is missing")
	}
	if operator.Has(o.upstream[0]) {
		return operator.Run(ctx, o.file, out, o.upstream...)
	}
	for p := range strings.SplitSeq(read, ",") {
		if p = strings.TrimSpace(p); p != "" {
			if _, err := filepath.Match(p, ""); err != nil {
				return fmt.Errorf("-read %q: %w", p, err)
			}
			o.read = append(o.read, p)
		}
	}
	return serve(ctx, o, log)
}

func defaultDB() string {
	return filepath.Join(filepath.Dir(operator.DefaultFile("mcpgateway")), "mcpgateway.db")
}

// serve stands between a client and the server for as long as the client or ctx wants.
func serve(ctx context.Context, o options, log io.Writer) (err error) {
	h, err := open(ctx, o, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	server, err := mcptools.NewServer(mcptools.Config{
		Gate: h.gateway.Gate(), Identify: h.identify, Name: "sallyport-gateway", Version: "1",
		Instructions: "What changes something waits for a person. proposal_status says what became of it.",
	})
	if err != nil {
		return err
	}
	h.serve(server)
	stop, err := operator.Start(operator.Config{Desk: h.gateway.Desk, Scope: scope, Person: you, File: o.file})
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintln(log, "mcpgateway: decide on another terminal, with the subcommands pending, show, approve and dismiss")
	if o.http != "" {
		return h.serveHTTP(ctx, server, log)
	}
	return server.ServeStdio(ctx, h.client)
}

func (h *house) serveHTTP(ctx context.Context, handler http.Handler, log io.Writer) error {
	h.token = rand.Text()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", h.http)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "mcpgateway: serving http://%s/mcp to whoever has the token %s\n", listener.Addr(), h.token)
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// identify knows one client.
func (h *house) identify(_ *http.Request, token string) (authz.Session, error) {
	if h.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) != 1 {
		return authz.Session{}, errors.New("not the token that was printed")
	}
	return h.client, nil
}
