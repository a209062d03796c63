package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Tool is what a policy knows of an action.
type Tool struct {
	Name       string
	Permission Permission // to perform and to approve
	Ask        Permission // to propose; "" means Permission, and is what a read has
	Mode       Mode
	Explicit   bool // a model needs an allow grant, and the shipped editor does not have its permission
	On         Path // the one path that it touches, whatever its parameters; zero if that depends on them
	Whole      bool // no target is declared: it touches the whole scope, so On is the root
}

// Policy decides for one fixed set of tools. It is immutable and safe for concurrent use.
type Policy struct {
	source Source
	tools  []tool
	perms  []Permission       // sorted; a permission's number is its index
	number map[Permission]int // of each permission
	names  map[string]int     // of each tool
	roles  map[string]bits    // the shipped and the configured ones
	extra  map[string][]Override
	mu     sync.RWMutex
	views  map[Scope]*View // the latest
	count  atomic.Uint64
	reads  bits // the permissions of reads
}

type tool struct {
	Tool
	perm, ask int
}

// ErrPolicy is the error of [NewPolicy]; its text lists every fault.
var ErrPolicy = errors.New("authz: the policy is not valid")

// NewPolicy returns the policy of the given tools, numbered in the order given. Roles are those that code
// configures beside the shipped ones; a permission that no tool has, or a name that is taken, is a fault.
func NewPolicy(source Source, tools []Tool, roles []Role) (*Policy, error) {
	p := &Policy{
		source: source, number: map[Permission]int{}, names: map[string]int{},
		roles: map[string]bits{}, views: map[Scope]*View{}, extra: map[string][]Override{},
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if source == nil {
		fault("no source of facts")
	}
	for _, t := range tools {
		p.perms = append(p.perms, t.Permission, orElse(t.Ask, t.Permission))
	}
	slices.Sort(p.perms)
	p.perms = slices.Compact(p.perms)
	for i, q := range p.perms {
		p.number[q] = i
	}
	for i, t := range tools {
		if _, taken := p.names[t.Name]; taken {
			fault("tool %q is there twice", t.Name)
		}
		if t.Name == "" || !t.Mode.Valid() || t.Permission == "" || t.Permission == Every || t.Ask == Every {
			fault("tool %q has no name, no valid mode or no valid permission", t.Name)
		}
		if t.Mode == Read && orElse(t.Ask, t.Permission) != t.Permission {
			fault("tool %q is a read, and nobody asks for a read", t.Name)
		}
		if t.Whole && !t.On.IsZero() && t.On != Root() {
			fault("tool %q touches the whole scope, and a part of it", t.Name)
		}
		if t.Whole {
			t.On = Root()
		}
		t.Ask = orElse(t.Ask, t.Permission)
		p.names[t.Name] = i
		p.tools = append(p.tools, tool{t, p.number[t.Permission], p.number[t.Ask]})
	}
	p.ship()
	for _, r := range roles {
		if _, taken := p.roles[r.Name]; taken || r.Name == "" {
			fault("role %q has no name of its own", r.Name)
			continue
		}
		set := newBits(len(p.perms))
		for _, q := range r.Permissions {
			if i, ok := p.number[q]; ok {
				set.add(i)
			} else {
				fault("role %q: no tool has the permission %q", r.Name, q)
			}
		}
		for _, o := range r.Overrides {
			if f := p.overrideFault(o); f != "" {
				fault("role %q: override %s", r.Name, f)
			}
		}
		p.roles[r.Name], p.extra[r.Name] = set, cloneOverrides(r.Overrides)
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrPolicy, errors.Join(faults...))
	}
	return p, nil
}

// ship derives the shipped roles from the tools.
func (p *Policy) ship() {
	viewer, editor, owner, explicit := newBits(len(p.perms)), newBits(len(p.perms)), newBits(len(p.perms)), newBits(len(p.perms))
	p.reads = newBits(len(p.perms))
	for _, t := range p.tools {
		if t.Mode == Read {
			p.reads.add(t.perm)
		}
		owner.add(t.perm)
		owner.add(t.ask)
		switch {
		case t.Explicit:
			explicit.add(t.perm)
			explicit.add(t.ask)
		case t.Mode == Read:
			viewer.add(t.perm)
			editor.add(t.perm)
		default:
			editor.add(t.perm)
			editor.add(t.ask)
		}
	}
	viewer.remove(explicit)
	editor.remove(explicit)
	p.roles[Viewer], p.roles[Editor], p.roles[Owner] = viewer, editor, owner
}

func (p *Policy) overrideFault(o Override) string {
	switch {
	case o.At.IsZero():
		return "has no path"
	case len(o.Of) == 0:
		return "names no permission"
	case o.Effect > Allow:
		return "has an unknown effect"
	}
	for _, q := range o.Of {
		if _, ok := p.number[q]; !ok && q != Every {
			return fmt.Sprintf("names the permission %q that no tool has", q)
		}
	}
	return ""
}

// View returns the view of the facts about all the given actors, from one call of the source. A source that
// returns the same facts again gets the same view again. The error is the source's, or [ErrUnknownScope], or
// one that says which facts contradict themselves.
func (p *Policy) View(ctx context.Context, scope Scope, actors ...ID) (*View, error) {
	if scope == "" {
		return nil, ErrUnknownScope
	}
	facts, err := p.source.Facts(ctx, scope, actors)
	if err != nil {
		return nil, fmt.Errorf("authz: facts: %w", err)
	}
	if facts == nil {
		return nil, ErrUnknownScope
	}
	p.mu.RLock()
	old := p.views[scope]
	p.mu.RUnlock()
	if old != nil && old.facts == facts {
		return old, nil
	}
	v, err := p.compile(scope, facts)
	if err == nil {
		p.mu.Lock()
		p.views[scope] = v
		p.mu.Unlock()
	}
	return v, err
}

func orElse(a, b Permission) Permission {
	if a != "" {
		return a
	}
	return b
}

// bits is a set of small numbers.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b bits) union(c bits) {
	for i := range b {
		b[i] |= c[i]
	}
}

func (b bits) remove(c bits) {
	for i := range b {
		b[i] &^= c[i]
	}
}

func (b bits) fill() {
	for i := range b {
		b[i] = ^uint64(0)
	}
}
