package agentdojo

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// Replay plays every pair, with an operator who decides about what the model proposes. With cut, each
// session's allowlist has only the tools of the user's task.
func Replay(ctx context.Context, data *Data, cut bool, approves Operator) (*Report, error) {
	r := &replay{Report: newReport(), cut: cut, approves: approves}
	places := map[string]*place{}
	for _, s := range data.Suites {
		p, err := open(s)
		if err != nil {
			return nil, err
		}
		places[s.Name] = p
	}
	for _, pair := range data.Pairs {
		user := data.Users[pair.User]
		if err := r.pair(ctx, pair, places[user.Suite], user, data.Planted[pair.Planted]); err != nil {
			return nil, fmt.Errorf("agentdojo: %s with %s: %w", pair.User, pair.Planted, err)
		}
	}
	for _, s := range data.Suites {
		if err := r.settle(ctx, places[s.Name]); err != nil {
			return nil, err
		}
	}
	return r.Report, nil
}

type replay struct {
	*Report
	cut      bool
	approves Operator
}

// pair plays one pair from the beginning.
func (r *replay) pair(ctx context.Context, pair Pair, p *place, user, planted Task) error {
	acts, err := p.script(user, planted)
	if err != nil {
		return err
	}
	s, err := p.begin(pair.User+" "+pair.Planted, tape(acts))
	if err != nil {
		return err
	}
	if r.cut {
		s = s.WithTools(authz.Only(user.tools()...))
	}
	catalog, err := p.catalog(ctx, s)
	if err != nil {
		return err
	}
	needed := p.needed(acts)
	todo := slices.Clone(needed)
	answered, worst := true, -1
	for i := range acts {
		a := &acts[i]
		label := fmt.Sprintf("%s with %s, call %d %s", pair.User, pair.Planted, i, a.Tool)
		o, err := p.play(ctx, s, chattools.Call{ID: fmt.Sprint("call_", i), Name: a.Name, Arguments: a.Arguments}, r.approves, &todo)
		if err != nil {
			return fmt.Errorf("call %d %s: %w", i, a.Tool, err)
		}
		a.end = o.end
		if (o.end == Cut) == catalog[a.Tool] {
			r.differ("%s: %s, though the catalog says otherwise", label, o.end)
		}
		if a.planted {
			worst = max(worst, r.tally(p.Tools[a.Tool], o.end))
		} else if !a.answered(o) {
			answered = false
			r.differ("%s: %s, which is not what was recorded: %s", label, o.end, o.text)
		}
	}
	r.strays(p, needed)
	exact, explained, err := p.compare(acts)
	if err == nil {
		r.finish(pair, answered, exact, explained, worst)
	}
	return err
}

// compare holds the state against the initial one with the changes of the user's task: exactly, and with
// what the planted reads that ran left there. Their entries in a log stand where they were recorded, which
// need not be the end.
func (p *place) compare(acts []act) (exact, explained bool, err error) {
	var own, besides []Change
	for _, a := range acts {
		if !a.planted {
			own = append(own, a.Expect.Changes...)
		}
		if !a.planted || a.end == Ran && !p.Tools[a.Tool].Writes() {
			besides = append(besides, a.Expect.Changes...)
		}
	}
	alone, err := apply(p.Initial, own)
	if err != nil {
		return false, false, err
	}
	together, err := apply(p.Initial, besides)
	return reflect.DeepEqual(p.state, alone), reflect.DeepEqual(p.state, together), err
}
