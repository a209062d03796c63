package sqlledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Claim implements [ledger.Store].
func (s *Store) Claim(ctx context.Context, claim ledger.Claim) (ledger.Proposal, error) {
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &claim.Record)
	id, by, grant := e.Short("the claim", claim.ID), e.Short("who decides", string(claim.By)), ""
	if claim.Use != nil {
		grant = e.Short("the grant", claim.Use.Grant)
	}
	if e.Err != nil {
		return ledger.Proposal{}, e.Err
	}
	c, err := s.newChange(record)
	if err != nil {
		return ledger.Proposal{}, err
	}
	scope, proposal := sqlkit.Keep(string(claim.Scope)), sqlkit.Keep(claim.Proposal)
	var won *ledger.Proposal
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		won = nil
		p, err := s.compareAndSet(ctx, tx, scope, proposal, s.sql.claim,
			by, sqlkit.Micros(claim.At), id, sqlkit.Micros(claim.RunBy), grant, scope, proposal, sqlkit.Micros(claim.At))
		if err != nil {
			return err
		}
		if err := s.insertRecord(ctx, tx, c, record, decision(claim.Proposal)); err != nil {
			return err
		}
		if claim.Use != nil {
			if err := s.use(ctx, tx, scope, grant, &claim); err != nil {
				return err
			}
		}
		won = p
		return nil
	}
	err = ledger.ErrConflict
	if claim.ID != "" {
		err = s.db.Apply(ctx, c)
	} else if err := ctx.Err(); err != nil {
		return ledger.Proposal{}, err
	}
	switch {
	case err == nil && won != nil:
		return *won, nil
	case err != nil && s.db.FaultOf(err) != sqlkit.Refused:
		return ledger.Proposal{}, err
	}
	p, err := s.standing(ctx, claim.Scope, claim.Proposal, err)
	if errors.Is(err, ledger.ErrConflict) && claim.ID != "" && p.Decision == ledger.Claimed && p.Claim == claim.ID {
		return p, nil // this very claim was applied before
	}
	return undecided(p, err, claim.ID != "" && claim.At.Before(p.ExpiresAt))
}

// Dismiss implements [ledger.Store].
func (s *Store) Dismiss(ctx context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
	c, err := s.dismissal(d)
	if err != nil {
		return ledger.Proposal{}, err
	}
	err = s.db.Apply(ctx, c.Change)
	switch {
	case err == nil && c.left != nil:
		return *c.left, nil
	case err != nil && s.db.FaultOf(err) != sqlkit.Refused:
		return ledger.Proposal{}, err
	}
	p, err := s.standing(ctx, d.Scope, d.Proposal, err)
	return undecided(p, err, true)
}

// dismissal is the change that dismisses a proposal, and what its last try left.
type dismissal struct {
	*sqlkit.Change
	left *ledger.Proposal
}

func (s *Store) dismissal(d ledger.Dismissal) (*dismissal, error) {
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &d.Record)
	by, note := e.Short("who decides", string(d.By)), e.Long("the note", d.Note)
	if e.Err != nil {
		return nil, e.Err
	}
	c, err := s.newChange(record)
	if err != nil {
		return nil, err
	}
	scope, proposal := sqlkit.Keep(string(d.Scope)), sqlkit.Keep(d.Proposal)
	made := &dismissal{Change: c}
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		made.left = nil
		p, err := s.compareAndSet(ctx, tx, scope, proposal, s.sql.dismiss, by, sqlkit.Micros(d.At), note, scope, proposal)
		if err != nil {
			return err
		}
		made.left = p
		return s.insertRecord(ctx, tx, c, record, decision(d.Proposal))
	}
	return made, nil
}

// compareAndSet runs an update that finds one row or none, and returns the proposal as it is afterwards: nothing
// is committed that cannot be read. MySQL does not return it with the update.
func (s *Store) compareAndSet(ctx context.Context, tx *sqlx.Tx, scope, id, query string, args ...any) (*ledger.Proposal, error) {
	if s.dialect == MySQL {
		if err := applied(tx.ExecContext(ctx, query, args...)); err != nil {
			return nil, err
		}
		query, args = s.sql.proposal, []any{scope, id}
	}
	var row proposalRow
	err := tx.GetContext(ctx, &row, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ledger.ErrConflict
	}
	if err != nil {
		return nil, err
	}
	p, err := row.decode()
	return &p, err
}

// applied says whether a compare-and-set found its row.
func applied(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		err = ledger.ErrConflict
	}
	return err
}

// Finish implements [ledger.Store].
func (s *Store) Finish(ctx context.Context, f ledger.Finish) error {
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &f.Record)
	args := finishing(e, &f)
	return s.update(ctx, e, record, f.Scope, f.Proposal, f.Outcome == ledger.Running, s.sql.finish, args)
}

// finishing are the parameters of the statement that records an outcome.
func finishing(e *sqlkit.Encoder, f *ledger.Finish) []any {
	return []any{
		string(f.Outcome), sqlkit.Micros(f.At), e.Long("the result", string(f.Result)), e.Long("the error", f.Error), e.Long("what is told", f.Told),
		sqlkit.Number(f.Baseline), e.Long("why it is unmeasured", f.Unmeasured), sqlkit.Micros(f.VerifyAt), sqlkit.Keep(string(f.Scope)), sqlkit.Keep(f.Proposal), sqlkit.Keep(f.Claim),
	}
}

// Verify implements [ledger.Store].
func (s *Store) Verify(ctx context.Context, v ledger.Verification) error {
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &v.Record)
	args := []any{
		string(v.Verdict), sqlkit.Number(v.Measured), sqlkit.Micros(v.At), e.Long("why it is unmeasured", v.Why), sqlkit.Keep(string(v.Scope)), sqlkit.Keep(v.Proposal),
	}
	return s.update(ctx, e, record, v.Scope, v.Proposal, v.Verdict == ledger.Unverified, s.sql.verify, args)
}

// update applies a compare-and-set with its record; refused is one that would set nothing.
func (s *Store) update(ctx context.Context, e *sqlkit.Encoder, record *recordRow, scope authz.Scope, id string, refused bool, query string, args []any) error {
	if e.Err != nil {
		return e.Err
	}
	c, err := s.newChange(record)
	if err != nil {
		return err
	}
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		if err := applied(tx.ExecContext(ctx, query, args...)); err != nil {
			return err
		}
		return s.insertRecord(ctx, tx, c, record, none)
	}
	err = ledger.ErrConflict
	if !refused {
		err = s.db.Apply(ctx, c)
	} else if err := ctx.Err(); err != nil {
		return err
	}
	if errors.Is(err, ledger.ErrConflict) {
		_, err = s.standing(ctx, scope, id, err)
	}
	return err
}

// none is the decision that other records are about.
var none sql.NullString

// Append implements [ledger.Store].
func (s *Store) Append(ctx context.Context, r ledger.Record) error {
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &r)
	if e.Err != nil {
		return e.Err
	}
	c, err := s.newChange(record)
	if err != nil {
		return err
	}
	c.Locks = false // a second try would write a second record
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error { return s.insertRecord(ctx, tx, c, record, none) }
	return s.db.Apply(ctx, c)
}
