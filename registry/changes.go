package registry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

// Change says that an action changed something. It follows a successful run whose outcome is on record.
type Change struct {
	Scope    authz.Scope
	Action   string
	Targets  []authz.Path
	Proposal string // "" for a person's own change
	Run      string
	At       time.Time

	// Missed is how many changes of the scope came before this one and were dropped because the subscriber
	// was slow. Whoever keeps a copy reads it anew then.
	Missed int
}

// ErrClosed is what [Subscription.Next] returns after Close.
var ErrClosed = errors.New("registry: the subscription is closed")

// backlog is how many changes wait for one subscriber.
const backlog = 256

// hub hands changes to subscribers and never waits for one.
type hub struct {
	mu      sync.Mutex
	subs    []*Subscription
	watches []*func()
}

// Subscription is one subscriber's view of the changes: those in its session's scope that [Registry.Shows] it. Next is for one goroutine at a time; Close may be called by any.
type Subscription struct {
	registry *Registry
	session  authz.Session

	mu     sync.Mutex
	queue  []Change
	missed int
	wake   chan struct{}
	closed bool
}

// Subscribe starts to collect changes for a session. Call Close in the end.
func (r *Registry) Subscribe(s authz.Session) (*Subscription, error) {
	if s.IsZero() {
		return nil, authz.ErrSession
	}
	sub := &Subscription{registry: r, session: s, wake: make(chan struct{}, 1)}
	r.changes.mu.Lock()
	defer r.changes.mu.Unlock()
	r.changes.subs = append(r.changes.subs, sub)
	return sub, nil
}

// OnChange has f called after every change of any scope, until stop is called. It says that something changed
// and nothing about what, so it needs no session: whoever keeps something that depends on facts looks again.
// The run waits for f, so f only leaves word.
func (r *Registry) OnChange(f func()) (stop func()) {
	h := &r.changes
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watches = append(h.watches, &f)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.watches = slices.DeleteFunc(h.watches, func(x *func()) bool { return x == &f })
	}
}

// Next waits for the next change that the session may read now. It returns the context's error, [ErrClosed],
// or the error of the source of facts; after the last the change is lost, and the next one says so.
func (s *Subscription) Next(ctx context.Context) (Change, error) {
	for {
		c, err := s.take(ctx)
		if err != nil {
			return Change{}, err
		}
		view, err := s.registry.policy.View(ctx, s.session.Scope(), s.session.Actors()...)
		if err != nil {
			s.miss(c.Missed + 1)
			return Change{}, err
		}
		if s.registry.shows(view, s.session, c.Action, c.Targets) {
			return c, nil
		}
		s.miss(c.Missed) // what was dropped before it may have been readable
	}
}

// take waits for the oldest change in the queue.
func (s *Subscription) take(ctx context.Context) (Change, error) {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return Change{}, ErrClosed
		case len(s.queue) > 0:
			c := s.queue[0]
			s.queue = s.queue[1:]
			c.Missed, s.missed = c.Missed+s.missed, 0
			s.mu.Unlock()
			return c, nil
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return Change{}, ctx.Err()
		case <-s.wake:
		}
	}
}

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() {
	h := &s.registry.changes
	h.mu.Lock()
	h.subs = slices.DeleteFunc(h.subs, func(x *Subscription) bool { return x == s })
	h.mu.Unlock()
	s.mu.Lock()
	s.closed, s.queue = true, nil
	s.mu.Unlock()
	s.signal()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Subscription) miss(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed += n
}

// put queues a change; the oldest gives way if the subscriber is slow.
func (s *Subscription) put(c Change) {
	s.mu.Lock()
	if len(s.queue) == backlog {
		dropped := s.queue[0].Missed + 1
		s.queue = slices.Clone(s.queue[1:])
		s.queue[0].Missed += dropped
	}
	s.queue = append(s.queue, c)
	s.mu.Unlock()
	s.signal()
}

// announce tells every subscriber of the scope about a change.
func (r *Registry) announce(q *request, cur Current) {
	c := Change{
		Scope: q.session.Scope(), Action: q.action.Name, Targets: slices.Clone(q.targets), Proposal: cur.Proposal,
		Run: q.session.Run(), At: r.Now(),
	}
	r.changes.mu.Lock()
	subs, watches := slices.Clone(r.changes.subs), slices.Clone(r.changes.watches)
	r.changes.mu.Unlock()
	for _, f := range watches {
		(*f)()
	}
	for _, s := range subs {
		if s.session.Scope() == c.Scope {
			s.put(c)
		}
	}
}
