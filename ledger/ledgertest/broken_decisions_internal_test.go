package ledgertest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

var decisionFlaws = []flaw{
	{"claims are checked and then written", []string{
		"one of many racing claims is applied", "of claims dismissals and revisions one is applied", "a decision that a row denies stands",
		"changes of a proposal are linearizable",
	}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			p, err := m.Proposal(ctx, c.Scope, c.Proposal)
			if err != nil {
				return p, err
			}
			if p.State(c.At) != ledger.StateProposed {
				return p, ledger.ErrConflict
			}
			pause()
			return force(m, c.Scope, c.Proposal, c.Record, func(p *ledger.Proposal) {
				p.Decision, p.Claim, p.DecidedBy, p.DecidedAt, p.RunBy = ledger.Claimed, c.ID, c.By, c.At, c.RunBy
			})
		}
	}},
	{"a dismissal overwrites", []string{"Dismiss of a decided proposal is a conflict", "of claims dismissals and revisions one is applied"},
		func(b *broken, m *ledger.Memory) {
			b.dismiss = func(_ context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
				return force(m, d.Scope, d.Proposal, d.Record, func(p *ledger.Proposal) {
					p.Decision, p.DecidedBy, p.DecidedAt, p.Note = ledger.Dismissed, d.By, d.At, d.Note
				})
			}
		}},
	{"conflicts come without the row", []string{
		"Claim of a decided proposal is a conflict", "Revise of a decided proposal is a conflict", "one of many racing claims is applied",
	}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) { return hideRow(m.Claim(ctx, c)) }
		b.revise = func(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
			return hideRow(m.Revise(ctx, r))
		}
	}},
	{"the instant of expiry is still open", []string{"Claim ends at the instant of expiry"}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			c.At = c.At.Add(-time.Microsecond)
			return m.Claim(ctx, c)
		}
	}},
	{"a claim is spent for its winner too", []string{"the claim that was applied is answered so again"}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			if p, err := m.Proposal(ctx, c.Scope, c.Proposal); err == nil && p.Decision != ledger.Undecided {
				return p, ledger.ErrConflict
			}
			return m.Claim(ctx, c)
		}
	}},
	{"a claim without an id gets one", []string{"a claim without an id is refused"}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			if c.ID == "" {
				c.ID = "generated"
			}
			return m.Claim(ctx, c)
		}
	}},
	{"a claim forgets who", []string{"Claim takes an open proposal", "every field of a proposal is kept"}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			c.By = ""
			return m.Claim(ctx, c)
		}
	}},
	{"any claim finishes, any number of times", []string{"Finish is for the claim that was applied", "Finish is applied once"},
		func(b *broken, m *ledger.Memory) {
			b.finish = func(_ context.Context, f ledger.Finish) error {
				_, err := force(m, f.Scope, f.Proposal, f.Record, func(p *ledger.Proposal) { p.Outcome = f.Outcome })
				return err
			}
		}},
	{"a late outcome is refused", []string{"Finish is recorded after the run limit too"}, func(b *broken, m *ledger.Memory) {
		b.finish = func(ctx context.Context, f ledger.Finish) error {
			if p, err := m.Proposal(ctx, f.Scope, f.Proposal); err == nil && !f.At.Before(p.RunBy) {
				return ledger.ErrConflict
			}
			return m.Finish(ctx, f)
		}
	}},
	{"outcomes have no result", []string{"Finish records how a run ended"}, func(b *broken, m *ledger.Memory) {
		b.finish = func(ctx context.Context, f ledger.Finish) error {
			f.Result = nil
			return m.Finish(ctx, f)
		}
	}},
	{"the expired cannot be dismissed", []string{"Dismiss is applied after expiry too"}, func(b *broken, m *ledger.Memory) {
		b.dismiss = func(ctx context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
			if p, err := m.Proposal(ctx, d.Scope, d.Proposal); err == nil && p.State(d.At) == ledger.StateExpired {
				return p, ledger.ErrConflict
			}
			return m.Dismiss(ctx, d)
		}
	}},
	{"dismissals have no note", []string{"Dismiss takes an undecided proposal"}, func(b *broken, m *ledger.Memory) {
		b.dismiss = func(ctx context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
			d.Note = ""
			return m.Dismiss(ctx, d)
		}
	}},
	{"verdicts overwrite", []string{"Verify is applied once and after a claim only", "Verify records a verdict"}, func(b *broken, m *ledger.Memory) {
		b.verify = func(_ context.Context, v ledger.Verification) error {
			_, err := force(m, v.Scope, v.Proposal, v.Record, func(p *ledger.Proposal) { p.Verdict, p.Unmeasured = v.Verdict, v.Why })
			return err
		}
	}},
	{"a revision is two steps", []string{
		"a refused revision leaves the predecessor open", "Revise looks for no identical proposal", "of claims dismissals and revisions one is applied",
	}, func(b *broken, m *ledger.Memory) {
		b.revise = func(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
			p, err := m.Proposal(ctx, r.Dismissal.Scope, r.Dismissal.Proposal)
			if err != nil || p.Decision != ledger.Undecided {
				return p, errors.Join(err, ledger.ErrConflict)
			}
			pause()
			_, _ = m.Dismiss(ctx, r.Dismissal)
			return m.Propose(ctx, r.Entry)
		}
	}},
	{"a predecessor counts", []string{"a revision counts without its predecessor"}, func(b *broken, m *ledger.Memory) {
		b.revise = func(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
			r.Entry.Limits.Scope--
			if r.Entry.Limits.Scope == 0 {
				return ledger.Proposal{}, &ledger.LimitError{Of: "scope", Limit: 1}
			}
			return m.Revise(ctx, r)
		}
	}},
	{"a successor does not say whom it replaces", []string{"Revise dismisses and inserts in one step"}, func(b *broken, m *ledger.Memory) {
		b.revise = func(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
			r.Entry.Proposal.Supersedes = ""
			return m.Revise(ctx, r)
		}
	}},
	{"look-ups know no scope", []string{"another scope's proposal is not found"}, func(b *broken, m *ledger.Memory) {
		b.dismiss = func(ctx context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
			if p, err := m.Dismiss(ctx, d); !errors.Is(err, ledger.ErrNotFound) {
				return p, err
			}
			d.Scope = shop
			return m.Dismiss(ctx, d)
		}
	}},
	{"ids are unique over all scopes", []string{"one id in two scopes is two proposals"}, func(b *broken, m *ledger.Memory) {
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			for _, scope := range []authz.Scope{shop, depot} {
				if _, err := m.Proposal(ctx, scope, e.Proposal.ID); err == nil && scope != e.Proposal.Session.Scope() {
					return ledger.Proposal{}, ledger.ErrConflict
				}
			}
			return m.Propose(ctx, e)
		}
	}},
	{"contexts are ignored", []string{"a context that has ended prevents the change"}, func(b *broken, m *ledger.Memory) {
		b.append = func(ctx context.Context, r ledger.Record) error { return m.Append(context.WithoutCancel(ctx), r) }
	}},
	{"outcomes have no record", []string{"all methods are safe for concurrent use", "a change has its record and a refusal has none"},
		func(b *broken, m *ledger.Memory) {
			b.finish = func(ctx context.Context, f ledger.Finish) error {
				f.Record.Session = authz.Session{}
				return m.Finish(ctx, f)
			}
		}},
	{"refusals leave a record", []string{
		"Claim of a decided proposal is a conflict", "the limit of a scope is exact",
	}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			p, err := m.Claim(ctx, c)
			if err != nil {
				err = errors.Join(err, m.Append(ctx, c.Record))
			}
			return p, err
		}
		b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
			p, err := m.Propose(ctx, e)
			if err != nil {
				err = errors.Join(err, m.Append(ctx, e.Record))
			}
			return p, err
		}
	}},
	{"proposals are checked and then written", []string{"identical proposals that race become one", "limits hold in a race"},
		func(b *broken, m *ledger.Memory) {
			var mu sync.Mutex
			b.propose = func(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
				open, err := m.Proposals(ctx, ledger.Query{Scope: e.Proposal.Session.Scope()})
				if err != nil {
					return ledger.Proposal{}, err
				}
				for _, p := range open {
					if p.Params == e.Proposal.Params {
						return p, nil
					}
				}
				if room := max(e.Limits.Session, e.Limits.Scope); room > 0 && len(open) >= room {
					return ledger.Proposal{}, &ledger.LimitError{Of: "scope", Limit: room}
				}
				pause()
				mu.Lock()
				defer mu.Unlock()
				return insert(m, e)
			}
		}},
}

// insert gets a proposal past all checks.
func insert(m *ledger.Memory, e ledger.Entry) (ledger.Proposal, error) {
	version := e.Proposal.Version
	e.Proposal.Version, e.Limits = e.Proposal.ID, ledger.Limits{}
	p, err := m.Propose(context.Background(), e)
	if err == nil {
		err = m.Tamper(p.Session.Scope(), p.ID, func(p *ledger.Proposal) { p.Version = version })
		p.Version = version
	}
	return p, err
}

func hideRow(p ledger.Proposal, err error) (ledger.Proposal, error) {
	if err != nil {
		return ledger.Proposal{}, err
	}
	return p, nil
}
