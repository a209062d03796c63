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
	"github.com/sallyport-dev/sallyport/ledger"
)

// Proposal implements [ledger.Store].
func (s *Store) Proposal(ctx context.Context, scope authz.Scope, id string) (ledger.Proposal, error) {
	var row proposalRow
	err := s.db.GetContext(ctx, &row, s.sql.proposal, keep(string(scope)), keep(id))
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
		w.add(column+" = ?", keep(value))
	}
}

func (w *where) String() string { return strings.Join(w.conditions, " AND ") }

// Proposals implements [ledger.Store].
func (s *Store) Proposals(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
	w := new(where)
	w.add("scope = ?", keep(string(q.Scope)))
	inStates(w, q)
	w.equal("actor", string(q.Actor))
	w.equal("principal", string(q.Principal))
	w.equal("action", q.Action)
	w.equal("run", q.Run)
	if (q.Before != ledger.Cursor{}) {
		// MySQL does not use an index for a comparison of pairs, every database does for this one.
		at := micros(q.Before.CreatedAt)
		w.add("created_at <= ? AND (created_at < ? OR id < ?)", at, at, keep(q.Before.ID))
	}
	query := s.text(s.sql.proposals + w.String() + " ORDER BY created_at DESC, id DESC LIMIT ?")
	return s.selectProposals(ctx, query, append(w.args, page(q.Limit))...)
}

// inStates says in SQL what [ledger.Proposal.State] says. A list of what is open looks back only as far as the
// longest life in the scope reaches: what expired undecided stays undecided in the table for good.
func inStates(w *where, q ledger.Query) {
	if len(q.States) == 0 {
		return
	}
	at := micros(q.At)
	only := func(states ...ledger.State) bool {
		return !slices.ContainsFunc(q.States, func(s ledger.State) bool { return !slices.Contains(states, s) })
	}
	if only(ledger.StateProposed, ledger.StateExpired) {
		w.add("decision = ''") // so that the index of undecided proposals can be used
	}
	if only(ledger.StateProposed) {
		w.add("created_at > ? - COALESCE((SELECT life FROM {scopes} WHERE scope = ?), 9000000000000000000)", at, keep(string(q.Scope)))
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
	return s.selectProposals(ctx, s.sql.due, micros(now), page(limit))
}

func (s *Store) selectProposals(ctx context.Context, query string, args ...any) ([]ledger.Proposal, error) {
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
	w := new(where)
	w.add("scope = ?", keep(string(q.Scope)))
	w.equal("proposal", q.Proposal)
	w.equal("actor", string(q.Actor))
	w.equal("action", q.Action)
	w.equal("run", q.Run)
	w.equal("event", string(q.Event))
	w.add("seq > ?", q.After)
	var rows []recordRow
	query := s.text(s.sql.audit + w.String() + " ORDER BY seq LIMIT ?")
	if err := s.db.SelectContext(ctx, &rows, query, append(w.args, page(q.Limit))...); err != nil {
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
