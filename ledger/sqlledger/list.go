package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Proposal implements [ledger.Store].
func (s *Store) Proposal(ctx context.Context, scope authz.Scope, id string) (ledger.Proposal, error) {
	if err := s.db.Free(ctx); err != nil {
		return ledger.Proposal{}, err
	}
	var row proposalRow
	err := s.db.GetContext(ctx, &row, s.sql.proposal, sqlkit.Keep(string(scope)), sqlkit.Keep(id))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ledger.Proposal{}, ledger.ErrNotFound
	case err != nil:
		return ledger.Proposal{}, fmt.Errorf("sqlledger: read a proposal: %w", err)
	}
	return row.decode()
}

// where collects conditions and their parameters.
type where struct {
	conditions []string
	args       []any
}

func (w *where) add(condition string, args ...any) {
	w.conditions, w.args = append(w.conditions, condition), append(w.args, args...)
}

// equal adds a filter, unless it is empty.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", sqlkit.Keep(value))
	}
}

// String joins the conditions; none is always true.
func (w *where) String() string {
	if len(w.conditions) == 0 {
		return "1 = 1"
	}
	return strings.Join(w.conditions, " AND ")
}

// within adds the bounds of an instant, unless they are zero.
func (w *where) within(column string, since, until time.Time) {
	if !since.IsZero() {
		w.add(column+" >= ?", sqlkit.Micros(since))
	}
	if !until.IsZero() {
		w.add(column+" < ?", sqlkit.Micros(until))
	}
}

// has adds a search for text in any of the columns. Which letters are the same is a matter of the database,
// apart from A to Z.
func (w *where) has(d Dialect, text string, columns ...string) {
	if text == "" {
		return
	}
	find := map[Dialect]string{
		SQLite:     "instr(lower(%s), lower(?)) > 0",
		PostgreSQL: `strpos(lower(%s COLLATE "C"), lower(CAST(? AS TEXT) COLLATE "C")) > 0`,
		MySQL:      "LOCATE(LOWER(CONVERT(? USING utf8mb4)) COLLATE utf8mb4_bin, LOWER(CONVERT(%s USING utf8mb4)) COLLATE utf8mb4_bin) > 0",
	}[d]
	either := make([]string, len(columns))
	args := make([]any, len(columns))
	for i, column := range columns {
		either[i], args[i] = fmt.Sprintf(find, column), sqlkit.Keep(text)
	}
	w.add("("+strings.Join(either, " OR ")+")", args...)
}

// selection is a list: what its window reaches, what of that matches, and in which order.
type selection struct {
	reach, match where
	order        string
	window       int
}

// query returns a list's statement. Without a window what is reached and what matches are one condition, so
// that every index can serve it.
func (s *Store) query(columns, table string, q *selection, limit int) (string, []any) {
	if q.window <= 0 {
		q.reach.add(q.match.String(), q.match.args...)
		return s.db.Text("SELECT " + columns + " FROM " + table + " WHERE " + q.reach.String() + q.order + " LIMIT ?"), append(q.reach.args, page(limit))
	}
	inner := "SELECT " + columns + " FROM " + table + " WHERE " + q.reach.String() + q.order + " LIMIT ?"
	args := append(append(q.reach.args, q.window), q.match.args...)
	return s.db.Text("SELECT " + columns + " FROM (" + inner + ") AS w WHERE " + q.match.String() + q.order + " LIMIT ?"), append(args, page(limit))
}

const newestFirst = " ORDER BY created_at DESC, id DESC"

// Proposals implements [ledger.Store].
func (s *Store) Proposals(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
	l := selection{order: newestFirst, window: q.Window}
	l.reach.add("scope = ?", sqlkit.Keep(string(q.Scope)))
	l.reach.within("created_at", q.Since, q.Until)
	if (q.Before != ledger.Cursor{}) {
		// MySQL does not use an index for a comparison of pairs, every database does for this one.
		at := sqlkit.Micros(q.Before.CreatedAt)
		l.reach.add("created_at <= ? AND (created_at < ? OR id < ?)", at, at, sqlkit.Keep(q.Before.ID))
	}
	index := "list"
	if inStates(&l.match, q) && q.Window <= 0 {
		index = "pending"
	}
	l.match.equal("actor", string(q.Actor))
	l.match.equal("principal", string(q.Principal))
	l.match.equal("action", q.Action)
	l.match.equal("run", q.Run)
	l.match.has(s.dialect, q.Text, "id", "actor", "principal", "action", "params", "note", "error")
	query, args := s.query(proposalColumns, "{proposals}"+s.dialect.by(index), &l, q.Limit)
	return s.selectProposals(ctx, query, args...)
}

// inStates says in SQL what [ledger.Proposal.State] says. A list of what is open looks back only as far as the
// longest life in the scope reaches: what expired undecided stays undecided in the table for good. It reports whether
// only what is undecided is listed, for which there is an index.
func inStates(w *where, q ledger.Query) (undecided bool) {
	if len(q.States) == 0 {
		return false
	}
	at := sqlkit.Micros(q.At)
	only := func(states ...ledger.State) bool {
		return !slices.ContainsFunc(q.States, func(s ledger.State) bool { return !slices.Contains(states, s) })
	}
	if undecided = only(ledger.StateProposed, ledger.StateExpired); undecided {
		w.add("decision = ''") // so that the index can be used
	}
	if only(ledger.StateProposed) {
		w.add("created_at > ? - COALESCE((SELECT life FROM {scopes} WHERE scope = ?), 9000000000000000000)", at, sqlkit.Keep(string(q.Scope)))
	}
	var either []string
	var args []any
	for _, state := range q.States {
		condition, n := stateSQL(state)
		either = append(either, "("+condition+")")
		for range n {
			args = append(args, at)
		}
	}
	w.add("("+strings.Join(either, " OR ")+")", args...)
	return undecided
}

// stateSQL returns the condition of a state and how often the instant is a parameter of it.
func stateSQL(s ledger.State) (condition string, instants int) {
	switch s {
	case ledger.StateProposed:
		return "decision = '' AND expires_at > ?", 1
	case ledger.StateExpired:
		return "decision = '' AND expires_at <= ?", 1
	case ledger.StateDismissed:
		return "decision = 'dismissed'", 0
	case ledger.StateExecuted:
		return "decision = 'claimed' AND (outcome <> '' OR run_by > ?) AND verdict = ''", 1
	case ledger.StateVerified:
		return "decision = 'claimed' AND (outcome <> '' OR run_by > ?) AND verdict <> ''", 1
	case ledger.StateInterrupted:
		return "decision = 'claimed' AND outcome = '' AND run_by <= ? OR decision NOT IN ('', 'claimed', 'dismissed')", 1
	}
	return "1 = 0", 0
}

// Due implements [ledger.Store].
func (s *Store) Due(ctx context.Context, now time.Time, limit int) ([]ledger.Proposal, error) {
	return s.selectProposals(ctx, s.sql.due, sqlkit.Micros(now), page(limit))
}

func (s *Store) selectProposals(ctx context.Context, query string, args ...any) ([]ledger.Proposal, error) {
	if err := s.db.Free(ctx); err != nil {
		return nil, err
	}
	var rows []proposalRow
	if err := s.db.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("sqlledger: list proposals: %w", err)
	}
	var list []ledger.Proposal
	for i := range rows {
		p, err := rows[i].decode()
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Audit implements [ledger.Store]. The database numbers records when they are written, not when they are
// committed: somebody who reads on from the last Seq while changes are being made may miss one that commits late.
func (s *Store) Audit(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
	l := selection{order: " ORDER BY seq", window: q.Window}
	if q.Newest {
		l.order = " ORDER BY seq DESC"
	}
	l.reach.add("scope = ?", sqlkit.Keep(string(q.Scope)))
	l.reach.add("seq > ?", q.After)
	if q.Before != 0 {
		l.reach.add("seq < ?", q.Before)
	}
	l.match.equal("proposal", q.Proposal)
	l.match.equal("actor", string(q.Actor))
	l.match.equal("principal", string(q.Principal))
	l.match.equal("operator", string(q.Operator))
	l.match.equal("action", q.Action)
	l.match.equal("run", q.Run)
	l.match.equal("event", string(q.Event))
	l.match.equal("code", string(q.Code))
	l.match.within("at", q.Since, q.Until)
	l.match.has(s.dialect, q.Text, "actor", "principal", "operator", "action", "params", "proposal", "reason", "error")
	index := "list"
	if q.Proposal != "" && q.Window <= 0 {
		index = "proposal"
	}
	query, args := s.query("seq, "+recordColumns, "{records}"+s.dialect.by(index), &l, q.Limit)
	if err := s.db.Free(ctx); err != nil {
		return nil, err
	}
	var rows []recordRow
	if err := s.db.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("sqlledger: list records: %w", err)
	}
	var list []ledger.Record
	for i := range rows {
		r, err := rows[i].decode()
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func page(limit int) int {
	if limit <= 0 {
		return ledger.DefaultPage
	}
	return limit
}
