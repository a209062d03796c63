// Package authztest tests directories of package authz.
//
// [TestDirectory] is the contract of [authz.Directory], and of the [authz.Source] in it, as a suite: run it
// against a directory of your own.
package authztest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// TestDirectory runs the contract of [authz.Directory], one subtest for each clause. open returns an empty
// directory that nothing else uses.
//
//	func TestDirectory(t *testing.T) {
//		authztest.TestDirectory(t, func(t *testing.T) authz.Directory { return openDirectory(t) })
//	}
func TestDirectory(t *testing.T, open func(t *testing.T) authz.Directory) {
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

// tb is what a clause needs of a *testing.T. The tests of the suite put a recorder in its place.
type tb interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// clauses are the sentences of the contract.
var clauses = []struct {
	name  string
	check func(tb, authz.Directory)
}{
	{"an unknown scope is an error", unknownScope},
	{"every field is kept", keepsEverything},
	{"asked for nobody it returns everybody", listsEverybody},
	{"Edit gets what is there", editsWhatIsThere},
	{"an error of edit changes nothing", keepsOnError},
	{"facts that are not valid change nothing", keepsOnInvalid},
	{"an actor keeps its kind and stays", keepsActors},
	{"a snapshot never changes", snapshotsStay},
	{"the same pointer means the same facts", pointersMeanEquality},
	{"scopes are apart", scopesApart},
	{"actors that are asked for come from one snapshot", oneSnapshot},
	{"edits come one after another", editsInOrder},
	{"a context that has ended prevents the edit", obeysContext},
}

const (
	here  authz.Scope = "here"
	there authz.Scope = "there"
)

var everybody = []authz.ID{"olga", "assistant"}

// Full returns facts in which every field is set.
func Full() authz.Facts {
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	return authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute, Disabled: []string{"drop_table", "send_mail"}, Standing: true},
		Roles: []authz.Role{{Name: "clerk", Permissions: []authz.Permission{"orders:read", "orders:edit"}, Overrides: []authz.Override{
			{At: authz.MustPath("/orders/secret"), Effect: authz.Deny, Of: []authz.Permission{authz.Every}},
		}}},
		Actors: []authz.Actor{
			{ID: "olga", Name: "Olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner, "clerk"}, Overrides: []authz.Override{
				{At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{"orders:read"}},
				{At: authz.MustPath("/orders/ä#1"), Effect: authz.Deny, Of: []authz.Permission{"orders:edit", "orders:read"}},
			}},
			{ID: "assistant", Name: "The assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{
				{Tool: "drop_table", Effect: authz.Deny},
				{Tool: "add_note", Effect: authz.Allow, Standing: &authz.Standing{
					ID: "grant-1", By: "olga", Since: at, Until: at.Add(time.Hour), Uses: 3, Below: authz.MustPath("/orders"),
					Definition: "definition-1", AskOnly: true, Seal: "k1.seal",
				}},
			}},
			{ID: "gone", Name: "Gone", Kind: authz.Human},
		},
	}
}

func set(t tb, d authz.Directory, scope authz.Scope, f authz.Facts) {
	t.Helper()
	require.NoError(t, d.Edit(t.Context(), scope, func(to *authz.Facts) error { *to = f; return nil }), "Edit")
}

func facts(t tb, d authz.Directory, scope authz.Scope, ids ...authz.ID) *authz.Facts {
	t.Helper()
	f, err := d.Facts(t.Context(), scope, ids)
	require.NoError(t, err, "Facts")
	require.NotNil(t, f, "Facts without an error")
	return f
}

func actor(f *authz.Facts, id authz.ID) *authz.Actor {
	for i := range f.Actors {
		if f.Actors[i].ID == id {
			return &f.Actors[i]
		}
	}
	return nil
}

func unknownScope(t tb, d authz.Directory) {
	set(t, d, here, Full())
	for _, scope := range []authz.Scope{there, "", "HERE", "here "} {
		_, err := d.Facts(t.Context(), scope, everybody)
		require.ErrorIs(t, err, authz.ErrUnknownScope, "facts of scope %q", scope)
	}
	require.Error(t, d.Edit(t.Context(), "", func(*authz.Facts) error { return nil }), "a scope has a name")
}

func keepsEverything(t tb, d authz.Directory) {
	set(t, d, here, Full())
	want := Full()
	got := facts(t, d, here, "olga", "assistant", "gone", "nobody")
	require.Equal(t, want.Settings, got.Settings, "settings")
	require.Equal(t, want.Roles, got.Roles, "roles")
	for _, a := range want.Actors {
		require.Equal(t, &a, actor(got, a.ID), "actor %s", a.ID)
	}
	require.Nil(t, actor(got, "nobody"), "who is unknown is left out")
	bare := authz.Actor{ID: "bare", Kind: authz.Model, Grants: []authz.Grant{{Tool: "x", Effect: authz.Allow, Standing: &authz.Standing{ID: "grant-1"}}}}
	set(t, d, there, authz.Facts{Actors: []authz.Actor{bare}})
	require.Equal(t, &bare, actor(facts(t, d, there, "bare"), "bare"), "fields that are not set")
	allSet(t, reflect.ValueOf(want), "Facts")
}

// allSet makes sure that the suite sets a field that is added later, somewhere.
func allSet(t tb, v reflect.Value, path string) {
	t.Helper()
	for i := range v.NumField() {
		f, name := v.Field(i), path+"."+v.Type().Field(i).Name
		require.True(t, f.Kind() == reflect.Bool || !f.IsZero(), "the suite never sets %s", name)
	}
}

func listsEverybody(t tb, d authz.Directory) {
	set(t, d, here, Full())
	require.Len(t, facts(t, d, here).Actors, 3, "every actor of the scope")
}

func editsWhatIsThere(t tb, d authz.Directory) {
	set(t, d, here, Full())
	require.NoError(t, d.Edit(t.Context(), here, func(f *authz.Facts) error {
		require.Equal(t, Full().Settings, f.Settings, "edit gets the settings that are there")
		require.Len(t, f.Actors, 3, "edit gets every actor")
		f.Settings.Ceiling = authz.Propose
		actor(f, "assistant").Active = false
		return nil
	}))
	got := facts(t, d, here, everybody...)
	require.Equal(t, authz.Propose, got.Settings.Ceiling)
	require.False(t, actor(got, "assistant").Active)
	require.True(t, actor(got, "olga").Active, "what was not changed stays")
}

func keepsOnError(t tb, d authz.Directory) {
	set(t, d, here, Full())
	no := errors.New("no")
	err := d.Edit(t.Context(), here, func(f *authz.Facts) error {
		f.Settings.Ceiling = authz.Read
		actor(f, "olga").Roles[0] = authz.Viewer
		return no
	})
	require.ErrorIs(t, err, no)
	got := facts(t, d, here, everybody...)
	require.Equal(t, Full().Settings, got.Settings)
	require.Equal(t, &Full().Actors[0], actor(got, "olga"))
	require.ErrorIs(t, d.Edit(t.Context(), there, func(*authz.Facts) error { return no }), no)
	_, err = d.Facts(t.Context(), there, everybody)
	require.ErrorIs(t, err, authz.ErrUnknownScope, "an edit that failed creates no scope")
}

func keepsOnInvalid(t tb, d authz.Directory) {
	set(t, d, here, Full())
	for name, edit := range map[string]func(*authz.Facts){
		"an unknown ceiling":        func(f *authz.Facts) { f.Settings.Ceiling = 9 },
		"an actor without an id":    func(f *authz.Facts) { f.Actors = append(f.Actors, authz.Actor{Kind: authz.Human}) },
		"an actor without a kind":   func(f *authz.Facts) { f.Actors = append(f.Actors, authz.Actor{ID: "x"}) },
		"an id twice":               func(f *authz.Facts) { f.Actors = append(f.Actors, f.Actors[0]) },
		"an override without path":  func(f *authz.Facts) { f.Actors[0].Overrides[0].At = authz.Path{} },
		"an override of nothing":    func(f *authz.Facts) { f.Actors[0].Overrides[0].Of = nil },
		"an empty role":             func(f *authz.Facts) { f.Actors[0].Roles = []string{""} },
		"a role named as a shipped": func(f *authz.Facts) { f.Roles[0].Name = authz.Owner },
		"a role of everything":      func(f *authz.Facts) { f.Roles[0].Permissions = []authz.Permission{authz.Every} },
		"a grant without a tool":    func(f *authz.Facts) { actor(f, "assistant").Grants[0].Tool = "" },
		"a grant to a human":        func(f *authz.Facts) { f.Actors[0].Grants = []authz.Grant{{Tool: "x"}} },
		"a standing deny":           func(f *authz.Facts) { actor(f, "assistant").Grants[1].Effect = authz.Deny },
	} {
		err := d.Edit(t.Context(), here, func(f *authz.Facts) error { edit(f); return nil })
		require.ErrorIs(t, err, authz.ErrFacts, name)
		got := facts(t, d, here, everybody...)
		require.Equal(t, &Full().Actors[0], actor(got, "olga"), name)
		require.Equal(t, &Full().Actors[1], actor(got, "assistant"), name)
	}
}

func keepsActors(t tb, d authz.Directory) {
	set(t, d, here, Full())
	for name, edit := range map[string]func(*authz.Facts){
		"an actor changes its kind": func(f *authz.Facts) { actor(f, "gone").Kind = authz.Model },
		"an actor goes away":        func(f *authz.Facts) { f.Actors = f.Actors[1:] },
	} {
		require.ErrorIs(t, d.Edit(t.Context(), here, func(f *authz.Facts) error { edit(f); return nil }), authz.ErrFacts, name)
	}
	require.Equal(t, authz.Human, actor(facts(t, d, here, "olga", "gone"), "gone").Kind)
}

func snapshotsStay(t tb, d authz.Directory) {
	input := Full()
	var kept *authz.Facts
	require.NoError(t, d.Edit(t.Context(), here, func(f *authz.Facts) error { *f = input; kept = f; return nil }))
	before := facts(t, d, here, everybody...)
	scribble := func(f *authz.Facts) {
		f.Settings.Disabled[0] = "scribbled"
		f.Actors[0].Roles[0] = "scribbled"
		f.Actors[0].Overrides[0].Of[0] = "scribbled"
		f.Roles[0].Permissions[0] = "scribbled"
		f.Actors[1].Grants[1].Standing.By = "scribbled"
	}
	scribble(&input)
	scribble(kept)
	require.Equal(t, &Full().Actors[0], actor(facts(t, d, here, everybody...), "olga"), "what was passed in is not kept")
	require.NoError(t, d.Edit(t.Context(), here, func(f *authz.Facts) error {
		f.Settings.Disabled[0], f.Actors[0].Roles[0] = "later", authz.Viewer
		actor(f, "assistant").Grants[1].Standing.By = "later"
		return nil
	}))
	require.Equal(t, Full().Settings, before.Settings, "a snapshot taken before stays as it was")
	require.Equal(t, &Full().Actors[0], actor(before, "olga"))
	require.Equal(t, &Full().Actors[1], actor(before, "assistant"))
}

func pointersMeanEquality(t tb, d authz.Directory) {
	set(t, d, here, Full())
	before := facts(t, d, here, everybody...)
	require.NoError(t, d.Edit(t.Context(), here, func(f *authz.Facts) error { f.Settings.Standing = false; return nil }))
	after := facts(t, d, here, everybody...)
	require.NotSame(t, before, after, "other facts have another pointer")
	require.True(t, before.Settings.Standing)
	require.False(t, after.Settings.Standing)
}

func scopesApart(t tb, d authz.Directory) {
	set(t, d, here, Full())
	other := authz.Facts{Actors: []authz.Actor{{ID: "olga", Name: "Another Olga", Kind: authz.Model, Active: true}}}
	set(t, d, there, other)
	require.Equal(t, &other.Actors[0], actor(facts(t, d, there, everybody...), "olga"))
	require.Nil(t, actor(facts(t, d, there, everybody...), "assistant"), "another scope's actor is unknown")
	require.Equal(t, &Full().Actors[0], actor(facts(t, d, here, everybody...), "olga"))
}

// oneSnapshot flips two actors together while it reads: whoever reads them apart sees them differ.
func oneSnapshot(t tb, d authz.Directory) {
	set(t, d, here, Full())
	var wg sync.WaitGroup
	var failed error
	read := make(chan struct{})
	wg.Go(func() {
		for i := 0; failed == nil; i++ {
			failed = d.Edit(t.Context(), here, func(f *authz.Facts) error {
				role := fmt.Sprint("role-", i)
				actor(f, "olga").Roles, actor(f, "assistant").Roles = []string{role}, []string{role}
				return nil
			})
			select {
			case <-read:
				return
			default:
			}
		}
	})
	mixed := 0
	for range 200 {
		f := facts(t, d, here, everybody...)
		olga, assistant := actor(f, "olga"), actor(f, "assistant")
		if len(olga.Roles) == 1 && !reflect.DeepEqual(olga.Roles, assistant.Roles) { // two before the first flip
			mixed++
		}
	}
	close(read)
	wg.Wait()
	require.NoError(t, failed)
	require.Zero(t, mixed, "facts of two actors from two snapshots")
}

func editsInOrder(t tb, d authz.Directory) {
	set(t, d, here, Full())
	const n = 16
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			errs[i] = d.Edit(t.Context(), here, func(f *authz.Facts) error {
				f.Settings.Disabled = append(f.Settings.Disabled, fmt.Sprint("tool-", i))
				return nil
			})
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Len(t, facts(t, d, here, everybody...).Settings.Disabled, 2+n, "no edit is lost")
}

func obeysContext(t tb, d authz.Directory) {
	set(t, d, here, Full())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := d.Edit(ctx, here, func(f *authz.Facts) error { f.Settings.Standing = false; return nil })
	require.Error(t, err)
	require.True(t, facts(t, d, here, everybody...).Settings.Standing)
}
