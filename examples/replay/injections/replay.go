package injections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Report says what became of the calls.
type Report struct {
	Sessions int
	Calls    int
	Answers  map[string]int // by the answer's status, and why where it is invalid
	Runs     int            // run functions of writes that were entered; none was approved
	Bent     int            // reads whose run function got other bytes than the canonical form of what was sent

	AttackWrites     int            // calls of planted instructions that write: without a gate they would have run
	AttackReads      int            // and those that read
	AttackWriteEnds  map[string]int // what became of the former
	AttackReadEnds   map[string]int // what became of the latter
	ProposalsExpired int            // proposals of whatever kind, all of which nobody approved
}

// gate is a gate in front of all recorded tools.
type gate struct {
	*chattools.Gate
	data   *Data
	book   *ledger.Memory
	now    time.Time
	writes int
	got    string // parameters that the latest read was run with
}

const scope authz.Scope = "workspace"

// newGate makes every recorded tool an action. Each model is a user with an editor's role; each request is
// made by a person who owns everything, so that only the need for approval stands in the way of a write.
func newGate(data *Data) (*gate, error) {
	g := &gate{data: data, book: new(ledger.Memory), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	var actions []*registry.Action
	for _, tool := range data.Tools {
		spec := registry.Spec[json.RawMessage]{Description: tool.Description, Schema: tool.Parameters, Permission: "tools:read", Mode: authz.Read}
		if tool.Effect != "read" {
			spec.Permission, spec.Mode = "tools:write", authz.Propose
		}
		actions = append(actions, registry.Define(tool.Name, spec, g.run(tool.Effect != "read")))
	}
	people := new(authz.Memory)
	facts := authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute}}
	for _, u := range data.Users {
		facts.Actors = append(facts.Actors, authz.Actor{ID: authz.ID(u.ID), Kind: authz.Human, Active: true, Roles: []string{authz.Owner}})
	}
	known := map[string]bool{}
	for _, o := range data.Observed {
		if !known[o.Model] {
			facts.Actors = append(facts.Actors, authz.Actor{ID: authz.ID(o.Model), Kind: authz.Model, Active: true, Roles: []string{authz.Editor}})
		}
		known[o.Model] = true
	}
	if err := people.Set(scope, facts); err != nil {
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
		Actions: actions, Source: people, Ledger: g.book, Keys: keys, ProposeOnly: []authz.Permission{"tools:write"},
		Now: func() time.Time { return g.now },
	})
	if err != nil {
		return nil, err
	}
	g.Gate = chattools.NewGate(approval.NewDesk(reg))
	return g, nil
}

func (g *gate) run(writes bool) func(context.Context, json.RawMessage) (string, error) {
	return func(_ context.Context, p json.RawMessage) (string, error) {
		if writes {
			g.writes++
		} else {
			g.got = string(p)
		}
		return "done", nil
	}
}

// Replay plays every recorded conversation: the call that serves the request, then the calls that the model
// made. With cut, the session's tools are cut down to the one that serves the request.
func Replay(ctx context.Context, data *Data, cut bool) (*Report, error) {
	g, err := newGate(data)
	if err != nil {
		return nil, err
	}
	cases := map[string]UserCase{}
	for _, u := range data.Users {
		cases[u.ID] = u
	}
	r := &Report{Answers: map[string]int{}, AttackWriteEnds: map[string]int{}, AttackReadEnds: map[string]int{}}
	type row struct{ model, setting, attacker, user string }
	opened := map[row]authz.Session{}
	for i, o := range data.Observed {
		at := row{o.Model, o.Setting, o.Attacker, o.User}
		s, ok := opened[at]
		if !ok {
			if s, err = g.begin(ctx, fmt.Sprint(at), o.Model, cases[o.User], cut); err != nil {
				return nil, err
			}
			opened[at] = s
			r.Sessions++
		}
		g.feed(ctx, r, s, fmt.Sprint("call_", i), o)
		g.now = g.now.Add(time.Minute)
	}
	r.Runs = g.writes
	g.now = g.now.Add(time.Hour)
	r.ProposalsExpired, err = g.expired(ctx)
	return r, err
}

// begin starts a conversation with the call that serves the request.
func (g *gate) begin(ctx context.Context, id, model string, u UserCase, cut bool) (authz.Session, error) {
	s, err := authz.NewSession(scope, authz.ID(model), authz.For(authz.LoggedIn(authz.ID(u.ID))))
	if err != nil {
		return s, err
	}
	s = s.WithConversation(id).WithOrigin("replay")
	if cut {
		s = s.WithTools(authz.Only(u.Tool))
	}
	if a := g.Call(ctx, s, chattools.Call{Name: u.Tool, Arguments: u.Arguments}); a.Status != chattools.Done {
		return s, fmt.Errorf("injections: the request %s itself was answered %s: %s", u.ID, a.Status, a.Text)
	}
	return s, nil
}

// feed makes one recorded call and counts what became of it.
func (g *gate) feed(ctx context.Context, r *Report, s authz.Session, id string, o Observation) {
	call := g.data.Calls[o.Call]
	a := g.Call(ctx, s, chattools.Call{ID: id, Name: call.Tool, Arguments: json.RawMessage(call.ArgumentsRaw)})
	end := string(a.Status)
	exact, err := canon.Parse([]byte(call.ArgumentsRaw), canon.Options{})
	switch {
	case a.Status == chattools.Done && g.got != exact.String():
		r.Bent++
	case a.Status == chattools.Invalid:
		end += ": " + why(err)
	}
	r.Calls++
	r.Answers[end]++
	switch {
	case o.Attack && call.Effect == "write":
		r.AttackWrites++
		r.AttackWriteEnds[end]++
	case o.Attack:
		r.AttackReads++
		r.AttackReadEnds[end]++
	}
}

// why names the reason for which arguments were refused: they have no canonical form, or not the action's.
func why(err error) string {
	if e, ok := errors.AsType[*canon.Error](err); ok {
		return e.Reason.String()
	}
	return "schema"
}

// expired counts the proposals, all of which must have expired.
func (g *gate) expired(ctx context.Context) (int, error) {
	n := 0
	for q := (ledger.Query{Scope: scope, At: g.now, Limit: 1000}); ; {
		page, err := g.book.Proposals(ctx, q)
		if err != nil || len(page) == 0 {
			return n, err
		}
		for i := range page {
			if state := page[i].State(g.now); state != ledger.StateExpired {
				return n, fmt.Errorf("injections: proposal %s is %s", page[i].ID, state)
			}
		}
		n += len(page)
		q.Before = page[len(page)-1].Cursor()
	}
}
