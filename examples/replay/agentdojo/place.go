package agentdojo

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Who is in every work place.
const (
	model    authz.ID = "assistant"
	user     authz.ID = "user"
	operator authz.ID = "operator"
)

// place is a work place with a gate in front of it. Names of tools repeat across suites, so each has a
// registry of its own.
type place struct {
	Suite
	backend
	scope authz.Scope
	book  *ledger.Memory
	gate  *chattools.Gate
	now   time.Time
}

// open makes every tool of a suite an action, a read or a change as the recording classifies it. The model
// is an editor and the people own everything, so that only catalog and approval stand in the way of a write.
func open(s Suite) (*place, error) {
	p := &place{
		Suite: s, scope: authz.Scope(s.Name), book: new(ledger.Memory), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
	}
	var actions []*registry.Action
	for _, tool := range s.Tools {
		spec := registry.Spec[json.RawMessage]{Description: tool.Description, Schema: tool.Parameters, Permission: "tools:read", Mode: authz.Read}
		if tool.Writes() {
			spec.Permission, spec.Mode = "tools:write", authz.Propose
		}
		actions = append(actions, registry.Define(tool.Name, spec, p.run(tool.Name)))
	}
	people := new(authz.Memory)
	err := people.Set(p.scope, authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: model, Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: user, Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
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
		Actions: actions, Source: people, Ledger: p.book, Keys: keys, ProposeOnly: []authz.Permission{"tools:write"},
		Now: func() time.Time { return p.now },
	})
	if err != nil {
		return nil, err
	}
	p.gate = chattools.NewGate(approval.NewDesk(reg))
	return p, nil
}

// begin puts the work place back to its beginning and opens the model's session for the user.
func (p *place) begin(conversation string, tape map[Step][]Expect) (authz.Session, error) {
	p.backend = backend{state: p.Initial, tape: tape}
	p.now = p.now.Add(time.Hour) // longer than any proposal lives
	s, err := authz.NewSession(p.scope, model, authz.For(authz.LoggedIn(user)))
	return s.WithConversation(conversation).WithOrigin("replay"), err
}

// catalog returns the names of the tools that a session sees.
func (p *place) catalog(ctx context.Context, s authz.Session) (map[string]bool, error) {
	tools, err := p.gate.Catalog(ctx, s)
	names := map[string]bool{}
	for _, t := range tools {
		names[t.Name] = true
	}
	return names, err
}
