// Package changes tells open pages that something changed: a stream of server-sent events for each.
//
// The source is the ledger's own trail, so that every process hears of what any process did, and a stream that
// broke goes on where it was. For each scope with an open stream one goroutine reads what is new; what one
// person may see of it is worked out once, whatever number of streams they have. An event says what to read
// anew, and is sent to nobody who may not read it.
package changes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/authz"
)

// Options bound the streams. All are required.
type Options struct {
	Poll      time.Duration // how often the ledger is asked
	Heartbeat time.Duration
	Life      time.Duration // of a stream; then its client comes back, and is identified anew
	Streams   int           // at most, at once
	Each      int           // of one person in one scope
}

const (
	backlog = 64  // batches that wait for one stream
	replay  = 500 // records that are gone through for a client that comes back
)

// Errors of [Hub.Open] and [Stream.Serve].
var (
	ErrClosed = errors.New("changes: closed")
	ErrFull   = errors.New("changes: too many streams")
	// ErrUnflushable is what [Stream.Serve] returns for a response that a middleware keeps back.
	ErrUnflushable = errors.New("changes: this response cannot be flushed")
)

// Hub has the streams. It is safe for concurrent use.
type Hub struct {
	office *office.Office
	opt    Options

	mu     sync.Mutex
	tails  map[authz.Scope]*tail
	open   int
	each   map[who]int
	closed chan struct{}
	work   sync.WaitGroup
}

type who struct {
	scope  authz.Scope
	person authz.Person
}

// New returns a hub without streams.
func New(o *office.Office, opt Options) *Hub {
	return &Hub{office: o, opt: opt, tails: map[authz.Scope]*tail{}, each: map[who]int{}, closed: make(chan struct{})}
}

// Close ends every stream and waits until nothing reads any more. It may be called twice.
func (h *Hub) Close() {
	h.mu.Lock()
	select {
	case <-h.closed:
	default:
		close(h.closed)
	}
	h.mu.Unlock()
	h.work.Wait()
}

// news is what happened between two readings of the trail.
type news struct {
	list []office.Change
	lost bool // something before it was lost

	mu   sync.Mutex
	seen map[authz.Person]*sight
}

// sight is what one person sees of it.
type sight struct {
	once sync.Once
	list []office.Change
	err  error
}

// of works out what a person sees, once.
func (n *news) of(ctx context.Context, o *office.Office, w who) ([]office.Change, error) {
	n.mu.Lock()
	s := n.seen[w.person]
	if s == nil {
		s = new(sight)
		n.seen[w.person] = s
	}
	n.mu.Unlock()
	s.once.Do(func() {
		ctx := context.WithoutCancel(ctx) // others wait for the answer too
		var v *office.Visit
		if v, s.err = o.Enter(ctx, w.scope, w.person); s.err == nil {
			s.list, s.err = v.Sees(ctx, n.list)
		}
	})
	return s.list, s.err
}

// tail reads the trail of one scope for its streams.
type tail struct {
	hub     *Hub
	visit   *office.Visit // of whoever came first: it reads for all, and shows nothing to anybody
	streams map[*Stream]bool
	stop    chan struct{}
	trail   *Trail
}

// Stream is one open stream.
type Stream struct {
	hub    *Hub
	who    who
	news   chan *news
	missed bool  // guarded by the hub
	head   int64 // of the trail when it was opened
}

// Open opens a stream for a visitor. Close it in the end.
func (h *Hub) Open(ctx context.Context, v *office.Visit) (*Stream, error) {
	head, err := v.Head(ctx)
	if err != nil {
		return nil, err
	}
	s, err := h.join(v, head)
	if err != nil {
		return nil, err
	}
	// Now that the stream hears of everything, what came before is what is there.
	if s.head, err = v.Head(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// join adds a stream to the tail of its scope, which begins after head if there is none.
func (h *Hub) join(v *office.Visit, head int64) (*Stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.closed:
		return nil, ErrClosed
	default:
	}
	w := who{v.Scope(), v.Person()}
	if h.open >= h.opt.Streams || h.each[w] >= h.opt.Each {
		return nil, ErrFull
	}
	h.open++
	h.each[w]++
	s := &Stream{hub: h, who: w, news: make(chan *news, backlog)}
	t := h.tails[w.scope]
	if t == nil {
		t = &tail{hub: h, visit: v, streams: map[*Stream]bool{}, stop: make(chan struct{}), trail: NewTrail(head)}
		h.tails[w.scope] = t
		h.work.Go(t.run)
	}
	t.streams[s] = true
	return s, nil
}

// Close closes the stream.
func (s *Stream) Close() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tails[s.who.scope]
	if t == nil || !t.streams[s] {
		return
	}
	delete(t.streams, s)
	h.open--
	if h.each[s.who]--; h.each[s.who] == 0 {
		delete(h.each, s.who)
	}
	if len(t.streams) == 0 {
		delete(h.tails, s.who.scope)
		close(t.stop)
	}
}

// run reads until the last stream is gone.
func (t *tail) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(t.hub.opt.Poll)
	defer tick.Stop()
	lost := false
	for {
		select {
		case <-t.stop:
			return
		case <-t.hub.closed:
			return
		case <-tick.C:
		}
		fresh, err := t.trail.Read(ctx, t.visit.After)
		var list []office.Change
		if err == nil {
			list, err = t.visit.Happening(ctx, fresh)
		}
		if err != nil {
			t.visit.Registry().Log().ErrorContext(ctx, "the trail could not be read for the open streams", "error", err)
			lost = true
			continue
		}
		if len(list) > 0 || lost {
			t.tell(&news{list: list, lost: lost, seen: map[authz.Person]*sight{}})
			lost = false
		}
	}
}

// tell hands news to every stream and waits for none.
func (t *tail) tell(n *news) {
	t.hub.mu.Lock()
	defer t.hub.mu.Unlock()
	for s := range t.streams {
		select {
		case s.news <- n:
		default:
			s.missed = true
		}
	}
}

// late reports whether the stream was too slow for something, once.
func (s *Stream) late() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	was := s.missed
	s.missed = false
	return was
}
