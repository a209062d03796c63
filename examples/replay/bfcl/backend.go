package bfcl

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry"
)

// run is the run function of a tool. It may be entered only for the recorded call that is due, with that
// call's parameters.
func (g *gate) run(t Tool) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(_ context.Context, got json.RawMessage) (json.RawMessage, error) {
		g.runs++
		if g.expected == nil || g.expected.Name != t.Name {
			g.differ("%s ran out of turn with %s", t.Name, got)
			return nil, errors.New("not this one")
		}
		want, err := t.canonical(g.expected.Arguments)
		if err != nil {
			return nil, err
		}
		if want.String() != string(got) {
			g.differ("%s ran with %s, recorded %s", t.Name, got, want)
		}
		return g.backend(*g.expected)
	}
}

// recorded returns what the recording says.
func recorded(c Call) (json.RawMessage, error) {
	if !c.Expect.OK {
		return nil, registry.Public(errors.New(c.Expect.Error))
	}
	return c.Expect.Result, nil
}

// canonical returns the form in which arguments have to reach people and run functions: their own members,
// and the defaults that the tool's schema has for absent ones.
func (t Tool) canonical(arguments json.RawMessage) (canon.Object, error) {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	var members map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(t.Parameters, &schema), json.Unmarshal(arguments, &members)); err != nil {
		return canon.Object{}, err
	}
	for name, property := range schema.Properties {
		if _, given := members[name]; !given && property.Default != nil {
			members[name] = property.Default
		}
	}
	filled, err := json.Marshal(members)
	if err != nil {
		return canon.Object{}, err
	}
	return canon.Parse(filled, canon.Options{})
}
