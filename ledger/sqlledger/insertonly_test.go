package sqlledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// TestInsertOnly tries every statement that changes rows on an audit trail with its triggers.
func TestInsertOnly(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		claimOne(t, s, 1)
		triggers, err := sqlledger.InsertOnly(e.dialect, sqlledger.Options{Prefix: s.prefix})
		require.NoError(t, err)
		for range 2 { // applying them again is no error
			for _, q := range triggers {
				_, err := s.exec(q)
				require.NoError(t, err, q)
			}
		}
		p := claimOne(t, s, 2)
		trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop"})
		require.NoError(t, err)
		require.Len(t, trail, 4)

		edits := []string{"UPDATE {records} SET operator = 'eve'", "DELETE FROM {records} WHERE seq = 1", "DELETE FROM {records}"}
		copied := "(seq, at, event, code, reason, scope, actor, kind, principal, background, via, tools, run, origin, conversation, operator, action, targets, params, proposal, claim, grant_id, result, error, times, decides, attempt) " +
			"SELECT seq, at, event, code, reason, scope, actor, kind, principal, background, via, tools, run, origin, conversation, 'eve', action, targets, params, proposal, claim, grant_id, result, error, times, decides, attempt FROM {records}"
		switch e.dialect {
		case sqlledger.SQLite:
			edits = append(edits, "INSERT OR REPLACE INTO {records} "+copied,
				"INSERT OR REPLACE INTO {records} (at, event, code, reason, scope, actor, kind, principal, background, via, tools, run, origin, conversation, operator, action, targets, params, proposal, claim, grant_id, result, error, times, decides, attempt) "+
					"SELECT at, event, code, reason, scope, actor, kind, principal, background, via, tools, run, origin, conversation, 'eve', action, targets, params, proposal, claim, grant_id, result, error, times, decides, attempt FROM {records} WHERE decides IS NOT NULL")
		case sqlledger.PostgreSQL:
			edits = append(edits, "TRUNCATE {records}", "TRUNCATE {records} CASCADE")
		case sqlledger.MySQL:
			edits = append(edits, "TRUNCATE {records}", "REPLACE INTO {records} "+copied)
		}
		for _, q := range edits {
			_, err := s.exec(q)
			require.Error(t, err, q)
		}
		after, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop"})
		require.NoError(t, err)
		require.Equal(t, trail, after)

		require.NoError(t, s.Tamper("shop", p.ID, func(row *ledger.Proposal) { row.Decision, row.Claim = ledger.Undecided, "" }))
		_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "claim-9", p.CreatedAt))
		require.ErrorIs(t, err, ledger.ErrConflict, "a decision stands with the triggers as without")
	})
}
