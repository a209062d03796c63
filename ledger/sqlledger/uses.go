package sqlledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// use counts one use of a standing grant. The uses of a grant take turns by its row; each is a row of its own,
// unique, so that a use that was counted stays counted.
func (s *Store) use(ctx context.Context, tx *sqlx.Tx, scope, grant string, c *ledger.Claim) error {
	if !c.At.Before(c.Use.Until) {
		return ledger.ErrGrantSpent
	}
	if _, err := tx.ExecContext(ctx, s.sql.lockGrant, scope, grant); err != nil {
		return err
	}
	var used int64
	if err := tx.GetContext(ctx, &used, s.sql.countUses, scope, grant); err != nil {
		return err
	}
	if c.Use.Limit > 0 && used >= int64(c.Use.Limit) {
		return ledger.ErrGrantSpent
	}
	_, err := tx.ExecContext(ctx, s.sql.insertUse, scope, grant, used+1, sqlkit.Keep(c.Proposal), sqlkit.Keep(c.ID), sqlkit.Micros(c.At))
	return err
}

// Uses implements [ledger.Store].
func (s *Store) Uses(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
	if err := s.db.Free(ctx); err != nil {
		return nil, err
	}
	kept := map[string]string{} // by how it is in the column
	for _, g := range grants {
		kept[sqlkit.Keep(g)] = g
	}
	uses := map[string]int{}
	for some := range slices.Chunk(grants, among) {
		args := []any{sqlkit.Keep(string(scope))}
		for _, g := range some {
			args = append(args, sqlkit.Keep(g))
		}
		var rows []struct {
			Grant string `db:"grant_id"`
			Uses  int    `db:"uses"`
		}
		query := s.db.Text("SELECT grant_id, MAX(n) AS uses FROM {uses} WHERE scope = ? AND grant_id IN " + list(len(some)) + " GROUP BY grant_id")
		if err := s.db.SelectContext(ctx, &rows, query, args...); err != nil {
			return nil, fmt.Errorf("sqlledger: count uses: %w", err)
		}
		for _, r := range rows {
			uses[kept[r.Grant]] = r.Uses
		}
	}
	return uses, nil
}
