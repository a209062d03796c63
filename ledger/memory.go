package ledger

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sallyport-dev/sallyport/authz"
)

// Memory is a [Store] in memory: for tests, examples and small programs that may forget. Its zero value is
// empty and ready. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	rows    map[key]*Proposal
	decided map[key]bool // a started or dismissed record exists
	uses    map[key]int  // of standing grants
	scopes  map[authz.Scope][]*Proposal
	open    map[authz.Scope][]*Proposal // undecided, by expiry
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
	if err := m.begin(ctx); err != nil {
		return Proposal{}, err
	}
	defer m.mu.Unlock()
	for _, p := range m.openAt(e.Proposal.Session.Scope(), e.Proposal.CreatedAt) {
		if identical(p, &e.Proposal) {
			return p.clone(), nil
		}
	}
	p, err := m.fits(e)
	if err != nil {
		return Proposal{}, err
	}
	return m.insert(p, e.Record), nil
}

// Revise implements [Store].
func (m *Memory) Revise(ctx context.Context, r Revision) (Proposal, error) {
	if err := m.begin(ctx); err != nil {
		return Proposal{}, err
	}
	defer m.mu.Unlock()
	if r.Dismissal.Scope != r.Entry.Proposal.Session.Scope() {
		return Proposal{}, ErrNotFound
	}
	old, err := m.undecided(r.Dismissal.Scope, r.Dismissal.Proposal)
	if err != nil {
		return old.clone(), err
	}
	m.shut(old)
	p, err := m.fits(r.Entry)
	if err != nil {
		m.openUp(old)
		return Proposal{}, err
	}
	m.dismiss(old, r.Dismissal)
	return m.insert(p, r.Entry.Record), nil
}

// Claim implements [Store].
func (m *Memory) Claim(ctx context.Context, c Claim) (Proposal, error) {
	if err := m.begin(ctx); err != nil {
		return Proposal{}, err
	}
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
	if u := c.Use; u != nil {
		grant := key{c.Scope, u.Grant}
		if u.Limit > 0 && m.uses[grant] >= u.Limit || !c.At.Before(u.Until) {
			return p.clone(), ErrGrantSpent
		}
		if m.uses == nil {
			m.uses = map[key]int{}
		}
		m.uses[grant]++
		p.Grant = u.Grant
	}
	m.shut(p)
	p.Decision, p.DecidedBy, p.DecidedAt, p.Claim, p.RunBy = Claimed, c.By, Time(c.At), c.ID, Time(c.RunBy)
	m.decide(p, c.Record)
	return p.clone(), nil
}

// Uses implements [Store].
func (m *Memory) Uses(_ context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	uses := map[string]int{}
	for _, g := range grants {
		if n := m.uses[key{scope, g}]; n > 0 {
			uses[g] = n
		}
	}
	return uses, nil
}

// Finish implements [Store].
func (m *Memory) Finish(ctx context.Context, f Finish) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	p := m.rows[key{f.Scope, f.Proposal}]
	switch {
	case p == nil:
		return ErrNotFound
	case p.Decision != Claimed || p.Claim != f.Claim || p.Outcome != Running || f.Outcome == Running:
		return ErrConflict
	}
	p.Outcome, p.FinishedAt, p.Result, p.Error, p.Told = f.Outcome, Time(f.At), slices.Clone(f.Result), f.Error, f.Told
	p.Baseline, p.VerifyAt = clonePtr(f.Baseline), Time(f.VerifyAt)
	if p.Verdict == Unverified { // otherwise the verdict's reason stands
		p.Unmeasured = f.Unmeasured
	}
	m.log(f.Record)
	return nil
}

// Dismiss implements [Store].
func (m *Memory) Dismiss(ctx context.Context, d Dismissal) (Proposal, error) {
	if err := m.begin(ctx); err != nil {
		return Proposal{}, err
	}
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
	if err := m.begin(ctx); err != nil {
		return err
	}
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
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.log(r)
	return nil
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
	m.remove(p) // a row of an SQL table is found by its columns, and so is this one afterwards
	change(p)
	m.add(p)
	return nil
}

// begin takes the lock for a change, unless the context ended before or while waiting for it.
func (m *Memory) begin(ctx context.Context) error {
	m.mu.Lock()
	if err := ctx.Err(); err != nil {
		m.mu.Unlock()
		return err
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
	m.shut(p)
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

var _ Store = (*Memory)(nil)
