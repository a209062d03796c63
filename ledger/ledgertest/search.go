package ledgertest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// with sets the parameters of an entry.
func with(text string) func(*ledger.Proposal) {
	return func(p *ledger.Proposal) { p.Params = params(text) }
}

func listsText(t *suite) {
	a := t.fresh(entry(1, with(`{"order":"W42","why":"Zürich 100% off_"}`)), "another one")
	b := t.fresh(entry(2, by("Helper", "otto"), with(`{"order":"X7"}`)), "another one")
	c := t.fresh(entry(3, by("helper", ""), with(`{"order":"Y8"}`), func(p *ledger.Proposal) { p.Action = "close_account" }), "another one")
	d := NewDismissal(c, At(time.Minute))
	d.Note = "Not This Week"
	_, err := t.store.Dismiss(t.Context(), d)
	require.NoError(t, err, "Dismiss")
	b = t.claim(b, "claim-b", At(time.Minute))
	f := NewFinish(b, At(time.Minute))
	f.Outcome, f.Error = ledger.Failed, "the printer is on fire"
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	t.fresh(NewEntry(depot, 1), "another scope")
	for text, want := range map[string][]string{
		"":                    {c.ID, b.ID, a.ID},
		`"order":"W42"`:       {a.ID},
		"w42":                 {a.ID},
		"zürICH":              {a.ID},
		"100%":                {a.ID},
		"off_":                {a.ID},
		"off%":                nil,
		"of__":                nil,
		"CLOSE_ACC":           {c.ID},
		"hELPER":              {c.ID, b.ID},
		"otto":                {b.ID},
		"not this week":       {c.ID},
		"PRINTER is on":       {b.ID},
		a.ID[len(a.ID)-5:]:    {a.ID},
		"W42' OR '1'='1":      nil,
		"nobody has this one": nil,
	} {
		require.Equal(t, want, ids(t.list(ledger.Query{Scope: shop, Text: text})), "Proposals with the text %q", text)
	}
	mixed := ledger.Query{Scope: shop, Text: "order", States: []ledger.State{ledger.StateDismissed}, At: At(time.Minute)}
	require.Equal(t, []string{c.ID}, ids(t.list(mixed)), "text and state")
}

func listsTimes(t *suite) {
	for n := range 5 {
		t.fresh(entry(n+1), "another one")
	}
	all := ids(t.list(ledger.Query{Scope: shop}))
	at := func(n int) time.Time { return entry(n).Proposal.CreatedAt }
	for _, q := range []struct {
		name         string
		since, until time.Time
		want         []string
	}{
		{"since an instant that one has", at(3), time.Time{}, all[:3]},
		{"since right after it", at(3).Add(time.Microsecond), time.Time{}, all[:2]},
		{"until an instant that one has", time.Time{}, at(3), all[3:]},
		{"until right after it", time.Time{}, at(3).Add(time.Microsecond), all[2:]},
		{"between two", at(2), at(4), all[2:4]},
		{"in another zone", at(2).In(time.FixedZone("east", 9*3600)), at(4).In(time.FixedZone("west", -5*3600)), all[2:4]},
		{"nowhere", at(4), at(4), []string(nil)},
	} {
		require.Equal(t, q.want, ids(t.list(ledger.Query{Scope: shop, Since: q.since, Until: q.until})), "Proposals %s", q.name)
	}
}

func listsWindow(t *suite) {
	for n := range 6 {
		t.fresh(entry(n+1, func(p *ledger.Proposal) {
			if n%2 == 0 {
				p.Action = "rare"
			}
		}), "another one")
		t.fresh(NewEntry(depot, n+1), "another scope")
	}
	all := ids(t.list(ledger.Query{Scope: shop})) // 6 5r 4 3r 2 1r
	rare := func(q ledger.Query) []string {
		q.Scope, q.Action = shop, "rare"
		return ids(t.list(q))
	}
	require.Equal(t, []string{all[1]}, rare(ledger.Query{Window: 3}), "of the newest three")
	require.Equal(t, []string{all[1], all[3]}, rare(ledger.Query{Window: 4}), "of the newest four")
	require.Equal(t, []string{all[1]}, rare(ledger.Query{Window: 4, Limit: 1}), "a limit within the window")
	require.Equal(t, []string{all[1], all[3], all[5]}, rare(ledger.Query{Window: 100}), "a window above what there is")
	before := t.list(ledger.Query{Scope: shop})[1].Cursor()
	require.Equal(t, []string{all[3]}, rare(ledger.Query{Window: 2, Before: before}), "the window begins at the cursor")
	require.Equal(t, []string{all[5]}, rare(ledger.Query{Window: 2, Until: entry(3).Proposal.CreatedAt}), "the window begins at the bound in time")
}

func auditSearches(t *suite) {
	var want []ledger.Record
	for n := range 4 {
		r := entry(n + 1).Record
		switch n {
		case 1:
			r.Operator, r.Code, r.Reason = "Sam", ledger.Forbidden, "no_permission"
		case 2:
			r.Session, r.Error = must(authz.NewSession(shop, "helper", authz.For(authz.LoggedIn("otto")))), "The drawer stuck"
		}
		require.NoError(t, t.store.Append(t.Context(), r), "Append")
		want = append(want, r)
	}
	require.NoError(t, t.store.Append(t.Context(), NewEntry(depot, 1).Record), "Append")
	seqs := t.audit(ledger.AuditQuery{Scope: shop})
	require.Len(t, seqs, 4, "all records")
	for _, q := range []struct {
		name  string
		query ledger.AuditQuery
		want  []int
	}{
		{"principal", ledger.AuditQuery{Principal: "otto"}, []int{2}},
		{"operator", ledger.AuditQuery{Operator: "Sam"}, []int{1}},
		{"code", ledger.AuditQuery{Code: ledger.Forbidden}, []int{1}},
		{"text of an operator", ledger.AuditQuery{Text: "sAM"}, []int{1}},
		{"text of a reason", ledger.AuditQuery{Text: "no_PERM"}, []int{1}},
		{"text of an error", ledger.AuditQuery{Text: "drawer"}, []int{2}},
		{"text of parameters", ledger.AuditQuery{Text: `"CENTS":4`}, []int{3}},
		{"text of a proposal", ledger.AuditQuery{Text: want[0].Proposal}, []int{0}},
		{"text of a principal", ledger.AuditQuery{Text: "otto"}, []int{2}},
		{"text that nobody has", ledger.AuditQuery{Text: "dr_wer"}, nil},
		{"since", ledger.AuditQuery{Since: want[2].At}, []int{2, 3}},
		{"until", ledger.AuditQuery{Until: want[2].At}, []int{0, 1}},
		{"newest first", ledger.AuditQuery{Newest: true}, []int{3, 2, 1, 0}},
		{"newest first, before one", ledger.AuditQuery{Newest: true, Before: seqs[2].Seq}, []int{1, 0}},
		{"between two", ledger.AuditQuery{After: seqs[0].Seq, Before: seqs[3].Seq}, []int{1, 2}},
		{"before what it is after", ledger.AuditQuery{After: seqs[2].Seq, Before: seqs[1].Seq}, nil},
		{"the newest two", ledger.AuditQuery{Newest: true, Limit: 2}, []int{3, 2}},
		{"a window from the newest", ledger.AuditQuery{Newest: true, Window: 2, Actor: "helper"}, []int{2}},
		{"a window that does not reach", ledger.AuditQuery{Newest: true, Window: 1, Actor: "helper"}, nil},
		{"a window from the oldest", ledger.AuditQuery{Window: 2, Actor: "assistant"}, []int{0, 1}},
	} {
		q.query.Scope = shop
		var ids, got []string
		for _, i := range q.want {
			ids = append(ids, want[i].Proposal)
		}
		for _, r := range t.audit(q.query) {
			got = append(got, r.Proposal)
		}
		require.Equal(t, ids, got, "Audit: %s", q.name)
	}
}

func tallies(t *suite) {
	now := At(time.Hour)
	n := 0
	next := func(changes ...func(*ledger.Proposal)) ledger.Proposal {
		n++
		return t.fresh(entry(n, changes...), "another one")
	}
	open := func(p *ledger.Proposal) { p.ExpiresAt = now.Add(time.Second) }
	mail := func(p *ledger.Proposal) { p.Action = "mail" }
	next(open)
	next(mail, open)
	next() // expired
	p := next()
	t.dismiss(p, p.CreatedAt.Add(2*time.Second)) // not below two seconds
	p = next()
	t.dismiss(p, p.CreatedAt.Add(2*time.Second-time.Microsecond))
	p = next()
	_, err := t.store.Revise(t.Context(), NewRevision(p, 50, p.CreatedAt.Add(time.Hour))) // the successor is open
	require.NoError(t, err, "Revise")
	finished := func(p ledger.Proposal, use *ledger.Use, waited time.Duration, o ledger.Outcome, verdict ledger.Verdict) {
		c := NewClaim(p, "claim-"+p.ID, p.CreatedAt.Add(waited))
		c.Use = use
		won, err := t.store.Claim(t.Context(), c)
		require.NoError(t, err, "Claim")
		f := NewFinish(won, c.At)
		f.Outcome = o
		require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
		if verdict != ledger.Unverified {
			v := NewVerification(won, now)
			v.Verdict = verdict
			require.NoError(t, t.store.Verify(t.Context(), v), "Verify")
		}
	}
	grant := &ledger.Use{Grant: "grant-1", Until: now}
	finished(next(), nil, 30*time.Second, ledger.Succeeded, ledger.Improved)
	finished(next(), nil, 30*time.Second, ledger.Succeeded, ledger.Unchanged)
	finished(next(mail), grant, 0, ledger.Succeeded, ledger.Unmeasured)
	finished(next(), nil, 61*time.Second, ledger.Failed, ledger.Unmeasured)
	finished(next(), nil, 0, ledger.Succeeded, ledger.Worsened)
	finished(next(), nil, 0, ledger.Succeeded, ledger.Unverified)
	t.claim(next(), "interrupted", At(2*time.Minute)) // some 110 seconds; it may run for a minute, and nothing says how it ended
	t.fresh(NewEntry(depot, 1), "another scope")

	got, err := t.store.Tally(t.Context(), ledger.TallyQuery{Scope: shop, At: now})
	require.NoError(t, err, "Tally")
	want := []ledger.Tally{
		{Action: "mail", Proposed: 1, Executed: 1, Succeeded: 1, Unmeasured: 1, Standing: 1},
		{
			Action: "refund_order", Proposed: 2, Expired: 1, Dismissed: 3, Executed: 5, Interrupted: 1, Revisions: 1,
			Succeeded: 4, Failed: 1, Improved: 1, Unchanged: 1, Worsened: 1, Unmeasured: 1,
			Waited: [...]int{3, 1, 2, 2, 0, 1},
		},
	}
	require.Equal(t, want, got, "what became of the proposals, by action")

	count := func(q ledger.TallyQuery) (total int) {
		q.Scope, q.At = shop, now
		list, err := t.store.Tally(t.Context(), q)
		require.NoError(t, err, "Tally")
		for _, a := range list {
			total += a.Proposed + a.Expired + a.Dismissed + a.Executed + a.Interrupted
		}
		return total
	}
	require.Equal(t, n+1, count(ledger.TallyQuery{}), "every proposal has one state")
	require.Equal(t, 3, count(ledger.TallyQuery{Window: 3}), "the newest three only")
	require.Equal(t, 2, count(ledger.TallyQuery{Since: entry(2).Proposal.CreatedAt, Until: entry(4).Proposal.CreatedAt}), "those of a time only")
}
