package mcpgateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
)

// caller is who a connection is for. Two sessions share one if model, principal and those between them are the same.
type caller struct {
	server, address string
	kind            authz.Kind
	actor           authz.ID
	principal       authz.ID
	background      bool
	via             string
}

// link is a connection to a server. Its calls may overlap.
type link struct {
	server string
	wire   *wire

	ready   chan struct{} // closed when session or err is set
	session *mcp.ClientSession
	err     error

	end  context.CancelFunc // of the context that Dial got
	idle *time.Timer
	used time.Time // under the pool's lock, as is users
	// users counts the calls under way. A link that is out of the pool is closed by the last one.
	users int
	out   bool
	slot  sync.Once // gives back what it takes of the limit on connections

	turn  chan struct{} // to ask the server for its tools: one call at a time, the others use what it learned
	tools *listing
	asked time.Time
}

// pool holds the connections of a gateway.
type pool struct {
	g *Gateway

	mu     sync.Mutex
	closed bool
	links  map[caller]*link
	busy   sync.WaitGroup // connections that are being made or closed

	slots chan struct{} // holds one for each connection, until it is closed
	ended context.Context
	end   context.CancelFunc // fails what is under way
}

func (p *pool) open(g *Gateway) {
	p.g, p.links, p.slots = g, map[caller]*link{}, make(chan struct{}, g.Limits.Connections)
	p.ended, p.end = context.WithCancel(context.Background())
}

// shares reports whether one connection serves everybody.
func (g *Gateway) shares(server string) bool { return g.Shared != nil && g.Shared(server) }

func (g *Gateway) callerOf(server Server, s authz.Session) (caller, authz.Session) {
	c := caller{server: server.Name, address: server.Address}
	if g.shares(server.Name) {
		return c, authz.Session{}
	}
	c.kind, c.actor, c.background = s.Kind(), s.Actor(), s.Background()
	c.principal, _ = s.Principal()
	c.via = fmt.Sprintf("%q", s.Via())
	return c, s
}

// with calls f with the connection for a session. A link on which a call broke or hung serves no other.
func (p *pool) with(ctx context.Context, server Server, s authz.Session, f func(context.Context, *link) error) error {
	c, who := p.g.callerOf(server, s)
	l, err := p.take(c, Peer{server.Name, server.Address, who})
	if err != nil {
		return err
	}
	defer p.give(c, l)
	limited, cancel := bare(ctx, p.g.Limits.Connect)
	defer cancel()
	select {
	case <-l.ready:
	case <-limited.Done():
		p.drop(c, l)
		return &Error{Server: server.Name, Reason: Timeout, Err: limited.Err()}
	}
	if l.err != nil {
		p.drop(c, l)
		return l.err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(p.ended, end)()
	err = f(ctx, l)
	if e, ok := errors.AsType[*Error](err); ok && (e.Reason == Timeout || e.Reason == Lost || e.Reason == TooLarge && l.wire.oversize.Load()) {
		p.drop(c, l)
	}
	return err
}

// take returns the link of a caller, which may still be connecting.
func (p *pool) take(c caller, peer Peer) (*link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, &Error{Server: c.server, Reason: Unreachable, Err: errors.New("the gateway is closed")}
	}
	if l := p.links[c]; l != nil {
		l.users++
		l.idle.Stop()
		return l, nil
	}
	if len(p.links) >= p.g.Limits.Connections && !p.evict() {
		return nil, &Error{Server: c.server, Reason: Unreachable, Err: errors.New("too many connections are in use")}
	}
	l := &link{server: c.server, ready: make(chan struct{}), turn: make(chan struct{}, 1), users: 1}
	l.idle = time.AfterFunc(time.Hour, func() { p.expire(c, l) })
	l.idle.Stop()
	p.links[c] = l
	p.busy.Go(func() { p.connect(l, peer) })
	return l, nil
}

// connect makes the connection, within the limit.
func (p *pool) connect(l *link, peer Peer) {
	defer close(l.ready)
	fail := func(reason Reason, err error) { l.err = &Error{Server: l.server, Reason: reason, Err: err} }
	defer func() {
		if v := recover(); v != nil {
			fail(Unreachable, fmt.Errorf("panic: %v", v))
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	l.end = cancel
	closed := p.closed
	p.mu.Unlock()
	if closed {
		cancel()
	}
	late := time.AfterFunc(p.g.Limits.Connect, cancel)
	defer late.Stop()
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done(): // one that was dropped is still there
		l.slot.Do(func() {})
		fail(Unreachable, errors.New("too many connections are in use"))
		return
	}
	if err := ctx.Err(); err != nil {
		fail(Timeout, err)
		return
	}
	t, err := p.g.Dial(ctx, peer)
	if err != nil {
		fail(Unreachable, err)
		return
	}
	l.wire = harden(t, p.g.Limits)
	client := mcp.NewClient(&mcp.Implementation{Name: "sallyport", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := client.Connect(ctx, l.wire, nil)
	switch {
	case err != nil && l.wire.oversize.Load():
		fail(TooLarge, err)
	case err != nil && ctx.Err() != nil:
		fail(Timeout, err)
	case err != nil:
		fail(Unreachable, err)
	default:
		l.session = session
	}
}

// give returns a link after use.
func (p *pool) give(c caller, l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	l.used = time.Now()
	switch {
	case l.users > 0:
	case l.out:
		p.shut(l)
	default:
		l.idle.Reset(p.g.Limits.Idle)
	}
}

// drop takes a link out of the pool. The lock is not held.
func (p *pool) drop(c caller, l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(c, l)
}

// remove takes a link out of the pool. The lock is held.
func (p *pool) remove(c caller, l *link) {
	if l.out {
		return
	}
	l.out = true
	delete(p.links, c)
	l.idle.Stop()
	if l.users == 0 {
		p.shut(l)
	}
}

func (p *pool) expire(c caller, l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.users == 0 {
		p.remove(c, l)
	}
}

// evict makes room by the link that has been unused for the longest time. The lock is held.
func (p *pool) evict() bool {
	var oldest caller
	var l *link
	for c, other := range p.links {
		if other.users == 0 && (l == nil || other.used.Before(l.used)) {
			oldest, l = c, other
		}
	}
	if l == nil {
		return false
	}
	p.remove(oldest, l)
	return true
}

// shut closes a link that nobody uses, and one that is still being made is made no further. The lock is held, and not
// waited for: a process may take its time.
func (p *pool) shut(l *link) {
	select {
	case <-l.ready:
	default:
		if l.end != nil {
			l.end()
		}
	}
	p.busy.Go(func() {
		<-l.ready
		if l.session != nil {
			// There is nobody left to tell of errors. The session alone would wait for a write that nobody reads.
			_ = l.wire.below.Close()
			_ = l.session.Close()
		}
		if l.end != nil {
			l.end()
		}
		l.slot.Do(func() { <-p.slots })
	})
}

// forget closes the connections to a server.
func (p *pool) forget(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, l := range p.links {
		if c.server == server {
			p.remove(c, l)
		}
	}
}

// close ends every connection, also those in use, and waits until they are gone.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.end()
	for c, l := range p.links {
		if l.users > 0 {
			p.shut(l)
		}
		if l.end != nil {
			select {
			case <-l.ready:
			default:
				l.end()
			}
		}
		p.remove(c, l)
	}
	p.mu.Unlock()
	p.busy.Wait()
}
