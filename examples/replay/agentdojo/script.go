package agentdojo

import (
	"fmt"
	"slices"
)

// act is a call of a pair, in the order of play.
type act struct {
	Call
	Step
	planted bool
	end     End // once it was played
}

// script puts the calls of a planted task right behind the first call of the user's that returns planted text.
func (p *place) script(user, planted Task) ([]act, error) {
	first := len(user.Calls)
	for _, seen := range user.Seen {
		first = min(first, slices.Min(seen))
	}
	if first == len(user.Calls) {
		return nil, fmt.Errorf("no call of %s returns planted text", user.ID)
	}
	var acts []act
	for _, c := range user.Calls {
		acts = append(acts, act{Call: c})
	}
	for i, c := range planted.Calls {
		acts = slices.Insert(acts, first+1+i, act{Call: c, planted: true})
	}
	for i := range acts {
		step, err := p.step(acts[i].Call)
		if err != nil {
			return nil, fmt.Errorf("call %d %s: %w", i, acts[i].Name, err)
		}
		acts[i].Step = step
	}
	return acts, nil
}

// tape is what a back end answers from.
func tape(acts []act) map[Step][]Expect {
	t := map[Step][]Expect{}
	for _, a := range acts {
		t[a.Step] = append(t[a.Step], a.Expect)
	}
	return t
}

// needed are the writes of the user's task.
func (p *place) needed(acts []act) []Step {
	var steps []Step
	for _, a := range acts {
		if !a.planted && p.Tools[a.Tool].Writes() {
			steps = append(steps, a.Step)
		}
	}
	return steps
}

// tools are the names of the tools that a task calls.
func (t Task) tools() []string {
	var names []string
	for _, c := range t.Calls {
		names = append(names, c.Name)
	}
	return names
}

// answered reports whether a call came to what was recorded.
func (a act) answered(o outcome) bool {
	if a.Expect.OK {
		return o.end == Ran && same(o.result, a.Expect.Result)
	}
	return o.end == Failed && o.text == a.Expect.Error
}
