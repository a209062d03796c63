// Package directory makes the changes of an [authz] directory into actions: who there is, what roles,
// overrides and grants they have, and what the settings of the scope are.
//
// So they are authorized, proposed, approved, recorded and announced like anything else that an application
// does. [Actions] returns them for a registry's configuration. All are explicit and none is of mode Execute:
// by the shipped roles only an owner performs or approves one, a model may propose one only as an owner with
// a grant of that tool, and no standing grant covers one. Permissions start with [registry.Administrative],
// which a registry keeps for actions of that kind.
//
// The scope is always the caller's, never a parameter. What would leave a scope without an active human owner
// is refused.
package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// Permissions of the actions.
const (
	Read         authz.Permission = registry.Administrative + "read"
	EditActors   authz.Permission = registry.Administrative + "edit"
	EditRoles    authz.Permission = registry.Administrative + "roles"
	EditGrants   authz.Permission = registry.Administrative + "grants"
	EditSettings authz.Permission = registry.Administrative + "settings"
)

// Config says what the actions work on. Directory and Keys are required.
type Config struct {
	Directory authz.Directory
	Keys      *token.Ring        // that of the registry; it seals standing grants
	Tools     []*registry.Action // the application's own; grants and overrides may name only these
	Roles     []authz.Role       // those of the registry's configuration
}

// Actions returns the administrative actions.
func Actions(c Config) []*registry.Action {
	d := &directory{Config: c, own: map[string]bool{}}
	actions := slices.Concat(d.actors(), d.authority(), d.standing(), d.settings())
	for _, a := range actions {
		d.own[a.Name] = true
	}
	return actions
}

type directory struct {
	Config
	own map[string]bool // names of these actions, which can be granted too; written only by Actions
}

// Changed is what every change returns.
type Changed struct {
	Changed string `json:"changed"` // what was changed, in words
}

// define makes a change of facts an action.
func define[P any](d *directory, name, description, sentence string, p authz.Permission, edit func(*authz.Facts, P, registry.Current) (string, error)) *registry.Action {
	return registry.Define(name, registry.Spec[P]{
		Description: description, Sentence: sentence, Permission: p, Mode: authz.Propose, Explicit: true,
		Risk: registry.RiskHigh, Reach: "who may do what in this scope", Undo: "by changing it back; what was done meanwhile stays done",
	}, func(ctx context.Context, params P) (Changed, error) {
		call, ok := registry.CallFrom(ctx)
		if !ok {
			return Changed{}, errors.New("directory: not called by a registry")
		}
		var did string
		err := d.Directory.Edit(ctx, call.Session.Scope(), func(f *authz.Facts) (err error) {
			owned := hasOwner(f)
			if did, err = edit(f, params, call); err == nil && owned && !hasOwner(f) {
				err = refuse("the scope would have no active human owner left")
			}
			return err
		})
		if errors.Is(err, authz.ErrFacts) {
			return Changed{}, refuse("the directory does not keep this: %v", err)
		}
		return Changed{did}, err
	})
}

// refuse is an error that whoever asked may read.
func refuse(format string, args ...any) error {
	return registry.Public(fmt.Errorf(format, args...))
}

func hasOwner(f *authz.Facts) bool {
	return slices.ContainsFunc(f.Actors, func(a authz.Actor) bool {
		return a.Kind == authz.Human && a.Active && slices.Contains(a.Roles, authz.Owner)
	})
}

// find returns an actor of the facts, to be changed.
func find(f *authz.Facts, id string) (*authz.Actor, error) {
	for i := range f.Actors {
		if f.Actors[i].ID == authz.ID(id) {
			return &f.Actors[i], nil
		}
	}
	return nil, refuse("there is no such actor in this scope")
}

// findModel is find for models only.
func findModel(f *authz.Facts, id string) (*authz.Actor, error) {
	a, err := find(f, id)
	if err == nil && a.Kind != authz.Model {
		return nil, refuse("this actor is no model")
	}
	return a, err
}

// tool returns one of the application's own actions.
func (d *directory) tool(name string) (*registry.Action, error) {
	for _, a := range d.Tools {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, refuse("there is no such tool")
}

// knownRoles refuses a role that nothing defines.
func (d *directory) knownRoles(f *authz.Facts, roles []string) error {
	for _, name := range roles {
		named := func(r authz.Role) bool { return r.Name == name }
		shipped := name == authz.Viewer || name == authz.Editor || name == authz.Owner
		if !shipped && !slices.ContainsFunc(d.Roles, named) && !slices.ContainsFunc(f.Roles, named) {
			return refuse("there is no role %q", name)
		}
	}
	return nil
}
