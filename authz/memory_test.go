package authz_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// directory returns a memory with a scope that uses every field.
func directory(t testing.TB) *authz.Memory {
	t.Helper()
	m := new(authz.Memory)
	require.NoError(t, m.Set("shop", directoryFacts()))
	return m
}

func directoryFacts() authz.Facts {
	overrides := func() []authz.Override {
		return []authz.Override{{At: authz.MustPath("/users"), Effect: authz.Deny, Of: []authz.Permission{"refunds:edit"}}}
	}
	return authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose, Disabled: []string{"set_role"}},
		Roles:    []authz.Role{{Name: "clerk", Permissions: []authz.Permission{"refunds:edit"}, Overrides: overrides()}},
		Actors: []authz.Actor{
			{ID: "olga", Name: "Olga", Kind: authz.Human, Active: true, Roles: []string{"clerk"}, Overrides: overrides()},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{{Tool: "refund", Effect: authz.Allow}}},
		},
	}
}

func factsOf(t testing.TB, m *authz.Memory) *authz.Facts {
	t.Helper()
	f, err := m.Facts(t.Context(), "shop", nil)
	require.NoError(t, err)
	return f
}

func TestMemoryZero(t *testing.T) {
	m := new(authz.Memory)
	for _, scope := range []authz.Scope{"", "shop"} {
		f, err := m.Facts(t.Context(), scope, []authz.ID{"olga"})
		require.ErrorIs(t, err, authz.ErrUnknownScope)
		require.Nil(t, f)
	}
	require.ErrorIs(t, m.Set("", authz.Facts{}), authz.ErrUnknownScope)
	require.ErrorIs(t, m.Edit(t.Context(), "", func(*authz.Facts) error { t.Error("called"); return nil }), authz.ErrUnknownScope)
	require.NoError(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error {
		require.Equal(t, authz.Facts{}, *f, "a new scope is empty")
		return nil
	}))
	require.NotNil(t, factsOf(t, m))
	_, err := m.Facts(t.Context(), "Shop", nil)
	require.ErrorIs(t, err, authz.ErrUnknownScope)
}

// TestMemoryValidates: each fault is refused and changes nothing; all of them are named at once.
func TestMemoryValidates(t *testing.T) {
	every := []authz.Permission{authz.Every}
	tests := []struct {
		name string
		edit func(*authz.Facts)
	}{
		{"unknown ceiling", func(f *authz.Facts) { f.Settings.Ceiling = 4 }},
		{"role without a name", func(f *authz.Facts) { f.Roles[0].Name = "" }},
		{"role named as a shipped one", func(f *authz.Facts) { f.Roles[0].Name = authz.Owner }},
		{"role twice", func(f *authz.Facts) { f.Roles = append(f.Roles, f.Roles[0]) }},
		{"role of an unnamed permission", func(f *authz.Facts) { f.Roles[0].Permissions[0] = "" }},
		{"role of every permission", func(f *authz.Facts) { f.Roles[0].Permissions = every }},
		{"role override without a path", func(f *authz.Facts) { f.Roles[0].Overrides[0].At = authz.Path{} }},
		{"override without a path", func(f *authz.Facts) { f.Actors[0].Overrides[0].At = authz.Path{} }},
		{"override of nothing", func(f *authz.Facts) { f.Actors[0].Overrides[0].Of = nil }},
		{"override of an unnamed permission", func(f *authz.Facts) { f.Actors[0].Overrides[0].Of[0] = "" }},
		{"override of an unknown effect", func(f *authz.Facts) { f.Actors[0].Overrides[0].Effect = 2 }},
		{"actor without an id", func(f *authz.Facts) { f.Actors = append(f.Actors, authz.Actor{Kind: authz.Human}) }},
		{"actor without a kind", func(f *authz.Facts) { f.Actors = append(f.Actors, authz.Actor{ID: "new"}) }},
		{"actor of an unknown kind", func(f *authz.Facts) { f.Actors = append(f.Actors, authz.Actor{ID: "new", Kind: 3}) }},
		{"actor twice", func(f *authz.Facts) { f.Actors = append(f.Actors, f.Actors[0]) }},
		{"actor with an unnamed role", func(f *authz.Facts) { f.Actors[0].Roles = []string{""} }},
		{"a person with a grant", func(f *authz.Facts) { f.Actors[0].Grants = []authz.Grant{{Tool: "refund"}} }},
		{"grant of no tool", func(f *authz.Facts) { f.Actors[1].Grants[0].Tool = "" }},
		{"grant of an unknown effect", func(f *authz.Facts) { f.Actors[1].Grants[0].Effect = 2 }},
		{"an actor changes its kind", func(f *authz.Facts) { f.Actors[0].Kind = authz.Model }},
		{"an actor goes away", func(f *authz.Facts) { f.Actors = f.Actors[1:] }},
		{"an actor is renamed", func(f *authz.Facts) { f.Actors[1].ID = "other" }},
		{"all actors go away", func(f *authz.Facts) { *f = authz.Facts{} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := directory(t)
			before := factsOf(t, m)
			err := m.Edit(t.Context(), "shop", func(f *authz.Facts) error { tt.edit(f); return nil })
			require.ErrorIs(t, err, authz.ErrFacts)
			require.Same(t, before, factsOf(t, m))
			require.Equal(t, directoryFacts(), *before)
		})
	}
	err := new(authz.Memory).Set("shop", authz.Facts{Settings: authz.Settings{Ceiling: 9}, Roles: []authz.Role{{}}, Actors: []authz.Actor{{}}})
	require.ErrorIs(t, err, authz.ErrFacts)
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "every fault is listed: %v", err)
}

// TestMemoryIsAtomic: an edit that fails in whatever way leaves no trace, and the next one works.
func TestMemoryIsAtomic(t *testing.T) {
	m := directory(t)
	before := factsOf(t, m)
	spoil := func(f *authz.Facts) {
		f.Settings.Disabled[0] = "find_orders"
		f.Actors[0].Active = false
		f.Actors[0].Overrides[0].Of[0] = authz.Every
		f.Actors[1].Grants[0].Effect = authz.Deny
		f.Roles[0].Permissions[0] = "orders:read"
		f.Roles[0].Overrides[0].Effect = authz.Allow
		f.Actors[0].Roles[0] = authz.Owner
	}
	mine := errors.New("mine")
	require.ErrorIs(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error { spoil(f); return mine }), mine)
	require.Panics(t, func() {
		_ = m.Edit(t.Context(), "shop", func(f *authz.Facts) error { spoil(f); panic("mine") })
	})
	require.ErrorIs(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error {
		spoil(f)
		f.Actors[1].Kind = authz.Human
		return nil
	}), authz.ErrFacts)
	require.Same(t, before, factsOf(t, m))
	require.Equal(t, directoryFacts(), *before)

	require.ErrorIs(t, m.Edit(t.Context(), "new", func(*authz.Facts) error { return mine }), mine)
	_, err := m.Facts(t.Context(), "new", nil)
	require.ErrorIs(t, err, authz.ErrUnknownScope, "a failed edit makes no scope")

	require.NoError(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error { spoil(f); return nil }))
	require.Equal(t, directoryFacts(), *before, "a published snapshot is never written")
	after := factsOf(t, m)
	require.NotSame(t, before, after)
	require.False(t, after.Actors[0].Active)
}

// TestMemoryCopies: neither what was given in nor what an edit kept can change the directory.
func TestMemoryCopies(t *testing.T) {
	m, given := new(authz.Memory), directoryFacts()
	require.NoError(t, m.Set("shop", given))
	change := func(f *authz.Facts) {
		f.Settings.Disabled[0] = "changed"
		f.Roles[0].Permissions[0], f.Roles[0].Overrides[0].Of[0] = "changed", "changed"
		f.Actors[0].ID, f.Actors[0].Roles[0], f.Actors[0].Overrides[0].Of[0] = "changed", "changed", "changed"
		f.Actors[1].Grants[0].Tool = "changed"
	}
	change(&given)
	require.Equal(t, directoryFacts(), *factsOf(t, m))

	var kept *authz.Facts
	require.NoError(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error { kept = f; return nil }))
	change(kept)
	require.Equal(t, directoryFacts(), *factsOf(t, m))
	require.Same(t, factsOf(t, m), factsOf(t, m), "nothing changed, and the pointer says so")
}

func TestMemoryScopesAreApart(t *testing.T) {
	m := directory(t)
	require.NoError(t, m.Set("mall", authz.Facts{Actors: []authz.Actor{{ID: "olga", Kind: authz.Model}}}))
	require.Equal(t, directoryFacts(), *factsOf(t, m))
	mall, err := m.Facts(t.Context(), "mall", nil)
	require.NoError(t, err)
	require.Len(t, mall.Actors, 1)
}

// TestMemoryRevokes: what was taken away is refused by the next view, at once.
func TestMemoryRevokes(t *testing.T) {
	m := directory(t)
	p := newPolicy(t, m)
	s := modelSession(t)
	at := []authz.Path{authz.Root()}
	before := viewOf(t, p, s.Actors()...)
	require.True(t, before.Check(s, refund, at, authz.ToAsk).Allowed)
	require.Equal(t, []int{findOrders, refund}, before.AppendTools(nil, s))

	require.NoError(t, m.Edit(context.Background(), "shop", func(f *authz.Facts) error {
		i := slices.IndexFunc(f.Actors, func(a authz.Actor) bool { return a.ID == "assistant" })
		f.Actors[i].Roles = nil
		return nil
	}))
	after := viewOf(t, p, s.Actors()...)
	require.Equal(t, authz.ReasonNoPermission, after.Check(s, refund, at, authz.ToAsk).Reason)
	require.Empty(t, after.AppendTools(nil, s))
	require.True(t, before.Check(s, refund, at, authz.ToAsk).Allowed, "the older view is of the older facts")
}
