// Package mcpgateway puts the gate in front of other people's MCP servers: their tools become actions of a
// registry, so that reads pass and changes wait for a person.
//
// A [Gateway] belongs to one scope. [Open] builds its registry from what an owner accepted before, without
// connecting to anything; [Gateway.Gate] and [Gateway.Desk] are of the present registry, which is replaced
// whenever servers or tools change. Ask for them anew at each call. Servers are added, removed and accepted
// by actions of the registry itself, which only an owner performs: [Permissions] lists what they need.
//
// The host decides what a tool is: its [Config].Rule states mode, permission and target from name and hints.
// What it does not call a read waits for approval, and so does a tool that says of itself that it changes
// something. Nothing that a server says widens what may be done.
//
// A tool is what an owner accepted, to the byte. Before a change runs, and before a read if the last look is
// older than [Limits].Fresh, the server is asked again on the connection that will carry the call. A tool
// that differs does not run, and is unavailable until an owner accepts the difference. One that is gone is refused, and
// where the connection is shared unavailable too: elsewhere one caller's account may have fewer tools. At the same moments the
// store is asked whether the tool is still accepted, so that what another process removed runs nowhere. The
// canonical parameters go to the server as they were approved. A call is never repeated: what a server did not answer
// has an unknown outcome.
//
// A server gets nothing but those calls: no credentials or context of the caller, no sampling, elicitation or
// roots. Its instructions and log messages are dropped; descriptions of its tools and results are labelled as its own
// words, those within the schemas of parameters are passed on as they are. Connections are per caller unless the host
// shares them, and credentials are those that the host's Dial puts on. Whatever a server does ends within [Limits] in an
// [*Error] that names it and says why.
package mcpgateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/registry"
)

// Config says what a gateway stands on. All but Shared, Swapped, Limits and Log is required.
type Config struct {
	Scope authz.Scope // the one whose owners decide and whose sessions may call
	Store Store

	// Dial returns the way to a server, with the credentials that the host has for the peer. It is asked for
	// each connection. The context has no values, and lasts as long as the connection: a command may end with
	// it. An address that the host does not want is an error. Of a [*mcp.StreamableClientTransport] and a
	// [*mcp.CommandTransport] a bounded copy is used.
	Dial func(context.Context, Peer) (mcp.Transport, error)

	Rule func(Tool) Policy

	// Build returns the configuration of a registry with these actions and the host's own. It is called
	// whenever the imported tools change, one call at a time.
	Build func([]*registry.Action) (registry.Config, error)

	Shared  func(server string) bool // one connection for everybody; nil shares none
	Swapped func(*chattools.Gate)    // told of the gate of each new registry, one at a time; it must not call the gateway
	Limits  Limits
	Log     *slog.Logger // default discards
}

// Peer says to what, and for whom, a connection is made.
type Peer struct {
	Server, Address string
	Session         authz.Session // zero for a shared connection
}

// Limits bound what a server can cause. Zero fields mean the default.
type Limits struct {
	Connect, List, Call time.Duration // default 30 seconds, 30 seconds, 2 minutes
	Fresh               time.Duration // age of the definitions and pins that a read may rely on; default 1 minute
	Idle                time.Duration // after which an unused connection is closed; default 10 minutes

	Connections int // at once, of all servers; default 64
	Tools       int // of one server; default 512
	Definition  int // bytes of one tool's definition; default and maximum 256 KiB
	Result      int // bytes of one result; default 1 MiB
	Message     int // bytes of one answer over HTTP, a stream of events included; default 16 MiB
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&l.Connect, 30 * time.Second}, {&l.List, 30 * time.Second}, {&l.Call, 2 * time.Minute}, {&l.Fresh, time.Minute}, {&l.Idle, 10 * time.Minute}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&l.Connections, 64}, {&l.Tools, 512}, {&l.Definition, 256 << 10}, {&l.Result, 1 << 20}, {&l.Message, 16 << 20}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return l
}

// Gateway holds the present registry and the connections to servers. It is safe for concurrent use.
type Gateway struct {
	Config
	pool pool
	now  atomic.Pointer[present]
	read atomic.Pointer[time.Time] // when the store last had the pins

	mu        sync.Mutex // held while servers change
	pins      Pins
	suspended map[[2]string]string // server and raw name of a tool that is not what was accepted, and why
}

// present is a gate, and what is accepted by server, address and raw name of the tool.
type present struct {
	gate     *chattools.Gate
	accepted map[[3]string]canon.Object
}

// Open returns the gateway of what the store has. It connects to no server.
func Open(ctx context.Context, c Config) (*Gateway, error) {
	if c.Scope == "" || c.Store == nil || c.Dial == nil || c.Rule == nil || c.Build == nil {
		return nil, errors.New("mcpgateway: Scope, Store, Dial, Rule and Build are required")
	}
	c.Limits = c.Limits.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{Config: c, suspended: map[[2]string]string{}}
	g.pool.open(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g, g.reload(ctx)
}

// Gate returns the gate of the present registry.
func (g *Gateway) Gate() *chattools.Gate { return g.now.Load().gate }

// Desk returns the desk of the present registry.
func (g *Gateway) Desk() *approval.Desk { return g.Gate().Desk() }

// Close closes every connection. Calls that are under way fail, and later ones connect no more.
func (g *Gateway) Close() { g.pool.close() }

// reload reads the store, and replaces the registry if another process has changed the servers. The lock is held.
func (g *Gateway) reload(ctx context.Context) error {
	now := time.Now()
	pins, err := g.Store.Load(ctx, g.Scope)
	if err != nil {
		return fmt.Errorf("mcpgateway: %w", err)
	}
	if g.now.Load() == nil || pins.Revision != g.pins.Revision {
		suspended := g.suspended
		for _, s := range g.pins.Servers {
			if !pins.has(s) { // what is out of it was compared with something else
				suspended = without(suspended, s.Name)
				g.pool.forget(s.Name)
			}
		}
		if err := g.replace(pins, suspended); err != nil {
			return err
		}
	}
	g.read.Store(&now)
	return nil
}

// replace swaps in the registry of other pins, or leaves everything as it is. The lock is held.
func (g *Gateway) replace(pins Pins, suspended map[[2]string]string) error {
	next, err := g.build(pins, suspended)
	if err == nil {
		g.install(next, pins, suspended)
	}
	return err
}

func (g *Gateway) install(next *present, pins Pins, suspended map[[2]string]string) {
	g.pins, g.suspended = pins, suspended
	g.now.Store(next)
	if g.Swapped != nil {
		g.Swapped(next.gate)
	}
}

// build returns the gate of a registry with what is accepted and not suspended.
func (g *Gateway) build(pins Pins, suspended map[[2]string]string) (*present, error) {
	actions, accepted := g.administration(), map[[3]string]canon.Object{}
	for _, s := range pins.Servers {
		imported, err := g.restore(s)
		if err != nil {
			return nil, err
		}
		for _, t := range imported {
			accepted[[3]string{s.Name, s.Address, t.tool.Name}] = t.tool.text
			if _, out := suspended[[2]string{s.Name, t.tool.Name}]; !out && !t.policy.Hidden {
				actions = append(actions, g.action(s, t))
			}
		}
	}
	c, err := g.Build(slices.Clone(actions))
	if err != nil {
		return nil, fmt.Errorf("mcpgateway: %w", err)
	}
	reg, err := registry.New(c)
	if err != nil {
		return nil, err
	}
	for _, a := range actions {
		if there := reg.Lookup(a.Name); there == nil || there.Definition != a.Definition {
			return nil, fmt.Errorf("mcpgateway: Build left out the action %q", a.Name)
		}
	}
	return &present{chattools.NewGate(approval.NewDesk(reg)), accepted}, nil
}

// server returns what is accepted of a server. The lock is held.
func (g *Gateway) server(name string) (Server, bool) {
	i := slices.IndexFunc(g.pins.Servers, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return Server{}, false
	}
	return g.pins.Servers[i], true
}

// save stores other servers and then swaps in their registry. The lock is held.
func (g *Gateway) save(ctx context.Context, servers []Server, suspended map[[2]string]string) error {
	next := Pins{Revision: g.pins.Revision + 1, Servers: servers}
	built, err := g.build(next, suspended)
	if err != nil {
		return err
	}
	switch err := g.Store.Save(ctx, g.Scope, next); {
	case errors.Is(err, ErrConflict):
		return errors.Join(refuse("the servers were changed elsewhere at the same time; look again"), g.reload(ctx))
	case err != nil:
		return fmt.Errorf("mcpgateway: %w", err)
	}
	g.install(built, next, suspended)
	return nil
}

// holds reports whether a tool is accepted as it was when its action was made.
func (g *Gateway) holds(s Server, t imported) bool {
	return g.now.Load().accepted[[3]string{s.Name, s.Address, t.tool.Name}] == t.tool.text
}

// stands finds out whether a tool is still accepted, here and in the store: the registry that a call comes through
// may have been replaced meanwhile, and another process may have removed the server.
func (g *Gateway) stands(ctx context.Context, s Server, t imported) error {
	if t.policy.Mode != authz.Read || time.Since(*g.read.Load()) >= g.Limits.Fresh {
		ctx, cancel := context.WithTimeout(ctx, g.Limits.List)
		defer cancel()
		g.mu.Lock()
		defer g.mu.Unlock()
		if err := g.reload(ctx); err != nil {
			return err
		}
	}
	if !g.holds(s, t) {
		return &Error{Server: s.Name, Tool: t.tool.Name, Reason: Gone, Err: errors.New("it is accepted no longer")}
	}
	return nil
}

// suspend takes a tool out of the registry that is not what was accepted.
func (g *Gateway) suspend(s Server, t imported, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := [2]string{s.Name, t.tool.Name}
	if _, already := g.suspended[key]; already || !g.holds(s, t) {
		return
	}
	suspended := maps.Clone(g.suspended)
	suspended[key] = why
	g.set(suspended)
}

// compared takes out of the registry what of a server is not what was accepted, and nothing else of it.
func (g *Gateway) compared(s Server, now []definition) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.pins.has(s) {
		return // it was compared with what is accepted no longer
	}
	there := map[string]canon.Object{}
	for _, d := range now {
		there[d.Name] = d.text
	}
	suspended := without(g.suspended, s.Name)
	pinned, err := g.restore(s)
	if err != nil {
		return // it could not have been accepted
	}
	for _, t := range pinned {
		switch text, ok := there[t.tool.Name]; {
		case !ok:
			suspended[[2]string{s.Name, t.tool.Name}] = (&Error{Server: s.Name, Tool: t.tool.Name, Reason: Gone}).Error()
		case text != t.tool.text:
			suspended[[2]string{s.Name, t.tool.Name}] = (&Error{Server: s.Name, Tool: t.tool.Name, Reason: Changed}).Error()
		}
	}
	if !maps.Equal(suspended, g.suspended) {
		g.set(suspended)
	}
}

// set swaps in a registry without the suspended tools. The lock is held.
func (g *Gateway) set(suspended map[[2]string]string) {
	if err := g.replace(g.pins, suspended); err != nil {
		g.Log.Error("a changed tool stays listed; every call of it is refused", "error", err)
	}
}
