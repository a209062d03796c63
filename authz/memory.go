package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Memory is a [Directory] in memory, for tests, examples and small programs. Its zero value is empty
// and ready. It is safe for concurrent use.
type Memory struct {
	mu     sync.RWMutex
	scopes map[Scope]*Facts
}

// ErrFacts is the error of [Memory.Edit] and [Memory.Set] for facts that a directory does not keep.
var ErrFacts = errors.New("authz: the facts are not valid")

// Facts returns the latest snapshot of a scope, with all of its actors.
func (m *Memory) Facts(_ context.Context, scope Scope, _ []ID) (*Facts, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if f := m.scopes[scope]; f != nil {
		return f, nil
	}
	return nil, ErrUnknownScope
}

// Set replaces the facts of a scope, with the rules of [Memory.Edit].
func (m *Memory) Set(scope Scope, facts Facts) error {
	return m.Edit(context.Background(), scope, func(f *Facts) error { *f = *facts.clone(); return nil })
}

// Edit changes the facts of a scope, which it creates if need be: edit gets a copy, and what it leaves is
// published in one step if it is valid. An actor's kind cannot change and an actor cannot go away, since an
// id names one actor for ever: deactivate it instead. The error is [ErrFacts] or edit's own; nothing is
// changed then.
func (m *Memory) Edit(ctx context.Context, scope Scope, edit func(*Facts) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if scope == "" {
		return ErrUnknownScope
	}
	old := m.scopes[scope]
	next := &Facts{}
	if old != nil {
		next = old.clone()
	}
	if err := edit(next); err != nil {
		return err
	}
	next = next.clone() // the editor may have kept what it was given
	if err := next.validate(old); err != nil {
		return err
	}
	if m.scopes == nil {
		m.scopes = map[Scope]*Facts{}
	}
	m.scopes[scope] = next
	return nil
}

var _ Directory = (*Memory)(nil)

func (f *Facts) clone() *Facts {
	c := *f
	c.Settings.Disabled = slices.Clone(f.Settings.Disabled)
	c.Roles = slices.Clone(f.Roles)
	for i := range c.Roles {
		c.Roles[i].Permissions = slices.Clone(c.Roles[i].Permissions)
		c.Roles[i].Overrides = cloneOverrides(c.Roles[i].Overrides)
	}
	c.Actors = slices.Clone(f.Actors)
	for i := range c.Actors {
		a := &c.Actors[i]
		a.Roles, a.Grants, a.Overrides = slices.Clone(a.Roles), slices.Clone(a.Grants), cloneOverrides(a.Overrides)
		for j := range a.Grants {
			if g := &a.Grants[j]; g.Standing != nil {
				standing := *g.Standing
				g.Standing = &standing
			}
		}
	}
	return &c
}

func cloneOverrides(list []Override) []Override {
	list = slices.Clone(list)
	for i := range list {
		list[i].Of = slices.Clone(list[i].Of)
	}
	return list
}

func (f *Facts) validate(old *Facts) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if f.Settings.Ceiling != 0 && !f.Settings.Ceiling.Valid() {
		fault("the ceiling is %v", f.Settings.Ceiling)
	}
	overrides := func(whose string, list []Override) {
		for _, o := range list {
			if o.At.IsZero() || len(o.Of) == 0 || slices.Contains(o.Of, "") || o.Effect > Allow {
				fault("%s: an override lacks a path, a permission or a known effect", whose)
			}
		}
	}
	roles := map[string]bool{Viewer: true, Editor: true, Owner: true}
	for _, r := range f.Roles {
		if r.Name == "" || roles[r.Name] || slices.Contains(r.Permissions, "") || slices.Contains(r.Permissions, Every) {
			fault("role %q lacks a name of its own or names no permission", r.Name)
		}
		roles[r.Name] = true
		overrides("role "+r.Name, r.Overrides)
	}
	kinds, standing := map[ID]Kind{}, map[string]bool{}
	for _, a := range f.Actors {
		if a.ID == "" || kinds[a.ID] != 0 || a.Kind != Human && a.Kind != Model {
			fault("actor %q lacks a kind or an id of its own", a.ID)
		}
		if slices.Contains(a.Roles, "") {
			fault("actor %q has a role without a name", a.ID)
		}
		if a.Kind == Human && len(a.Grants) > 0 {
			fault("actor %q is human; grants are for models", a.ID)
		}
		for _, g := range a.Grants {
			if g.Tool == "" || g.Effect > Allow {
				fault("actor %q: a grant lacks a tool or a known effect", a.ID)
			}
			if g.Standing != nil && (g.Effect != Allow || g.Standing.ID == "" || standing[g.Standing.ID]) {
				fault("actor %q: a standing grant is no allow, or has no id of its own", a.ID)
			}
			if g.Standing != nil {
				standing[g.Standing.ID] = true
			}
		}
		kinds[a.ID] = a.Kind
		overrides("actor "+string(a.ID), a.Overrides)
	}
	if old != nil {
		for _, a := range old.Actors {
			if kinds[a.ID] != a.Kind {
				fault("actor %q cannot go away or change its kind", a.ID)
			}
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %w", ErrFacts, errors.Join(faults...))
	}
	return nil
}
