package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	ledgertest.TestStore(t, func(*testing.T) ledger.Store { return new(ledger.Memory) })
}

func TestMemoryTakesNoLimitForTheDefault(t *testing.T) {
	var m ledger.Memory
	for n := range ledger.DefaultPage + 1 {
		p, err := m.Propose(t.Context(), ledgertest.NewEntry("shop", n))
		require.NoError(t, err)
		_, err = m.Claim(t.Context(), ledgertest.NewClaim(p, "claim", ledgertest.At(0)))
		require.NoError(t, err)
	}
	for _, limit := range []int{0, -1} {
		due, err := m.Due(t.Context(), ledgertest.At(time.Hour), limit)
		require.NoError(t, err)
		require.Len(t, due, ledger.DefaultPage)
		list, err := m.Proposals(t.Context(), ledger.Query{Scope: "shop", Limit: limit})
		require.NoError(t, err)
		require.Len(t, list, ledger.DefaultPage)
		trail, err := m.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Limit: limit})
		require.NoError(t, err)
		require.Len(t, trail, ledger.DefaultPage)
	}
}

// A row that was changed behind the ledger's back is found by what it says now, as in a database.
func TestMemoryTamper(t *testing.T) {
	var m ledger.Memory
	e := ledgertest.NewEntry("shop", 1)
	p, err := m.Propose(t.Context(), e)
	require.NoError(t, err)
	require.NoError(t, m.Tamper("shop", p.ID, func(p *ledger.Proposal) {
		d := p.Session.Stored()
		d.Scope = "depot"
		p.Session, err = d.Session()
		p.ExpiresAt = p.ExpiresAt.Add(time.Hour)
	}))
	require.NoError(t, err)
	_, err = m.Proposal(t.Context(), "shop", p.ID)
	require.ErrorIs(t, err, ledger.ErrNotFound)
	for scope, want := range map[authz.Scope]int{"shop": 0, "depot": 1} {
		list, err := m.Proposals(t.Context(), ledger.Query{Scope: scope})
		require.NoError(t, err)
		require.Len(t, list, want, "in the %s", scope)
	}
	again, err := m.Propose(t.Context(), ledgertest.NewEntry("depot", 2, func(q *ledger.Proposal) {
		q.Params, q.CreatedAt = p.Params, p.ExpiresAt
	}))
	require.NoError(t, err)
	require.Equal(t, p.ID, again.ID, "it is open in its new scope until its new expiry")
	require.ErrorIs(t, m.Tamper("shop", p.ID, func(*ledger.Proposal) {}), ledger.ErrNotFound)
}
