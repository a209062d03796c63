package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

// Joiner is what a store that is a [ledger.Transactor] may offer beside it, so that the suite can write as an
// application does.
type Joiner interface {
	ledger.Transactor

	// Join writes a row of the application's, with a key of its own, in the transaction of the run that a context
	// is of.
	Join(ctx context.Context, key string) error

	// Joined says whether a row of that key is committed. No transaction is open.
	Joined(ctx context.Context, key string) (bool, error)
}

// unit claims a proposal and begins the unit of its run, in which a row with the proposal's id is written, or with
// joins unset nothing.
func (t *suite) unit(n int, joins bool) (ledger.Proposal, ledger.Unit) {
	t.Helper()
	p := t.claim(t.fresh(entry(n), "a new one"), "claim-1", At(time.Minute))
	ctx, u := t.store.(Joiner).Unit(t.Context())
	if joins {
		require.NoError(t, t.store.(Joiner).Join(ctx, p.ID), "Join by the context of a unit")
	}
	return p, u
}

func (t *suite) joined(key string, want bool, why string) {
	t.Helper()
	got, err := t.store.(Joiner).Joined(t.Context(), key)
	require.NoError(t, err, "Joined")
	require.Equal(t, want, got, why)
}

// over makes sure that a unit which has ended changes nothing.
func (t *suite) over(p ledger.Proposal, u ledger.Unit) {
	t.Helper()
	t.refused(ledger.ErrConflict, "Finish of a unit that has ended", func(ctx context.Context) error {
		return u.Finish(ctx, NewFinish(p, At(3*time.Minute)))
	})
	t.refused(ledger.ErrConflict, "Append to a unit that has ended", func(ctx context.Context) error {
		return u.Append(ctx, appended(9))
	})
	u.Undo()
}

// appended is a record of a person's own change.
func appended(n int) ledger.Record {
	r := entry(n).Record
	r.Event, r.Code, r.Proposal = ledger.EventFinished, ledger.Done, ""
	return r
}

func unitsFinish(t *suite) {
	for n, joins := range []bool{true, false} {
		p, u := t.unit(n+1, joins)
		f := NewFinish(p, At(2*time.Minute))
		require.NoError(t, u.Finish(t.Context(), f), "Finish of a claimed run")
		require.Equal(t, f.Outcome, t.get(p).Outcome, "the outcome must be stored")
		require.Equal(t, []ledger.Event{ledger.EventFinished, ledger.EventProposed, ledger.EventStarted}, t.events(p), "the finished record")
		if joins {
			t.joined(p.ID, true, "what a run wrote must be there with its outcome")
		}
		t.over(p, u)
		if joins {
			t.joined(p.ID, true, "what was committed stays")
		}
	}
}

func unitsAppend(t *suite) {
	for n, joins := range []bool{true, false} {
		p, u := t.unit(n+1, joins)
		require.NoError(t, u.Append(t.Context(), appended(10+n)), "Append")
		require.Len(t, t.audit(ledger.AuditQuery{Scope: shop, Event: ledger.EventFinished}), n+1, "the record must be stored")
		if joins {
			t.joined(p.ID, true, "what a run wrote must be there with its record")
		}
		t.over(p, u)
	}
}

func unitsUndo(t *suite) {
	for n, joins := range []bool{true, false} {
		p, u := t.unit(n+1, joins)
		u.Undo()
		if joins {
			t.joined(p.ID, false, "what an undone run wrote must be gone")
		}
		t.same(p, t.get(p), "the claim stands, and has no outcome")
		t.over(p, u)
		require.NoError(t, t.store.Finish(t.Context(), NewFinish(p, At(2*time.Minute))), "Finish of an undone run by the store itself")
	}
}

// unitsCommitTogether reads nothing while the run's transaction is open: a store may have one connection.
func unitsCommitTogether(t *suite) {
	p, u := t.unit(1, true)
	f := NewFinish(p, At(2*time.Minute))
	f.Claim = "claim-2"
	require.ErrorIs(t, u.Finish(t.Context(), f), ledger.ErrUncommitted, "Finish by a claim that the proposal does not have")
	t.joined(p.ID, false, "what a run wrote must not be there without its outcome")
	t.same(p, t.get(p), "the claim stands, and has no outcome")
	require.Equal(t, []ledger.Event{ledger.EventProposed, ledger.EventStarted}, t.events(p), "a refused outcome has no record")
	t.over(p, u)
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(p, At(2*time.Minute))), "Finish says that the run's writes are gone")
}
