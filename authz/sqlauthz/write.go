package sqlauthz

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/internal/sqlkit"
)

const (
	scopeColumns = "scope, version, attempt, ceiling, disabled, standing, roles"
	actorColumns = "id, ord, name, kind, active, roles, overrides, identity"
	grantColumns = "actor, ord, tool, effect, standing_id, given_by, begins_at, ends_at, uses, below, definition, ask_only, seal"
)

// statements are the fixed statements of a Directory.
type statements struct {
	lock, mark, scope, actors, grants string
	setScope, setActor, insertActor   string
	insertGrant, deleteGrants         string
}

func newStatements(k *sqlkit.DB) statements {
	lock := `INSERT INTO {authz_scopes} AS s (` + scopeColumns + `) VALUES (?, 0, '', '', '', 0, '') ON CONFLICT (scope) DO UPDATE SET version = s.version`
	if k.Dialect == sqlkit.MySQL {
		lock = `INSERT INTO {authz_scopes} (` + scopeColumns + `) VALUES (?, 0, '', '', '', 0, '') ON DUPLICATE KEY UPDATE version = version`
	}
	return statements{
		lock:   k.Text(lock),
		mark:   k.Text(`SELECT version, attempt FROM {authz_scopes} WHERE scope = ?`),
		scope:  k.Text(`SELECT ` + scopeColumns + ` FROM {authz_scopes} WHERE scope = ?`),
		actors: k.Text(`SELECT ` + actorColumns + ` FROM {authz_actors} WHERE scope = ? ORDER BY ord, id`),
		grants: k.Text(`SELECT ` + grantColumns + ` FROM {authz_grants} WHERE scope = ? ORDER BY actor, ord`),

		setScope:     k.Text(`UPDATE {authz_scopes} SET version = version + 1, attempt = ?, ceiling = ?, disabled = ?, standing = ?, roles = ? WHERE scope = ?`),
		setActor:     k.Text(`UPDATE {authz_actors} SET ord = ?, name = ?, active = ?, roles = ?, overrides = ? WHERE scope = ? AND id = ?`),
		insertActor:  k.Text(`INSERT INTO {authz_actors} (scope, ` + actorColumns + `) VALUES (?, ` + marks(actorColumns) + `)`),
		deleteGrants: k.Text(`DELETE FROM {authz_grants} WHERE scope = ? AND actor = ?`),
		insertGrant:  k.Text(`INSERT INTO {authz_grants} (scope, ` + grantColumns + `) VALUES (?, ` + marks(grantColumns) + `)`),
	}
}

// marks returns a question mark for each column of a list.
func marks(columns string) string { return "?" + strings.Repeat(", ?", strings.Count(columns, ",")) }

// write changes the rows in which two states of a scope differ.
func (d *Directory) write(ctx context.Context, tx *sqlx.Tx, row *scopeRow, old, next *authz.Facts, attempt string) error {
	e := new(sqlkit.Encoder)
	set := encodeScope(e, next)
	run := func(query string, args ...any) error {
		if e.Err != nil {
			return fmt.Errorf("%w: %w", authz.ErrFacts, e.Err)
		}
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
	if err := run(d.sql.setScope, attempt, set.Ceiling, set.Disabled, set.Standing, set.Roles, row.Scope); err != nil {
		return err
	}
	before := map[authz.ID]int{}
	if old != nil {
		for i := range old.Actors {
			before[old.Actors[i].ID] = i
		}
	}
	for i := range next.Actors {
		a := &next.Actors[i]
		at, known := before[a.ID]
		if known && at == i && reflect.DeepEqual(&old.Actors[at], a) {
			continue
		}
		r := encodeActor(e, row.Scope, i, a)
		var err error
		if known {
			err = run(d.sql.setActor, r.Ord, r.Name, r.Active, r.Roles, r.Overrides, row.Scope, r.ID)
		} else {
			err = run(d.sql.insertActor, row.Scope, r.ID, r.Ord, r.Name, r.Kind, r.Active, r.Roles, r.Overrides, r.Identity)
		}
		if err == nil && known {
			err = run(d.sql.deleteGrants, row.Scope, r.ID)
		}
		for j := range a.Grants {
			if err == nil {
				g := encodeGrant(e, j, r.ID, &a.Grants[j])
				err = run(d.sql.insertGrant, row.Scope, g.Actor, g.Ord, g.Tool, g.Effect, g.StandingID, g.By, g.Since, g.Until, g.Uses, g.Below, g.Definition, g.AskOnly, g.Seal)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
