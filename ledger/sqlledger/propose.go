package sqlledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// successor is a proposal on its way into the table.
type successor struct {
	row                   *proposalRow
	record                *recordRow
	limits                ledger.Limits
	identity, party, talk string
	kept                  ledger.Proposal // what the row will restore to
}

func encodeEntry(e ledger.Entry) (*successor, error) {
	enc := new(sqlkit.Encoder)
	s := e.Proposal.Session
	n := &successor{row: encodeProposal(enc, &e.Proposal), record: encodeRecord(enc, &e.Record), limits: e.Limits}
	if s.IsZero() && enc.Err == nil {
		enc.Err = fmt.Errorf("sqlledger: %w", authz.ErrSession)
	}
	if enc.Err != nil {
		return nil, enc.Err
	}
	principal, forA := s.Principal()
	party := []string{string(s.Scope()), "model", string(s.Actor())}
	if forA {
		party = []string{string(s.Scope()), "principal", string(principal)}
	}
	n.party = sqlkit.Digest(party...)
	n.talk = sqlkit.Digest(n.party, string(s.Actor()), "conversation", s.Conversation())
	if s.Conversation() == "" {
		n.talk = sqlkit.Digest(n.party, string(s.Actor()), "run", s.Run())
	}
	n.identity = sqlkit.Digest(n.party, string(s.Actor()), e.Proposal.Action, e.Proposal.Params.String(), e.Proposal.Definition, e.Proposal.Version)
	var err error
	n.kept, err = n.row.decode()
	return n, err
}

// Propose implements [ledger.Store].
func (s *Store) Propose(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
	next, err := encodeEntry(e)
	if err != nil {
		return ledger.Proposal{}, err
	}
	c, err := s.newChange(next.record)
	if err != nil {
		return ledger.Proposal{}, err
	}
	var open *ledger.Proposal
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		open = nil
		if err := s.lockScope(ctx, tx, next); err != nil {
			return err
		}
		if open, err = s.identical(ctx, tx, next); err != nil {
			return err
		}
		if open != nil {
			return ledger.ErrConflict // undoes the lock; the caller gets the open proposal
		}
		return s.insert(ctx, tx, c, next)
	}
	err = s.db.Apply(ctx, c)
	switch {
	case open != nil && errors.Is(err, ledger.ErrConflict):
		return *open, nil
	case err != nil:
		return ledger.Proposal{}, err
	}
	return next.kept, nil
}

// Revise implements [ledger.Store].
func (s *Store) Revise(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
	if r.Dismissal.Scope != r.Entry.Proposal.Session.Scope() {
		if err := ctx.Err(); err != nil {
			return ledger.Proposal{}, err
		}
		return ledger.Proposal{}, ledger.ErrNotFound
	}
	next, err := encodeEntry(r.Entry)
	if err != nil {
		return ledger.Proposal{}, err
	}
	d, err := s.dismissal(r.Dismissal)
	if err != nil {
		return ledger.Proposal{}, err
	}
	decided := false
	work := d.Work
	d.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		decided = false
		if err := s.lockScope(ctx, tx, next); err != nil {
			return err
		}
		if err := work(ctx, tx); err != nil {
			decided = true
			return err
		}
		return s.insert(ctx, tx, d.Change, next)
	}
	err = s.db.Apply(ctx, d.Change)
	switch {
	case err == nil:
		return next.kept, nil
	case decided && errors.Is(err, ledger.ErrConflict):
		p, err := s.standing(ctx, r.Dismissal.Scope, r.Dismissal.Proposal, err)
		return undecided(p, err, true)
	}
	return ledger.Proposal{}, err
}

// lockScope makes everything that adds open proposals to a scope wait for its turn. Two inserts cannot see each
// other before they are committed, and no index could count them or know until when they are open; so they take
// the row of their scope first. The row also keeps the longest life of any of them, by which lists know how far
// back a proposal can be open.
func (s *Store) lockScope(ctx context.Context, tx *sqlx.Tx, n *successor) error {
	_, err := tx.ExecContext(ctx, s.sql.lockScope, n.row.Scope, n.row.ExpiresAt-n.row.CreatedAt)
	return err
}

// identical returns the oldest open proposal that asks for the same. The digest finds it; the columns decide,
// since a row that somebody has changed asks for something else.
func (s *Store) identical(ctx context.Context, tx *sqlx.Tx, n *successor) (*ledger.Proposal, error) {
	var rows []proposalRow
	if err := tx.SelectContext(ctx, &rows, s.sql.identical, n.party, n.row.CreatedAt, n.identity); err != nil {
		return nil, err
	}
	for i := range rows {
		r := &rows[i]
		if r.Scope == n.row.Scope && r.Actor == n.row.Actor && r.Principal == n.row.Principal && r.Action == n.row.Action &&
			r.Params == n.row.Params && r.Definition == n.row.Definition && r.Version == n.row.Version {
			p, err := r.decode()
			return &p, err
		}
	}
	return nil, nil
}

// insert adds a proposal and its record if the limits allow it.
func (s *Store) insert(ctx context.Context, tx *sqlx.Tx, c *sqlkit.Change, n *successor) error {
	if err := s.checkLimits(ctx, tx, n); err != nil {
		return err
	}
	args := append(n.row.immutable(), int64(sqlkit.Never), int64(sqlkit.Never), int64(sqlkit.Never), int64(sqlkit.Never), int64(sqlkit.Never), n.identity, n.party, n.talk)
	_, err := tx.ExecContext(ctx, s.sql.insertProposal, args...)
	switch {
	case err != nil && s.db.FaultOf(err) == sqlkit.Duplicate:
		return ledger.ErrConflict
	case err != nil:
		return err
	}
	return s.insertRecord(ctx, tx, c, n.record, none)
}

// checkLimits counts what is open at the new proposal's instant.
func (s *Store) checkLimits(ctx context.Context, tx *sqlx.Tx, n *successor) error {
	at := n.row.CreatedAt
	if n.limits.Session > 0 || n.limits.Principal > 0 {
		var open struct {
			Principal int `db:"principal"`
			Talks     int `db:"talks"`
		}
		if err := tx.GetContext(ctx, &open, s.sql.countParty, n.talk, n.party, at); err != nil {
			return err
		}
		if n.limits.Session > 0 && open.Talks >= n.limits.Session {
			return &ledger.LimitError{Of: "session", Limit: n.limits.Session}
		}
		if n.limits.Principal > 0 && open.Principal >= n.limits.Principal {
			return &ledger.LimitError{Of: "principal", Limit: n.limits.Principal}
		}
	}
	if n.limits.Scope > 0 {
		var life int64
		var open int
		if err := tx.GetContext(ctx, &life, s.sql.life, n.row.Scope); err != nil {
			return err
		}
		if err := tx.GetContext(ctx, &open, s.sql.countScope, n.row.Scope, at-life, at); err != nil {
			return err
		}
		if open >= n.limits.Scope {
			return &ledger.LimitError{Of: "scope", Limit: n.limits.Scope}
		}
	}
	return nil
}
