package authz

import "slices"

// Number identifies the view; a later one of the same policy has a higher number.
func (v *View) Number() uint64 { return v.number }

// Unknown reports the names in the facts that match nothing: an allow of that kind is ignored, a deny is
// kept.
func (v *View) Unknown() []string { return slices.Clone(v.unknown) }

// Ceiling returns the highest mode that a model may attempt in the scope.
func (v *View) Ceiling() Mode { return v.ceiling }

// Available says whether a session's caller could use a tool at all: the caller exists and is active, no cut
// and no grant removes the tool from a model, and the caller's own roles and overrides could allow it on some
// target: to perform a read, to ask for a change or, for a person, to perform it. It is the question of the
// catalog. A tool that is not available to a model is answered as one that does not exist.
func (v *View) Available(s Session, tool int) Decision {
	a, d := v.caller(s)
	if a == nil {
		return d
	}
	if a.kind == Model {
		if d := v.cut(a, s.tools, tool); d.Reason != "" {
			return d
		}
	}
	return v.could(a, tool)
}

// AppendTools appends the numbers of the tools that are available to a session, in ascending order.
func (v *View) AppendTools(dst []int, s Session) []int {
	a, _ := v.caller(s)
	if a == nil {
		return dst
	}
	a.once.Do(func() { v.list(a) })
	if s.tools.any || a.kind == Human {
		return append(dst, a.visible...) // an allowlist narrows what models may use
	}
	had := len(dst)
	for _, name := range s.tools.names {
		if i, ok := v.policy.names[name]; ok && a.usable.has(i) {
			dst = append(dst, i)
		}
	}
	slices.Sort(dst[had:])
	return dst
}

// list notes the tools that an actor could use, ignoring allowlists.
func (v *View) list(a *actor) {
	a.usable = newBits(len(v.policy.tools))
	for i := range v.policy.tools {
		cut := a.kind == Model && v.cut(a, Any(), i).Reason != ""
		if !cut && v.could(a, i).Allowed {
			a.visible = append(a.visible, i)
			a.usable.add(i)
		}
	}
}

// Check asks the whole chain of a session about a tool on the given targets: the caller, the models it was
// delegated through, the principal. All must be allowed on all targets. The first refusal, in the order of
// the chain, is returned.
func (v *View) Check(s Session, tool int, targets []Path, q Question) Decision {
	a, d := v.caller(s)
	if a == nil {
		return d
	}
	if d = v.judge(a, s.tools, tool, targets, q); !d.Allowed {
		return d
	}
	for _, id := range s.via {
		if b, e := v.known(id, Model); b == nil {
			return e
		} else if e = v.judge(b, s.tools, tool, targets, q); !e.Allowed {
			return e
		}
	}
	if id := s.behalf.principal; id != "" {
		if b, e := v.known(id, Human); b == nil {
			return e
		} else if e = v.judge(b, s.tools, tool, targets, q); !e.Allowed {
			return e
		}
	}
	return d
}

// Person asks whether a person may perform a tool on the given targets, and so approve it, or ask for it. A
// model's id is refused: a model approves nothing.
func (v *View) Person(p Person, tool int, targets []Path, q Question) Decision {
	a, d := v.known(p.id, Human)
	if a == nil {
		return d
	}
	return v.judge(a, Any(), tool, targets, q)
}

// Human says whether a person is known, human and active.
func (v *View) Human(p Person) Decision {
	a, d := v.known(p.id, Human)
	return Decision{Allowed: a != nil, Reason: d.Reason, Who: p.id}
}

// MayRead says whether some read's permission is held on a path by every actor of a session's chain. Change
// events and lists are filtered by it.
func (v *View) MayRead(s Session, path Path) bool {
	chain, ok := v.chain(s)
	if !ok || path.IsZero() {
		return false
	}
	for word, reads := range v.policy.reads {
		for _, a := range chain {
			n := a.at(path)
			reads &= n.allow[word] | a.role[word]&^n.deny[word]
		}
		if reads != 0 {
			return true
		}
	}
	return false
}

// May says whether every actor of a session's chain has a permission on a path.
func (v *View) May(s Session, permission Permission, path Path) bool {
	perm, known := v.policy.number[permission]
	chain, ok := v.chain(s)
	if !known || !ok || path.IsZero() {
		return false
	}
	return !slices.ContainsFunc(chain, func(a *actor) bool { return !allows(a.at(path), a, perm) })
}

// chain returns the actors of a session, caller first; false if one of them is not in order.
func (v *View) chain(s Session) ([]*actor, bool) {
	a, _ := v.caller(s)
	chain := append(make([]*actor, 0, 4), a)
	for _, id := range s.via {
		b, _ := v.known(id, Model)
		chain = append(chain, b)
	}
	if id := s.behalf.principal; id != "" {
		b, _ := v.known(id, Human)
		chain = append(chain, b)
	}
	return chain, !slices.Contains(chain, nil)
}

// caller returns the session's own actor, if the session and all facts about it are in order.
func (v *View) caller(s Session) (*actor, Decision) {
	if s.IsZero() || s.scope != v.scope {
		return nil, refuse(s.actor, ReasonInvalidSession)
	}
	return v.known(s.actor, s.kind)
}

func (v *View) known(id ID, kind Kind) (*actor, Decision) {
	if id == "" {
		return nil, refuse(id, ReasonUnknownActor)
	}
	a := v.actor(id)
	switch {
	case a == nil:
		return nil, refuse(id, ReasonUnknownActor)
	case !a.active:
		return nil, refuse(id, ReasonInactive)
	case a.kind != kind || kind != Human && kind != Model:
		return nil, refuse(id, ReasonWrongKind)
	}
	return a, Decision{}
}

// cut returns the hard cut or the grant that removes a tool from a model; the zero Reason if none does.
func (v *View) cut(a *actor, list Allowlist, tool int) Decision {
	t := &v.policy.tools[tool]
	switch {
	case v.disabled.has(tool):
		return refuse(a.id, ReasonDisabled)
	case t.Mode > v.ceiling || a.viewerOnly && t.Mode > Read:
		return refuse(a.id, ReasonAboveCeiling)
	case !list.Has(t.Name):
		return refuse(a.id, ReasonNotListed)
	case a.denyTools.has(tool):
		return refuse(a.id, ReasonDenyGrant)
	case t.Explicit && !a.allowTools.has(tool):
		return refuse(a.id, ReasonGrantMissing)
	}
	return Decision{}
}

// judge asks one actor about a tool on all targets.
func (v *View) judge(a *actor, list Allowlist, tool int, targets []Path, q Question) (d Decision) {
	t := &v.policy.tools[tool]
	if !t.takes(targets) {
		return refuse(a.id, ReasonNoTarget)
	}
	if a.kind == Model {
		if d := v.cut(a, list, tool); d.Reason != "" {
			return d
		}
	}
	for _, path := range targets {
		if d = judgeAt(a.at(path), a, t, q); !d.Allowed {
			d.Target = path
			return d
		}
	}
	if t.Whole && t.Mode != Read && deniedBelow(a, t, q) {
		return refuse(a.id, ReasonDenyBelow)
	}
	return d
}

// takes says whether there are targets, all of them paths, and the tool's own where it has one.
func (t *tool) takes(targets []Path) bool {
	for _, path := range targets {
		if path.IsZero() || !t.On.IsZero() && path != t.On {
			return false
		}
	}
	return len(targets) > 0
}

// deniedBelow says whether some override denies what a change of everything needs. Where asking is allowed
// only because performing is, a deny of performing counts as well: there the actor could not ask either.
func deniedBelow(a *actor, t *tool, q Question) bool {
	if q == ToAsk && a.denied.has(t.perm) && !allows(a.root, a, t.ask) {
		return true
	}
	return a.denied.has(permissionFor(t, q))
}

func permissionFor(t *tool, q Question) int {
	if q == ToAsk {
		return t.ask
	}
	return t.perm
}

// judgeAt applies the layers 3 to 6 at one node. Who may perform may also ask, unless asking itself is
// denied.
func judgeAt(n *node, a *actor, t *tool, q Question) Decision {
	first := permissionFor(t, q)
	switch {
	case n.deny.has(first):
		return refuse(a.id, ReasonDenyOverride)
	case allows(n, a, first):
		return Decision{Allowed: true, Reason: allowedBy(n, first), Who: a.id}
	case q == ToAsk && allows(n, a, t.perm):
		return Decision{Allowed: true, Reason: allowedBy(n, t.perm), Who: a.id}
	}
	return refuse(a.id, ReasonNoPermission)
}

func allows(n *node, a *actor, perm int) bool {
	return n.allow.has(perm) || a.role.has(perm) && !n.deny.has(perm)
}

func allowedBy(n *node, perm int) Reason {
	if n.allow.has(perm) {
		return ReasonAllowOverride
	}
	return ReasonRole
}

// could says whether some target exists on which the actor's roles and overrides would allow the tool. What
// the overrides say changes only at their nodes, so asking at each node asks everywhere.
func (v *View) could(a *actor, tool int) Decision {
	t := &v.policy.tools[tool]
	if !t.On.IsZero() {
		if d := couldAt(a.at(t.On), a, t); d.Allowed {
			return d
		}
		return refuse(a.id, ReasonNoPermission)
	}
	if d := couldAt(a.root, a, t); d.Allowed {
		return d
	}
	for _, n := range a.nodes {
		if d := couldAt(n, a, t); d.Allowed {
			return d // by an override, whichever node it is: the roles alone did not allow it at the root
		}
	}
	return refuse(a.id, ReasonNoPermission)
}

// couldAt asks what the actor may come to do with the tool at one node: anybody asks, people also perform.
func couldAt(n *node, a *actor, t *tool) Decision {
	if t.Mode != Read {
		if d := judgeAt(n, a, t, ToAsk); d.Allowed || a.kind == Model {
			return d
		}
	}
	return judgeAt(n, a, t, ToPerform)
}

// Could says whether every actor of a session's chain could be allowed a tool on some target; the targets
// need not be the same.
func (v *View) Could(s Session, tool int) bool {
	chain, ok := v.chain(s)
	return ok && !slices.ContainsFunc(chain, func(a *actor) bool {
		cut := a.kind == Model && v.cut(a, s.tools, tool).Reason != ""
		return cut || !v.could(a, tool).Allowed
	})
}
