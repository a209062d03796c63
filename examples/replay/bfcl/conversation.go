package bfcl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// conversation is one task on its way.
type conversation struct {
	*gate
	task     Task
	turns    []step
	session  authz.Session
	allowed  map[string]bool            // the allowlist
	withheld map[string]bool            // functions that have not arrived
	waiting  []Call                     // recorded calls that are still to be made
	early    map[string]json.RawMessage // arguments of the recorded calls that were tried too early
	at       int
}

// begin opens the session of a task.
func (g *gate) begin(ctx context.Context, task Task) (*conversation, error) {
	c := &conversation{
		gate: g, task: task, allowed: map[string]bool{}, withheld: map[string]bool{}, early: map[string]json.RawMessage{},
	}
	for _, t := range g.data.Tools {
		if slices.Contains(task.Classes, t.Class) && !slices.Contains(task.Excluded, t.Name) {
			c.allowed[t.Name] = true
		}
	}
	for _, names := range task.Withheld {
		for _, name := range names {
			c.withheld[name] = true
			if c.firstCall(name) == nil {
				g.report.Unused++
			}
		}
	}
	var err error
	if c.turns, err = task.steps(); err != nil {
		return nil, err
	}
	if c.session, err = authz.NewSession(scope, model, authz.For(authz.LoggedIn(user))); err != nil {
		return nil, err
	}
	c.session = c.session.WithConversation(task.ID).WithOrigin("replay").WithTools(authz.Only(slices.Collect(maps.Keys(c.allowed))...))
	return c, g.withhold(ctx, slices.Sorted(maps.Keys(c.withheld)))
}

// play plays the turns. At each one the tools are looked at, calls of all others are refused, and the
// recorded calls are made up to the first one whose function has not arrived.
func (c *conversation) play(ctx context.Context) error {
	for at, turn := range c.turns {
		c.at = at
		if turn.brings == nil {
			c.report.Turns++
		} else {
			c.report.Inserted++
			for _, name := range turn.brings {
				delete(c.withheld, name)
			}
			if err := c.withhold(ctx, slices.Sorted(maps.Keys(c.withheld))); err != nil {
				return err
			}
		}
		c.waiting = append(c.waiting, turn.calls...)
		c.look(ctx)
		c.intrude(ctx)
		for len(c.waiting) > 0 && !c.withheld[c.waiting[0].Name] {
			c.repeat(ctx, c.waiting[0])
			c.waiting = c.waiting[1:]
		}
		c.now = c.now.Add(time.Minute)
	}
	if len(c.waiting) > 0 {
		c.differ("%d calls were never made", len(c.waiting))
	}
	return nil
}

// look compares the catalog with the tools that the session should see.
func (c *conversation) look(ctx context.Context) {
	var want, got []string
	for _, name := range slices.Sorted(maps.Keys(c.allowed)) {
		if !c.withheld[name] {
			want = append(want, name)
		}
	}
	tools, err := c.Catalog(ctx, c.session)
	for _, t := range tools {
		got = append(got, t.Name)
	}
	if err != nil || !slices.Equal(got, want) {
		c.differ("the catalog is %v (%v), and should be %v", got, err, want)
		return
	}
	c.report.Catalogs++
}

// intrude calls every tool that the session should not see. A withheld one is called as the task will call it
// later; any other one, where the recording has a call of it, with arguments that its schema takes.
func (c *conversation) intrude(ctx context.Context) {
	for _, t := range c.data.Tools {
		var why string
		arguments := c.known[t.Name]
		switch {
		case c.withheld[t.Name]:
			why = "withheld"
			if later := c.firstCall(t.Name); later != nil {
				arguments = later
				if c.early[t.Name] == nil {
					c.early[t.Name] = later
					c.report.Early++
				}
			}
		case c.allowed[t.Name]:
			continue
		case slices.Contains(c.task.Classes, t.Class):
			why = "excluded"
		default:
			why = "of another class"
		}
		if arguments == nil {
			arguments = json.RawMessage("{}")
		}
		got, text := c.ask(ctx, t.Name, arguments)
		if _, never := c.ask(ctx, "never_existed", arguments); got.Status != chattools.Unknown || text != never {
			c.differ("%s, %s, is answered %s, and a name that never existed %s", t.Name, why, text, never)
			continue
		}
		c.report.Refused[why]++
	}
}

// ask makes a call as the model. The text is what the model reads.
func (c *conversation) ask(ctx context.Context, name string, arguments json.RawMessage) (a chattools.Answer, text string) {
	a = c.Call(ctx, c.session, chattools.Call{ID: "call_1", Name: name, Arguments: arguments})
	raw, err := json.Marshal(a)
	if err != nil {
		c.differ("the answer to %s has no JSON form: %v", name, err)
	}
	return a, string(raw)
}

// firstCall returns the arguments of the task's first call of a tool, or nil.
func (c *conversation) firstCall(name string) json.RawMessage {
	for _, call := range c.task.calls() {
		if call.Name == name {
			return call.Arguments
		}
	}
	return nil
}

// differ notes a difference with where it is.
func (c *conversation) differ(format string, args ...any) {
	c.gate.differ("%s turn %d: %s", c.task.ID, c.at, fmt.Sprintf(format, args...))
}
