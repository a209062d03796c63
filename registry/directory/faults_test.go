package directory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// What is wrong with the parameters of an action: text is public, without one the schema refuses them.
var faults = []struct{ name, action, params, text string }{
	{"id taken by a model", "directory_create_model", `{"id":"writer","name":"x","roles":["viewer"]}`, "the id is taken"},
	{"id taken by a person", "directory_create_model", `{"id":"ed","name":"x","roles":["viewer"]}`, "the id is taken"},
	{"no id", "directory_create_model", `{"id":"","name":"x","roles":["viewer"]}`, ""},
	{"no name", "directory_create_model", `{"id":"new","name":"","roles":["viewer"]}`, ""},
	{"no role", "directory_create_model", `{"id":"new","name":"x","roles":[]}`, ""},
	{"unknown role", "directory_create_model", `{"id":"new","name":"x","roles":["viewer","emperor"]}`, `there is no role "emperor"`},
	{"a kind", "directory_create_model", `{"id":"new","name":"x","roles":["viewer"],"kind":"human"}`, ""},
	{"a scope", "directory_create_model", `{"id":"new","name":"x","roles":["viewer"],"scope":"west"}`, ""},
	{"unknown actor", "directory_rename_actor", `{"id":"x","name":"x"}`, "there is no such actor in this scope"},
	{"empty name", "directory_rename_actor", `{"id":"ed","name":""}`, ""},
	{"unknown actor", "directory_set_active", `{"id":"x","active":true}`, "there is no such actor in this scope"},
	{"activity that is no boolean", "directory_set_active", `{"id":"ed","active":"no"}`, ""},
	{"unknown actor", "directory_set_roles", `{"id":"x","roles":[]}`, "there is no such actor in this scope"},
	{"unknown role", "directory_set_roles", `{"id":"ed","roles":["emperor"]}`, `there is no role "emperor"`},
	{"role without a name", "directory_set_roles", `{"id":"ed","roles":[""]}`, `there is no role ""`},
	{"unknown actor", "directory_set_overrides", `{"id":"x","overrides":[]}`, "there is no such actor in this scope"},
	{"unknown permission", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"/","effect":"deny","of":["docs:eat"]}]}`, `no tool has the permission "docs:eat"`},
	{"administrative permission", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"/","effect":"allow","of":["directory:roles"]}]}`, `no tool has the permission "directory:roles"`},
	{"path that is none", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"docs","effect":"deny","of":["*"]}]}`, "authz: not a canonical path: it does not start with a slash"},
	{"path with dots", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"/docs/..","effect":"deny","of":["*"]}]}`, "authz: not a canonical path: segment 1 is a dot segment"},
	{"empty path", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"","effect":"deny","of":["*"]}]}`, ""},
	{"unknown effect", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"/","effect":"maybe","of":["*"]}]}`, ""},
	{"no permission", "directory_set_overrides", `{"id":"ed","overrides":[{"at":"/","effect":"deny","of":[]}]}`, ""},
	{"unknown actor", "directory_set_grant", `{"model":"x","tool":"file","effect":"deny"}`, "there is no such actor in this scope"},
	{"grant to a person", "directory_set_grant", `{"model":"ed","tool":"file","effect":"deny"}`, "this actor is no model"},
	{"N4: unknown tool", "directory_set_grant", `{"model":"writer","tool":"x","effect":"allow"}`, "there is no such tool"},
	{"the registry's own permission as a tool", "directory_set_grant", `{"model":"boss","tool":"proposals:read","effect":"allow"}`, "there is no such tool"},
	{"unknown effect", "directory_set_grant", `{"model":"writer","tool":"file","effect":"ask"}`, ""},
	{"unknown actor", "directory_give_standing", `{"model":"x","tool":"file","hours":1,"uses":0,"below":"/","ask_only":false}`, "there is no such actor in this scope"},
	{"standing grant to a person", "directory_give_standing", `{"model":"ed","tool":"file","hours":1,"uses":0,"below":"/","ask_only":false}`, "this actor is no model"},
	{"unknown tool", "directory_give_standing", `{"model":"writer","tool":"x","hours":1,"uses":0,"below":"/","ask_only":false}`, "there is no such tool"},
	{"tool of mode propose", "directory_give_standing", `{"model":"writer","tool":"burn","hours":1,"uses":0,"below":"/","ask_only":false}`, "only a tool of mode execute can be approved in advance"},
	{"administrative tool", "directory_give_standing", `{"model":"boss","tool":"directory_set_roles","hours":1,"uses":0,"below":"/","ask_only":false}`, "there is no such tool"},
	{"path that is none", "directory_give_standing", `{"model":"writer","tool":"file","hours":1,"uses":0,"below":"/docs/","ask_only":false}`, "authz: not a canonical path: segment 1 is empty"},
	{"no hours", "directory_give_standing", `{"model":"writer","tool":"file","hours":0,"uses":0,"below":"/","ask_only":false}`, ""},
	{"too many hours", "directory_give_standing", `{"model":"writer","tool":"file","hours":721,"uses":0,"below":"/","ask_only":false}`, ""},
	{"negative uses", "directory_give_standing", `{"model":"writer","tool":"file","hours":1,"uses":-1,"below":"/","ask_only":false}`, ""},
	{"a giver", "directory_give_standing", `{"model":"writer","tool":"file","hours":1,"uses":0,"below":"/","ask_only":false,"by":"ed"}`, ""},
	{"unknown actor", "directory_revoke_standing", `{"model":"x","grant":"g"}`, "there is no such actor in this scope"},
	{"unknown grant", "directory_revoke_standing", `{"model":"writer","grant":"g"}`, "the model has no such standing grant"},
	{"unknown ceiling", "directory_set_ceiling", `{"ceiling":"sky"}`, ""},
	{"unknown tool", "directory_disable_tool", `{"tool":"x","disabled":true}`, "there is no such tool"},
	{"administrative tool", "directory_disable_tool", `{"tool":"directory_list","disabled":true}`, "there is no such tool"},
	{"neither on nor off", "directory_switch_standing", `{}`, ""},
}

func TestFaultsAreRefusedAndChangeNothing(t *testing.T) {
	o := openOffice(t)
	before := o.facts(t, "east")
	for _, c := range faults {
		t.Run(c.action+", "+c.name, func(t *testing.T) {
			_, err := o.do(t, "olga", c.action, c.params)
			if c.text == "" {
				require.Equal(t, ledger.Invalid, registry.CodeOf(err), "%v", err)
			} else {
				require.Equal(t, ledger.RunFailed, registry.CodeOf(err), "%v", err)
				text, public := registry.PublicText(err)
				require.True(t, public, "%v", err)
				require.Equal(t, c.text, text)
			}
			require.Same(t, before, o.facts(t, "east"))
		})
	}
}

// broken is a directory that fails, or keeps less than the one in memory.
type broken struct {
	*authz.Memory
	err error
}

func (b broken) Edit(context.Context, authz.Scope, func(*authz.Facts) error) error { return b.err }

func (b broken) Facts(ctx context.Context, s authz.Scope, ids []authz.ID) (*authz.Facts, error) {
	if ids == nil { // the list; decisions go on
		return nil, b.err
	}
	return b.Memory.Facts(ctx, s, ids)
}

func TestADirectoryThatFails(t *testing.T) {
	private := errors.New("dial tcp 10.0.0.7: refused")
	for _, c := range []struct {
		err    error
		public bool
	}{{private, false}, {authz.ErrFacts, true}} {
		o := openOffice(t)
		people := broken{o.people, c.err}
		reg, err := registry.New(registry.Config{
			Actions: directory.Actions(directory.Config{Directory: people, Keys: o.keys}), Source: people, Ledger: o.book, Keys: o.keys,
		})
		require.NoError(t, err)
		for action, params := range map[string]string{"directory_set_active": `{"id":"ed","active":false}`, "directory_list": `{}`} {
			_, err = reg.Invoke(t.Context(), registry.Call{Session: personSession(t, "olga"), Action: action, Params: []byte(params)})
			require.Equal(t, ledger.RunFailed, registry.CodeOf(err))
			text, public := registry.PublicText(err)
			require.Equal(t, c.public && action != "directory_list", public, "%s: %q", action, text)
		}
	}
}

// A grant that cannot be sealed is not given.
func TestWithoutKeysNoStandingGrantIsGiven(t *testing.T) {
	o := openOffice(t)
	file := o.reg.Lookup("file")
	tools := []*registry.Action{file}
	reg, err := registry.New(registry.Config{
		Actions: append(directory.Actions(directory.Config{Directory: o.people, Tools: tools}), file),
		Source:  o.people, Ledger: o.book, Keys: o.keys,
	})
	require.NoError(t, err)
	before := o.facts(t, "east")
	_, err = reg.Invoke(t.Context(), registry.Call{Session: personSession(t, "olga"), Action: "directory_give_standing", Params: []byte(giveWriter)})
	require.ErrorIs(t, err, authz.ErrStanding)
	require.Same(t, before, o.facts(t, "east"))
}
