package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

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

// Proposals implements [Store].
func (m *Memory) Proposals(_ context.Context, q Query) ([]Proposal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := slices.Clone(m.scopes[q.Scope])
	slices.SortFunc(rows, func(a, b *Proposal) int { return newestFirst(a.Cursor(), b.Cursor()) })
	var list []Proposal
	for _, p := range rows {
		if len(list) == page(q.Limit) {
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
	for _, p := range due[:min(len(due), page(limit))] {
		list = append(list, p.clone())
	}
	return list, nil
}

// Audit implements [Store].
func (m *Memory) Audit(_ context.Context, q AuditQuery) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	trail := m.audit[q.Scope]
	from, found := slices.BinarySearchFunc(trail, q.After, func(r Record, seq int64) int { return cmp.Compare(r.Seq, seq) })
	if found {
		from++
	}
	var list []Record
	for _, r := range trail[from:] {
		if len(list) == page(q.Limit) {
			break
		}
		if q.matches(&r) {
			list = append(list, r.clone())
		}
	}
	return list, nil
}

func page(limit int) int {
	if limit <= 0 {
		return DefaultPage
	}
	return limit
}

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
