package authz_test

import (
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
)

// reference answers the questions of a View straight from the package comment: it compiles nothing and walks
// every rule for every question. It is slow, and short enough to be believed.
type reference struct{ *world }

// ids of a session's chain with the kind that each must be of.
type link struct {
	id   authz.ID
	kind authz.Kind
}

func chainOf(s authz.Session) []link {
	links := []link{{s.Actor(), s.Kind()}}
	for _, id := range s.Via() {
		links = append(links, link{id, authz.Model})
	}
	if id, ok := s.Principal(); ok {
		links = append(links, link{id, authz.Human})
	}
	return links
}

func no(who authz.ID, why authz.Reason) authz.Decision { return authz.Decision{Reason: why, Who: who} }

func yes(who authz.ID, why authz.Reason) authz.Decision {
	return authz.Decision{Allowed: true, Reason: why, Who: who}
}

// known is the part of layer 1 that is about an actor.
func (r reference) known(l link) (authz.Actor, authz.Decision) {
	for _, a := range r.facts.Actors {
		switch {
		case a.ID != l.id || l.id == "":
		case !a.Active:
			return a, no(l.id, authz.ReasonInactive)
		case a.Kind != l.kind:
			return a, no(l.id, authz.ReasonWrongKind)
		default:
			return a, authz.Decision{Allowed: true}
		}
	}
	return authz.Actor{}, no(l.id, authz.ReasonUnknownActor)
}

// cut is layer 2, and what layer 3 says about grants: the reason to refuse a model a tool, or none.
func (r reference) cut(a authz.Actor, list authz.Allowlist, t authz.Tool) authz.Reason {
	ceiling := r.facts.Settings.Ceiling
	if ceiling == 0 || r.onlyViewer(a) {
		ceiling = authz.Read
	}
	granted := func(e func(authz.Effect) bool) bool {
		return slices.ContainsFunc(a.Grants, func(g authz.Grant) bool { return g.Tool == t.Name && e(g.Effect) })
	}
	switch {
	case a.Kind != authz.Model:
		return ""
	case slices.Contains(r.facts.Settings.Disabled, t.Name):
		return authz.ReasonDisabled
	case t.Mode > ceiling:
		return authz.ReasonAboveCeiling
	case !list.Has(t.Name):
		return authz.ReasonNotListed
	case granted(func(e authz.Effect) bool { return e != authz.Allow }):
		return authz.ReasonDenyGrant
	case t.Explicit && !granted(func(e authz.Effect) bool { return e == authz.Allow }):
		return authz.ReasonGrantMissing
	}
	return ""
}

// role finds a role by name: shipped, configured or stored.
func (r reference) role(name string) (authz.Role, bool) {
	if name == authz.Viewer || name == authz.Editor || name == authz.Owner {
		return authz.Role{Name: name, Permissions: r.shipped(name)}, true
	}
	for _, role := range append(slices.Clone(r.roles), r.facts.Roles...) {
		if role.Name == name {
			return role, true
		}
	}
	return authz.Role{}, false
}

// shipped says what a shipped role has.
func (r reference) shipped(name string) []authz.Permission {
	var has, explicit []authz.Permission
	for _, t := range r.tools {
		both := []authz.Permission{t.Permission, askOf(t)}
		if t.Explicit {
			explicit = append(explicit, both...)
		}
		if name != authz.Viewer || t.Mode == authz.Read {
			has = append(has, both...)
		}
	}
	if name == authz.Owner {
		return has
	}
	return slices.DeleteFunc(has, func(q authz.Permission) bool { return slices.Contains(explicit, q) })
}

func askOf(t authz.Tool) authz.Permission {
	if t.Ask == "" {
		return t.Permission
	}
	return t.Ask
}

func (r reference) onlyViewer(a authz.Actor) bool {
	var held []string
	for _, name := range a.Roles {
		if _, ok := r.role(name); ok && !slices.Contains(held, name) {
			held = append(held, name)
		}
	}
	return slices.Equal(held, []string{authz.Viewer})
}

// overrides are an actor's own and those of its roles.
func (r reference) overrides(a authz.Actor) []authz.Override {
	list := slices.Clone(a.Overrides)
	for _, name := range a.Roles {
		role, _ := r.role(name)
		list = append(list, role.Overrides...)
	}
	return list
}

func names(o authz.Override, q authz.Permission) bool {
	return slices.Contains(o.Of, q) || slices.Contains(o.Of, authz.Every)
}

// has asks layers 3 to 6 about one permission on one path.
func (r reference) has(a authz.Actor, q authz.Permission, path authz.Path) authz.Decision {
	nearest, denied := -1, false
	for _, o := range r.overrides(a) {
		if !names(o, q) || !o.At.Contains(path) {
			continue
		}
		depth := len(segmentsOf(o.At.String()))
		if depth > nearest {
			nearest, denied = depth, false
		}
		if depth == nearest && o.Effect != authz.Allow {
			denied = true
		}
	}
	switch {
	case denied:
		return no(a.ID, authz.ReasonDenyOverride)
	case nearest >= 0:
		return yes(a.ID, authz.ReasonAllowOverride)
	}
	for _, name := range a.Roles {
		if role, _ := r.role(name); slices.Contains(role.Permissions, q) {
			return yes(a.ID, authz.ReasonRole)
		}
	}
	return no(a.ID, authz.ReasonNoPermission)
}

// on asks layers 3 to 6 about a tool on one path: who may perform may ask, unless asking itself is denied.
func (r reference) on(a authz.Actor, t authz.Tool, path authz.Path, q authz.Question) authz.Decision {
	if q == authz.ToPerform {
		return r.has(a, t.Permission, path)
	}
	ask := r.has(a, askOf(t), path)
	if perform := r.has(a, t.Permission, path); ask.Reason == authz.ReasonNoPermission && perform.Allowed {
		return perform
	}
	return ask
}

// deniedSomewhere says whether a change of everything meets a deny of a permission it depends on.
func (r reference) deniedSomewhere(a authz.Actor, t authz.Tool, q authz.Question) bool {
	needed := []authz.Permission{t.Permission}
	if q == authz.ToAsk && r.has(a, askOf(t), authz.Root()).Allowed {
		needed = []authz.Permission{askOf(t)} // performing does not come into it
	} else if q == authz.ToAsk {
		needed = append(needed, askOf(t))
	}
	return slices.ContainsFunc(r.overrides(a), func(o authz.Override) bool {
		return o.Effect != authz.Allow && !o.At.IsZero() && slices.ContainsFunc(needed, func(q authz.Permission) bool { return names(o, q) })
	})
}

// judge asks all layers about one actor.
func (r reference) judge(l link, list authz.Allowlist, tool int, targets []authz.Path, q authz.Question) (d authz.Decision) {
	t := r.tools[tool]
	a, d := r.known(l)
	if !d.Allowed {
		return d
	}
	if len(targets) == 0 || slices.Contains(targets, authz.Path{}) {
		return no(l.id, authz.ReasonNoTarget)
	}
	if own := ownTarget(t); !own.IsZero() && slices.ContainsFunc(targets, func(p authz.Path) bool { return p != own }) {
		return no(l.id, authz.ReasonNoTarget)
	}
	if why := r.cut(a, list, t); why != "" {
		return no(l.id, why)
	}
	for _, path := range targets {
		if d = r.on(a, t, path, q); !d.Allowed {
			d.Target = path
			return d
		}
	}
	if t.Whole && t.Mode != authz.Read && r.deniedSomewhere(a, t, q) {
		return no(l.id, authz.ReasonDenyBelow)
	}
	return d
}

func badSession(s authz.Session) bool { return s.IsZero() || s.Scope() != "shop" }

// Check asks the caller first, then everybody else of the chain; the answer is the caller's or a refusal.
func (r reference) Check(s authz.Session, tool int, targets []authz.Path, q authz.Question) authz.Decision {
	if badSession(s) {
		return no(s.Actor(), authz.ReasonInvalidSession)
	}
	var first authz.Decision
	for i, l := range chainOf(s) {
		d := r.judge(l, s.Tools(), tool, targets, q)
		if !d.Allowed {
			return d
		}
		if i == 0 {
			first = d
		}
	}
	return first
}

func (r reference) Person(p authz.Person, tool int, targets []authz.Path, q authz.Question) authz.Decision {
	return r.judge(link{p.ID(), authz.Human}, authz.Any(), tool, targets, q)
}

// ownTarget is the one target of a tool that has one.
func ownTarget(t authz.Tool) authz.Path {
	if t.Whole {
		return authz.Root()
	}
	return t.On
}

// somewhere looks for a target on which one actor would be allowed.
func (r reference) somewhere(l link, list authz.Allowlist, tool int) authz.Decision {
	a, d := r.known(l)
	if !d.Allowed {
		return d
	}
	if why := r.cut(a, list, r.tools[tool]); why != "" {
		return no(l.id, why)
	}
	questions := []authz.Question{authz.ToAsk, authz.ToPerform}
	if r.tools[tool].Mode == authz.Read {
		questions = questions[1:]
	} else if a.Kind == authz.Model {
		questions = questions[:1] // a model's change is never performed by itself
	}
	everywhere := paths
	if own := ownTarget(r.tools[tool]); !own.IsZero() {
		everywhere = []authz.Path{own}
	}
	for _, path := range everywhere { // the root first
		for _, q := range questions {
			if d := r.on(a, r.tools[tool], path, q); d.Allowed {
				return d
			}
		}
	}
	return no(l.id, authz.ReasonNoPermission)
}

func (r reference) Available(s authz.Session, tool int) authz.Decision {
	if badSession(s) {
		return no(s.Actor(), authz.ReasonInvalidSession)
	}
	return r.somewhere(link{s.Actor(), s.Kind()}, s.Tools(), tool)
}

func (r reference) Tools(s authz.Session) []int {
	var list []int
	for i := range r.tools {
		if r.Available(s, i).Allowed {
			list = append(list, i)
		}
	}
	return list
}

// everybody says whether all of a session's chain is in order and fulfills a condition.
func (r reference) everybody(s authz.Session, holds func(link, authz.Actor) bool) bool {
	return !badSession(s) && !slices.ContainsFunc(chainOf(s), func(l link) bool {
		a, d := r.known(l)
		return !d.Allowed || !holds(l, a)
	})
}

func (r reference) Could(s authz.Session, tool int) bool {
	return r.everybody(s, func(l link, _ authz.Actor) bool { return r.somewhere(l, s.Tools(), tool).Allowed })
}

func (r reference) May(s authz.Session, q authz.Permission, path authz.Path) bool {
	exists := slices.ContainsFunc(r.tools, func(t authz.Tool) bool { return t.Permission == q || askOf(t) == q })
	return exists && !path.IsZero() && r.everybody(s, func(_ link, a authz.Actor) bool { return r.has(a, q, path).Allowed })
}

func (r reference) MayRead(s authz.Session, path authz.Path) bool {
	return slices.ContainsFunc(r.tools, func(t authz.Tool) bool { return t.Mode == authz.Read && r.May(s, t.Permission, path) })
}
