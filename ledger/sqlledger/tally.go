package sqlledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Tally implements [ledger.Store].
func (s *Store) Tally(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
	if q.Window <= 0 {
		q.Window = ledger.DefaultWindow
	}
	var counts []string
	var args []any
	count := func(condition string, values ...any) {
		counts = append(counts, "COUNT(CASE WHEN "+condition+" THEN 1 END)")
		args = append(args, values...)
	}
	in := func(states ...ledger.State) {
		var w where
		inStates(&w, ledger.Query{Scope: q.Scope, States: states, At: q.At})
		count(w.String(), w.args...)
	}
	in(ledger.StateProposed)
	in(ledger.StateExpired)
	in(ledger.StateDismissed)
	in(ledger.StateExecuted, ledger.StateVerified)
	in(ledger.StateInterrupted)
	count("supersedes <> ''")
	for _, o := range []ledger.Outcome{ledger.Succeeded, ledger.Failed} {
		count("decision = 'claimed' AND outcome = ?", string(o))
	}
	for _, v := range []ledger.Verdict{ledger.Improved, ledger.Unchanged, ledger.Worsened, ledger.Unmeasured} {
		count("decision = 'claimed' AND verdict = ?", string(v))
	}
	count("decision = 'claimed' AND grant_id <> ''")
	const byPerson = "decision IN ('claimed', 'dismissed') AND grant_id = '' AND decided_at - created_at "
	below := ledger.WaitedBelow
	count(byPerson+"< ?", below[0].Microseconds())
	for i := range below[1:] {
		count(byPerson+"BETWEEN ? AND ?", below[i].Microseconds(), below[i+1].Microseconds()-1)
	}
	count(byPerson+">= ?", below[len(below)-1].Microseconds())

	var w where
	w.add("scope = ?", sqlkit.Keep(string(q.Scope)))
	w.within("created_at", q.Since, q.Until)
	query := s.db.Text("SELECT action, " + strings.Join(counts, ", ") + " FROM (SELECT action, decision, decided_at, created_at, expires_at," +
		" outcome, run_by, verdict, grant_id, supersedes FROM {proposals} WHERE " + w.String() + newestFirst + " LIMIT ?) AS w GROUP BY action")
	if err := s.db.Free(ctx); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, query, append(append(args, w.args...), q.Window)...)
	if err != nil {
		return nil, fmt.Errorf("sqlledger: count proposals: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var list []ledger.Tally
	for rows.Next() {
		var t ledger.Tally
		var action string
		into := []any{
			&action, &t.Proposed, &t.Expired, &t.Dismissed, &t.Executed, &t.Interrupted, &t.Revisions, &t.Succeeded, &t.Failed,
			&t.Improved, &t.Unchanged, &t.Worsened, &t.Unmeasured, &t.Standing,
		}
		for i := range t.Waited {
			into = append(into, &t.Waited[i])
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("sqlledger: count proposals: %w", err)
		}
		if t.Action, err = sqlkit.Kept(action); err != nil {
			return nil, fmt.Errorf("sqlledger: count proposals: %w: %w", ledger.ErrTampered, err)
		}
		list = append(list, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("sqlledger: count proposals: %w", err)
	}
	// The database would order what it keeps, in which some characters are written otherwise.
	slices.SortFunc(list, func(a, b ledger.Tally) int { return strings.Compare(a.Action, b.Action) })
	return list, nil
}
