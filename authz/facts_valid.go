package authz

import (
	"errors"
	"fmt"
	"slices"
)

// Clone returns a copy that shares nothing that can be written to.
func (f *Facts) Clone() *Facts {
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

// Validate says whether a directory keeps these facts, in place of old ones: nil for a scope that is new. The error
// wraps [ErrFacts] and lists every fault. Names of tools, roles and permissions may be unknown.
func (f *Facts) Validate(old *Facts) error {
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
