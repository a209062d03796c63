package authz

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// View is one snapshot of the facts, compiled. It is immutable, numbered, and safe for concurrent use; all
// its answers are about the same snapshot.
type View struct {
	policy   *Policy
	scope    Scope
	number   uint64
	facts    *Facts
	ceiling  Mode
	disabled bits // tools
	roles    map[string]Role
	index    map[ID]int
	unknown  []string

	mu     sync.RWMutex
	actors map[ID]*actor // compiled on first use
}

// actor is an Actor, compiled.
type actor struct {
	id         ID
	kind       Kind
	active     bool
	viewerOnly bool
	role       bits             // permissions of all roles
	root       *node            // the overrides in force at the root
	nodes      map[string]*node // by path; nil without overrides
	denied     bits             // permissions that some override denies somewhere
	denyTools  bits
	allowTools bits
	standing   map[int][]*Standing // by tool

	once    sync.Once
	visible []int // tools this actor could use, ignoring allowlists
	usable  bits  // the same
}

// node is what the overrides say at one path, the nearer ones applied over the farther.
type node struct{ allow, deny bits }

func (p *Policy) compile(scope Scope, facts *Facts) (*View, error) {
	v := &View{
		policy: p, scope: scope, facts: facts, number: p.count.Add(1), ceiling: facts.Settings.Ceiling,
		disabled: newBits(len(p.tools)), roles: map[string]Role{}, index: map[ID]int{}, actors: map[ID]*actor{},
	}
	if v.ceiling == 0 {
		v.ceiling = Read
	}
	if !v.ceiling.Valid() {
		return nil, fmt.Errorf("authz: facts of scope %q: the ceiling is %v", scope, v.ceiling)
	}
	for _, name := range facts.Settings.Disabled {
		if i, ok := p.names[name]; ok {
			v.disabled.add(i)
		} else {
			v.report("settings disable the unknown tool %q", name)
		}
	}
	for _, r := range facts.Roles {
		_, shipped := p.roles[r.Name]
		_, twice := v.roles[r.Name]
		if shipped || twice || r.Name == "" {
			return nil, fmt.Errorf("authz: facts of scope %q: role %q has no name of its own", scope, r.Name)
		}
		v.roles[r.Name] = r
		for _, q := range r.Permissions {
			if _, ok := p.number[q]; !ok {
				v.report("role %q has the unknown permission %q", r.Name, q)
			}
		}
		v.inspect("role "+r.Name, r.Overrides)
	}
	for i, a := range facts.Actors {
		if _, twice := v.index[a.ID]; twice || a.ID == "" {
			return nil, fmt.Errorf("authz: facts of scope %q: actor %q is not there exactly once", scope, a.ID)
		}
		v.index[a.ID] = i
		v.inspect("actor "+string(a.ID), a.Overrides)
		for _, g := range a.Grants {
			if _, ok := p.names[g.Tool]; !ok {
				v.report("actor %q has a grant of the unknown tool %q", a.ID, g.Tool)
			}
		}
		for _, r := range a.Roles {
			if _, ok := p.roles[r]; !ok && !slices.ContainsFunc(facts.Roles, func(x Role) bool { return x.Name == r }) {
				v.report("actor %q has the unknown role %q", a.ID, r)
			}
		}
	}
	return v, nil
}

func (v *View) report(format string, args ...any) {
	v.unknown = append(v.unknown, fmt.Sprintf(format, args...))
}

func (v *View) inspect(whose string, overrides []Override) {
	for _, o := range overrides {
		if f := v.policy.overrideFault(o); f != "" {
			v.report("%s: override %s", whose, f)
		}
	}
}

// actor returns the compiled actor, or nil if the facts do not have it.
func (v *View) actor(id ID) *actor {
	v.mu.RLock()
	a := v.actors[id]
	v.mu.RUnlock()
	if a != nil {
		return a
	}
	i, ok := v.index[id]
	if !ok {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if a := v.actors[id]; a != nil {
		return a
	}
	a = v.compileActor(&v.facts.Actors[i])
	v.actors[id] = a
	return a
}

func (v *View) compileActor(f *Actor) *actor {
	p := v.policy
	a := &actor{
		id: f.ID, kind: f.Kind, active: f.Active, viewerOnly: v.viewerOnly(f.Roles),
		role: newBits(len(p.perms)), denied: newBits(len(p.perms)),
		denyTools: newBits(len(p.tools)), allowTools: newBits(len(p.tools)),
	}
	overrides := slices.Clone(f.Overrides)
	for _, name := range f.Roles {
		if set, ok := p.roles[name]; ok {
			a.role.union(set)
			overrides = append(overrides, p.extra[name]...)
			continue
		}
		for _, q := range v.roles[name].Permissions {
			if i, ok := p.number[q]; ok {
				a.role.add(i)
			}
		}
		overrides = append(overrides, v.roles[name].Overrides...)
	}
	for _, g := range f.Grants {
		i, ok := p.names[g.Tool]
		switch {
		case !ok:
		case g.Effect == Allow:
			a.allowTools.add(i)
			if g.Standing != nil {
				if a.standing == nil {
					a.standing = map[int][]*Standing{}
				}
				a.standing[i] = append(a.standing[i], g.Standing)
			}
		default:
			a.denyTools.add(i)
		}
	}
	a.layer(p, overrides)
	return a
}

// viewerOnly says whether viewer is the only role among those that exist, however often it is named.
func (v *View) viewerOnly(roles []string) bool {
	return slices.Contains(roles, Viewer) && !slices.ContainsFunc(roles, func(name string) bool {
		_, configured := v.policy.roles[name]
		_, stored := v.roles[name]
		return name != Viewer && (configured || stored)
	})
}

// layer sorts the overrides into nodes, each with what is nearest from its own point of view.
func (a *actor) layer(p *Policy, overrides []Override) {
	a.root = &node{newBits(len(p.perms)), newBits(len(p.perms))}
	own := map[string]*node{"/": a.root}
	for _, o := range overrides {
		if o.At.IsZero() {
			continue // reported; a path that is none covers nothing
		}
		n := own[o.At.text]
		if n == nil {
			n = &node{newBits(len(p.perms)), newBits(len(p.perms))}
			own[o.At.text] = n
		}
		set := n.deny
		if o.Effect == Allow {
			set = n.allow
		}
		for _, q := range o.Of {
			if q == Every {
				set.fill()
			} else if i, ok := p.number[q]; ok {
				set.add(i)
			}
		}
	}
	paths := make([]string, 0, len(own))
	for path := range own {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(x, y string) int { return len(x) - len(y) }) // ancestors first
	for _, path := range paths {
		n := own[path]
		n.allow.remove(n.deny) // at one node deny wins
		a.denied.union(n.deny)
		for up := parent(path); up != ""; up = parent(up) {
			if above := own[up]; above != nil {
				n.inherit(above)
				break
			}
		}
	}
	if len(own) > 1 {
		a.nodes = own
	}
}

// inherit adds what the node above says about permissions on which this node is silent.
func (n *node) inherit(above *node) {
	for i := range n.allow {
		silent := ^(n.allow[i] | n.deny[i])
		n.allow[i] |= above.allow[i] & silent
		n.deny[i] |= above.deny[i] & silent
	}
}

// at returns what the overrides say at a path.
func (a *actor) at(p Path) *node {
	if a.nodes == nil {
		return a.root
	}
	for text := p.text; text != "/"; {
		if n := a.nodes[text]; n != nil {
			return n
		}
		i := strings.LastIndexByte(text, '/')
		if i <= 0 {
			break
		}
		text = text[:i]
	}
	return a.root
}
