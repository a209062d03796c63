package ledgertest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// NewPurge returns a purge of a scope by "ada", of whatever is older than a time.
func NewPurge(scope authz.Scope, before time.Time) ledger.Purge {
	s := must(authz.NewPersonSession(scope, authz.LoggedIn("ada")))
	return ledger.Purge{Scope: scope, Before: before, Record: ledger.Record{
		At: before, Event: ledger.EventPurged, Code: ledger.Done, Session: s, Operator: "ada",
	}}
}

func (t *suite) purge(p ledger.Purge) ledger.Purged {
	t.Helper()
	gone, err := t.store.Purge(t.Context(), p)
	require.NoError(t, err, "Purge")
	return gone
}

// through takes the nth proposal through its life, to a verdict if it is to have one.
func (t *suite) through(n int, verdict bool) ledger.Proposal {
	t.Helper()
	p := t.claim(t.fresh(entry(n), "another one"), fmt.Sprint("claim-", n), At(time.Minute))
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(p, At(time.Minute))), "Finish")
	if verdict {
		require.NoError(t, t.store.Verify(t.Context(), NewVerification(p, At(time.Minute))), "Verify")
	}
	return p
}

func purges(t *suite) {
	end := At(time.Hour)
	open := t.fresh(entry(1), "undecided, and expired by then")
	no := t.dismiss(t.fresh(entry(2), "another one"), At(time.Minute))
	done := t.through(3, true)
	unverified := t.through(4, false)
	running := t.claim(t.fresh(entry(5), "another one"), "claim-5", At(time.Minute))
	judged := t.claim(t.fresh(entry(6), "another one"), "claim-6", At(time.Minute))
	require.NoError(t, t.store.Verify(t.Context(), NewVerification(judged, At(30*time.Minute))), "Verify of an interrupted run")
	young := t.dismiss(t.fresh(entry(7200), "one that is younger"), At(3*time.Hour))
	foreign := t.dismiss(t.fresh(NewEntry(depot, 2), "another scope"), At(time.Minute))

	require.Equal(t, ledger.Purged{Proposals: 2, Records: 2 + 4}, t.purge(NewPurge(shop, end)), "a dismissed and a verified one, with all of their records")
	for _, p := range []ledger.Proposal{no, done} {
		_, err := t.store.Proposal(t.Context(), shop, p.ID)
		require.ErrorIs(t, err, ledger.ErrNotFound, "what is through is gone")
		require.Empty(t, t.events(p), "and so are its records")
	}
	for _, p := range []ledger.Proposal{open, unverified, running, judged, young} {
		t.get(p)
		require.NotEmpty(t, t.events(p), "what is undecided, unverified, without an outcome or younger stays, with its records")
	}
	_, err := t.store.Proposal(t.Context(), depot, foreign.ID)
	require.NoError(t, err, "another scope is left alone")
	require.Len(t, t.audit(ledger.AuditQuery{Scope: shop, Event: ledger.EventPurged}), 1, "the purge is on record")
	require.Equal(t, ledger.Purged{}, t.purge(NewPurge(shop, end)), "nothing is left")
	require.Len(t, t.audit(ledger.AuditQuery{Scope: shop, Event: ledger.EventPurged}), 1, "a purge of nothing is not recorded")

	exact := t.purge(NewPurge(shop, young.CreatedAt))
	require.Equal(t, ledger.Purged{Records: 1}, exact, "of what was created at that instant nothing; the record of the first purge belongs to no proposal")
	require.Equal(t, 1, t.purge(NewPurge(shop, young.CreatedAt.Add(time.Microsecond))).Proposals, "what was created before it")
	_, err = t.store.Claim(t.Context(), NewClaim(no, "claim-9", no.CreatedAt))
	require.ErrorIs(t, err, ledger.ErrNotFound, "what is gone cannot be claimed")
	t.claim(open, "claim-1", open.CreatedAt)
}

func purgesRecords(t *suite) {
	person := must(authz.NewPersonSession(shop, authz.LoggedIn("olga")))
	for i := range 5 {
		r := ledger.Record{At: At(time.Duration(i) * time.Minute), Event: ledger.EventRead, Code: ledger.Done, Session: person, Action: "find_order"}
		require.NoError(t, t.store.Append(t.Context(), r), "Append")
	}
	stray := ledger.Record{At: At(0), Event: ledger.EventRefused, Code: ledger.Unknown, Session: person, Proposal: "nobody's"}
	require.NoError(t, t.store.Append(t.Context(), stray), "Append of a refusal that names no proposal there is")
	open := t.fresh(entry(1), "an open one")
	refused := ledger.Record{At: At(0), Event: ledger.EventRefused, Code: ledger.Forbidden, Session: person, Proposal: open.ID}
	require.NoError(t, t.store.Append(t.Context(), refused), "Append of a refusal to decide it")

	require.Equal(t, ledger.Purged{Records: 4}, t.purge(NewPurge(shop, At(3*time.Minute))), "three reads, and the refusal of a proposal that does not exist")
	left := t.audit(ledger.AuditQuery{Scope: shop, Event: ledger.EventRead})
	require.Len(t, left, 2, "the younger reads")
	require.Equal(t, At(3*time.Minute), left[0].At, "a record of the very instant stays")
	require.Equal(t, []ledger.Event{ledger.EventProposed, ledger.EventRefused}, t.events(open), "records of a proposal stay with it")
}

func purgesInSteps(t *suite) {
	const n = 5
	for i := range n {
		t.dismiss(t.fresh(entry(i+1), "another one"), At(time.Minute))
	}
	p := NewPurge(shop, At(time.Hour))
	p.Limit = 2
	for _, want := range []int{2, 2, 1, 0} {
		require.Equal(t, want, t.purge(p).Proposals, "no more than the limit at once")
		rows := t.list(ledger.Query{Scope: shop})
		for i, row := range rows {
			require.Equal(t, entry(n-i).Proposal.ID, row.ID, "the oldest go first")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.dismiss(t.fresh(entry(9), "another one"), At(time.Minute))
	cancel()
	_, err := t.store.Purge(ctx, p)
	require.Error(t, err, "a context that has ended")
	require.Len(t, t.list(ledger.Query{Scope: shop}), 1, "and nothing is removed")
}
