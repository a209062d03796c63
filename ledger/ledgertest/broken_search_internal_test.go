package ledgertest

import (
	"context"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/ledger"
)

const (
	byText    = "Proposals filters by text"
	byTime    = "Proposals filters by time"
	inWindow  = "Proposals looks no further than its window"
	inAudit   = "Audit searches by people and text and time and reads backwards"
	counts    = "Tally counts by action"
	purging   = "Purge removes what is through"
	purgeRest = "Purge removes records of no proposal"
	purgeStep = "Purge goes by its limit"
)

var searchFlaws = []flaw{
	{"Proposals ignores the text", []string{byText}, query(func(q *ledger.Query) { q.Text = "" })},
	{"text has wildcards", []string{byText}, query(func(q *ledger.Query) { q.Text = strings.Trim(q.Text, "%_") })},
	{"Proposals ignores Since", []string{byTime}, query(func(q *ledger.Query) { q.Since = time.Time{} })},
	{"Proposals ignores Until", []string{byTime, inWindow}, query(func(q *ledger.Query) { q.Until = time.Time{} })},
	{"Since excludes its instant", []string{byTime}, query(func(q *ledger.Query) {
		if !q.Since.IsZero() {
			q.Since = q.Since.Add(time.Microsecond)
		}
	})},
	{"Until includes its instant", []string{byTime}, query(func(q *ledger.Query) {
		if !q.Until.IsZero() {
			q.Until = q.Until.Add(time.Microsecond)
		}
	})},
	{"there is no window", []string{inWindow}, query(func(q *ledger.Query) { q.Window = 0 })},
	{"the window counts matches", []string{inWindow}, query(func(q *ledger.Query) {
		if q.Limit == 0 {
			q.Limit, q.Window = q.Window, 0
		}
	})},
	{"Audit ignores the principal", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Principal = "" })},
	{"Audit ignores the operator", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Operator = "" })},
	{"Audit ignores the code", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Code = "" })},
	{"Audit ignores the text", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Text = "" })},
	{"Audit ignores Since", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Since = time.Time{} })},
	{"Audit ignores Until", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Until = time.Time{} })},
	{"Audit ignores Before", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Before = 0 })},
	{"Audit reads forwards only", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Newest = false })},
	{"Audit has no window", []string{inAudit}, auditQuery(func(q *ledger.AuditQuery) { q.Window = 0 })},
	{"Tally counts at the beginning", []string{counts}, tally(func(q *ledger.TallyQuery) { q.At = At(0) })},
	{"Tally has no window", []string{counts}, tally(func(q *ledger.TallyQuery) { q.Window = 0 })},
	{"Tally knows no time", []string{counts}, tally(func(q *ledger.TallyQuery) { q.Since, q.Until = time.Time{}, time.Time{} })},
	{"Tally takes standing grants for people", []string{counts}, func(b *broken, m *ledger.Memory) {
		b.tally = func(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
			list, err := m.Tally(ctx, q)
			for i := range list {
				list[i].Waited[0] += list[i].Standing
			}
			return list, err
		}
	}},
}

var purgeFlaws = []flaw{
	{"Purge removes nothing", []string{purging, purgeRest, purgeStep}, func(b *broken, _ *ledger.Memory) {
		b.purge = func(context.Context, ledger.Purge) (ledger.Purged, error) { return ledger.Purged{}, nil }
	}},
	{"Purge includes its instant", []string{purging, purgeRest}, purge(func(p *ledger.Purge) { p.Before = p.Before.Add(time.Microsecond) })},
	{"Purge has no limit", []string{purgeStep}, purge(func(p *ledger.Purge) { p.Limit = 0 })},
	{"Purge does not look at the context", []string{purgeStep}, func(b *broken, m *ledger.Memory) {
		b.purge = func(_ context.Context, p ledger.Purge) (ledger.Purged, error) {
			return m.Purge(context.Background(), p)
		}
	}},
	{"a purge is not recorded", []string{purging}, func(b *broken, m *ledger.Memory) {
		b.purge = func(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
			p.Record.Event = ledger.EventRead
			return m.Purge(ctx, p)
		}
	}},
	{"a purge of nothing is recorded", []string{purging}, func(b *broken, m *ledger.Memory) {
		b.purge = func(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
			gone, err := m.Purge(ctx, p)
			if gone == (ledger.Purged{}) && err == nil {
				err = m.Append(ctx, p.Record)
			}
			return gone, err
		}
	}},
	{"Purge removes what waits for a verdict", []string{purging}, func(b *broken, m *ledger.Memory) {
		b.purge = func(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
			list, err := m.Proposals(ctx, ledger.Query{Scope: p.Scope, States: []ledger.State{ledger.StateExecuted}, At: At(0), Limit: everything})
			if err != nil {
				return ledger.Purged{}, err
			}
			for _, row := range list {
				if err := m.Tamper(p.Scope, row.ID, func(row *ledger.Proposal) { row.Verdict = ledger.Unmeasured }); err != nil {
					return ledger.Purged{}, err
				}
			}
			return m.Purge(ctx, p)
		}
	}},
	{"Purge removes reads whatever their time", []string{purgeRest}, func(b *broken, m *ledger.Memory) {
		b.purge = func(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
			p.Before = p.Before.Add(time.Hour)
			return m.Purge(ctx, p)
		}
	}},
}

func tally(change func(*ledger.TallyQuery)) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.tally = func(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
			change(&q)
			return m.Tally(ctx, q)
		}
	}
}

func purge(change func(*ledger.Purge)) func(*broken, *ledger.Memory) {
	return func(b *broken, m *ledger.Memory) {
		b.purge = func(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
			change(&p)
			return m.Purge(ctx, p)
		}
	}
}
