package office

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// refusalOf returns the Refusal that an error is, or makes it one.
func refusalOf(err error) *registry.Refusal {
	if r, ok := errors.AsType[*registry.Refusal](err); ok {
		return r
	}
	return &registry.Refusal{Code: ledger.RunFailed, Err: err}
}

// Settings are those of the scope.
type Settings struct {
	Ceiling  string   `json:"ceiling"`
	Disabled []string `json:"disabled"`
	Standing bool     `json:"standing"` // standing grants are on
}

// Settings reads the settings of the scope.
func (v *Visit) Settings(ctx context.Context) (Settings, error) {
	list, err := v.listing(ctx)
	if err != nil {
		return Settings{}, err
	}
	return settingsOf(list), nil
}

func settingsOf(list directory.Listing) Settings {
	return Settings{list.Ceiling, append([]string{}, list.Disabled...), list.Standing}
}

// Actor is a person or a model of the scope.
type Actor struct {
	directory.ActorEntry
	Last time.Time `json:"last_activity,omitzero"` // zero if it is in none of the newest records
}

// People are the actors of the scope.
type People struct {
	Actors []Actor  `json:"actors"`
	Roles  []string `json:"roles"`            // that somebody has, and the shipped ones
	Recent int      `json:"activity_records"` // in how many of the newest records activity was looked for
}

// People lists the actors of the scope, each with its last activity where the person may know of it.
func (v *Visit) People(ctx context.Context) (People, error) {
	list, err := v.listing(ctx)
	if err != nil {
		return People{}, err
	}
	out := People{Actors: []Actor{}, Roles: []string{authz.Viewer, authz.Editor, authz.Owner}}
	last := map[authz.ID]time.Time{}
	if v.Oversees(ctx) {
		out.Recent = Recent
		records, err := v.reg.Ledger().Audit(ctx, ledger.AuditQuery{Scope: v.scope, Newest: true, Limit: Recent})
		if err != nil {
			return People{}, unread(err)
		}
		for _, r := range slices.Backward(records) { // oldest first, so that the latest stands
			last[r.Session.Actor()] = r.At
			if r.Operator != "" {
				last[r.Operator] = r.At
			}
		}
	}
	for _, a := range list.Actors {
		out.Actors = append(out.Actors, Actor{a, last[authz.ID(a.ID)]})
		for _, role := range a.Roles {
			if !slices.Contains(out.Roles, role) {
				out.Roles = append(out.Roles, role)
			}
		}
	}
	return out, nil
}

// Cell says whether one model may use one tool, and why.
type Cell struct {
	Model     authz.ID          `json:"model"`
	Available bool              `json:"available"` // the model could use it on some target
	Waits     bool              `json:"waits"`     // each use waits for a person
	Reason    authz.Reason      `json:"reason"`    // of the layer that decided
	Why       []Cause           `json:"why"`       // every layer that spoke, in its order
	Grant     string            `json:"grant"`     // what is assigned: allow, deny or none
	Standing  []GrantOfStanding `json:"standing"`  // approvals in advance
}

// Cause is what one layer said.
type Cause struct {
	Layer   authz.Layer  `json:"layer"`
	Allows  bool         `json:"allows"`
	Reason  authz.Reason `json:"reason"`
	Rule    string       `json:"rule"`
	Decided bool         `json:"decided"` // the first to speak; the others are outranked
}

// GrantOfStanding is a standing grant of one model for one tool.
type GrantOfStanding struct {
	directory.StandingEntry
	Used  int  `json:"used"`
	Spent bool `json:"spent"` // no use is left
	Ended bool `json:"ended"` // its time is over
}

// Tool is one row of the matrix.
type Tool struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Mode        authz.Mode       `json:"mode"`
	Permission  authz.Permission `json:"permission"`
	Ask         authz.Permission `json:"ask"`
	Risk        registry.Risk    `json:"risk,omitzero"`
	Reach       string           `json:"reach,omitzero"`
	Undo        string           `json:"undo,omitzero"`
	Explicit    bool             `json:"explicit"`
	FourEyes    bool             `json:"four_eyes"`
	Destructive bool             `json:"destructive"`
	Disabled    bool             `json:"disabled"` // by the settings
	Cells       []Cell           `json:"models"`
}

// Matrix is what every model may do with every tool.
type Matrix struct {
	Settings Settings `json:"settings"`
	Models   []Actor  `json:"models"`
	Tools    []Tool   `json:"tools"`
}

// Matrix works out what every model may do with every tool, and why. The person needs to read the directory
// and to oversee the scope.
func (v *Visit) Matrix(ctx context.Context) (Matrix, error) {
	list, err := v.listing(ctx)
	if err != nil {
		return Matrix{}, err
	}
	out := Matrix{Settings: settingsOf(list), Models: []Actor{}, Tools: []Tool{}}
	var ids []authz.ID
	for _, a := range list.Actors {
		if a.Kind == authz.Model.String() {
			out.Models, ids = append(out.Models, Actor{ActorEntry: a}), append(ids, authz.ID(a.ID))
		}
	}
	table, err := v.reg.Matrix(ctx, v.person, v.scope, ids...)
	if err != nil {
		return Matrix{}, v.refuse(ctx, "tools", err)
	}
	used, err := v.uses(ctx, out.Models)
	if err != nil {
		return Matrix{}, err
	}
	now := v.reg.Now()
	for i, a := range v.reg.Actions() {
		t := Tool{
			Name: a.Name, Title: a.Title, Description: a.Description, Mode: a.Mode, Permission: a.Permission, Ask: a.Ask,
			Risk: a.Risk, Reach: a.Reach, Undo: a.Undo, Explicit: a.Explicit, FourEyes: a.FourEyes, Destructive: a.Destructive,
			Disabled: slices.Contains(list.Disabled, a.Name), Cells: []Cell{},
		}
		for m, model := range out.Models {
			t.Cells = append(t.Cells, cellOf(table[m][i], model, a, list.Standing, used, now))
		}
		out.Tools = append(out.Tools, t)
	}
	return out, nil
}

// uses asks the ledger how often the standing grants of some models were used.
func (v *Visit) uses(ctx context.Context, models []Actor) (map[string]int, error) {
	var ids []string
	for _, m := range models {
		for _, g := range m.Grants {
			if g.Standing != nil {
				ids = append(ids, g.Standing.ID)
			}
		}
	}
	if ids == nil {
		return nil, nil
	}
	used, err := v.reg.Ledger().Uses(ctx, v.scope, ids)
	if err != nil {
		return nil, unread(err)
	}
	return used, nil
}

func cellOf(e authz.Explanation, model Actor, a *registry.Action, standing bool, used map[string]int, now time.Time) Cell {
	c := Cell{Model: authz.ID(model.ID), Available: e.Decision.Allowed, Reason: e.Decision.Reason, Why: []Cause{}, Grant: "none", Standing: []GrantOfStanding{}}
	c.Waits = c.Available && a.Mode != authz.Read
	for _, s := range e.Steps {
		c.Why = append(c.Why, Cause{s.Layer, s.Allows, s.Reason, s.Rule, s.Decided})
	}
	for _, g := range model.Grants {
		if g.Tool != a.Name {
			continue
		}
		if g.Standing == nil {
			c.Grant = g.Effect
			continue
		}
		s := GrantOfStanding{StandingEntry: *g.Standing, Used: used[g.Standing.ID], Ended: !now.Before(g.Standing.Until)}
		s.Spent = s.Uses > 0 && s.Used >= s.Uses
		c.Standing = append(c.Standing, s)
		if standing && !s.Ended && !s.Spent && a.Mode == authz.Execute {
			c.Waits = false
		}
	}
	return c
}
