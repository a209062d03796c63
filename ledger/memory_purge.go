package ledger

import (
	"context"
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
)

// Purge implements [Store].
func (m *Memory) Purge(ctx context.Context, p Purge) (Purged, error) {
	if err := m.begin(ctx); err != nil {
		return Purged{}, err
	}
	defer m.mu.Unlock()
	if p.Limit <= 0 {
		p.Limit = DefaultPurge
	}
	gone := map[string]bool{}
	rows := m.newest(p.Scope)
	slices.Reverse(rows)
	for _, row := range rows {
		if len(gone) == p.Limit || !row.CreatedAt.Before(Time(p.Before)) {
			break
		}
		if row.through() {
			gone[row.ID] = true
			m.remove(row)
			delete(m.rows, keyOf(row))
			delete(m.decided, keyOf(row))
		}
	}
	kept, alone := m.audit[p.Scope][:0:0], 0
	for _, r := range m.audit[p.Scope] {
		orphan := m.alone(p.Scope, &r) && r.At.Before(Time(p.Before)) && alone < p.Limit
		switch {
		case gone[r.Proposal]:
		case orphan:
			alone++
		default:
			kept = append(kept, r)
		}
	}
	out := Purged{len(gone), len(m.audit[p.Scope]) - len(kept)}
	if out == (Purged{}) {
		return out, nil
	}
	m.audit[p.Scope] = kept
	m.log(p.Record)
	return out, nil
}

// through says whether nothing can happen to a proposal any more.
func (p *Proposal) through() bool {
	return p.Decision == Dismissed || p.Decision == Claimed && p.Outcome != Running && p.Verdict != Unverified
}

// alone says whether a record belongs to no proposal of its scope. One of a decision never does: it keeps a
// proposal from being decided again, whoever took its row away.
func (m *Memory) alone(scope authz.Scope, r *Record) bool {
	if r.Proposal == "" {
		return true
	}
	return m.rows[key{scope, r.Proposal}] == nil && !m.decided[key{scope, r.Proposal}]
}
