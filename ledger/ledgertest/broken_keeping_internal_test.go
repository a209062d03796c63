package ledgertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

var keepingFlaws = []flaw{
	{"times have milliseconds", []string{"every field of a proposal is kept", "times are UTC in whole microseconds"}, func(b *broken, _ *ledger.Memory) {
		b.proposal = func(p ledger.Proposal) ledger.Proposal {
			p.CreatedAt = p.CreatedAt.Truncate(time.Millisecond)
			return p
		}
	}},
	{"times have a zone", []string{"times are UTC in whole microseconds"}, func(b *broken, _ *ledger.Memory) {
		b.proposal = func(p ledger.Proposal) ledger.Proposal {
			p.RunBy = p.RunBy.In(time.FixedZone("east", 3600))
			return p
		}
	}},
	{"zero is nothing", []string{"zero is kept apart from nothing"}, func(b *broken, _ *ledger.Memory) {
		b.proposal = func(p ledger.Proposal) ledger.Proposal {
			if p.Baseline != nil && *p.Baseline == 0 {
				p.Baseline = nil
			}
			return p
		}
	}},
	{"no tool is any tool", []string{"every kind of session is kept"}, func(b *broken, _ *ledger.Memory) {
		b.proposal = func(p ledger.Proposal) ledger.Proposal {
			d := p.Session.Stored()
			d.Restricted = len(d.Tools) > 0
			p.Session = must(d.Session())
			return p
		}
	}},
	{"records have no reason", []string{"every field of a record is kept"}, func(b *broken, m *ledger.Memory) {
		b.append = func(ctx context.Context, r ledger.Record) error {
			r.Reason = ""
			return m.Append(ctx, r)
		}
	}},
	{"proposals come with their fate", []string{"Propose keeps immutable fields only"}, func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			p, err := m.Propose(ctx, e)
			if err != nil {
				return p, err
			}
			err = m.Tamper(p.Session.Scope(), p.ID, func(p *ledger.Proposal) { p.Note = e.Proposal.Note })
			return p, err
		}
	}},
	{"lists are kept as given", []string{"what is passed in is not kept"}, func(b *broken, m *ledger.Memory) {
		given := map[string][]authz.Path{}
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			given[e.Proposal.ID] = e.Proposal.Targets
			return m.Propose(ctx, e)
		}
		b.proposal = func(p ledger.Proposal) ledger.Proposal {
			p.Targets = slices.Clone(given[p.ID])
			return p
		}
	}},
	{"rows are returned from a cache", []string{"what is returned is the caller's own"}, func(b *broken, _ *ledger.Memory) {
		cache := map[string][]authz.ID{}
		b.proposal = func(p ledger.Proposal) ledger.Proposal {
			if cache[p.ID] == nil {
				cache[p.ID] = p.RevisedBy
			}
			p.RevisedBy = cache[p.ID]
			return p
		}
		b.proposals = func(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
			list, err := b.Memory.Proposals(ctx, q)
			for i := range list {
				list[i] = b.proposal(list[i])
			}
			return list, err
		}
	}},
	{"an id used twice is taken for a repetition", []string{"an id is used once in a scope"}, func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			if p, err := m.Proposal(ctx, e.Proposal.Session.Scope(), e.Proposal.ID); err == nil {
				return p, nil
			}
			return m.Propose(ctx, e)
		}
	}},
	{"a repetition extends", []string{"an identical open proposal is returned"}, func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			p, err := m.Propose(ctx, e)
			if err == nil && p.ID != e.Proposal.ID {
				p.ExpiresAt = e.Proposal.ExpiresAt
				err = m.Tamper(p.Session.Scope(), p.ID, func(row *ledger.Proposal) { row.ExpiresAt = p.ExpiresAt })
			}
			return p, err
		}
	}},
	{"principals do not tell apart", []string{
		"each part of the identity tells proposals apart",
	}, collapse(func(a, b ledger.Proposal) bool { return a.Session.Actor() == b.Session.Actor() && sameButSession(a, b) })},
	{"models do not tell apart", []string{
		"each part of the identity tells proposals apart",
	}, collapse(func(a, b ledger.Proposal) bool {
		p, _ := a.Session.Principal()
		q, _ := b.Session.Principal()
		return p == q && sameButSession(a, b)
	})},
	{"versions do not tell apart", []string{
		"each part of the identity tells proposals apart",
	}, collapse(func(a, b ledger.Proposal) bool {
		b.Version = a.Version
		return a.Session.String() == b.Session.String() && sameButSession(a, b)
	})},
	{"conversations tell apart", []string{"nothing else tells proposals apart"}, func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			if e.Proposal.Session.Conversation() != "" {
				return insert(m, e)
			}
			return m.Propose(ctx, e)
		}
	}},
	{"the expired collapse", []string{"an expired proposal is not open"}, collapse(sameButSession)},
	{"the decided collapse", []string{"a decided proposal is not open"}, collapse(sameButSession)},
	{"the latest instant rules", []string{"what is open is judged at the caller's instant"}, func(b *broken, m *ledger.Memory) {
		var mu sync.Mutex
		var latest time.Time
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			mu.Lock()
			defer mu.Unlock()
			if e.Proposal.CreatedAt.After(latest) {
				latest = e.Proposal.CreatedAt
			}
			e.Proposal.CreatedAt = latest
			return m.Propose(ctx, e)
		}
	}},
	{"limits are one too high", []string{
		"the limit of a session is exact", "the limit of a principal is exact", "the limit of a background model is exact",
		"the limit of a scope is exact", "limits hold in a race",
	}, limit(func(l *ledger.Limits, _ ledger.Entry) {
		l.Session, l.Principal, l.Scope = more(l.Session), more(l.Principal), more(l.Scope)
	})},
	{"background models have no limit", []string{"the limit of a background model is exact"}, limit(func(l *ledger.Limits, e ledger.Entry) {
		if e.Proposal.Session.Background() {
			l.Principal = 0
		}
	})},
	{"a conversation's limit is the principal's", []string{"the limit of a session is exact"}, limit(func(l *ledger.Limits, _ ledger.Entry) {
		l.Principal, l.Session = max(l.Principal, l.Session), 0
	})},
	{"what was decided counts", []string{"only open proposals count for the limits"}, func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			if all, _ := m.Proposals(ctx, ledger.Query{Scope: shop}); e.Limits.Scope > 0 && len(all) >= e.Limits.Scope {
				return ledger.Proposal{}, &ledger.LimitError{Of: "scope", Limit: e.Limits.Scope}
			}
			return m.Propose(ctx, e)
		}
	}},
	{"records without a proposal are unique", []string{"records without a proposal are all kept"}, func(b *broken, m *ledger.Memory) {
		seen := map[ledger.Event]bool{}
		b.append = func(ctx context.Context, r ledger.Record) error {
			if seen[r.Event] {
				return errors.New("unique constraint")
			}
			seen[r.Event] = true
			return m.Append(ctx, r)
		}
	}},
}

func more(limit int) int {
	if limit == 0 {
		return 0
	}
	return limit + 1
}

func limit(change func(*ledger.Limits, ledger.Entry)) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			change(&e.Limits, e)
			return m.Propose(ctx, e)
		}
	}
}

func sameButSession(a, b ledger.Proposal) bool {
	return a.Action == b.Action && a.Params == b.Params && a.Definition == b.Definition && a.Version == b.Version
}

// collapse returns whatever is the same as what is proposed.
func collapse(same func(a, b ledger.Proposal) bool) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			all, err := m.Proposals(ctx, ledger.Query{Scope: e.Proposal.Session.Scope()})
			if err != nil {
				return ledger.Proposal{}, err
			}
			for _, p := range all {
				if same(p, e.Proposal) {
					return p, nil
				}
			}
			return m.Propose(ctx, e)
		}
	}
}
