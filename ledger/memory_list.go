package ledger

import (
	"cmp"
	"context"
	"slices"
	"strings"
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
	var list []Proposal
	looked := 0
	for _, p := range m.newest(q.Scope) {
		if !q.reaches(p) {
			continue
		}
		if len(list) == page(q.Limit) || q.Window > 0 && looked == q.Window {
			break
		}
		looked++
		if q.matches(p) {
			list = append(list, p.clone())
		}
	}
	return list, nil
}

// newest returns the rows of a scope, newest first.
func (m *Memory) newest(scope authz.Scope) []*Proposal {
	rows := slices.Clone(m.scopes[scope])
	slices.SortFunc(rows, func(a, b *Proposal) int { return newestFirst(a.Cursor(), b.Cursor()) })
	return rows
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
	find := func(seq int64) (int, bool) {
		return slices.BinarySearchFunc(trail, seq, func(r Record, seq int64) int { return cmp.Compare(r.Seq, seq) })
	}
	from, found := find(q.After)
	if found {
		from++
	}
	to := len(trail)
	if q.Before != 0 {
		to, _ = find(q.Before)
	}
	trail = slices.Clone(trail[from:max(from, to)])
	if q.Newest {
		slices.Reverse(trail)
	}
	if q.Window > 0 {
		trail = trail[:min(len(trail), q.Window)]
	}
	var list []Record
	for _, r := range trail {
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

// reaches says whether a proposal counts for the query's window.
func (q *Query) reaches(p *Proposal) bool {
	older := q.Before == Cursor{} || newestFirst(q.Before, p.Cursor()) < 0
	return older && within(p.CreatedAt, q.Since, q.Until)
}

func (q *Query) matches(p *Proposal) bool {
	principal, _ := p.Session.Principal()
	return is(q.Actor, p.Session.Actor()) && is(q.Principal, principal) && is(q.Action, p.Action) && is(q.Run, p.Session.Run()) &&
		(len(q.States) == 0 || slices.Contains(q.States, p.State(q.At))) &&
		has(q.Text, p.ID, string(p.Session.Actor()), string(principal), p.Action, p.Params.String(), p.Note, p.Error)
}

func (q *AuditQuery) matches(r *Record) bool {
	principal, _ := r.Session.Principal()
	return is(q.Proposal, r.Proposal) && is(q.Actor, r.Session.Actor()) && is(q.Principal, principal) && is(q.Operator, r.Operator) &&
		is(q.Action, r.Action) && is(q.Run, r.Session.Run()) && is(q.Event, r.Event) && is(q.Code, r.Code) && within(r.At, q.Since, q.Until) &&
		has(q.Text, string(r.Session.Actor()), string(principal), string(r.Operator), r.Action, r.Params.String(), r.Proposal, r.Reason, r.Error)
}

// within says whether an instant is at or after since and before until, as a store keeps them; zero is no bound.
func within(at, since, until time.Time) bool {
	return (since.IsZero() || !at.Before(Time(since))) && (until.IsZero() || at.Before(Time(until)))
}

// has says whether one of the fields contains the text.
func has(text string, fields ...string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(lower(f), lower(text)) })
}

// lower folds the letters A to Z only, by which every database agrees.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

func is[T comparable](filter, value T) bool {
	var none T
	return filter == none || filter == value
}
