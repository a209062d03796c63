package sqlledger

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// through says in SQL of which proposals nothing is to come.
const through = "(decision = 'dismissed' OR decision = 'claimed' AND outcome <> '' AND verdict <> '')"

// alone says it of records that belong to no proposal. A decision never does: it keeps a proposal from being
// decided again, whoever took its row away.
const alone = `(proposal = '' OR decides IS NULL AND NOT EXISTS
	(SELECT 1 FROM {proposals} p WHERE p.scope = {records}.scope AND p.id = {records}.proposal))`

// Purge implements [ledger.Store]. The triggers of [InsertOnly] refuse it: take them away for as long as it takes.
func (s *Store) Purge(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
	e := new(sqlkit.Encoder)
	record := encodeRecord(e, &p.Record)
	if e.Err != nil {
		return ledger.Purged{}, e.Err
	}
	if p.Limit <= 0 {
		p.Limit = ledger.DefaultPurge
	}
	c, err := s.newChange(record)
	if err != nil {
		return ledger.Purged{}, err
	}
	// What is through stays so; it is looked for before the transaction, which then begins by writing.
	ids, seqs, err := s.purgeable(ctx, p)
	if err != nil || len(ids)+len(seqs) == 0 {
		return ledger.Purged{}, err
	}
	var gone ledger.Purged
	c.Locks = false // a second try would not find what the first one removed
	c.Work = func(ctx context.Context, tx *sqlx.Tx) error {
		gone = ledger.Purged{}
		if err := s.purge(ctx, tx, p.Scope, ids, seqs, &gone); err != nil {
			return err
		}
		if gone == (ledger.Purged{}) {
			return ledger.ErrConflict // another purge was there
		}
		return s.insertRecord(ctx, tx, c, record, none)
	}
	if err := s.db.Apply(ctx, c); err != nil {
		if s.db.FaultOf(err) == sqlkit.Refused {
			return ledger.Purged{}, nil
		}
		return ledger.Purged{}, err
	}
	return gone, nil
}

func (s *Store) purgeable(ctx context.Context, p ledger.Purge) (ids, seqs []any, err error) {
	if err := s.db.Free(ctx); err != nil {
		return nil, nil, err
	}
	scope, before := sqlkit.Keep(string(p.Scope)), sqlkit.Micros(p.Before)
	var names []string
	var numbers []int64
	err = s.db.SelectContext(ctx, &names,
		s.db.Text("SELECT id FROM {proposals}"+s.dialect.by("list")+" WHERE scope = ? AND created_at < ? AND "+through+" ORDER BY created_at, id LIMIT ?"), scope, before, p.Limit)
	if err == nil {
		err = s.db.SelectContext(ctx, &numbers,
			s.db.Text("SELECT seq FROM {records}"+s.dialect.by("list")+" WHERE scope = ? AND at < ? AND "+alone+" ORDER BY seq LIMIT ?"), scope, before, p.Limit)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sqlledger: look for what to purge: %w", err)
	}
	for _, id := range names {
		ids = append(ids, id)
	}
	for _, seq := range numbers {
		seqs = append(seqs, seq)
	}
	return ids, seqs, nil
}

// purge removes proposals with their records, and records of none.
func (s *Store) purge(ctx context.Context, tx *sqlx.Tx, scope authz.Scope, ids, seqs []any, gone *ledger.Purged) error {
	for _, d := range []struct {
		from    string
		among   []any
		removed *int
	}{
		{"{proposals} WHERE scope = ? AND " + through + " AND id IN ", ids, &gone.Proposals},
		{"{records} WHERE scope = ? AND proposal IN ", ids, &gone.Records},
		{"{records} WHERE scope = ? AND " + alone + " AND seq IN ", seqs, &gone.Records},
	} {
		for len(d.among) > 0 {
			n := min(len(d.among), among)
			r, err := tx.ExecContext(ctx, s.db.Text("DELETE FROM "+d.from+list(n)), append([]any{sqlkit.Keep(string(scope))}, d.among[:n]...)...)
			if err != nil {
				return err
			}
			removed, err := r.RowsAffected()
			if err != nil {
				return err
			}
			*d.removed, d.among = *d.removed+int(removed), d.among[n:]
		}
	}
	return nil
}
