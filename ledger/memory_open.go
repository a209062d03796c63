package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

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
