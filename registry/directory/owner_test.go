package directory_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

const noOwnerLeft = "the scope would have no active human owner left"

// addOwner gives a scope a second active human owner.
func addOwner(t *testing.T, o *office) {
	o.edit(t, func(f *authz.Facts) {
		f.Actors = append(f.Actors, authz.Actor{ID: "otto", Kind: authz.Human, Active: true, Roles: []string{authz.Viewer, authz.Owner}})
	})
}

// Every way in which the directory's actions could leave a scope without anybody who administers it.
var abdications = []struct{ name, action, params string }{
	{"deactivated", "directory_set_active", `{"id":"olga","active":false}`},
	{"no role", "directory_set_roles", `{"id":"olga","roles":[]}`},
	{"another role", "directory_set_roles", `{"id":"olga","roles":["editor"]}`},
	{"everything denied", "directory_set_overrides", `{"id":"olga","overrides":[{"at":"/","effect":"deny","of":["*"]}]}`},
	{"everything denied somewhere", "directory_set_overrides", `{"id":"olga","overrides":[{"at":"/docs","effect":"deny","of":["docs:file","*"]}]}`},
	{"everything denied and allowed", "directory_set_overrides",
		`{"id":"olga","overrides":[{"at":"/","effect":"deny","of":["*"]},{"at":"/","effect":"allow","of":["*"]}]}`},
	{"a role that denies", "directory_set_roles", `{"id":"olga","roles":["owner","suspended"]}`},
}

func TestTheLastOwnerStays(t *testing.T) {
	suspended := func(f *authz.Facts) {
		f.Roles = append(f.Roles, authz.Role{Name: "suspended", Overrides: []authz.Override{
			{At: authz.Root(), Effect: authz.Deny, Of: []authz.Permission{"directory:roles"}},
		}})
	}
	for _, c := range abdications {
		t.Run(c.name, func(t *testing.T) {
			o := openOffice(t)
			o.edit(t, suspended)
			before := o.facts(t, "east")
			_, err := o.do(t, "olga", c.action, c.params)
			text, public := registry.PublicText(err)
			require.True(t, public, "%v", err)
			require.Equal(t, noOwnerLeft, text)
			require.Same(t, before, o.facts(t, "east"))

			// With another owner she may go; and then that one stays.
			addOwner(t, o)
			o.must(t, c.action, c.params)
			before = o.facts(t, "east")
			_, err = o.do(t, "otto", "directory_set_active", `{"id":"otto","active":false}`)
			text, _ = registry.PublicText(err)
			require.Equal(t, noOwnerLeft, text)
			require.Same(t, before, o.facts(t, "east"))
		})
	}
}

// An owner model, an owner who is not active and an owner who is barred are no owners who could be left.
func TestWhoIsNoOwnerToRelyOn(t *testing.T) {
	for name, spoil := range map[string]func(*authz.Actor){
		"inactive": func(a *authz.Actor) { a.Active = false },
		"barred": func(a *authz.Actor) {
			a.Overrides = []authz.Override{{At: authz.Root(), Of: []authz.Permission{authz.Every}}}
		},
		"editor": func(a *authz.Actor) { a.Roles = []string{authz.Editor} },
	} {
		o := openOffice(t)
		addOwner(t, o)
		o.edit(t, func(f *authz.Facts) { spoil(&f.Actors[5]) })
		_, err := o.do(t, "olga", "directory_set_active", `{"id":"olga","active":false}`)
		text, _ := registry.PublicText(err)
		require.Equal(t, noOwnerLeft, text, name)
	}
}

// What does not keep an owner from administering is no abdication.
func TestAnOwnerMayBeNarrowed(t *testing.T) {
	o := openOffice(t)
	o.must(t, "directory_set_overrides", `{"id":"olga","overrides":[{"at":"/docs","effect":"deny","of":["docs:file"]},{"at":"/","effect":"allow","of":["*"]}]}`)
	o.must(t, "directory_set_roles", `{"id":"olga","roles":["owner","archivist"]}`)
	o.must(t, "directory_set_active", `{"id":"olga","active":true}`)
}

func TestTwoOwnersCannotBothGo(t *testing.T) {
	for range 20 {
		o := openOffice(t)
		addOwner(t, o)
		var done sync.WaitGroup
		errs := make([]error, 2)
		done.Go(func() { _, errs[0] = o.do(t, "olga", "directory_set_active", `{"id":"otto","active":false}`) })
		done.Go(func() { _, errs[1] = o.do(t, "otto", "directory_set_roles", `{"id":"olga","roles":[]}`) })
		done.Wait()
		require.True(t, (errs[0] == nil) != (errs[1] == nil), "%v, %v", errs[0], errs[1])
		require.True(t, o.actor(t, "olga").Active)
		owners := 0
		for _, a := range o.facts(t, "east").Actors {
			if a.Kind == authz.Human && a.Active && len(a.Roles) > 0 && a.Roles[len(a.Roles)-1] == authz.Owner {
				owners++
			}
		}
		require.Equal(t, 1, owners)
	}
}

// A scope that has no owner, say while a host sets it up, is not stuck for that reason.
func TestAScopeThatNeverHadAnOwner(t *testing.T) {
	o := openOffice(t)
	o.edit(t, func(f *authz.Facts) {
		f.Roles = append(f.Roles, authz.Role{Name: "steward", Permissions: []authz.Permission{"directory:edit"}})
		f.Actors[0].Roles = []string{"steward"}
	})
	o.must(t, "directory_set_active", `{"id":"ed","active":false}`)
}

func TestKindAndIDAreForEver(t *testing.T) {
	o := openOffice(t)
	kinds := map[authz.ID]authz.Kind{}
	for _, a := range o.facts(t, "east").Actors {
		kinds[a.ID] = a.Kind
	}
	addOwner(t, o)
	for _, c := range changes {
		_, err := o.do(t, "otto", c.action, c.with(t, o))
		require.True(t, err == nil || c.action == "directory_give_standing", "%s: %v", c.action, err)
		for _, a := range o.facts(t, "east").Actors {
			if kind, old := kinds[a.ID]; old {
				require.Equal(t, kind, a.Kind, "%s after %s", a.ID, c.action)
			}
		}
	}
	require.GreaterOrEqual(t, len(o.facts(t, "east").Actors), len(kinds))

	// An id that is deactivated is still taken.
	o.must(t, "directory_set_active", `{"id":"writer","active":false}`)
	_, err := o.do(t, "olga", "directory_create_model", `{"id":"writer","name":"again","roles":["editor"]}`)
	text, _ := registry.PublicText(err)
	require.Equal(t, "the id is taken", text)
}
