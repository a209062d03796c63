package agentdojo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry"
)

// Step names a call by its tool and its exact parameters. Two steps are the same call if they are equal.
type Step struct {
	Tool   string
	Params canon.Object
}

// step returns what a recorded call looks like behind the gate: with the defaults of the tool's parameters
// that the call leaves out, in canonical form.
func (s Suite) step(c Call) (Step, error) {
	var schema struct {
		Properties map[string]struct {
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	var given map[string]json.RawMessage
	err := errors.Join(json.Unmarshal(s.Tools[c.Name].Parameters, &schema), json.Unmarshal(c.Arguments, &given))
	if err != nil {
		return Step{}, err
	}
	for name, property := range schema.Properties {
		if _, ok := given[name]; !ok && property.Default != nil {
			given[name] = property.Default
		}
	}
	text, err := json.Marshal(given)
	if err != nil {
		return Step{}, err
	}
	params, err := canon.Parse(text, canon.Options{})
	return Step{c.Name, params}, err
}

// backend stands in for the tools of a work place: it answers a call as the recording does, and makes the
// recorded changes.
type backend struct {
	state any
	tape  map[Step][]Expect // what is recorded of each call, in the order of the recording
	ran   []Step            // every call that got here
}

// run is the run function of one tool. Of a call that is recorded several times each run is the next one. A
// call that is not recorded, or whose changes do not fit the state, fails.
func (b *backend) run(tool string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(_ context.Context, text json.RawMessage) (json.RawMessage, error) {
		params, err := canon.Stored(string(text))
		if err != nil {
			return nil, err
		}
		step := Step{tool, params}
		b.ran = append(b.ran, step)
		if len(b.tape[step]) == 0 {
			return nil, fmt.Errorf("agentdojo: %s is not recorded with these parameters", tool)
		}
		recorded := b.tape[step][0]
		b.tape[step] = b.tape[step][1:]
		state, err := apply(b.state, recorded.Changes)
		if err != nil {
			return nil, err
		}
		b.state = state
		if !recorded.OK {
			return nil, registry.Public(errors.New(recorded.Error))
		}
		return recorded.Result, nil
	}
}
