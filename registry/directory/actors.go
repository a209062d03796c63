package directory

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// Listing is what the list action returns.
type Listing struct {
	Actors   []ActorEntry `json:"actors"`
	Ceiling  string       `json:"ceiling"`
	Disabled []string     `json:"disabled"`
	Standing bool         `json:"standing"` // standing grants are on
}

// ActorEntry is one actor of a [Listing].
type ActorEntry struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Kind      string          `json:"kind"`
	Active    bool            `json:"active"`
	Roles     []string        `json:"roles"`
	Overrides []OverrideEntry `json:"overrides"`
	Grants    []GrantEntry    `json:"grants"`
}

// OverrideEntry is an override in JSON.
type OverrideEntry struct {
	At     string   `json:"at" jsonschema:"minLength=1" jsonschema_description:"A path, such as /orders; / is everything"`
	Effect string   `json:"effect" jsonschema:"enum=allow,enum=deny"`
	Of     []string `json:"of" jsonschema:"minItems=1" jsonschema_description:"Permissions, or * for every one"`
}

// GrantEntry is a grant in JSON.
type GrantEntry struct {
	Tool     string         `json:"tool"`
	Effect   string         `json:"effect"`
	Standing *StandingEntry `json:"standing,omitempty"`
}

// StandingEntry is a standing grant in JSON.
type StandingEntry struct {
	ID    string    `json:"id"`
	By    string    `json:"by"`
	Until time.Time `json:"until"`
	Uses  int       `json:"uses"`
	Below string    `json:"below"`
}

// Nothing is what the list action takes.
type Nothing struct{}

// NewModel is a model user to create.
type NewModel struct {
	ID    string   `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Names the model for ever"`
	Name  string   `json:"name" jsonschema:"minLength=1,maxLength=100" jsonschema_description:"For people to read"`
	Roles []string `json:"roles" jsonschema:"minItems=1"`
}

// Rename gives an actor another name for people to read.
type Rename struct {
	ID   string `json:"id"`
	Name string `json:"name" jsonschema:"minLength=1,maxLength=100"`
}

// Activity turns an actor on or off.
type Activity struct {
	ID     string `json:"id"`
	Active bool   `json:"active"`
}

func (d *directory) actors() []*registry.Action {
	return []*registry.Action{
		registry.Define("directory_list", registry.Spec[Nothing]{
			Description: "List the people and models of this scope with their roles, overrides and grants, and the settings.",
			Permission:  Read, Mode: authz.Read, Explicit: true,
		}, d.list),
		define(d, "directory_create_model", "Create a model user. Its id can never be used again for another.",
			"Create the model {id}, called {name}, with the roles {roles}.", EditActors,
			func(f *authz.Facts, p NewModel, _ registry.Current) (string, error) {
				if _, err := find(f, p.ID); err == nil {
					return "", refuse("the id is taken")
				}
				if err := d.knownRoles(f, p.Roles); err != nil {
					return "", err
				}
				f.Actors = append(f.Actors, authz.Actor{ID: authz.ID(p.ID), Name: p.Name, Kind: authz.Model, Active: true, Roles: p.Roles})
				return fmt.Sprintf("model %s created with %s", p.ID, strings.Join(p.Roles, ", ")), nil
			}),
		define(d, "directory_rename_actor", "Change the name that people read for a person or model.",
			"Call {id} {name}.", EditActors,
			func(f *authz.Facts, p Rename, _ registry.Current) (string, error) {
				a, err := find(f, p.ID)
				if err != nil {
					return "", err
				}
				a.Name = p.Name
				return "name of " + p.ID, nil
			}),
		define(d, "directory_set_active", "Activate or deactivate a person or model. Whoever is not active may do nothing.",
			"Set whether {id} is active to {active}.", EditActors,
			func(f *authz.Facts, p Activity, _ registry.Current) (string, error) {
				a, err := find(f, p.ID)
				if err != nil {
					return "", err
				}
				a.Active = p.Active
				return fmt.Sprintf("%s active: %t", p.ID, p.Active), nil
			}),
	}
}

func (d *directory) list(ctx context.Context, _ Nothing) (Listing, error) {
	call, _ := registry.CallFrom(ctx)
	f, err := d.Directory.Facts(ctx, call.Session.Scope(), nil)
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Ceiling: authz.Read.String(), Disabled: f.Settings.Disabled, Standing: f.Settings.Standing}
	if f.Settings.Ceiling != 0 {
		out.Ceiling = f.Settings.Ceiling.String()
	}
	for _, a := range f.Actors {
		e := ActorEntry{ID: string(a.ID), Name: a.Name, Kind: a.Kind.String(), Active: a.Active, Roles: a.Roles}
		for _, o := range a.Overrides {
			entry := OverrideEntry{At: o.At.String(), Effect: o.Effect.String()}
			for _, p := range o.Of {
				entry.Of = append(entry.Of, string(p))
			}
			e.Overrides = append(e.Overrides, entry)
		}
		for _, g := range a.Grants {
			entry := GrantEntry{Tool: g.Tool, Effect: g.Effect.String()}
			if s := g.Standing; s != nil {
				entry.Standing = &StandingEntry{s.ID, string(s.By), s.Until, s.Uses, s.Below.String()}
			}
			e.Grants = append(e.Grants, entry)
		}
		out.Actors = append(out.Actors, e)
	}
	return out, nil
}
