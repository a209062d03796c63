package ledgertest

import (
	"context"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/ledger"
)

var listFlaws = []flaw{
	{"states are as of the beginning", []string{"Proposals filters by state at an instant"}, query(func(q *ledger.Query) { q.At = At(0) })},
	{"states are filtered after the limit", []string{"Proposals filters by state at an instant"}, func(b *broken, m *ledger.Memory) {
		b.proposals = func(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
			states := q.States
			q.States = nil
			list, err := m.Proposals(ctx, q)
			return slices.DeleteFunc(list, func(p ledger.Proposal) bool {
				return len(states) > 0 && !slices.Contains(states, p.State(q.At))
			}), err
		}
	}},
	{"Proposals ignores the actor", []string{"Proposals filters by what was asked by whom"}, query(func(q *ledger.Query) { q.Actor = "" })},
	{"Proposals ignores the principal", []string{"Proposals filters by what was asked by whom"}, query(func(q *ledger.Query) { q.Principal = "" })},
	{"Proposals ignores the action", []string{"Proposals filters by what was asked by whom"}, query(func(q *ledger.Query) { q.Action = "" })},
	{"Proposals ignores the run", []string{"Proposals filters by what was asked by whom"}, query(func(q *ledger.Query) { q.Run = "" })},
	{"pages begin at an instant", []string{"Proposals pages newest first"}, query(func(q *ledger.Query) {
		if q.Before.ID != "" {
			q.Before.ID = "0"
		}
	})},
	{"there is no default page", []string{"Proposals pages newest first"}, query(func(q *ledger.Query) { q.Limit += 1000 })},
	{"Proposals lists oldest first", []string{"Proposals pages newest first"}, func(b *broken, m *ledger.Memory) {
		b.proposals = func(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
			list, err := m.Proposals(ctx, q)
			slices.Reverse(list)
			return list, err
		}
	}},
	{"Audit ignores the action", []string{"Audit filters"}, auditQuery(func(q *ledger.AuditQuery) { q.Action = "" })},
	{"Audit ignores the run", []string{"Audit filters"}, auditQuery(func(q *ledger.AuditQuery) { q.Run = "" })},
	{"Audit ignores the actor", []string{"Audit filters"}, auditQuery(func(q *ledger.AuditQuery) { q.Actor = "" })},
	{"Audit ignores the event", []string{"Audit filters"}, auditQuery(func(q *ledger.AuditQuery) { q.Event = "" })},
	{"Audit ignores the proposal", []string{"Audit filters"}, auditQuery(func(q *ledger.AuditQuery) { q.Proposal = "" })},
	{"pages of records overlap", []string{"Audit pages"}, auditQuery(func(q *ledger.AuditQuery) { q.After = max(0, q.After-1) })},
	{"records are numbered for each page", []string{"Seq is unique and ascending"}, func(b *broken, m *ledger.Memory) {
		b.audit = func(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
			list, err := m.Audit(ctx, q)
			for i := range list {
				list[i].Seq = int64(i + 1)
			}
			return list, err
		}
	}},
	{"due is before its time", []string{"Due lists what has to be verified"}, dueList(time.Microsecond, nil)},
	{"due is after its time", []string{"Due lists what has to be verified"}, dueList(-time.Microsecond, nil)},
	{"interrupted runs are never due", []string{"Due lists what has to be verified", "Due lists all scopes oldest first up to its limit"},
		dueList(0, func(p ledger.Proposal) bool { return p.Outcome != ledger.Running })},
	{"failed runs are never due", []string{"Due lists what has to be verified"},
		dueList(0, func(p ledger.Proposal) bool { return p.Outcome != ledger.Failed })},
	{"Due knows one scope", []string{"Due lists all scopes oldest first up to its limit"},
		dueList(0, func(p ledger.Proposal) bool { return p.Session.Scope() == shop })},
}

func query(change func(*ledger.Query)) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.proposals = func(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
			change(&q)
			return m.Proposals(ctx, q)
		}
	}
}

func auditQuery(change func(*ledger.AuditQuery)) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.audit = func(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
			change(&q)
			return m.Audit(ctx, q)
		}
	}
}

func dueList(shift time.Duration, keep func(ledger.Proposal) bool) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.due = func(ctx context.Context, now time.Time, limit int) ([]ledger.Proposal, error) {
			list, err := m.Due(ctx, now.Add(shift), limit)
			return slices.DeleteFunc(list, func(p ledger.Proposal) bool { return keep != nil && !keep(p) }), err
		}
	}
}
