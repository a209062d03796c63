package sqlledger_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// What somebody writes into each column of a proposal by hand. Sealed columns must not change, derived ones are for
// look-ups, and the others say what became of it.
var (
	sealedColumns = map[string]string{
		"scope": "'depot'", "actor": "'other'", "kind": "'human'", "principal": "'tina'", "background": "1", "via": `'["tina"]'`,
		"tools": `'["pay_refund"]'`, "run": "'run-9'", "origin": "'mail'", "conversation": "'c-9'", "id": "'moved'", "action": "'add_note'",
		"params": "?", "targets": `'["/orders/W1"]'`, "definition": "'d'", "version": "'2'", "created_at": "created_at + 1",
		"expires_at": "expires_at + 1000000", "supersedes": "'old'", "revised_by": `'["eve"]'`, "seal": "'k1.0'",
	}
	derivedColumns = map[string]string{"identity": "'x'", "party": "'x'", "talk": "'x'"}
	openColumns    = map[string][]string{
		"decision": {"''", "'claimed'", "'dismissed'", "'postponed'", "''"}, "decided_by": {"''", "'eve'"}, "decided_at": {"0", "9000000000000000"},
		"note": {"''", "'x'"}, "claim": {"''", "'x'"}, "grant_id": {"''", "'grant-1'"}, "run_by": {"0", "9000000000000000"},
		"outcome": {"''", "'succeeded'", "'failed'", "''"}, "finished_at": {"0", "9000000000000000"}, "result": {"''", "'x'"}, "error": {"''", "'x'"},
		"told": {"''", "'x'"}, "baseline": {"NULL", "'1'"}, "unmeasured": {"''", "'x'"}, "verify_at": {"0", "9000000000000000"},
		"verdict": {"''", "'improved'", "''"}, "measured": {"NULL", "'1'"}, "verified_at": {"0", "9000000000000000"},
	}
)

// TestColumnsAreKnown makes sure that these tests change every column there is.
func TestColumnsAreKnown(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		rows, err := e.open(t).queryNone("SELECT * FROM {proposals}")
		require.NoError(t, err)
		for _, name := range rows {
			_, sealed := sealedColumns[name]
			_, derived := derivedColumns[name]
			require.True(t, sealed || derived || openColumns[name] != nil || name == "due_at", "nobody tries to change %s", name)
		}
		require.Len(t, rows, len(sealedColumns)+len(derivedColumns)+len(openColumns)+1)
	})
}

// queryNone returns the columns of a query.
func (s *store) queryNone(query string) ([]string, error) {
	rows, err := s.db.Query(s.q(query + " WHERE 1 = 0"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err == nil {
		err = rows.Err()
	}
	return names, err
}

// edit changes one column of a row, with other parameters where the value is a placeholder.
func (s *store) edit(t *testing.T, id, column, value string) {
	t.Helper()
	args := []any{`{"cents":1000000,"order":"W42"}`, id}[strings.Count("?", value)^1:]
	r, err := s.exec("UPDATE {proposals} SET "+column+" = "+value+" WHERE id = ?", args...)
	require.NoError(t, err)
	_, err = r.RowsAffected()
	require.NoError(t, err)
}

// tries does with a proposal all that people and the model can do, with a token from before too.
func (l *cashier) tries(ctx context.Context, scope authz.Scope, id string, before registry.Redemption) map[string]error {
	before.Scope, before.Proposal = scope, id
	_, opens := l.desk.Open(ctx, scope, id, tina)
	_, approves := l.desk.Approve(ctx, before)
	_, stands := l.reg.RedeemStanding(ctx, scope, id)
	_, revises := l.desk.Revise(ctx, scope, id, tina, []byte(`{"order":"W42","cents":7}`))
	return map[string]error{
		"Open": opens, "Approve": approves, "RedeemStanding": stands, "Revise": revises, "Dismiss": l.desk.Dismiss(ctx, scope, id, tina, "no"),
	}
}

// TestSealedColumnsByHand changes each sealed column of a proposal, and inserts a row that differs in it from a sealed
// one. All that people and the model can do then is refused as tampered, and nothing runs.
func TestSealedColumnsByHand(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		n := 0
		for column, value := range sealedColumns {
			n++
			p, err := cashier.propose(t.Context(), n)
			require.NoError(t, err)
			o, err := cashier.desk.Open(t.Context(), "shop", p.ID, sam)
			require.NoError(t, err)
			copied := fmt.Sprint("copy-", n)
			values := strings.Replace(", "+rowColumns+", ", ", id, ", ", '"+copied+"', ", 1)
			var args []any
			if column != "id" {
				values = strings.Replace(values, ", "+column+", ", ", "+value+", ", 1)
			}
			if value == "?" {
				args = append(args, `{"cents":1000000,"order":"W42"}`)
			}
			_, err = s.exec("INSERT INTO {proposals} ("+rowColumns+", identity, party, talk) SELECT "+
				strings.Trim(values, ", ")+", identity, party, talk FROM {proposals} WHERE id = ?", append(args, p.ID)...)
			require.NoError(t, err, column)
			s.edit(t, p.ID, column, value)
			scope, id := authz.Scope("shop"), p.ID
			switch column {
			case "scope":
				scope = "depot"
			case "id":
				id = "moved"
			}
			for _, id := range []string{id, copied} {
				for name, err := range cashier.tries(t.Context(), scope, id, o.Redemption()) {
					require.Equal(t, ledger.Tampered, code(t, err), "%s after %s = %s: %v", name, column, value, err)
				}
				_, err := cashier.desk.Status(t.Context(), cashier.model, id)
				require.ErrorIs(t, err, ledger.ErrNotFound, "Status after %s = %s", column, value)
			}
			if scope != "shop" || id != p.ID {
				for name, err := range cashier.tries(t.Context(), "shop", p.ID, o.Redemption()) {
					require.Equal(t, ledger.Unknown, code(t, err), "%s where the row was: %v", name, err)
				}
			}
			_, err = s.exec("DELETE FROM {proposals}")
			require.NoError(t, err)
		}
		require.Empty(t, cashier.runs(t))
		trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Event: ledger.EventStarted})
		require.NoError(t, err)
		require.Empty(t, trail)
	})
}

// TestOpenColumnsByHand changes each column that is not sealed, of a proposal that is open, of one that ran and of one
// that was dismissed, and turns decided rows back. The first may run once, the second never again, the third never.
func TestOpenColumnsByHand(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		n := 0
		turns := map[string][][2]string{} // what decides has rows of its own, the others are changed one after the other
		for column, values := range openColumns {
			turn := "rest"
			if slices.Contains([]string{"decision", "claim", "outcome", "verdict", "run_by", "decided_at"}, column) {
				turn = column
			}
			for _, value := range values {
				turns[turn] = append(turns[turn], [2]string{column, value})
			}
		}
		for column, value := range derivedColumns {
			turns["rest"] = append(turns["rest"], [2]string{column, value})
		}
		for turn, edits := range turns {
			n += 3
			var open, ran, dismissed ledger.Proposal
			var err error
			for i, p := range []*ledger.Proposal{&open, &ran, &dismissed} {
				*p, err = cashier.propose(t.Context(), n+i)
				require.NoError(t, err)
			}
			o, err := cashier.desk.Open(t.Context(), "shop", ran.ID, sam)
			require.NoError(t, err)
			before := o.Redemption()
			require.NoError(t, cashier.approve(t.Context(), ran.ID, sam))
			require.NoError(t, cashier.desk.Dismiss(t.Context(), "shop", dismissed.ID, tina, "no"))
			try := func() {
				for _, p := range []ledger.Proposal{open, ran, dismissed} {
					_ = cashier.approve(t.Context(), p.ID, tina)
				}
				_, _ = cashier.desk.Approve(t.Context(), before)
			}
			for _, edit := range edits {
				for _, p := range []ledger.Proposal{open, ran, dismissed} {
					s.edit(t, p.ID, edit[0], edit[1])
				}
				try()
			}
			for name, values := range openColumns { // as if nothing had ever been decided
				value := values[0]
				if strings.HasSuffix(name, "_at") || name == "run_by" {
					value = "-62135596800000000"
				}
				for _, p := range []ledger.Proposal{ran, dismissed} {
					s.edit(t, p.ID, name, value)
				}
			}
			row, err := s.Proposal(t.Context(), "shop", ran.ID)
			require.NoError(t, err)
			require.Equal(t, ledger.StateProposed, row.State(cashier.reg.Now()), "the row says that it is open")
			try()
			runs := cashier.runs(t)
			require.Len(t, runs[ran.ID], 1, "%s: what ran never runs again", turn)
			require.LessOrEqual(t, len(runs[open.ID]), 1, "%s: what is open runs once at most", turn)
			require.Empty(t, runs[dismissed.ID], "%s: what was dismissed never runs", turn)
		}
	})
}

// TestForeignScopes tries ids of another scope, and an id that nothing has: there is no difference, in what is answered
// nor in what is recorded.
func TestForeignScopes(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		there, err := authz.NewSession("depot", "assistant", authz.For(olga))
		require.NoError(t, err)
		foreign, err := cashier.desk.Propose(t.Context(), registry.Call{Session: there, Action: "pay_refund", Params: []byte(`{"order":"W42","cents":1}`)})
		require.NoError(t, err)
		o, err := cashier.desk.Open(t.Context(), "depot", foreign.Proposal.ID, sam)
		require.NoError(t, err)
		const random = "019b8d62-7e68-7000-8000-123456789abc"
		type seen struct {
			errors  map[string]string
			records []string
		}
		look := func(id string) seen {
			cashier := s.cashier(t, s) // which has counted no refusals yet
			at, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Newest: true, Limit: 1})
			require.NoError(t, err)
			last := int64(0)
			if len(at) > 0 {
				last = at[0].Seq
			}
			out := seen{errors: map[string]string{}}
			for name, err := range cashier.tries(t.Context(), "shop", id, o.Redemption()) {
				require.Error(t, err)
				out.errors[name] = strings.ReplaceAll(err.Error(), id, "ID")
			}
			_, err = cashier.desk.Status(t.Context(), cashier.model, id)
			require.ErrorIs(t, err, ledger.ErrNotFound)
			for name, change := range map[string]func(context.Context) error{
				"claim": func(ctx context.Context) error {
					_, err := s.Claim(ctx, ledger.Claim{Scope: "shop", Proposal: id, ID: "c", At: cashier.reg.Now()})
					return err
				},
				"finish": func(ctx context.Context) error {
					return s.Finish(ctx, ledger.Finish{Scope: "shop", Proposal: id, Claim: "c", Outcome: ledger.Failed})
				},
				"verify": func(ctx context.Context) error {
					return s.Verify(ctx, ledger.Verification{Scope: "shop", Proposal: id, Verdict: ledger.Improved})
				},
			} {
				require.ErrorIs(t, change(t.Context()), ledger.ErrNotFound, name)
			}
			trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", After: last})
			require.NoError(t, err)
			for _, r := range trail {
				r.Seq = 0
				out.records = append(out.records, strings.ReplaceAll(fmt.Sprintf("%+v", r), id, "ID"))
			}
			slices.Sort(out.records)
			return out
		}
		require.Equal(t, look(random), look(foreign.Proposal.ID))
		require.Equal(t, look("moved"), look(foreign.Proposal.ID))
		rows := s.agree(t, "depot", cashier.runs(t))
		require.Equal(t, ledger.Undecided, rows[foreign.Proposal.ID].Decision)
	})
}
