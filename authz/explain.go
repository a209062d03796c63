package authz

import (
	"fmt"
	"slices"
	"strings"
)

// Layer is one step in the order of authority, for one actor.
type Layer string

// The layers, in their order.
const (
	LayerActor    Layer = "actor"    // known, active, of the right kind
	LayerTarget   Layer = "target"   // the paths are there, and are paths
	LayerDisabled Layer = "disabled" // cut: the tool is disabled
	LayerCeiling  Layer = "ceiling"  // cut: the tool's mode is above the ceiling
	LayerList     Layer = "list"     // cut: the session's allowlist
	LayerGrant    Layer = "grant"    // a deny grant; for an explicit tool, the allow grant it needs
	LayerDeny     Layer = "deny"     // the nearest override denies
	LayerAllow    Layer = "allow"    // the nearest override allows
	LayerRole     Layer = "role"     // a role has the permission
	LayerDefault  Layer = "default"  // nothing spoke, or a change of everything meets a deny below
)

// Step is what one layer said about one actor on one target.
type Step struct {
	Who     ID
	Target  Path // zero for layers that look at no target
	Layer   Layer
	Allows  bool
	Reason  Reason
	Rule    string // the rule that spoke, in words
	Decided bool   // it was the first of its actor and target to speak; the others are outranked
}

// Explanation is why a decision is what it is. The same facts and question give the same explanation.
type Explanation struct {
	View     uint64 // number of the view that decided
	Decision Decision
	Steps    []Step // of every layer that spoke, in the order of actors, targets and layers
}

// String is the explanation for people, one line for each step; what decided is marked with an arrow.
func (e Explanation) String() string {
	var b strings.Builder
	verdict := "refused"
	if e.Decision.Allowed {
		verdict = "allowed"
	}
	fmt.Fprintf(&b, "%s (%s), by view %d\n", verdict, e.Decision.Reason, e.View)
	for _, s := range e.Steps {
		mark, says := "  ", "no"
		if s.Decided {
			mark = "->"
		}
		if s.Allows {
			says = "yes"
		}
		fmt.Fprintf(&b, "%s %s: %s", mark, s.Who, says)
		if !s.Target.IsZero() {
			fmt.Fprintf(&b, " on %s", s.Target)
		}
		fmt.Fprintf(&b, ", %s: %s\n", s.Reason, s.Rule)
	}
	return b.String()
}

// Explain says why a session may or may not use a tool, on the given targets or, without any, at all: the
// question of [View.Check] or of [View.Available], answered by the same code, with what every layer said. It
// names rules, roles and people: it is for operators, never for a model.
func (v *View) Explain(s Session, tool int, targets []Path, q Question) Explanation {
	e := Explanation{View: v.number}
	chain := []ID{s.actor}
	if targets == nil {
		e.Decision = v.Available(s, tool)
	} else {
		e.Decision = v.Check(s, tool, targets, q)
		if e.Decision.Allowed || e.Decision.Who != s.actor {
			chain = s.Actors()
		}
	}
	if e.Decision.Reason == ReasonInvalidSession {
		e.Steps = []Step{{Who: s.actor, Layer: LayerActor, Reason: ReasonInvalidSession, Rule: "the session is none, or of another scope", Decided: true}}
		return e
	}
	for i, id := range chain {
		kind := Model
		if i == 0 {
			kind = s.kind
		} else if id == s.behalf.principal {
			kind = Human
		}
		e.Steps = append(e.Steps, v.explainActor(id, kind, s.tools, tool, targets, q)...)
		if !e.Decision.Allowed && id == e.Decision.Who {
			break // those behind it were not asked
		}
	}
	return e
}

// explainActor lists what every layer says about one actor.
func (v *View) explainActor(id ID, kind Kind, list Allowlist, tool int, targets []Path, q Question) []Step {
	t := &v.policy.tools[tool]
	a, d := v.known(id, kind)
	if a == nil {
		return []Step{{Who: id, Layer: LayerActor, Reason: d.Reason, Rule: "the facts about " + string(id), Decided: true}}
	}
	var cuts []Step
	if a.kind == Model {
		cuts = v.explainCuts(a, list, t, tool)
	}
	if targets == nil {
		if len(cuts) > 0 {
			cuts[0].Decided = true
		}
		return append(cuts, v.explainCould(a, t, tool, len(cuts) == 0)...)
	}
	if !t.takes(targets) {
		return append([]Step{{Who: id, Layer: LayerTarget, Reason: ReasonNoTarget, Rule: "there is no path, or not the tool's own", Decided: true}}, cuts...)
	}
	var steps []Step
	for _, path := range targets {
		said := append(slices.Clone(cuts), v.explainTarget(a, t, path, q)...)
		said[0].Decided = true
		steps = append(steps, said...)
		if !said[0].Allows {
			return steps
		}
	}
	if t.Whole && t.Mode != Read && deniedBelow(a, t, q) {
		perm := permissionFor(t, q)
		if !a.denied.has(perm) {
			perm = t.perm // on which asking depends here
		}
		steps = append(steps, Step{
			Who: id, Layer: LayerDefault, Reason: ReasonDenyBelow, Decided: true,
			Rule: fmt.Sprintf("%s touches the whole scope, and %s is denied somewhere in it", t.Name, v.policy.perms[perm]),
		})
	}
	return steps
}

// explainCuts lists the hard cuts and grants that remove a tool from a model.
func (v *View) explainCuts(a *actor, list Allowlist, t *tool, number int) []Step {
	var steps []Step
	add := func(speaks bool, layer Layer, why Reason, rule string) {
		if speaks {
			steps = append(steps, Step{Who: a.id, Layer: layer, Reason: why, Rule: rule})
		}
	}
	add(v.disabled.has(number), LayerDisabled, ReasonDisabled, "the settings disable "+t.Name)
	add(t.Mode > v.ceiling, LayerCeiling, ReasonAboveCeiling, fmt.Sprintf("%s is %s, the ceiling is %s", t.Name, t.Mode, v.ceiling))
	add(t.Mode <= v.ceiling && a.viewerOnly && t.Mode > Read, LayerCeiling, ReasonAboveCeiling, "a model whose only role is viewer reads")
	add(!list.Has(t.Name), LayerList, ReasonNotListed, "the session's allowlist does not have "+t.Name)
	add(a.denyTools.has(number), LayerGrant, ReasonDenyGrant, "a grant denies "+t.Name)
	add(t.Explicit && !a.allowTools.has(number), LayerGrant, ReasonGrantMissing, t.Name+" is explicit and no grant allows it")
	return steps
}

// explainTarget lists what overrides and roles say on one target.
func (v *View) explainTarget(a *actor, t *tool, path Path, q Question) []Step {
	perms := []int{permissionFor(t, q)}
	if q == ToAsk && t.perm != t.ask {
		perms = append(perms, t.perm) // who may perform may ask
	}
	var steps []Step
	n := a.at(path)
	for i, perm := range perms {
		denies := i == 0 && n.deny.has(perm) // a deny of performing does not deny asking
		for _, r := range v.rules(a, perm, path, n.deny.has(perm), n.allow.has(perm)) {
			if r.Reason == ReasonDenyOverride && !denies {
				continue
			}
			steps = append(steps, r)
		}
		if a.role.has(perm) && !(i > 0 && n.deny.has(perm)) {
			steps = append(steps, Step{Who: a.id, Target: path, Layer: LayerRole, Allows: true, Reason: ReasonRole, Rule: v.roleRule(a, perm)})
		}
	}
	if len(steps) > 0 {
		return steps
	}
	rule := fmt.Sprintf("neither role nor override gives %s here", v.policy.perms[perms[0]])
	return []Step{{Who: a.id, Target: path, Layer: LayerDefault, Reason: ReasonNoPermission, Rule: rule}}
}

// rules lists the nearest override on a path that names a permission, if it is in force.
func (v *View) rules(a *actor, perm int, path Path, denies, allows bool) []Step {
	if !denies && !allows {
		return nil
	}
	s := Step{Who: a.id, Target: path, Layer: LayerAllow, Allows: true, Reason: ReasonAllowOverride}
	if denies {
		s = Step{Who: a.id, Target: path, Layer: LayerDeny, Reason: ReasonDenyOverride}
	}
	effect := Allow
	if denies {
		effect = Deny
	}
	near, whose := v.nearest(a, v.policy.perms[perm], path, effect)
	s.Rule = fmt.Sprintf("the override of %s at %s %s %s", whose, near.At, verb(effect), v.policy.perms[perm])
	if below := v.farther(a, v.policy.perms[perm], path, near.At); below != "" {
		s.Rule += ", nearer than " + below
	}
	return []Step{s}
}

func verb(e Effect) string {
	if e == Allow {
		return "allows"
	}
	return "denies"
}

// each calls f with every override that bears on an actor, and whose it is.
func (v *View) each(a *actor, f func(whose string, o Override)) {
	facts := &v.facts.Actors[v.index[a.id]]
	for _, o := range facts.Overrides {
		f(string(a.id), o)
	}
	for _, name := range facts.Roles {
		for _, o := range v.policy.extra[name] {
			f("role "+name, o)
		}
		for _, o := range v.roles[name].Overrides {
			f("role "+name, o)
		}
	}
}

func (v *View) nearest(a *actor, p Permission, path Path, effect Effect) (near Override, whose string) {
	v.each(a, func(who string, o Override) {
		if (o.Effect == Allow) == (effect == Allow) && names(o, p) && o.At.Contains(path) && len(o.At.text) > len(near.At.text) {
			near, whose = o, who
		}
	})
	return near, whose
}

// farther names the nearest override above a path that the rule there outranks.
func (v *View) farther(a *actor, p Permission, path, at Path) string {
	var far Override
	var whose string
	v.each(a, func(who string, o Override) {
		if names(o, p) && o.At.Contains(path) && o.At != at && len(o.At.text) < len(at.text) && len(o.At.text) > len(far.At.text) {
			far, whose = o, who
		}
	})
	if whose == "" {
		return ""
	}
	return fmt.Sprintf("the one of %s at %s, which %s it", whose, far.At, verb(far.Effect))
}

func names(o Override, p Permission) bool {
	return slices.Contains(o.Of, p) || slices.Contains(o.Of, Every)
}

func (v *View) roleRule(a *actor, perm int) string {
	var has []string
	for _, name := range v.facts.Actors[v.index[a.id]].Roles {
		set, ok := v.policy.roles[name]
		if ok && set.has(perm) || slices.Contains(v.roles[name].Permissions, v.policy.perms[perm]) {
			has = append(has, name)
		}
	}
	return fmt.Sprintf("%s has %s", strings.Join(has, ", "), v.policy.perms[perm])
}

// explainCould says whether an actor could be allowed a tool on some target.
func (v *View) explainCould(a *actor, t *tool, number int, decides bool) []Step {
	d, perm := v.could(a, number), v.policy.perms[t.ask]
	s := Step{Who: a.id, Layer: LayerRole, Allows: d.Allowed, Reason: d.Reason, Decided: decides, Rule: fmt.Sprintf("%s is allowed on some target", perm)}
	switch {
	case !d.Allowed:
		s.Layer, s.Rule = LayerDefault, fmt.Sprintf("%s is allowed on no target", perm)
	case d.Reason == ReasonAllowOverride:
		s.Layer = LayerAllow
	}
	return []Step{s}
}

// WhoMay lists the actors that the facts have and who could use a tool on the given targets themselves, in
// ascending order: perform a read or what a question says of a change. A model performs no change and approves
// none, whatever its roles. A source that returns only the actors it is asked for knows only those.
func (v *View) WhoMay(tool int, targets []Path, q Question) []ID {
	read := v.policy.tools[tool].Mode == Read
	if read {
		q = ToPerform
	}
	var ids []ID
	for _, f := range v.facts.Actors {
		if f.Kind == Model && !read && q == ToPerform {
			continue
		}
		if a, _ := v.known(f.ID, f.Kind); a != nil && v.judge(a, Any(), tool, targets, q).Allowed {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Below lists the numbers of the tools that an actor could use on some target at or below a path, in
// ascending order.
func (v *View) Below(id ID, path Path) []int {
	i, ok := v.index[id]
	if !ok || path.IsZero() {
		return nil
	}
	a, _ := v.known(id, v.facts.Actors[i].Kind)
	if a == nil {
		return nil
	}
	nodes := []*node{a.at(path)}
	for text, n := range a.nodes {
		if path.Contains(Path{text}) {
			nodes = append(nodes, n)
		}
	}
	var tools []int
	for i := range v.policy.tools {
		t := &v.policy.tools[i]
		if a.kind == Model && v.cut(a, Any(), i).Reason != "" {
			continue
		}
		where := nodes
		if !t.On.IsZero() {
			if where = nil; path.Contains(t.On) {
				where = []*node{a.at(t.On)}
			}
		}
		if slices.ContainsFunc(where, func(n *node) bool { return couldAt(n, a, t).Allowed }) {
			tools = append(tools, i)
		}
	}
	return tools
}
