package ledger

import (
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

// fits returns the row of an entry if its id is new and the limits allow it.
func (m *Memory) fits(e Entry) (*Proposal, error) {
	p := e.Proposal.fresh()
	if m.rows[keyOf(p)] != nil {
		return nil, ErrConflict
	}
	var n Limits
	for _, o := range m.openAt(p.Session.Scope(), p.CreatedAt) {
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
			return nil, &LimitError{l.of, l.limit}
		}
	}
	return p, nil
}

// insert adds a row that fits.
func (m *Memory) insert(p *Proposal, r Record) Proposal {
	m.add(p)
	m.log(r)
	return p.clone()
}

// add and remove keep a row under everything by which it is found.
func (m *Memory) add(p *Proposal) {
	if m.rows == nil {
		m.rows, m.scopes, m.open = map[key]*Proposal{}, map[authz.Scope][]*Proposal{}, map[authz.Scope][]*Proposal{}
	}
	scope := p.Session.Scope()
	m.rows[keyOf(p)] = p
	m.scopes[scope] = append(m.scopes[scope], p)
	m.openUp(p)
}

func (m *Memory) remove(p *Proposal) {
	scope := p.Session.Scope()
	delete(m.rows, keyOf(p))
	m.scopes[scope] = slices.DeleteFunc(m.scopes[scope], func(o *Proposal) bool { return o == p })
	m.shut(p)
}

func (m *Memory) openUp(p *Proposal) {
	if p.Decision != Undecided {
		return
	}
	list := m.open[p.Session.Scope()]
	i, _ := slices.BinarySearchFunc(list, p, byExpiry)
	m.open[p.Session.Scope()] = slices.Insert(list, i, p)
}

func (m *Memory) shut(p *Proposal) {
	list := m.open[p.Session.Scope()]
	i, _ := slices.BinarySearchFunc(list, p, byExpiry)
	for ; i < len(list); i++ {
		if list[i] == p {
			m.open[p.Session.Scope()] = slices.Delete(list, i, i+1)
			return
		}
	}
}

// openAt returns what is open at an instant. Instants come from callers whose clocks differ, so what has
// expired at one is kept for the next, which may be earlier.
func (m *Memory) openAt(scope authz.Scope, at time.Time) []*Proposal {
	list := m.open[scope]
	i, _ := slices.BinarySearchFunc(list, at, func(p *Proposal, at time.Time) int {
		if p.ExpiresAt.After(at) {
			return 1
		}
		return -1
	})
	return list[i:]
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

// sameTalk compares runs only where there is no conversation, and never a run with a conversation.
func sameTalk(a, b authz.Session) bool {
	return a.Actor() == b.Actor() && a.Conversation() == b.Conversation() &&
		(a.Conversation() != "" || a.Run() == b.Run())
}
