package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const scope = authz.Scope("local")

// you started the program, and are the owner.
var you = authz.LoggedIn("you")

// house is what the program stands on.
type house struct {
	options
	db      *sql.DB
	gateway *mcpgateway.Gateway
	owner   authz.Session
	client  authz.Session // whatever model the client runs, for you
	server  atomic.Pointer[mcptools.Server]
}

// open opens the database and makes sure that the server's tools are accepted, or says what is not.
func open(ctx context.Context, o options, log io.Writer) (h *house, err error) {
	h = &house{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	if h.owner, err = authz.NewPersonSession(scope, you); err != nil {
		return h, err
	}
	if h.client, err = authz.NewSession(scope, "client", authz.For(you)); err != nil {
		return h, err
	}
	if err := os.MkdirAll(filepath.Dir(o.db), 0o700); err != nil {
		return h, err
	}
	key, err := keyIn(o.db + ".key")
	if err != nil {
		return h, err
	}
	keys, err := token.NewRing("mcpgateway", key)
	if err != nil {
		return h, err
	}
	if h.db, err = sql.Open("sqlite", "file:"+o.db+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"); err != nil {
		return h, err
	}
	h.db.SetMaxOpenConns(1)
	book, err := sqlledger.New(h.db, sqlledger.SQLite, sqlledger.Options{Environment: "mcpgateway"})
	if err != nil {
		return h, err
	}
	if err := book.Migrate(ctx); err != nil {
		return h, err
	}
	pins, err := mcpgateway.NewSQLite(ctx, h.db)
	if err != nil {
		return h, err
	}
	people := new(authz.Memory)
	if err := people.Set(scope, authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: you.ID(), Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "client", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		},
	}); err != nil {
		return h, err
	}
	h.gateway, err = mcpgateway.Open(ctx, mcpgateway.Config{
		Scope: scope, Store: pins, Dial: dial, Rule: o.rule, Log: slog.New(slog.NewTextHandler(log, nil)),
		Shared: func(string) bool { return true }, // everybody is you
		Build: func(actions []*registry.Action) (registry.Config, error) {
			return registry.Config{
				Actions: append(actions, approval.OwnProposals(book, keys)),
				Source:  people, Ledger: book, Keys: keys, Lifetime: time.Hour,
			}, nil
		},
		Swapped: func(gate *chattools.Gate) {
			if s := h.server.Load(); s != nil {
				s.Swap(gate)
			}
		},
	})
	if err != nil {
		return h, err
	}
	return h, h.trust(ctx, log)
}

// serve lets a server know of each new gate.
func (h *house) serve(s *mcptools.Server) {
	h.server.Store(s)
	s.Swap(h.gateway.Gate())
}

func (h *house) close() error {
	if h.gateway != nil {
		h.gateway.Close()
	}
	if h.db != nil {
		return h.db.Close()
	}
	return nil
}

// rule says which tools read.
func (o options) rule(t mcpgateway.Tool) mcpgateway.Policy {
	named := slices.ContainsFunc(o.read, func(pattern string) bool {
		ok, err := path.Match(pattern, t.Name)
		return ok && err == nil
	})
	if named || o.believe && t.Hints.ReadOnly {
		return mcpgateway.Policy{Mode: authz.Read}
	}
	return mcpgateway.Policy{}
}

// dial starts a command, which ends with the connection, or calls an address.
func dial(ctx context.Context, p mcpgateway.Peer) (mcp.Transport, error) {
	var command []string
	if err := json.Unmarshal([]byte(p.Address), &command); err != nil || len(command) == 0 {
		return nil, fmt.Errorf("no command and no address: %q", p.Address)
	}
	if isAddress(command) {
		return &mcp.StreamableClientTransport{Endpoint: command[0]}, nil
	}
	return &mcp.CommandTransport{Command: exec.CommandContext(ctx, command[0], command[1:]...)}, nil
}

func isAddress(upstream []string) bool {
	return len(upstream) == 1 && (strings.HasPrefix(upstream[0], "https://") || strings.HasPrefix(upstream[0], "http://"))
}

// keyIn returns the key of a file that only its user can read, and makes it at the first start.
func keyIn(file string) (token.Key, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		key, err := token.NewKey("k1")
		if err == nil {
			_, err = f.WriteString(hex.EncodeToString(key.Secret))
		}
		return key, errors.Join(err, f.Close())
	}
	if !errors.Is(err, os.ErrExist) {
		return token.Key{}, err
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		return token.Key{}, errors.Join(fmt.Errorf("%s can be read by others", file), err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return token.Key{}, err
	}
	secret, err := hex.DecodeString(string(text))
	if err != nil {
		return token.Key{}, fmt.Errorf("%s holds no key", file)
	}
	return token.Key{ID: "k1", Secret: secret}, nil
}

// do performs an action as the owner.
func (h *house) do(ctx context.Context, action string, params any) (any, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	r, err := h.gateway.Desk().Registry().Invoke(ctx, registry.Call{Session: h.owner, Action: action, Params: text})
	return r.Value, err
}

// trust adds the server of the command line, in the place of another of that name, and accepts its tools: the first
// time, and when asked to.
func (h *house) trust(ctx context.Context, log io.Writer) error {
	address, err := json.Marshal(h.upstream)
	if err != nil {
		return err
	}
	there, err := h.do(ctx, "mcp_list_servers", struct{}{})
	if err != nil {
		return err
	}
	first := true
	for _, s := range there.([]mcpgateway.Listed) {
		if s.Name == h.name && s.Address == string(address) {
			first = false
			continue
		}
		if err := h.remove(ctx, s.Name); err != nil {
			return err
		}
	}
	if !first {
		return h.look(ctx, log, false)
	}
	if _, err := h.do(ctx, "mcp_add_server", mcpgateway.Added{Name: h.name, Address: string(address)}); err != nil {
		return err
	}
	if err := h.look(ctx, log, true); err != nil {
		return errors.Join(err, h.remove(ctx, h.name)) // so that the next time is the first
	}
	return nil
}

func (h *house) remove(ctx context.Context, name string) error {
	_, err := h.do(ctx, "mcp_remove_server", mcpgateway.Named{Name: name})
	return err
}

// look says how the server's tools differ from what was accepted, and accepts them if it may.
func (h *house) look(ctx context.Context, log io.Writer, first bool) error {
	found, err := h.do(ctx, "mcp_review_server", mcpgateway.Named{Name: h.name})
	if err != nil {
		return err
	}
	r := found.(mcpgateway.Review)
	for _, why := range r.Refused {
		fmt.Fprintln(log, "mcpgateway: left out:", why)
	}
	if r.Accepted {
		return nil
	}
	for _, d := range r.Differences {
		if !first {
			fmt.Fprintf(log, "mcpgateway: tool %s has changed, %s\n--- accepted\n%s\n--- now\n%s\n", d.Tool, d.Field, d.Before, d.After)
		}
	}
	if !first && !h.accept {
		fmt.Fprintln(log, "mcpgateway: what has changed is refused until you start once with -accept")
		return nil
	}
	_, err = h.do(ctx, "mcp_accept_server", mcpgateway.Accepted{Name: h.name, Digest: r.Digest})
	return err
}
