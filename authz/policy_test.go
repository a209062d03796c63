package authz_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// shopTools are the tools of small tests.
var shopTools = []authz.Tool{
	{Name: "find_orders", Permission: "orders:read", Mode: authz.Read},
	{Name: "refund", Permission: "refunds:edit", Ask: "refunds:request", Mode: authz.Propose},
	{Name: "set_role", Permission: "roles:edit", Mode: authz.Propose, Explicit: true},
}

// The numbers of the tools above.
const findOrders, refund, setRole = 0, 1, 2

// fixed is a source of one snapshot for every scope.
func fixed(f *authz.Facts) authz.Source {
	return authz.SourceFunc(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { return f, nil })
}

func newPolicy(t testing.TB, source authz.Source, roles ...authz.Role) *authz.Policy {
	t.Helper()
	p, err := authz.NewPolicy(source, shopTools, roles)
	require.NoError(t, err)
	return p
}

func viewOf(t testing.TB, p *authz.Policy, actors ...authz.ID) *authz.View {
	t.Helper()
	v, err := p.View(t.Context(), "shop", actors...)
	require.NoError(t, err)
	return v
}

func TestPolicyFaults(t *testing.T) {
	read := authz.Tool{Name: "find", Permission: "orders:read", Mode: authz.Read}
	with := func(edit func(*authz.Tool)) []authz.Tool { tool := read; edit(&tool); return []authz.Tool{tool} }
	role := func(r authz.Role) []authz.Role { return []authz.Role{r} }
	clerk := authz.Role{Name: "clerk", Permissions: []authz.Permission{"orders:read"}}
	override := func(o authz.Override) []authz.Role {
		return role(authz.Role{Name: "clerk", Overrides: []authz.Override{o}})
	}
	orders := []authz.Permission{"orders:read"}
	tests := []struct {
		name  string
		tools []authz.Tool
		roles []authz.Role
		names string // what the error must name
	}{
		{"tool without a name", with(func(t *authz.Tool) { t.Name = "" }), nil, `tool ""`},
		{"tool twice", []authz.Tool{read, read}, nil, `"find"`},
		{"no mode", with(func(t *authz.Tool) { t.Mode = 0 }), nil, `"find"`},
		{"unknown mode", with(func(t *authz.Tool) { t.Mode = 4 }), nil, `"find"`},
		{"no permission", with(func(t *authz.Tool) { t.Permission = "" }), nil, `"find"`},
		{"every permission", with(func(t *authz.Tool) { t.Permission = authz.Every }), nil, `"find"`},
		{"asks for every permission", with(func(t *authz.Tool) { t.Mode, t.Ask = authz.Propose, authz.Every }), nil, `"find"`},
		{"a read that is asked for", with(func(t *authz.Tool) { t.Ask = "orders:request" }), nil, `"find"`},
		{"role without a name", []authz.Tool{read}, role(authz.Role{}), `role ""`},
		{"role twice", []authz.Tool{read}, []authz.Role{clerk, clerk}, `"clerk"`},
		{"role named as a shipped one", []authz.Tool{read}, role(authz.Role{Name: authz.Viewer}), `"viewer"`},
		{"unknown permission", []authz.Tool{read}, role(authz.Role{Name: "clerk", Permissions: []authz.Permission{"order:read"}}), `"order:read"`},
		{"role of every permission", []authz.Tool{read}, role(authz.Role{Name: "clerk", Permissions: []authz.Permission{authz.Every}}), `"*"`},
		{"override without a path", []authz.Tool{read}, override(authz.Override{Of: orders}), "no path"},
		{"override of nothing", []authz.Tool{read}, override(authz.Override{At: authz.Root()}), "no permission"},
		{"override of an unknown effect", []authz.Tool{read}, override(authz.Override{At: authz.Root(), Effect: 2, Of: orders}), "effect"},
		{"override of an unknown permission", []authz.Tool{read}, override(authz.Override{At: authz.Root(), Of: []authz.Permission{"orders:reed"}}), `"orders:reed"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := authz.NewPolicy(fixed(&authz.Facts{}), tt.tools, tt.roles)
			require.ErrorIs(t, err, authz.ErrPolicy)
			require.ErrorContains(t, err, tt.names)
			require.Nil(t, p)
		})
	}
	_, err := authz.NewPolicy(nil, nil, nil)
	require.ErrorIs(t, err, authz.ErrPolicy)
	_, err = authz.NewPolicy(nil, with(func(t *authz.Tool) { t.Mode = 0 }), override(authz.Override{At: authz.Root()}))
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "every fault is listed: %v", err)
	_, err = authz.NewPolicy(fixed(nil), with(func(t *authz.Tool) { t.Ask = t.Permission }), override(authz.Override{At: authz.Root(), Of: []authz.Permission{authz.Every}}))
	require.NoError(t, err)
}

// TestPolicyKeepsCopies: what a host does to its slices afterwards changes no decision.
func TestPolicyKeepsCopies(t *testing.T) {
	tools := []authz.Tool{shopTools[findOrders]}
	roles := []authz.Role{{
		Name: "clerk", Permissions: []authz.Permission{"orders:read"},
		Overrides: []authz.Override{{At: authz.MustPath("/secret"), Effect: authz.Deny, Of: []authz.Permission{"orders:read"}}},
	}}
	facts := &authz.Facts{Actors: []authz.Actor{{ID: "ann", Kind: authz.Human, Active: true, Roles: []string{"clerk"}}}}
	p, err := authz.NewPolicy(fixed(facts), tools, roles)
	require.NoError(t, err)
	tools[0].Permission = "other"
	roles[0].Permissions[0] = "other"
	roles[0].Overrides[0].Of[0] = "other"
	roles[0].Overrides[0].Effect = authz.Allow
	v := viewOf(t, p)
	ann := authz.LoggedIn("ann")
	require.True(t, v.Person(ann, 0, []authz.Path{authz.Root()}, authz.ToPerform).Allowed)
	d := v.Person(ann, 0, []authz.Path{authz.MustPath("/secret/x")}, authz.ToPerform)
	require.Equal(t, authz.ReasonDenyOverride, d.Reason)
}

func TestSourcesThatFail(t *testing.T) {
	down := errors.New("the database is down")
	tests := []struct {
		name  string
		facts *authz.Facts
		err   error
		want  error
	}{
		{"an error", nil, down, down},
		{"an error beside facts", &authz.Facts{}, down, down},
		{"an unknown scope", nil, authz.ErrUnknownScope, authz.ErrUnknownScope},
		{"neither facts nor an error", nil, nil, authz.ErrUnknownScope},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPolicy(t, authz.SourceFunc(func(_ context.Context, scope authz.Scope, actors []authz.ID) (*authz.Facts, error) {
				require.Equal(t, authz.Scope("shop"), scope)
				require.Equal(t, []authz.ID{"assistant", "olga"}, actors)
				return tt.facts, tt.err
			}))
			v, err := p.View(t.Context(), "shop", "assistant", "olga")
			require.ErrorIs(t, err, tt.want)
			require.Nil(t, v)
		})
	}
	p := newPolicy(t, authz.SourceFunc(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) {
		t.Error("no scope, no question to the source")
		return nil, nil
	}))
	_, err := p.View(t.Context(), "")
	require.ErrorIs(t, err, authz.ErrUnknownScope)
}

// TestSourceFailsLater: facts that were read before do not stand in for facts that cannot be read now.
func TestSourceFailsLater(t *testing.T) {
	var fail error
	facts := &authz.Facts{}
	p := newPolicy(t, authz.SourceFunc(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { return facts, fail }))
	viewOf(t, p)
	fail = errors.New("gone")
	v, err := p.View(t.Context(), "shop")
	require.ErrorIs(t, err, fail)
	require.Nil(t, v)
}

func TestContradictoryFacts(t *testing.T) {
	ann := authz.Actor{ID: "ann", Kind: authz.Human, Active: true}
	for name, f := range map[string]authz.Facts{
		"unknown ceiling":              {Settings: authz.Settings{Ceiling: 4}},
		"an actor twice":               {Actors: []authz.Actor{ann, ann}},
		"an actor of two kinds":        {Actors: []authz.Actor{ann, {ID: "ann", Kind: authz.Model}}},
		"an actor without an id":       {Actors: []authz.Actor{{Kind: authz.Human, Active: true}}},
		"a role twice":                 {Roles: []authz.Role{{Name: "clerk"}, {Name: "clerk"}}},
		"a role without a name":        {Roles: []authz.Role{{}}},
		"a stored owner":               {Roles: []authz.Role{{Name: authz.Owner}}},
		"a role that is in the code":   {Roles: []authz.Role{{Name: "configured"}}},
		"a role twice, one with names": {Roles: []authz.Role{{Name: "clerk", Permissions: []authz.Permission{"orders:read"}}, {Name: "clerk"}}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := newPolicy(t, fixed(&f), authz.Role{Name: "configured"}).View(t.Context(), "shop")
			require.Error(t, err)
			require.ErrorContains(t, err, "authz: facts of scope")
			require.Nil(t, v)
		})
	}
}

// TestUnknownEffectsDeny: a source written by hand may return an effect that does not exist. It denies.
func TestUnknownEffectsDeny(t *testing.T) {
	every := []authz.Permission{authz.Every}
	facts := &authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: "ann", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}, Overrides: []authz.Override{{At: authz.Root(), Effect: 7, Of: every}}},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Owner}, Grants: []authz.Grant{{Tool: "set_role", Effect: 7}}},
		},
	}
	v := viewOf(t, newPolicy(t, fixed(facts)))
	require.Equal(t, []string{"actor ann: override has an unknown effect"}, v.Unknown())
	at := []authz.Path{authz.MustPath("/x")}
	require.Equal(t, authz.ReasonDenyOverride, v.Person(authz.LoggedIn("ann"), findOrders, at, authz.ToPerform).Reason)
	s, err := authz.NewSession("shop", "assistant", authz.Background())
	require.NoError(t, err)
	require.Equal(t, authz.ReasonDenyGrant, v.Check(s, setRole, at, authz.ToAsk).Reason)

	v.Unknown()[0] = "changed"
	require.Equal(t, []string{"actor ann: override has an unknown effect"}, v.Unknown())
}

func TestHuman(t *testing.T) {
	v := viewOf(t, newPolicy(t, fixed(&authz.Facts{Actors: []authz.Actor{
		{ID: "ann", Kind: authz.Human, Active: true},
		{ID: "left", Kind: authz.Human},
		{ID: "assistant", Kind: authz.Model, Active: true},
	}})))
	for id, why := range map[authz.ID]authz.Reason{
		"left": authz.ReasonInactive, "assistant": authz.ReasonWrongKind, "stranger": authz.ReasonUnknownActor, "": authz.ReasonUnknownActor,
	} {
		require.Equal(t, authz.Decision{Reason: why, Who: id}, v.Human(authz.LoggedIn(id)))
	}
	d := v.Human(authz.LoggedIn("ann"))
	require.True(t, d.Allowed)
	require.Equal(t, authz.ID("ann"), d.Who)
}

// TestViewNumbers: the same facts are the same view; changed facts are a later one, in each scope by itself.
func TestViewNumbers(t *testing.T) {
	facts := map[authz.Scope]*authz.Facts{"shop": {}, "mall": {}}
	p := newPolicy(t, authz.SourceFunc(func(_ context.Context, scope authz.Scope, _ []authz.ID) (*authz.Facts, error) {
		return facts[scope], nil
	}))
	view := func(scope authz.Scope) *authz.View {
		v, err := p.View(t.Context(), scope)
		require.NoError(t, err)
		return v
	}
	shop, mall := view("shop"), view("mall")
	require.NotZero(t, shop.Number())
	require.NotEqual(t, shop.Number(), mall.Number())
	require.Same(t, shop, view("shop"))
	require.Same(t, mall, view("mall"))

	facts["shop"] = &authz.Facts{Settings: authz.Settings{Ceiling: authz.Propose}}
	later := view("shop")
	require.Greater(t, later.Number(), shop.Number())
	require.Equal(t, authz.Propose, later.Ceiling())
	require.Equal(t, authz.Read, shop.Ceiling(), "a view is immutable; without a setting the ceiling is read")
	require.Same(t, later, view("shop"))
	require.Same(t, mall, view("mall"), "another scope has not changed")

	equal := *facts["shop"]
	facts["shop"] = &equal
	require.Greater(t, view("shop").Number(), later.Number(), "another pointer may mean other facts")
}
