package ledger

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

// Memory is a [Store] in memory: for tests, examples and small programs that may forget. Its zero value is
// empty and ready. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	rows    map[key]*Proposal
	decided map[key]bool // a started or dismissed record exists
	scopes  map[authz.Scope][]*Proposal
	open    []*Proposal // undecided when last looked at, by expiry
	audit   map[authz.Scope][]Record
	seq     int64
}

type key struct {
	scope authz.Scope
	id    string
}

func keyOf(p *Proposal) key { return key{p.Session.Scope(), p.ID} }

// Propose implements [Store].
func (m *Memory) Propose(ctx context.Context, e Entry) (Proposal, error) {
	if err := ctx.Err(); err != nil {
		return Proposal{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prune(e.Proposal.CreatedAt)
	for _, p := range m.open {
		if identical(p, &e.Proposal) {
			return p.clone(), nil
		}
	}
	return m.insert(e)
}

// Revise implements [Store].
func (m *Memory) Revise(ctx context.Context, r Revision) (Proposal, error) {
	if err := ctx.Err(); err != nil {
		return Proposal{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, err := m.undecided(r.Dismissal.Scope, r.Dismissal.Proposal)
	if err != nil {
		return old.clone(), err
	}
	m.open = slices.DeleteFunc(m.open, func(p *Proposal) bool { return p == old })
	m.prune(r.Entry.Proposal.CreatedAt)
	p, err := m.insert(r.Entry)
	if err != nil {
		m.reopen(old)
		return Proposal{}, err
	}
	m.dismiss(old, r.Dismissal)
	return p, nil
}

// Proposal implements [Store].
func (m *Memory) Proposal(_ context.Context, scope authz.Scope, id string) (Proposal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.rows[key{scope, id}]
	if p == nil {
		return Proposal{}, ErrNotFound
	}
	return p.clone(), nil
}

// Claim implements [Store].
func (m *Memory) Claim(ctx context.Context, c Claim) (Proposal, error) {
	if err := ctx.Err(); err != nil {
		return Proposal{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.undecided(c.Scope, c.Proposal)
	switch {
	case p != nil && p.Decision == Claimed && p.Claim == c.ID && c.ID != "":
		return p.clone(), nil
	case err != nil:
		return p.clone(), err
	case c.ID == "" || p.State(c.At) != StateProposed:
		return p.clone(), ErrConflict
	}
	p.Decision, p.DecidedBy, p.DecidedAt, p.Claim, p.RunBy = Claimed, c.By, Time(c.At), c.ID, Time(c.RunBy)
	m.decide(p, c.Record)
	return p.clone(), nil
}

// Finish implements [Store].
func (m *Memory) Finish(ctx context.Context, f Finish) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.rows[key{f.Scope, f.Proposal}]
	switch {
	case p == nil:
		return ErrNotFound
	case p.Decision != Claimed || p.Claim != f.Claim || p.Outcome != Running || f.Outcome == Running:
		return ErrConflict
	}
	p.Outcome, p.FinishedAt, p.Result, p.Error, p.Told = f.Outcome, Time(f.At), slices.Clone(f.Result), f.Error, f.Told
	p.Baseline, p.Unmeasured, p.VerifyAt = clonePtr(f.Baseline), f.Unmeasured, Time(f.VerifyAt)
	m.log(f.Record)
	return nil
}

// Dismiss implements [Store].
func (m *Memory) Dismiss(ctx context.Context, d Dismissal) (Proposal, error) {
	if err := ctx.Err(); err != nil {
		return Proposal{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.undecided(d.Scope, d.Proposal)
	if err != nil {
		return p.clone(), err
	}
	m.dismiss(p, d)
	return p.clone(), nil
}

// Verify implements [Store].
func (m *Memory) Verify(ctx context.Context, v Verification) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.rows[key{v.Scope, v.Proposal}]
	switch {
	case p == nil:
		return ErrNotFound
	case p.Decision != Claimed || p.Verdict != Unverified || v.Verdict == Unverified:
		return ErrConflict
	}
	p.Verdict, p.Measured, p.VerifiedAt = v.Verdict, clonePtr(v.Measured), Time(v.At)
	p.Unmeasured = cmp.Or(v.Why, p.Unmeasured)
	m.log(v.Record)
	return nil
}

// Append implements [Store].
func (m *Memory) Append(ctx context.Context, r Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log(r)
	return nil
}

// Proposals implements [Store].
func (m *Memory) Proposals(_ context.Context, q Query) ([]Proposal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := slices.Clone(m.scopes[q.Scope])
	slices.SortFunc(rows, func(a, b *Proposal) int { return newestFirst(a.Cursor(), b.Cursor()) })
	var list []Proposal
	for _, p := range rows {
		if len(list) == cmp.Or(q.Limit, DefaultPage) {
			break
		}
		if q.matches(p) {
			list = append(list, p.clone())
		}
	}
	return list, nil
}

// Due implements [Store].
func (m *Memory) Due(_ context.Context, now time.Time, limit int) ([]Proposal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []*Proposal
	for _, p := range m.rows {
		finished := p.Outcome != Running && !p.VerifyAt.IsZero() && !now.Before(p.VerifyAt)
		if p.Decision == Claimed && p.Verdict == Unverified && (finished || p.State(now) == StateInterrupted) {
			due = append(due, p)
		}
	}
	slices.SortFunc(due, func(a, b *Proposal) int { return newestFirst(b.Cursor(), a.Cursor()) })
	var list []Proposal
	for _, p := range due[:min(len(due), cmp.Or(limit, DefaultPage))] {
		list = append(list, p.clone())
	}
	return list, nil
}

// Audit implements [Store].
func (m *Memory) Audit(_ context.Context, q AuditQuery) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	trail := m.audit[q.Scope]
	from, _ := slices.BinarySearchFunc(trail, q.After+1, func(r Record, seq int64) int { return cmp.Compare(r.Seq, seq) })
	var list []Record
	for _, r := range trail[from:] {
		if len(list) == cmp.Or(q.Limit, DefaultPage) {
			break
		}
		if q.matches(&r) {
			list = append(list, r.clone())
		}
	}
	return list, nil
}

// Tamper changes a stored row behind the ledger's back, as somebody with access to a database could, so that
// tests can show what happens then.
func (m *Memory) Tamper(scope authz.Scope, id string, change func(*Proposal)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.rows[key{scope, id}]
	if p == nil {
		return ErrNotFound
	}
	before := keyOf(p)
	change(p)
	if after := keyOf(p); after != before { // a row in an SQL table is found by its columns
		delete(m.rows, before)
		m.rows[after] = p
	}
	return nil
}

// undecided returns the row, and nil if it can still be decided.
func (m *Memory) undecided(scope authz.Scope, id string) (*Proposal, error) {
	p := m.rows[key{scope, id}]
	switch {
	case p == nil:
		return nil, ErrNotFound
	case p.Decision != Undecided || m.decided[keyOf(p)]:
		return p, ErrConflict
	}
	return p, nil
}

func (m *Memory) dismiss(p *Proposal, d Dismissal) {
	p.Decision, p.DecidedBy, p.DecidedAt, p.Note = Dismissed, d.By, Time(d.At), d.Note
	m.decide(p, d.Record)
}

func (m *Memory) decide(p *Proposal, r Record) {
	if m.decided == nil {
		m.decided = map[key]bool{}
	}
	m.decided[keyOf(p)] = true
	m.log(r)
}

func (m *Memory) log(r Record) {
	if m.audit == nil {
		m.audit = map[authz.Scope][]Record{}
	}
	m.seq++
	r = r.clone()
	r.Seq, r.At = m.seq, Time(r.At)
	scope := r.Session.Scope()
	m.audit[scope] = append(m.audit[scope], r)
}

// insert adds a row if the limits allow it; m.open is pruned.
func (m *Memory) insert(e Entry) (Proposal, error) {
	p := e.Proposal.fresh()
	if m.rows[keyOf(p)] != nil {
		return Proposal{}, ErrConflict
	}
	var n Limits
	for _, o := range m.open {
		if o.Session.Scope() != p.Session.Scope() {
			continue
		}
		n.Scope++
		if samePrincipal(o.Session, p.Session) {
			n.Principal++
			if sameTalk(o.Session, p.Session) {
				n.Session++
			}
		}
	}
	for _, l := range []struct {
		of       string
		n, limit int
	}{{"session", n.Session, e.Limits.Session}, {"principal", n.Principal, e.Limits.Principal}, {"scope", n.Scope, e.Limits.Scope}} {
		if l.limit > 0 && l.n >= l.limit {
			return Proposal{}, &LimitError{l.of, l.limit}
		}
	}
	if m.rows == nil {
		m.rows, m.scopes = map[key]*Proposal{}, map[authz.Scope][]*Proposal{}
	}
	m.rows[keyOf(p)] = p
	m.scopes[p.Session.Scope()] = append(m.scopes[p.Session.Scope()], p)
	m.reopen(p)
	m.log(e.Record)
	return p.clone(), nil
}

func (m *Memory) reopen(p *Proposal) {
	i, _ := slices.BinarySearchFunc(m.open, p, byExpiry)
	m.open = slices.Insert(m.open, i, p)
}

// prune forgets what is no longer open at the given instant.
func (m *Memory) prune(at time.Time) {
	m.open = slices.DeleteFunc(m.open, func(p *Proposal) bool { return p.State(at) != StateProposed })
}

func byExpiry(a, b *Proposal) int { return a.ExpiresAt.Compare(b.ExpiresAt) }

func newestFirst(a, b Cursor) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
}

func (q *Query) matches(p *Proposal) bool {
	principal, _ := p.Session.Principal()
	older := q.Before == Cursor{} || newestFirst(q.Before, p.Cursor()) < 0
	return older && is(q.Actor, p.Session.Actor()) && is(q.Principal, principal) && is(q.Action, p.Action) &&
		is(q.Run, p.Session.Run()) && (len(q.States) == 0 || slices.Contains(q.States, p.State(q.At)))
}

func (q *AuditQuery) matches(r *Record) bool {
	return is(q.Proposal, r.Proposal) && is(q.Actor, r.Session.Actor()) && is(q.Action, r.Action) &&
		is(q.Run, r.Session.Run()) && is(q.Event, r.Event)
}

func is[T comparable](filter, value T) bool {
	var none T
	return filter == none || filter == value
}

func identical(a, b *Proposal) bool {
	return a.Session.Scope() == b.Session.Scope() && a.Session.Actor() == b.Session.Actor() && samePrincipal(a.Session, b.Session) &&
		a.Action == b.Action && a.Params == b.Params && a.Definition == b.Definition && a.Version == b.Version
}

func samePrincipal(a, b authz.Session) bool {
	p, forA := a.Principal()
	q, forB := b.Principal()
	return forA == forB && p == q && (forA || a.Actor() == b.Actor())
}

func sameTalk(a, b authz.Session) bool {
	return a.Actor() == b.Actor() && cmp.Or(a.Conversation(), a.Run()) == cmp.Or(b.Conversation(), b.Run())
}

// fresh returns a copy with only the immutable fields set.
func (p *Proposal) fresh() *Proposal {
	return &Proposal{
		ID: p.ID, Session: p.Session, Action: p.Action, Params: p.Params, Targets: slices.Clone(p.Targets),
		Definition: p.Definition, Version: p.Version, CreatedAt: Time(p.CreatedAt), ExpiresAt: Time(p.ExpiresAt),
		Supersedes: p.Supersedes, RevisedBy: slices.Clone(p.RevisedBy), Seal: p.Seal,
	}
}

func (p *Proposal) clone() Proposal {
	if p == nil {
		return Proposal{}
	}
	c := *p
	c.Targets, c.RevisedBy, c.Result = slices.Clone(p.Targets), slices.Clone(p.RevisedBy), slices.Clone(p.Result)
	c.Baseline, c.Measured = clonePtr(p.Baseline), clonePtr(p.Measured)
	return c
}

func (r *Record) clone() Record {
	c := *r
	c.Targets, c.Result = slices.Clone(r.Targets), slices.Clone(r.Result)
	return c
}

func clonePtr(f *float64) *float64 {
	if f == nil {
		return nil
	}
	v := *f
	return &v
}

var _ Store = (*Memory)(nil)
