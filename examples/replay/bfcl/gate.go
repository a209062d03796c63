package bfcl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const (
	scope    authz.Scope = "workspace"
	model    authz.ID    = "model"
	user     authz.ID    = "user"     // for whom the model works
	operator authz.ID    = "operator" // who approves what was recorded
)

// gate is a gate in front of all recorded tools.
type gate struct {
	*chattools.Gate
	data   *Data
	tools  map[string]Tool
	known  map[string]json.RawMessage // arguments of each tool's first recorded call
	people *authz.Memory
	book   *ledger.Memory
	now    time.Time
	report Report

	expected *Call // the only one whose run is right now
	runs     int

	backend  func(Call) (json.RawMessage, error)             // what a run returns
	withhold func(ctx context.Context, names []string) error // from the model, until the next time
}

// newGate makes every recorded tool an action: a read, or a change that a person has to approve. Model and
// user may read and ask for everything, so that only allowlists and grants take tools away.
func newGate(data *Data) (*gate, error) {
	g := &gate{
		data: data, tools: map[string]Tool{}, known: map[string]json.RawMessage{}, people: new(authz.Memory), book: new(ledger.Memory),
		now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), report: Report{Refused: map[string]int{}}, backend: recorded,
	}
	g.withhold = g.deny
	var actions []*registry.Action
	for _, t := range data.Tools {
		g.tools[t.Name] = t
		spec := registry.Spec[json.RawMessage]{
			Description: t.Description, Schema: t.Parameters, Permission: authz.Permission(t.Class + ":read"), Mode: authz.Read,
		}
		if t.writes() {
			spec.Permission, spec.Mode = authz.Permission(t.Class+":write"), authz.Propose
		}
		actions = append(actions, registry.Define(t.Name, spec, g.run(t)))
	}
	for _, task := range data.Tasks {
		for _, call := range task.calls() {
			if g.known[call.Name] == nil {
				g.known[call.Name] = call.Arguments
			}
		}
	}
	err := g.people.Set(scope, authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: model, Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: user, Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
			{ID: operator, Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
		},
	})
	if err != nil {
		return nil, err
	}
	key, err := token.NewKey("k1")
	if err != nil {
		return nil, err
	}
	keys, err := token.NewRing("example", key)
	if err != nil {
		return nil, err
	}
	reg, err := registry.New(registry.Config{
		Actions: actions, Source: g.people, Ledger: g.book, Keys: keys, Now: func() time.Time { return g.now },
	})
	if err != nil {
		return nil, err
	}
	g.Gate = chattools.NewGate(approval.NewDesk(reg))
	g.report.Tools = len(reg.Actions())
	return g, nil
}

// deny withholds exactly the named tools from the model, whatever was withheld before.
func (g *gate) deny(ctx context.Context, names []string) error {
	return g.people.Edit(ctx, scope, func(f *authz.Facts) error {
		i := slices.IndexFunc(f.Actors, func(a authz.Actor) bool { return a.ID == model })
		f.Actors[i].Grants = nil
		for _, name := range names {
			f.Actors[i].Grants = append(f.Actors[i].Grants, authz.Grant{Tool: name, Effect: authz.Deny})
		}
		return nil
	})
}

// differ notes something that is not as recorded.
func (g *gate) differ(format string, args ...any) {
	g.report.Differences = append(g.report.Differences, fmt.Sprintf(format, args...))
}

func (t Tool) writes() bool { return t.Effect != "read" }

func (t Task) calls() (all []Call) {
	for _, turn := range t.Turns {
		all = append(all, turn.Calls...)
	}
	return all
}
