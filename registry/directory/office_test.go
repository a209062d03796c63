package directory_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// office is an application with the administrative actions, in two scopes with the same actors.
type office struct {
	people *authz.Memory
	book   *ledger.Memory
	keys   *token.Ring
	reg    *registry.Registry
	desk   *approval.Desk
	gate   *chattools.Gate
	clock  atomic.Int64 // seconds
	filed  atomic.Int64 // runs of file
}

var opened = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

type document struct {
	ID string `json:"id"`
}

func openOffice(t *testing.T) *office {
	t.Helper()
	key, err := token.NewKey("k1")
	require.NoError(t, err)
	keys, err := token.NewRing("test", key)
	require.NoError(t, err)
	o := &office{people: new(authz.Memory), book: new(ledger.Memory), keys: keys}
	for _, scope := range []authz.Scope{"east", "west"} {
		require.NoError(t, o.people.Set(scope, authz.Facts{
			Settings: authz.Settings{Ceiling: authz.Execute, Standing: true},
			Roles:    []authz.Role{{Name: "archivist", Permissions: []authz.Permission{"docs:file"}}},
			Actors: []authz.Actor{
				{ID: "olga", Name: "Olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
				{ID: "ed", Name: "Ed", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
				{ID: "vera", Name: "Vera", Kind: authz.Human, Active: true, Roles: []string{authz.Viewer}},
				{ID: "boss", Name: "Boss", Kind: authz.Model, Active: true, Roles: []string{authz.Owner}},
				{ID: "writer", Name: "Writer", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			},
		}))
	}
	tools := []*registry.Action{
		registry.Define("file", registry.Spec[document]{
			Description: "File.", Permission: "docs:file", Mode: authz.Execute,
			Target: registry.At(authz.MustPath("/docs"), func(d document) string { return d.ID }),
		}, func(context.Context, document) (string, error) { o.filed.Add(1); return "filed", nil }),
		registry.Define("burn", registry.Spec[document]{Description: "Burn.", Permission: "docs:burn", Mode: authz.Propose},
			func(context.Context, document) (string, error) { return "burnt", nil }),
	}
	roles := []authz.Role{{Name: "clerk", Permissions: []authz.Permission{"docs:file"}}}
	o.reg, err = registry.New(registry.Config{
		Actions: slices.Concat(tools, directory.Actions(directory.Config{Directory: o.people, Keys: keys, Tools: tools, Roles: roles})),
		Roles:   roles, Source: o.people, Ledger: o.book, Keys: keys,
		Now: func() time.Time { return opened.Add(time.Duration(o.clock.Load()) * time.Second) },
	})
	require.NoError(t, err)
	o.desk = approval.NewDesk(o.reg)
	o.gate = chattools.NewGate(o.desk)
	return o
}

func personSession(t *testing.T, id authz.ID) authz.Session {
	t.Helper()
	s, err := authz.NewPersonSession("east", authz.LoggedIn(id))
	require.NoError(t, err)
	return s
}

func modelSession(t *testing.T, id, person authz.ID) authz.Session {
	t.Helper()
	s, err := authz.NewSession("east", id, authz.For(authz.LoggedIn(person)))
	require.NoError(t, err)
	return s
}

// do lets a person perform an action.
func (o *office) do(t *testing.T, person authz.ID, action, params string) (registry.Result, error) {
	t.Helper()
	return o.reg.Invoke(t.Context(), registry.Call{Session: personSession(t, person), Action: action, Params: []byte(params)})
}

// must is do for what has to work.
func (o *office) must(t *testing.T, action, params string) {
	t.Helper()
	_, err := o.do(t, "olga", action, params)
	require.NoError(t, err, action)
}

func (o *office) call(t *testing.T, s authz.Session, name, params string) chattools.Answer {
	t.Helper()
	return o.gate.Call(t.Context(), s, chattools.Call{Name: name, Arguments: json.RawMessage(params)})
}

// facts returns the snapshot of a scope; the same pointer means that nothing was changed.
func (o *office) facts(t *testing.T, scope authz.Scope) *authz.Facts {
	t.Helper()
	f, err := o.people.Facts(t.Context(), scope, nil)
	require.NoError(t, err)
	return f
}

func (o *office) actor(t *testing.T, id authz.ID) authz.Actor {
	t.Helper()
	f := o.facts(t, "east")
	i := slices.IndexFunc(f.Actors, func(a authz.Actor) bool { return a.ID == id })
	require.GreaterOrEqual(t, i, 0, "actor %s", id)
	return f.Actors[i]
}

// edit changes the facts behind the actions' back.
func (o *office) edit(t *testing.T, change func(*authz.Facts)) {
	t.Helper()
	require.NoError(t, o.people.Edit(t.Context(), "east", func(f *authz.Facts) error { change(f); return nil }))
}

func (o *office) audit(t *testing.T, q ledger.AuditQuery) []ledger.Record {
	t.Helper()
	q.Scope, q.Limit = "east", 1<<20
	trail, err := o.book.Audit(t.Context(), q)
	require.NoError(t, err)
	return trail
}

// grantOf returns the id of the writer's standing grant.
func (o *office) grantOf(t *testing.T) string {
	t.Helper()
	for _, g := range o.actor(t, "writer").Grants {
		if g.Standing != nil {
			return g.Standing.ID
		}
	}
	require.Fail(t, "the writer has no standing grant")
	return ""
}
