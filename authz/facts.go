package authz

import (
	"context"
	"errors"
)

// Names of the roles that every registry has. What they contain follows from its tools: a viewer has the
// permissions of reads; an editor also asks for and performs the rest; neither has what explicit tools need;
// an owner has all.
const (
	Viewer = "viewer"
	Editor = "editor"
	Owner  = "owner"
)

// Override allows or denies the permissions it names, or explicitly [Every] one, on a subtree.
type Override struct {
	At     Path
	Effect Effect
	Of     []Permission
}

// Grant allows or denies a model one tool, as a layer above its roles. A deny removes the tool. An allow
// unlocks an explicit tool that roles and overrides permit already; it never exceeds them.
type Grant struct {
	Tool     string
	Effect   Effect
	Standing *Standing // of an allow: approval in advance, besides
}

// Role is a set of permissions with overrides of its own. Roles never deny by what they lack.
type Role struct {
	Name        string
	Permissions []Permission
	Overrides   []Override
}

// Actor is an identity that acts. The zero Kind and the zero Active refuse everything.
type Actor struct {
	ID        ID
	Name      string // for people to read
	Kind      Kind
	Active    bool
	Roles     []string // in the scope that the facts are about
	Overrides []Override
	Grants    []Grant // of a model
}

// Settings hold for every model of a scope. They can be changed at run time.
type Settings struct {
	Ceiling  Mode     // the highest mode a model may attempt; zero means Read
	Disabled []string // names of tools that no model may use
	Standing bool     // standing grants are on
}

// Facts is one snapshot of everything that bears on the decisions about some actors in one scope. It is never
// written after a source returned it: the same pointer means that nothing changed, and what was compiled
// from it is used again.
type Facts struct {
	Settings Settings
	Roles    []Role  // beside the shipped ones and those of the registry's configuration
	Actors   []Actor // at least those asked for and known; a missing one is unknown, and refused
}

// ErrUnknownScope is what a [Source] returns for a scope that it does not know.
var ErrUnknownScope = errors.New("authz: unknown scope")

// Source tells the facts. A host with users and roles of its own writes this one method.
//
// Facts returns the facts of all the given actors in a scope, read from one snapshot: two reads could mix an
// old role with a new override. It may return more actors than asked for, leaves out those it does not know,
// and returns [ErrUnknownScope] or any other error to refuse the decision. It must be safe for concurrent
// use.
type Source interface {
	Facts(ctx context.Context, scope Scope, actors []ID) (*Facts, error)
}

// SourceFunc is a function as a [Source].
type SourceFunc func(ctx context.Context, scope Scope, actors []ID) (*Facts, error)

// Facts calls f.
func (f SourceFunc) Facts(ctx context.Context, scope Scope, actors []ID) (*Facts, error) {
	return f(ctx, scope, actors)
}

// Directory is a source that can be changed: [Memory], package authz/sqlauthz, or one of a host's own that package
// authztest has tested. Asked for the facts of no actor, it returns those of every actor of the scope. Package
// registry/directory makes its changes into actions.
type Directory interface {
	Source

	// Edit changes the facts of a scope in one step, creating the scope if need be: edit gets a copy, and
	// what it leaves is published if it is valid. Edits of one scope come one after another; one that
	// returns nil is durable. An actor's kind cannot change and an actor cannot go away, since an id names
	// one actor for ever. The error is edit's own, or wraps [ErrFacts] for facts that are not kept; then
	// nothing is changed. Any other error means that nobody knows.
	Edit(ctx context.Context, scope Scope, edit func(*Facts) error) error
}
