package main

import (
	"context"

	"github.com/sallyport-dev/sallyport/authz"
)

// Facts is all that the library has to write to let models in: its own rows as facts, of everybody who is
// asked about, from one snapshot. Here a lock makes the snapshot; with a database it is one transaction.
func (t *tables) Facts(_ context.Context, in authz.Scope, _ []authz.ID) (*authz.Facts, error) {
	if in != scope {
		return nil, authz.ErrUnknownScope
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute, Standing: true}}
	for _, row := range t.accounts {
		a := authz.Actor{ID: authz.ID(row.id), Name: row.name, Kind: authz.Human, Active: !row.disabled, Roles: []string{row.role}}
		if row.model {
			a.Kind = authz.Model
		}
		for _, s := range t.shares {
			if s.account != row.id {
				continue
			}
			at, err := authz.ParsePath(s.collection)
			if err != nil {
				return nil, err
			}
			effect := authz.Deny
			if s.allowed {
				effect = authz.Allow
			}
			a.Overrides = append(a.Overrides, authz.Override{At: at, Effect: effect, Of: s.what})
		}
		for _, g := range t.grants {
			if g.model == row.id {
				standing := g.Standing
				a.Grants = append(a.Grants, authz.Grant{Tool: g.tool, Effect: authz.Allow, Standing: &standing})
			}
		}
		f.Actors = append(f.Actors, a)
	}
	return f, nil
}
