package directory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// Roles sets all roles of an actor.
type Roles struct {
	ID    string   `json:"id"`
	Roles []string `json:"roles" jsonschema_description:"All roles; the empty list takes every role away"`
}

// Overrides sets all overrides of an actor.
type Overrides struct {
	ID        string          `json:"id"`
	Overrides []OverrideEntry `json:"overrides" jsonschema_description:"All overrides; the empty list takes every one away"`
}

// Grant sets the grant of one tool to a model.
type Grant struct {
	Model  string `json:"model"`
	Tool   string `json:"tool"`
	Effect string `json:"effect" jsonschema:"enum=allow,enum=deny,enum=none" jsonschema_description:"none takes the grant away"`
}

// Standing gives a model a standing grant in the name of whoever performs or approves the action.
type Standing struct {
	Model   string `json:"model"`
	Tool    string `json:"tool" jsonschema_description:"A tool of mode execute"`
	Hours   int    `json:"hours" jsonschema:"minimum=1,maximum=720" jsonschema_description:"How long it lasts"`
	Uses    int    `json:"uses" jsonschema:"minimum=0,maximum=1000000" jsonschema_description:"How often it can be used; 0 is any number"`
	Below   string `json:"below" jsonschema:"minLength=1" jsonschema_description:"The subtree where it holds, such as /orders; / is everything"`
	AskOnly bool   `json:"ask_only" jsonschema_description:"Let it also serve people who may only ask for this"`
}

// Revocation takes a standing grant away.
type Revocation struct {
	Model string `json:"model"`
	Grant string `json:"grant" jsonschema_description:"The id of the standing grant"`
}

func (d *directory) authority() []*registry.Action {
	return []*registry.Action{
		define(d, "directory_set_roles", "Set all roles of a person or model in this scope.",
			"Give {id} exactly the roles {roles}.", EditRoles,
			func(f *authz.Facts, p Roles, _ registry.Current) (string, error) {
				a, err := find(f, p.ID)
				if err != nil {
					return "", err
				}
				if err := d.knownRoles(f, p.Roles); err != nil {
					return "", err
				}
				a.Roles = p.Roles
				return fmt.Sprintf("roles of %s: %s", p.ID, strings.Join(p.Roles, ", ")), nil
			}),
		define(d, "directory_set_overrides", "Set all overrides of a person or model: what they may or may not do on which subtree.",
			"Give {id} exactly the overrides {overrides}.", EditRoles,
			func(f *authz.Facts, p Overrides, _ registry.Current) (string, error) {
				a, err := find(f, p.ID)
				if err != nil {
					return "", err
				}
				if a.Overrides, err = d.overrides(p.Overrides); err != nil {
					return "", err
				}
				return fmt.Sprintf("%d overrides of %s", len(p.Overrides), p.ID), nil
			}),
		define(d, "directory_set_grant", "Allow or deny a model one tool. An allow unlocks an administrative tool that its role permits; it exceeds no role.",
			"Set the grant of {tool} to model {model} to {effect}.", EditGrants,
			func(f *authz.Facts, p Grant, _ registry.Current) (string, error) {
				a, err := findModel(f, p.Model)
				if err != nil {
					return "", err
				}
				if _, err := d.tool(p.Tool); err != nil && !d.own[p.Tool] {
					return "", err
				}
				a.Grants = slices.DeleteFunc(a.Grants, func(g authz.Grant) bool { return g.Tool == p.Tool && g.Standing == nil })
				switch p.Effect {
				case "allow":
					a.Grants = append(a.Grants, authz.Grant{Tool: p.Tool, Effect: authz.Allow})
				case "deny":
					a.Grants = append(a.Grants, authz.Grant{Tool: p.Tool, Effect: authz.Deny})
				}
				return fmt.Sprintf("grant of %s to %s: %s", p.Tool, p.Model, p.Effect), nil
			}),
	}
}

// overrides reads overrides that name known permissions and canonical paths.
func (d *directory) overrides(entries []OverrideEntry) ([]authz.Override, error) {
	var list []authz.Override
	for _, e := range entries {
		at, err := authz.ParsePath(e.At)
		if err != nil {
			return nil, refuse("%v", err)
		}
		o := authz.Override{At: at}
		if err := o.Effect.UnmarshalText([]byte(e.Effect)); err != nil {
			return nil, refuse("%v", err)
		}
		for _, name := range e.Of {
			p := authz.Permission(name)
			if p != authz.Every && !slices.ContainsFunc(d.Tools, func(t *registry.Action) bool { return t.Permission == p || t.Ask == p }) {
				return nil, refuse("no tool has the permission %q", name)
			}
			o.Of = append(o.Of, p)
		}
		list = append(list, o)
	}
	return list, nil
}

func (d *directory) standing() []*registry.Action {
	return []*registry.Action{
		define(d, "directory_give_standing", "Approve in advance, in your own name, what a model will do with one tool below one path, until it ends. The scope's settings must turn standing grants on.",
			"Let model {model} use {tool} below {below} without asking, for {hours} hours and {uses} times (0: any number).", EditGrants,
			d.give),
		define(d, "directory_revoke_standing", "Take a standing grant away. It holds at once.",
			"Take the standing grant {grant} of model {model} away.", EditGrants,
			func(f *authz.Facts, p Revocation, _ registry.Current) (string, error) {
				a, err := findModel(f, p.Model)
				if err != nil {
					return "", err
				}
				n := len(a.Grants)
				a.Grants = slices.DeleteFunc(a.Grants, func(g authz.Grant) bool { return g.Standing != nil && g.Standing.ID == p.Grant })
				if len(a.Grants) == n {
					return "", refuse("the model has no such standing grant")
				}
				return "standing grant " + p.Grant + " revoked", nil
			}),
	}
}

// give seals a standing grant in the name of whoever approved.
func (d *directory) give(f *authz.Facts, p Standing, call registry.Current) (string, error) {
	a, err := findModel(f, p.Model)
	if err != nil {
		return "", err
	}
	tool, err := d.tool(p.Tool)
	switch {
	case err != nil:
		return "", err
	case tool.Mode != authz.Execute:
		return "", refuse("only a tool of mode execute can be approved in advance")
	}
	below, err := authz.ParsePath(p.Below)
	if err != nil {
		return "", refuse("%v", err)
	}
	s := &authz.Standing{
		ID: call.Claim, By: call.Operator, Since: call.At, Until: call.At.Add(time.Duration(p.Hours) * time.Hour), Uses: p.Uses,
		Below: below, Definition: tool.Definition, AskOnly: p.AskOnly,
	}
	if err := authz.SealStanding(d.Keys, call.Session.Scope(), a.ID, tool.Name, s); err != nil {
		return "", err
	}
	a.Grants = append(a.Grants, authz.Grant{Tool: tool.Name, Effect: authz.Allow, Standing: s})
	return fmt.Sprintf("standing grant %s of %s to %s until %s", s.ID, tool.Name, p.Model, s.Until.Format(time.RFC3339)), nil
}
