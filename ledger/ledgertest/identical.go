package ledgertest

import (
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

func collapses(t *suite) {
	first := t.fresh(entry(1), "the first")
	before := t.world()
	t.same(first, t.propose(twin(2)), "an identical proposal must return the open one")
	t.same(first, t.propose(entry(1)), "the same proposal again must return the open one")
	require.Equal(t, before, t.world(), "an identical proposal must change nothing: not the expiry, no row, no record")
}

func tellsApart(t *suite) {
	t.fresh(entry(1), "the first")
	n := 1
	for _, c := range []struct {
		what   string
		change func(*ledger.Proposal)
	}{
		{"model", by("helper", "olga")},
		{"principal", by("assistant", "otto")},
		{"principal, none", by("assistant", "")},
		{"model in the background", by("helper", "")},
		{"action", func(p *ledger.Proposal) { p.Action = "refund_orders" }},
		{"action, by case", func(p *ledger.Proposal) { p.Action = "Refund_order" }},
		{"parameters", func(p *ledger.Proposal) { p.Params = params(`{"cents":1,"order":"w42"}`) }},
		{"parameters, by a space", func(p *ledger.Proposal) { p.Params = params(`{"cents":1,"order":"W42 "}`) }},
		{"definition", func(p *ledger.Proposal) { p.Definition = "definition-2" }},
		{"version", func(p *ledger.Proposal) { p.Version = "8" }},
	} {
		n++
		e := twin(n, c.change)
		p := t.fresh(e, "it differs by its "+c.what)
		t.same(p, t.propose(twin(n+100, c.change)), "the same again must return the one of its kind: "+c.what)
	}
	in := NewEntry(depot, 1)
	t.fresh(in, "it differs by its scope")
}

func tellsNothingElseApart(t *suite) {
	first := t.fresh(entry(1), "the first")
	n := 1
	for what, change := range map[string]func(*ledger.Proposal){
		"conversation": inConversation("talk-2"),
		"run":          inRun("run-2"),
		"origin":       session(func(s authz.Session) authz.Session { return s.WithOrigin("mcp") }),
		"allowlist":    session(func(s authz.Session) authz.Session { return s.WithTools(authz.Only("refund_order")) }),
		"targets":      func(p *ledger.Proposal) { p.Targets = nil },
		"expiry":       func(p *ledger.Proposal) { p.ExpiresAt = p.ExpiresAt.Add(time.Hour) },
	} {
		n++
		t.same(first, t.propose(twin(n, change)), "another "+what+" does not make another proposal")
	}
}

func collapsesUntilExpiry(t *suite) {
	first := t.fresh(entry(1), "the first")
	at := func(created time.Time) func(*ledger.Proposal) {
		return func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = created, created.Truncate(time.Second).Add(Life) }
	}
	last := first.ExpiresAt.Add(-time.Microsecond)
	t.same(first, t.propose(twin(2, at(last))), "a microsecond before its expiry the first is still open")
	t.fresh(twin(3, at(first.ExpiresAt)), "at the instant of its expiry the first is not open")
}

func collapsesUntilDecided(t *suite) {
	first := t.fresh(entry(1), "the first")
	t.dismiss(first, At(time.Minute))
	second := t.fresh(twin(2), "the first is dismissed")
	t.claim(second, "claim-1", At(time.Minute))
	third := t.fresh(twin(3), "the second is claimed")
	t.same(third, t.propose(twin(4)), "the third is open")
}

// collapsesAtInstant proposes with the clocks of two machines that differ by an hour.
func collapsesAtInstant(t *suite) {
	first := t.fresh(entry(1), "the first")
	later := func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = At(time.Hour), At(time.Hour+Life) }
	t.fresh(entry(2, later), "another one, later")
	t.same(first, t.propose(twin(3)), "the first is open at the instant of the caller, whatever instant came before")

	e := entry(4)
	e.Limits = ledger.Limits{Scope: 2}
	_, err := t.store.Propose(t.Context(), e)
	require.ErrorIs(t, err, ledger.ErrLimit, "both are open at the instant of the caller and fill the limit")
}

func collapsesInRace(t *suite) {
	const n = 16
	var mu sync.Mutex
	got, failed := map[string]int{}, []error(nil)
	race(n, func(i int) {
		p, err := t.store.Propose(t.Context(), twin(i+1))
		mu.Lock()
		defer mu.Unlock()
		got[p.ID]++
		if err != nil {
			failed = append(failed, err)
		}
	})
	require.Empty(t, failed, "identical proposals that race must all be answered")
	require.Len(t, got, 1, "identical proposals that race must all get the same one")
	require.Len(t, t.list(ledger.Query{Scope: shop}), 1, "identical proposals that race must insert one row")
	require.Len(t, t.audit(ledger.AuditQuery{Scope: shop}), 1, "identical proposals that race must write one record")
}
