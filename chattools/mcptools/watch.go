package mcptools

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// watch tells clients that listen when their own tools are others than before. It compares after every change
// that the registry announces, after a swap, and from time to time; while nobody listens it does nothing.
type watch struct {
	server *Server
	wake   chan struct{}

	mu        sync.Mutex
	listeners map[*mcp.ServerSession]*listener
	unfollow  func()
	running   bool
}

// listener is one client that listens.
type listener struct {
	mcp     *mcp.Server
	session authz.Session
	who     string
	count   int // of its subscriptions
	seen    []*chattools.Tool
	stale   bool // somebody of the same identity was shown other tools than seen
	due     bool // to be told
}

func (w *watch) init(s *Server) {
	w.server, w.wake, w.listeners, w.unfollow = s, make(chan struct{}, 1), map[*mcp.ServerSession]*listener{}, func() {}
}

// follow serves a gate and hears of the changes behind it, and no more of those behind the one before.
func (w *watch) follow(gate *chattools.Gate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server.gate.Store(gate)
	w.unfollow()
	w.unfollow = gate.Desk().Registry().OnChange(w.look)
	w.look()
}

// look has the tools compared soon.
func (w *watch) look() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// add lets a client listen until remove is called.
func (w *watch) add(server *mcp.Server, client *mcp.ServerSession, session authz.Session) (remove func()) {
	tools, _ := w.tools(session)
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.listeners[client]
	if l == nil {
		l = &listener{mcp: server, session: session, who: who(session), seen: tools}
		w.listeners[client] = l
	}
	l.count++
	if !w.running {
		w.running = true
		go w.run()
	}
	w.look() // what changed since the tools were read went unheard
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if l.count--; l.count == 0 {
			delete(w.listeners, client)
		}
		w.look()
	}
}

// run ends when the last client is gone.
func (w *watch) run() {
	tick := time.NewTicker(w.server.config.Poll)
	defer tick.Stop()
	for {
		select {
		case <-w.wake:
		case <-tick.C:
		}
		w.mu.Lock()
		w.running = len(w.listeners) > 0
		ends := !w.running
		w.mu.Unlock()
		if ends {
			return
		}
		w.compare()
	}
}

// compare finds out whose tools have changed, and has the SDK notify. It tells everybody; due decides who hears.
func (w *watch) compare() {
	w.mu.Lock()
	all := make(map[*listener]listener, len(w.listeners))
	for _, l := range w.listeners {
		all[l] = *l
	}
	w.mu.Unlock()
	servers := map[*mcp.Server]bool{}
	for l, then := range all {
		tools, err := w.tools(then.session)
		if err != nil {
			continue // nothing is known
		}
		w.mu.Lock()
		if l.who == then.who && (l.stale || !slices.EqualFunc(l.seen, tools, same)) {
			l.seen, l.stale, l.due, servers[l.mcp] = tools, false, true, true
		}
		w.mu.Unlock()
	}
	for server := range servers {
		touch(server)
	}
}

// tools is the catalog of a session now. The error says that it is not known.
func (w *watch) tools(session authz.Session) ([]*chattools.Tool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return w.server.gate.Load().Catalog(ctx, session)
}

// same reports whether a client would notice no difference. Another gate has other tools that say the same.
func same(a, b *chattools.Tool) bool { return a == b || reflect.DeepEqual(a, b) }

// listed takes note of what a client was shown. Where it listens in a session that is kept, that is what it has seen
// with the rights it has now. Otherwise one that listens with the same rights may be that client, and if it saw other
// tools at first, it has to look again.
func (w *watch) listed(client *mcp.ServerSession, session authz.Session, tools []*chattools.Tool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := who(session)
	if l := w.listeners[client]; l != nil {
		l.session, l.who, l.stale = session, id, false
		if !slices.EqualFunc(l.seen, tools, same) {
			l.seen = tools
			w.look()
		}
		return
	}
	for _, l := range w.listeners {
		if !l.stale && l.who == id && !slices.EqualFunc(l.seen, tools, same) {
			l.stale = true
			w.look()
		}
	}
}

// who tells sessions apart whose tools may differ, also those of one user whose tokens allow different ones.
func who(s authz.Session) string {
	names, restricted := s.Tools().Names()
	return fmt.Sprintf("%s %t %q", user(s), restricted, names)
}

// begun tells a client that subscribed, now that it can be told, to look at its list: it may have listed before.
func (w *watch) begun(client *mcp.ServerSession) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.listeners[client]; l != nil {
		l.stale = true
		w.look()
	}
}

// due reports whether a client has to be told, once.
func (w *watch) due(client *mcp.ServerSession) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.listeners[client]
	if l == nil || !l.due {
		return false
	}
	l.due = false
	return true
}
