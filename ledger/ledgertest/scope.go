package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// change is one method that changes a proposal, asked for from a scope that may not have it.
type change struct {
	name string
	do   func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error)
}

func (t *suite) changes(claim string) []change {
	at := At(time.Minute)
	return []change{
		{"Revise", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Revise(ctx, NewRevision(p, 99, at))
		}},
		{"Claim", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Claim(ctx, NewClaim(p, claim, at))
		}},
		{"Dismiss", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Dismiss(ctx, NewDismissal(p, at))
		}},
		{"Finish", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			f := NewFinish(p, at)
			f.Claim = claim
			return ledger.Proposal{}, t.store.Finish(ctx, f)
		}},
		{"Verify", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return ledger.Proposal{}, t.store.Verify(ctx, NewVerification(p, at))
		}},
	}
}

// isolatesScopes asks for proposals of the shop from the depot. The answer must be that for a random id.
func isolatesScopes(t *suite) {
	open := t.fresh(entry(1), "an open one")
	won := t.claim(t.fresh(entry(2), "a claimed one"), "claim-1", At(time.Minute))
	no := t.dismiss(t.fresh(entry(3), "a dismissed one"), At(time.Minute))
	random := NewEntry(depot, 50).Proposal
	methods := append(t.changes("claim-1"), change{"Proposal", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
		return t.store.Proposal(ctx, p.Session.Scope(), p.ID)
	}})
	for _, m := range methods {
		for _, p := range []ledger.Proposal{open, won, no} {
			foreign := random
			foreign.ID = p.ID
			for _, asked := range []ledger.Proposal{foreign, random} {
				t.refused(ledger.ErrNotFound, m.name+" from another scope", func(ctx context.Context) error {
					got, err := m.do(ctx, asked)
					t.same(ledger.Proposal{}, got, "what is not found must not be returned: "+m.name)
					return err
				})
			}
		}
	}
	r := NewRevision(open, 60, At(time.Minute))
	r.Entry = NewEntry(depot, 60)
	t.refused(ledger.ErrNotFound, "Revise into another scope", func(ctx context.Context) error {
		_, err := t.store.Revise(ctx, r)
		return err
	})
	for _, scope := range []authz.Scope{depot, "", "Shop", "shop "} {
		require.Empty(t, t.list(ledger.Query{Scope: scope}), "Proposals of another scope")
		require.Empty(t, t.audit(ledger.AuditQuery{Scope: scope}), "Audit of another scope")
		require.Empty(t, t.audit(ledger.AuditQuery{Scope: scope, Proposal: open.ID}), "Audit of another scope's proposal")
	}
}

func isolatesEqualIDs(t *suite) {
	here, there := t.fresh(entry(1), "here"), t.fresh(NewEntry(depot, 1), "an id of another scope is free")
	require.Equal(t, here.ID, there.ID, "the ids are equal")
	t.dismiss(here, At(time.Minute))
	t.same(there, t.get(there), "what is decided here is not decided there")
	won := t.claim(there, "claim-1", At(time.Minute))
	require.NoError(t, t.store.Finish(t.Context(), NewFinish(won, At(time.Minute))), "Finish")
	require.Equal(t, ledger.Dismissed, t.get(here).Decision, "what is decided there is not decided here")
	require.Equal(t, ledger.Succeeded, t.get(there).Outcome, "both go their own ways")
	require.Equal(t, []ledger.Event{ledger.EventDismissed, ledger.EventProposed}, t.events(here), "the audit trail of here")
}

func obeysContext(t *suite) {
	open := t.fresh(entry(1), "an open one")
	won := t.claim(t.fresh(entry(2), "a claimed one"), "claim-1", At(time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	methods := append(t.changes("claim-1"),
		change{"Propose", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Propose(ctx, entry(3))
		}},
		change{"Append", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return ledger.Proposal{}, t.store.Append(ctx, entry(3).Record)
		}})
	before := t.world()
	for _, m := range methods {
		for _, p := range []ledger.Proposal{open, won} {
			_, err := m.do(ctx, p)
			require.Error(t, err, "%s under a context that has ended", m.name)
			require.Equal(t, before, t.world(), "%s under a context that has ended must change nothing", m.name)
		}
	}
	t.claim(open, "claim-2", At(time.Minute)) // nothing was left behind
}

// standsTampering turns decided rows back to undecided, as somebody with access to a database could.
func standsTampering(t *suite) {
	won := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	no := t.dismiss(t.fresh(entry(2), "the second"), At(time.Minute))
	old := t.fresh(entry(3), "the third")
	_, err := t.store.Revise(t.Context(), NewRevision(old, 4, At(time.Minute)))
	require.NoError(t, err, "Revise")
	for _, p := range []ledger.Proposal{won, no, old} {
		err := t.store.(Tamperer).Tamper(shop, p.ID, func(row *ledger.Proposal) {
			row.Decision, row.DecidedBy, row.DecidedAt = ledger.Undecided, "", time.Time{}
			row.Note, row.Claim, row.RunBy = "", "", time.Time{}
		})
		require.NoError(t, err, "Tamper")
		row := t.get(p)
		require.Equal(t, ledger.StateProposed, row.State(At(time.Minute)), "the row says that it is open")
		for _, claim := range []string{"claim-9", "claim-1"} {
			for _, m := range t.changes(claim)[:3] {
				t.conflict(row, m.name+" of what was decided before, whatever the row says", func(ctx context.Context) (ledger.Proposal, error) {
					return m.do(ctx, row)
				})
			}
		}
	}
	require.ErrorIs(t, t.store.(Tamperer).Tamper(shop, "no such id", func(*ledger.Proposal) {}), ledger.ErrNotFound, "Tamper with an unknown row")
}
