package ledgertest

import (
	"math"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// recordsChanges writes one record with each change and none with each refusal; the clauses of the methods
// test every kind of refusal.
func recordsChanges(t *suite) {
	var want []ledger.Record
	p, e := entry(1).Proposal, entry(1)
	t.propose(e)
	want = append(want, e.Record)
	t.propose(twin(2))
	c := NewClaim(p, "claim-1", At(time.Minute))
	_, err := t.store.Claim(t.Context(), c)
	require.NoError(t, err, "Claim")
	want = append(want, c.Record)
	p = t.get(p)
	_, err = t.store.Dismiss(t.Context(), NewDismissal(p, At(time.Minute)))
	require.ErrorIs(t, err, ledger.ErrConflict, "Dismiss of a claimed proposal")
	f := NewFinish(p, At(time.Minute))
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	want = append(want, f.Record)
	v := NewVerification(p, At(time.Minute))
	require.NoError(t, t.store.Verify(t.Context(), v), "Verify")
	want = append(want, v.Record)
	e = entry(3)
	old := t.fresh(e, "the third")
	want = append(want, e.Record)
	d := NewDismissal(old, At(time.Minute))
	_, err = t.store.Dismiss(t.Context(), d)
	require.NoError(t, err, "Dismiss")
	want = append(want, d.Record)

	got := t.audit(ledger.AuditQuery{Scope: shop})
	require.Len(t, got, len(want), "one record with each change, in the order of the changes")
	for i := range want {
		want[i].Seq = got[i].Seq
		require.Equal(t, flattenRecord(want[i]), flattenRecord(got[i]), "the record of the change, as it was given")
	}
}

func recordsAscend(t *suite) {
	const n, each = 8, 10
	var mu sync.Mutex
	var failed []error
	race(n, func(i int) {
		for range each {
			r := NewEntry([]authz.Scope{shop, depot}[i%2], 1).Record
			if err := t.store.Append(t.Context(), r); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		}
	})
	require.Empty(t, failed, "Append")
	seen := map[int64]bool{}
	for _, scope := range []authz.Scope{shop, depot} {
		var last int64
		for _, r := range t.audit(ledger.AuditQuery{Scope: scope, Limit: everything}) {
			require.Greater(t, r.Seq, last, "records must come in ascending order of Seq, from one on")
			require.False(t, seen[r.Seq], "two records must not have the same Seq")
			last, seen[r.Seq] = r.Seq, true
		}
	}
	require.Len(t, seen, n*each, "every record must be there, also those of the same instant")
}

// recordsWithoutProposal writes what people do themselves, and what was refused.
func recordsWithoutProposal(t *suite) {
	person := must(authz.NewPersonSession(shop, authz.LoggedIn("olga")))
	for range 2 {
		for _, event := range []ledger.Event{ledger.EventStarted, ledger.EventFinished, ledger.EventDismissed, ledger.EventRead, ledger.EventRefused} {
			r := ledger.Record{At: At(0), Event: event, Code: ledger.Done, Session: person, Action: "refund_order"}
			require.NoError(t, t.store.Append(t.Context(), r), "Append of a record of %s without a proposal", event)
		}
	}
	require.Len(t, t.audit(ledger.AuditQuery{Scope: shop}), 10, "records without a proposal are not unique in anything")
}

func auditFilters(t *suite) {
	add := func(e ledger.Entry, event ledger.Event) ledger.Record {
		e.Record.Event = event
		require.NoError(t, t.store.Append(t.Context(), e.Record), "Append")
		return e.Record
	}
	a := add(entry(1), ledger.EventRead)
	b := add(entry(2, by("helper", "olga")), ledger.EventRead)
	c := add(entry(3, inRun("run-1"), func(p *ledger.Proposal) { p.Action = "find_order" }), ledger.EventRead)
	d := add(entry(4), ledger.EventRefused)
	add(NewEntry(depot, 1), ledger.EventRead)
	for _, q := range []struct {
		name  string
		query ledger.AuditQuery
		want  []ledger.Record
	}{
		{"nothing", ledger.AuditQuery{}, []ledger.Record{a, b, c, d}},
		{"proposal", ledger.AuditQuery{Proposal: b.Proposal}, []ledger.Record{b}},
		{"actor", ledger.AuditQuery{Actor: "assistant"}, []ledger.Record{a, c, d}},
		{"action", ledger.AuditQuery{Action: "find_order"}, []ledger.Record{c}},
		{"run", ledger.AuditQuery{Run: "run-1"}, []ledger.Record{c}},
		{"event", ledger.AuditQuery{Event: ledger.EventRefused}, []ledger.Record{d}},
		{"actor and event", ledger.AuditQuery{Actor: "assistant", Event: ledger.EventRead}, []ledger.Record{a, c}},
		{"what nobody has", ledger.AuditQuery{Actor: "Assistant"}, nil},
	} {
		q.query.Scope = shop
		var want, got []string
		for _, r := range q.want {
			want = append(want, r.Proposal)
		}
		for _, r := range t.audit(q.query) {
			got = append(got, r.Proposal)
		}
		require.Equal(t, want, got, "Audit by %s", q.name)
	}
}

func auditPages(t *suite) {
	for range ledger.DefaultPage + 1 {
		require.NoError(t, t.store.Append(t.Context(), entry(1).Record), "Append")
		require.NoError(t, t.store.Append(t.Context(), NewEntry(depot, 1).Record), "Append")
	}
	all := t.audit(ledger.AuditQuery{Scope: shop, Limit: everything})
	require.Len(t, all, ledger.DefaultPage+1, "a limit above what there is")
	require.Len(t, t.audit(ledger.AuditQuery{Scope: shop}), ledger.DefaultPage, "a limit of zero is the default page")
	var got []ledger.Record
	for page := t.audit(ledger.AuditQuery{Scope: shop, Limit: 40}); len(page) > 0; {
		require.LessOrEqual(t, len(page), 40, "a page must not exceed its limit")
		got = append(got, page...)
		require.LessOrEqual(t, len(got), len(all), "pages repeat records")
		page = t.audit(ledger.AuditQuery{Scope: shop, Limit: 40, After: page[len(page)-1].Seq})
	}
	require.Equal(t, all, got, "the pages must have every record once")
	require.Empty(t, t.audit(ledger.AuditQuery{Scope: shop, After: math.MaxInt64}), "nothing comes after the end")
}
