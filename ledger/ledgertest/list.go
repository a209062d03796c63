package ledgertest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

func listsStates(t *suite) {
	now := At(time.Hour)
	until := func(expires time.Time) func(*ledger.Proposal) {
		return func(p *ledger.Proposal) { p.ExpiresAt = expires }
	}
	want := map[ledger.State][]string{}
	add := func(s ledger.State, p ledger.Proposal) ledger.Proposal {
		want[s] = append(want[s], p.ID)
		return p
	}
	claimed := func(n int, s ledger.State, runBy time.Time) ledger.Proposal {
		c := NewClaim(t.fresh(entry(n), "another one"), "claim-"+string(s), At(time.Minute))
		c.RunBy = runBy
		p, err := t.store.Claim(t.Context(), c)
		require.NoError(t, err, "Claim")
		return add(s, p)
	}
	add(ledger.StateProposed, t.fresh(entry(1, until(now.Add(time.Second))), "another one"))
	add(ledger.StateExpired, t.fresh(entry(2, until(now)), "another one"))
	add(ledger.StateDismissed, t.dismiss(t.fresh(entry(3), "another one"), now))
	claimed(4, ledger.StateExecuted, now.Add(time.Microsecond))
	claimed(5, ledger.StateInterrupted, now)
	done := claimed(6, ledger.StateExecuted, At(time.Minute))
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(done, At(time.Minute))), "Finish")
	seen := claimed(7, ledger.StateVerified, At(time.Minute))
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(seen, At(time.Minute))), "Finish")
	require.NoError(t, t.store.Verify(t.Context(), NewVerification(seen, now)), "Verify")

	for state, rows := range want {
		slices.Reverse(rows)
		got := t.list(ledger.Query{Scope: shop, States: []ledger.State{state}, At: now})
		require.Equal(t, rows, ids(got), "the proposals that are %s", state)
		for _, p := range got {
			require.Equal(t, state, p.State(now), "a list by state must agree with State")
		}
	}
	two := []ledger.State{ledger.StateExpired, ledger.StateProposed}
	require.Equal(t, []string{entry(2).Proposal.ID, entry(1).Proposal.ID}, ids(t.list(ledger.Query{Scope: shop, States: two, At: now})), "two states")
	require.Len(t, t.list(ledger.Query{Scope: shop, At: now}), 7, "no state is every state")
	earlier := ledger.Query{Scope: shop, States: []ledger.State{ledger.StateProposed}, At: now.Add(-time.Microsecond)}
	require.Equal(t, []string{entry(2).Proposal.ID, entry(1).Proposal.ID}, ids(t.list(earlier)), "the state is that of the instant asked for")
	paged := ledger.Query{Scope: shop, States: []ledger.State{ledger.StateExecuted}, At: now, Limit: 1, Before: done.Cursor()}
	require.Equal(t, []string{entry(4).Proposal.ID}, ids(t.list(paged)), "a page by state is full although others lie between")
}

func listsMatches(t *suite) {
	a := t.fresh(entry(1), "another one").ID
	b := t.fresh(entry(2, by("helper", "olga"), inRun("run-1")), "another one").ID
	c := t.fresh(entry(3, by("assistant", "otto")), "another one").ID
	d := t.fresh(entry(4, by("assistant", ""), func(p *ledger.Proposal) { p.Action = "mail" }), "another one").ID
	t.fresh(NewEntry(depot, 1), "another scope")
	for _, q := range []struct {
		name  string
		query ledger.Query
		want  []string
	}{
		{"nothing", ledger.Query{}, []string{d, c, b, a}},
		{"actor", ledger.Query{Actor: "assistant"}, []string{d, c, a}},
		{"principal", ledger.Query{Principal: "olga"}, []string{b, a}},
		{"action", ledger.Query{Action: "mail"}, []string{d}},
		{"run", ledger.Query{Run: "run-1"}, []string{b}},
		{"actor and principal", ledger.Query{Actor: "assistant", Principal: "olga"}, []string{a}},
		{"what nobody has", ledger.Query{Actor: "Assistant"}, nil},
	} {
		q.query.Scope = shop
		require.Equal(t, q.want, ids(t.list(q.query)), "Proposals by %s", q.name)
	}
}

// listsPages reads proposals page by page of which many have the same instant.
func listsPages(t *suite) {
	const n = ledger.DefaultPage + 5
	var want []string
	for i := range n {
		p := t.fresh(entry(i+1, func(p *ledger.Proposal) {
			p.CreatedAt = At(time.Duration(i/9) * 500 * time.Millisecond)
		}), "another one")
		want = append(want, p.ID)
		if i%10 == 0 {
			t.fresh(NewEntry(depot, i+1), "another scope")
		}
	}
	slices.Reverse(want) // both the instants and the ids ascend
	require.Equal(t, want, ids(t.list(ledger.Query{Scope: shop, Limit: everything})), "newest first; of the same instant the higher id first")
	require.Equal(t, want[:ledger.DefaultPage], ids(t.list(ledger.Query{Scope: shop})), "a limit of zero is the default page")
	for _, limit := range []int{1, 4, 9, 50} {
		var got []string
		q := ledger.Query{Scope: shop, Limit: limit}
		for page := t.list(q); len(page) > 0; page = t.list(q) {
			require.LessOrEqual(t, len(page), limit, "a page must not exceed its limit")
			got = append(got, ids(page)...)
			require.LessOrEqual(t, len(got), n, "pages of %d repeat proposals", limit)
			q.Before = page[len(page)-1].Cursor()
		}
		require.Equal(t, want, got, "pages of %d must have every proposal once, newest first", limit)
	}
}

func listsDue(t *suite) {
	now := At(time.Hour)
	n := 0
	claimed := func(runBy time.Time) ledger.Proposal {
		n++
		c := NewClaim(t.fresh(entry(n), "another one"), "claim", At(time.Minute))
		c.RunBy = runBy
		p, err := t.store.Claim(t.Context(), c)
		require.NoError(t, err, "Claim")
		return p
	}
	finished := func(verifyAt time.Time, outcome ledger.Outcome) ledger.Proposal {
		p := claimed(At(time.Minute))
		f := NewFinish(p, At(time.Minute))
		f.VerifyAt, f.Outcome = verifyAt, outcome
		require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
		return p
	}
	verified := func(p ledger.Proposal) {
		require.NoError(t, t.store.Verify(t.Context(), NewVerification(p, now)), "Verify")
	}
	n++
	t.fresh(entry(n), "an open one is not due, nor is it when it has expired")
	n++
	t.dismiss(t.fresh(entry(n), "a dismissed one is not due"), At(time.Minute))
	due := finished(now, ledger.Succeeded)
	finished(now.Add(time.Microsecond), ledger.Succeeded) // not yet
	finished(time.Time{}, ledger.Succeeded)               // never
	failed := finished(now, ledger.Failed)
	verified(finished(now, ledger.Succeeded))
	interrupted := claimed(now)
	claimed(now.Add(time.Microsecond)) // still running
	verified(claimed(now))

	got, err := t.store.Due(t.Context(), now, 0)
	require.NoError(t, err, "Due")
	require.Equal(t, []string{due.ID, failed.ID, interrupted.ID}, ids(got), "what is due: at its time exactly, or interrupted, and without a verdict")
	t.same(t.get(due), got[0], "Due must return whole proposals")
}

func listsDueInOrder(t *suite) {
	var want []string
	for n := 6; n > 0; n-- {
		p := t.claim(t.fresh(NewEntry([]authz.Scope{shop, depot}[n%2], n), "another one"), "claim", At(time.Minute))
		want = append(want, p.ID)
	}
	slices.Reverse(want)
	for _, limit := range []int{0, 1, 4, 6, 7} {
		got, err := t.store.Due(t.Context(), At(time.Hour), limit)
		require.NoError(t, err, "Due")
		cut := len(want)
		if limit > 0 {
			cut = min(limit, cut)
		}
		require.Equal(t, want[:cut], ids(got), "the oldest %d of all scopes", limit)
	}
}
