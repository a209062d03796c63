package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// newChange starts a change that leaves a record, by whose mark it is known again.
func (s *Store) newChange(r *recordRow) (*sqlkit.Change, error) {
	attempt, err := s.db.Attempt()
	if err != nil {
		return nil, err
	}
	mine := func(ctx context.Context) (bool, error) {
		var n int
		err := s.db.GetContext(ctx, &n, s.sql.mine, r.Scope, r.Proposal, attempt)
		return n > 0, err
	}
	return &sqlkit.Change{Attempt: attempt, Locks: true, Mine: mine}, nil
}

// insertRecord writes the record of a change. A decision is unique per proposal, whatever its row says.
func (s *Store) insertRecord(ctx context.Context, tx *sqlx.Tx, c *sqlkit.Change, r *recordRow, decides sql.NullString) error {
	_, err := tx.ExecContext(ctx, s.sql.insertRecord, append(r.values(), decides, c.Attempt)...)
	if decides.Valid && s.db.FaultOf(err) == sqlkit.Duplicate {
		return errDenied
	}
	return err
}

// errDenied says that a decision is on record, whatever the row says.
var errDenied = fmt.Errorf("%w: a decision is on record", ledger.ErrConflict)

// decision is the value of the column by which decision records are unique.
func decision(id string) sql.NullString { return sql.NullString{String: sqlkit.Keep(id), Valid: true} }

// undecided refines the refusal of a decision: a proposal that could be decided when it was read, and on which no
// decision is on record, was not there yet when the change looked for it.
func undecided(p ledger.Proposal, refused error, open bool) (ledger.Proposal, error) {
	if open && p.Decision == ledger.Undecided && errors.Is(refused, ledger.ErrConflict) && !errors.Is(refused, errDenied) {
		return ledger.Proposal{}, ledger.ErrNotFound
	}
	return p, refused
}

// standing returns a refused change's proposal as it stands, read in a transaction of its own: the one that
// lost may still see what was before. It replaces the refusal only if the proposal is not found or not readable.
func (s *Store) standing(ctx context.Context, scope authz.Scope, id string, refused error) (ledger.Proposal, error) {
	ctx, cancel := s.db.Own(ctx)
	defer cancel()
	var p ledger.Proposal
	err := sqlkit.Reading(func() (err error) {
		p, err = s.Proposal(ctx, scope, id)
		return err
	})
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return ledger.Proposal{}, err
	case err != nil:
		return ledger.Proposal{}, fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return p, refused
}
