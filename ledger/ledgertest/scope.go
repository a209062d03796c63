package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

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
