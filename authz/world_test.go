package authz_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// world is everything a decision depends on, beside the question.
type world struct {
	tools []authz.Tool
	roles []authz.Role // configured in code
	facts authz.Facts
}

// view compiles a world with the code under test.
func (w *world) view(t require.TestingT) *authz.View {
	source := authz.SourceFunc(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { return &w.facts, nil })
	p, err := authz.NewPolicy(source, w.tools, w.roles)
	require.NoError(t, err)
	v, err := p.View(context.Background(), "shop")
	require.NoError(t, err)
	return v
}

// clone returns a copy that can be changed without changing w.
func (w *world) clone() *world {
	overrides := func(list []authz.Override) []authz.Override {
		list = slices.Clone(list)
		for i := range list {
			list[i].Of = slices.Clone(list[i].Of)
		}
		return list
	}
	c := &world{slices.Clone(w.tools), slices.Clone(w.roles), w.facts}
	c.facts.Settings.Disabled = slices.Clone(w.facts.Settings.Disabled)
	c.facts.Roles, c.facts.Actors = slices.Clone(w.facts.Roles), slices.Clone(w.facts.Actors)
	for _, roles := range [][]authz.Role{c.roles, c.facts.Roles} {
		for i := range roles {
			roles[i].Permissions = slices.Clone(roles[i].Permissions)
			roles[i].Overrides = overrides(roles[i].Overrides)
		}
	}
	for i := range c.facts.Actors {
		a := &c.facts.Actors[i]
		a.Roles, a.Grants, a.Overrides = slices.Clone(a.Roles), slices.Clone(a.Grants), overrides(a.Overrides)
	}
	return c
}

// pick chooses a number below n. It is a seeded generator, or one that shrinks what it found.
type pick func(n int) int

func (p pick) chance(percent int) bool { return p(100) >= 100-percent }

func one[T any](p pick, list []T) T { return list[p(len(list))] }

func some[T any](p pick, list []T, most int) []T {
	n := p(most + 1)
	var chosen []T
	for range n {
		chosen = append(chosen, one(p, list))
	}
	return chosen
}

func shuffle[T any](p pick, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := p(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}

// The names of random worlds. Few of each, so that rules meet; "gone" ones match nothing.
var (
	humans = []authz.ID{"olga", "sam", "eve"}
	models = []authz.ID{"assistant", "helper", "checker", "night"}
	paths  = []authz.Path{
		authz.Root(), authz.MustPath("/a"), authz.MustPath("/b"), authz.MustPath("/ab"), authz.MustPath("/a/b"),
		authz.MustPath("/a/bc"), authz.MustPath("/a/b/c"), authz.MustPath("/b/a"), authz.MustPath("/a/b/c/d"),
	}
	roleNames = []string{authz.Viewer, authz.Editor, authz.Owner, "clerk", "night_shift", "gone"}
)

// randomWorld makes a world of a given size.
func randomWorld(p pick, tools, permissions int) *world {
	w := &world{}
	perms := make([]authz.Permission, permissions)
	for i := range perms {
		perms[i] = authz.Permission(fmt.Sprintf("p%d", i))
	}
	for i := range tools {
		tool := authz.Tool{
			Name: fmt.Sprintf("t%d", i), Permission: one(p, perms), Mode: authz.Mode(1 + p(3)),
			Explicit: p.chance(20),
		}
		switch {
		case p.chance(20):
			tool.Whole = true
		case p.chance(20):
			tool.On = one(p, paths)
		}
		if tool.Mode != authz.Read && p.chance(50) {
			tool.Ask = one(p, perms)
		}
		w.tools = append(w.tools, tool)
	}
	perms = nil // from here on only those that some tool has, as a configured role may name no other
	for _, tool := range w.tools {
		perms = append(perms, tool.Permission)
		if tool.Ask != "" {
			perms = append(perms, tool.Ask)
		}
	}
	w.roles = []authz.Role{{Name: "clerk", Permissions: some(p, perms, 3), Overrides: randomOverrides(p, perms, 2, false)}}
	w.facts.Settings = authz.Settings{Ceiling: authz.Mode(p(4))}
	if p.chance(30) {
		w.facts.Settings.Disabled = []string{w.randomTool(p)}
	}
	loose := append(slices.Clone(perms), "gone:edit", authz.Every)
	w.facts.Roles = []authz.Role{{Name: "night_shift", Permissions: some(p, loose, 3), Overrides: randomOverrides(p, perms, 2, true)}}
	for i, id := range append(slices.Clone(humans), models...) {
		a := authz.Actor{
			ID: id, Kind: authz.Human, Active: !p.chance(4), Roles: some(p, roleNames, 2), Overrides: randomOverrides(p, perms, 5, true),
		}
		if i >= len(humans) {
			a.Kind = authz.Model
		}
		for range p(3) {
			a.Grants = append(a.Grants, authz.Grant{Tool: w.randomTool(p), Effect: randomEffect(p, true)})
		}
		if p.chance(2) {
			a.Kind = authz.Kind(p(4))
		}
		if !p.chance(2) {
			w.facts.Actors = append(w.facts.Actors, a)
		}
	}
	shuffle(p, w.facts.Actors)
	return w
}

func (w *world) randomTool(p pick) string {
	if p.chance(5) {
		return "gone_tool"
	}
	return one(p, w.tools).Name
}

func randomEffect(p pick, loose bool) authz.Effect {
	if loose && p.chance(2) {
		return authz.Effect(2 + p(3))
	}
	return authz.Effect(p(2))
}

// randomOverrides makes overrides; the loose ones also those that only stored facts may hold.
func randomOverrides(p pick, perms []authz.Permission, most int, loose bool) []authz.Override {
	var list []authz.Override
	for range p(most + 1) {
		o := authz.Override{At: one(p, paths), Effect: randomEffect(p, loose), Of: []authz.Permission{one(p, perms)}}
		switch {
		case p.chance(20):
			o.Of = []authz.Permission{authz.Every}
		case p.chance(20):
			o.Of = append(o.Of, one(p, perms))
		}
		if loose && p.chance(3) {
			o.Of = append(o.Of, "gone:edit")
		}
		if loose && p.chance(2) {
			o.At = authz.Path{}
		}
		list = append(list, o)
	}
	return list
}

// randomSession makes a session, now and then of strangers, of the wrong kind or of another scope.
func (w *world) randomSession(p pick, t require.TestingT) authz.Session {
	scope := authz.Scope("shop")
	switch p(40) {
	case 39:
		scope = "mall"
	case 38:
		return authz.Session{}
	}
	caller, principal := one(p, models), one(p, humans)
	switch p(30) {
	case 29:
		caller = "stranger"
	case 28:
		principal = "stranger"
	case 27:
		principal = "night"
	}
	var s authz.Session
	var err error
	switch kind := p(10); {
	case kind < 6 && caller != principal:
		s, err = authz.NewSession(scope, caller, authz.For(authz.LoggedIn(principal)))
	case kind < 8:
		s, err = authz.NewSession(scope, caller, authz.Background())
	default:
		s, err = authz.NewPersonSession(scope, authz.LoggedIn(principal))
	}
	require.NoError(t, err)
	for _, id := range some(p, models, 2) {
		if next, err := s.Delegate(id); err == nil {
			s = next
		}
	}
	for p.chance(25) {
		var names []string
		for _, tool := range w.tools {
			if p.chance(70) {
				names = append(names, tool.Name)
			}
		}
		s = s.WithTools(authz.Only(names...))
	}
	return s
}

// randomTargets are mostly one path, now and then several, none, or one that is no path.
func randomTargets(p pick) []authz.Path {
	switch n := p(20); {
	case n < 14:
		return []authz.Path{one(p, paths)}
	case n < 18:
		return []authz.Path{one(p, paths), one(p, paths)}
	case n < 19:
		return []authz.Path{one(p, paths), {}}
	}
	return nil
}
