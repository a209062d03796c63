package directory_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// change is one administrative change and how to see that it took effect.
type change struct {
	action, params string
	prepare        func(t *testing.T, o *office) // before it
	params2        func(t *testing.T, o *office) string
	check          func(t *testing.T, o *office)
}

func (c change) with(t *testing.T, o *office) string {
	if c.prepare != nil {
		c.prepare(t, o)
	}
	if c.params2 != nil {
		return c.params2(t, o)
	}
	return c.params
}

const giveWriter = `{"model":"writer","tool":"file","hours":8,"uses":2,"below":"/docs","ask_only":false}`

// changes has every action that changes something.
var changes = []change{
	{action: "directory_create_model", params: `{"id":"new","name":"New","roles":["editor","clerk","archivist"]}`, check: func(t *testing.T, o *office) {
		require.Equal(t, authz.Actor{
			ID: "new", Name: "New", Kind: authz.Model, Active: true, Roles: []string{"editor", "clerk", "archivist"},
		}, o.actor(t, "new"))
	}},
	{action: "directory_rename_actor", params: `{"id":"ed","name":"Edward"}`, check: func(t *testing.T, o *office) {
		require.Equal(t, "Edward", o.actor(t, "ed").Name)
	}},
	{action: "directory_set_active", params: `{"id":"ed","active":false}`, check: func(t *testing.T, o *office) {
		require.False(t, o.actor(t, "ed").Active)
	}},
	{action: "directory_set_roles", params: `{"id":"writer","roles":["viewer"]}`, check: func(t *testing.T, o *office) {
		require.Equal(t, []string{"viewer"}, o.actor(t, "writer").Roles)
	}},
	{action: "directory_set_overrides", params: `{"id":"ed","overrides":[{"at":"/docs/x","effect":"deny","of":["docs:file"]},{"at":"/","effect":"allow","of":["*"]}]}`,
		check: func(t *testing.T, o *office) {
			require.Equal(t, []authz.Override{
				{At: authz.MustPath("/docs/x"), Effect: authz.Deny, Of: []authz.Permission{"docs:file"}},
				{At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{authz.Every}},
			}, o.actor(t, "ed").Overrides)
		}},
	{action: "directory_set_grant", params: `{"model":"writer","tool":"file","effect":"deny"}`, check: func(t *testing.T, o *office) {
		require.Equal(t, []authz.Grant{{Tool: "file", Effect: authz.Deny}}, o.actor(t, "writer").Grants)
	}},
	{action: "directory_give_standing", params: giveWriter, check: func(t *testing.T, o *office) {
		g := o.actor(t, "writer").Grants[0]
		require.Equal(t, "file", g.Tool)
		require.NoError(t, authz.CheckStanding(o.keys, "east", "writer", "file", g.Standing))
		require.Equal(t, authz.ID("olga"), g.Standing.By)
		require.Equal(t, opened, g.Standing.Since)
		require.Equal(t, opened.Add(8*time.Hour), g.Standing.Until)
		require.Equal(t, 2, g.Standing.Uses)
		require.Equal(t, "/docs", g.Standing.Below.String())
		require.False(t, g.Standing.AskOnly)
	}},
	{action: "directory_revoke_standing", prepare: func(t *testing.T, o *office) { o.must(t, "directory_give_standing", giveWriter) },
		params2: func(t *testing.T, o *office) string { return `{"model":"writer","grant":"` + o.grantOf(t) + `"}` },
		check:   func(t *testing.T, o *office) { require.Empty(t, o.actor(t, "writer").Grants) }},
	{action: "directory_set_ceiling", params: `{"ceiling":"propose"}`, check: func(t *testing.T, o *office) {
		require.Equal(t, authz.Propose, o.facts(t, "east").Settings.Ceiling)
	}},
	{action: "directory_disable_tool", params: `{"tool":"file","disabled":true}`, check: func(t *testing.T, o *office) {
		require.Equal(t, []string{"file"}, o.facts(t, "east").Settings.Disabled)
	}},
	{action: "directory_switch_standing", params: `{"on":false}`, check: func(t *testing.T, o *office) {
		require.False(t, o.facts(t, "east").Settings.Standing)
	}},
}

func TestTheTableHasEveryAction(t *testing.T) {
	known := map[string]bool{"directory_list": true}
	for _, c := range changes {
		known[c.action] = true
	}
	for _, a := range openOffice(t).reg.Actions() {
		if strings.HasPrefix(string(a.Permission), registry.Administrative) {
			require.True(t, known[a.Name], a.Name)
			require.True(t, a.Explicit, a.Name)
			require.NotEqual(t, authz.Execute, a.Mode, a.Name)
			delete(known, a.Name)
		}
	}
	require.Empty(t, known)
}

func TestAnOwnerPerformsEveryAction(t *testing.T) {
	for _, c := range changes {
		t.Run(c.action, func(t *testing.T) {
			o := openOffice(t)
			params := c.with(t, o)
			sub, err := o.reg.Subscribe(personSession(t, "olga"))
			require.NoError(t, err)
			defer sub.Close()
			elsewhere := o.facts(t, "west")
			res, err := o.do(t, "olga", c.action, params)
			require.NoError(t, err)
			require.NotEmpty(t, res.Value.(directory.Changed).Changed)
			c.check(t, o)
			require.Same(t, elsewhere, o.facts(t, "west"), "the scope is the caller's only")

			trail := o.audit(t, ledger.AuditQuery{Action: c.action})
			require.Len(t, trail, 2)
			for i, event := range []ledger.Event{ledger.EventStarted, ledger.EventFinished} {
				require.Equal(t, event, trail[i].Event)
				require.Equal(t, ledger.Done, trail[i].Code)
				require.Equal(t, authz.ID("olga"), trail[i].Operator)
				require.JSONEq(t, params, trail[i].Params.String())
			}
			announced, err := sub.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.action, announced.Action)
			require.Equal(t, authz.Scope("east"), announced.Scope)
		})
	}
}

func TestNobodyElseSeesOrPerformsAnAction(t *testing.T) {
	for _, c := range append(changes, change{action: "directory_list", params: `{}`}) {
		t.Run(c.action, func(t *testing.T) {
			o := openOffice(t)
			params := c.with(t, o)
			before := o.facts(t, "east")
			for _, s := range []authz.Session{
				personSession(t, "ed"), personSession(t, "vera"), personSession(t, "stranger"),
				modelSession(t, "writer", "olga"), modelSession(t, "boss", "olga"),
			} {
				tools, err := o.gate.Catalog(t.Context(), s)
				require.NoError(t, err)
				for _, tool := range tools {
					require.NotEqual(t, c.action, tool.Name, "%s sees it", s)
				}
				require.Equal(t, o.call(t, s, "no_such_tool", params), o.call(t, s, c.action, params), "%s", s)
				_, err = o.reg.Invoke(t.Context(), registry.Call{Session: s, Action: c.action, Params: []byte(params)})
				require.Equal(t, ledger.Unavailable, registry.CodeOf(err), "%s", s)
			}
			require.Same(t, before, o.facts(t, "east"))
		})
	}
}

func TestAnOwnerModelWithAGrantProposes(t *testing.T) {
	for _, c := range changes {
		t.Run(c.action, func(t *testing.T) {
			o := openOffice(t)
			o.must(t, "directory_set_grant", `{"model":"boss","tool":"`+c.action+`","effect":"allow"}`)
			params := c.with(t, o)
			before := o.facts(t, "east")
			boss := modelSession(t, "boss", "olga")
			tools, err := o.gate.Catalog(t.Context(), boss)
			require.NoError(t, err)
			names := map[string]bool{}
			for _, tool := range tools {
				names[tool.Name] = true
			}
			require.True(t, names[c.action])

			// For an editor it asks in vain, alone it performs nothing, and it approves nothing.
			require.Equal(t, chattools.Forbidden, o.call(t, modelSession(t, "boss", "ed"), c.action, params).Status)
			_, err = o.reg.Invoke(t.Context(), registry.Call{Session: boss, Action: c.action, Params: []byte(params)})
			require.Equal(t, ledger.NeedsApproval, registry.CodeOf(err))
			a := o.call(t, boss, c.action, params)
			require.Equal(t, chattools.NeedsApproval, a.Status)
			for _, id := range []authz.ID{"boss", "writer", "ed", "vera"} {
				_, err = o.desk.Open(t.Context(), "east", a.Proposal, authz.LoggedIn(id))
				require.Error(t, err, id)
			}
			olgas, err := o.desk.Open(t.Context(), "east", a.Proposal, authz.LoggedIn("olga"))
			require.NoError(t, err)
			for _, id := range []authz.ID{"boss", "writer", "ed"} { // even with the right page in hand
				stolen := olgas.Redemption()
				stolen.Operator = authz.LoggedIn(id)
				_, err = o.desk.Approve(t.Context(), stolen)
				require.Error(t, err, id)
			}
			require.Same(t, before, o.facts(t, "east"))

			_, err = o.desk.Approve(t.Context(), olgas.Redemption())
			require.NoError(t, err)
			c.check(t, o)
			require.NotContains(t, olgas.Card.Sentence, "(none)")
		})
	}
}

// No standing grant covers an administrative action, not even one that a holder of the keys sealed.
func TestAStandingGrantOfAnAdministrativeAction(t *testing.T) {
	o := openOffice(t)
	s := &authz.Standing{
		ID: "g1", By: "olga", Since: opened, Until: opened.Add(time.Hour), Below: authz.Root(),
		Definition: o.reg.Lookup("directory_set_ceiling").Definition,
	}
	require.NoError(t, authz.SealStanding(o.keys, "east", "boss", "directory_set_ceiling", s))
	o.edit(t, func(f *authz.Facts) {
		f.Actors[3].Grants = []authz.Grant{{Tool: "directory_set_ceiling", Effect: authz.Allow, Standing: s}}
	})
	before := o.facts(t, "east")
	require.Equal(t, chattools.NeedsApproval, o.call(t, modelSession(t, "boss", "olga"), "directory_set_ceiling", `{"ceiling":"read"}`).Status)
	require.Same(t, before, o.facts(t, "east"))
}

func TestARegistryKeepsAdministrationExplicit(t *testing.T) {
	o := openOffice(t)
	run := func(_ context.Context, d document) (string, error) { return d.ID, nil }
	for name, c := range map[string]struct {
		spec registry.Spec[document]
		good bool
	}{
		"explicit, to propose":            {registry.Spec[document]{Permission: "directory:x", Mode: authz.Propose, Explicit: true}, true},
		"explicit, to read":               {registry.Spec[document]{Permission: "directory:x", Mode: authz.Read, Explicit: true}, true},
		"not explicit":                    {registry.Spec[document]{Permission: "directory:x", Mode: authz.Propose}, false},
		"a read that is not explicit":     {registry.Spec[document]{Permission: "directory:x", Mode: authz.Read}, false},
		"of mode execute":                 {registry.Spec[document]{Permission: "directory:x", Mode: authz.Execute, Explicit: true}, false},
		"of mode execute, disabled":       {registry.Spec[document]{Permission: "directory:x", Mode: authz.Execute, Explicit: true, Disabled: true}, false},
		"asked for by a weaker right":     {registry.Spec[document]{Permission: "directory:x", Ask: "docs:ask", Mode: authz.Propose, Explicit: true}, false},
		"asked for by an administrative":  {registry.Spec[document]{Permission: "docs:x", Ask: "directory:x", Mode: authz.Propose, Explicit: true}, false},
		"a name that only looks like one": {registry.Spec[document]{Permission: "director:x", Mode: authz.Execute}, true},
	} {
		c.spec.Description = "d"
		_, err := registry.New(registry.Config{
			Actions: []*registry.Action{registry.Define("x", c.spec, run)}, Source: o.people, Ledger: o.book, Keys: o.keys,
		})
		if c.good {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, "is administrative", name)
		}
	}
}
