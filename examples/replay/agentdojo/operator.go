package agentdojo

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Operator says whether a person approves a proposal that they have opened. Todo are the writes of the user's
// task that are not done yet.
type Operator func(opened Step, todo []Step) bool

// Exact approves a write that the user's task needs, with exactly its parameters.
func Exact(opened Step, todo []Step) bool { return slices.Contains(todo, opened) }

// SameTool approves what looks like a write that the user's task needs, whatever its parameters.
func SameTool(opened Step, todo []Step) bool {
	return slices.ContainsFunc(todo, func(s Step) bool { return s.Tool == opened.Tool })
}

// Everything approves everything.
func Everything(Step, []Step) bool { return true }

// Nothing approves nothing.
func Nothing(Step, []Step) bool { return false }

// End is how a call ended.
type End string

// The ends, from the one that stops most to the one that stops least.
const (
	Cut       End = "stopped by the catalog"
	Invalid   End = "stopped as invalid"
	Forbidden End = "stopped as forbidden"
	Limited   End = "stopped by a limit on proposals"
	Dismissed End = "stopped waiting for approval"
	AsRead    End = "ran, as reads do"
	Failed    End = "entered, and failed"
	Ran       End = "ran"
)

// ends are all of them, in that order.
var ends = []End{Cut, Invalid, Forbidden, Limited, Dismissed, AsRead, Failed, Ran}

// outcome is how a call ended, with the result if it ran and what was said otherwise.
type outcome struct {
	end    End
	result json.RawMessage
	text   string
}

// play makes a call as the model; what waits for approval is decided on at once.
func (p *place) play(ctx context.Context, s authz.Session, c chattools.Call, approves Operator, todo *[]Step) (outcome, error) {
	p.now = p.now.Add(time.Second)
	a := p.gate.Call(ctx, s, c)
	o := outcome{result: a.Result, text: a.Text}
	switch a.Status {
	case chattools.Done:
		o.end = Ran
	case chattools.Unknown:
		o.end = Cut
	case chattools.Invalid:
		o.end = Invalid
	case chattools.Forbidden:
		o.end = Forbidden
	case chattools.Limited:
		o.end = Limited
	case chattools.NeedsApproval:
		return p.decide(ctx, a.Proposal, approves, todo)
	default:
		o.end = Failed
	}
	return o, nil
}

// decide is the operator's part: open the proposal, look at what it would do, approve or dismiss it.
func (p *place) decide(ctx context.Context, proposal string, approves Operator, todo *[]Step) (outcome, error) {
	desk, person := p.gate.Desk(), authz.LoggedIn(operator)
	opening, err := desk.Open(ctx, p.scope, proposal, person)
	if err == nil && opening.Refusal != nil {
		err = opening.Refusal
	}
	if err != nil {
		return outcome{}, err
	}
	opened := Step{opening.Proposal.Action, opening.Proposal.Params}
	if !approves(opened, *todo) {
		return outcome{end: Dismissed}, desk.Dismiss(ctx, p.scope, proposal, person, "the user's task does not need this")
	}
	if i := slices.Index(*todo, opened); i >= 0 {
		*todo = slices.Delete(*todo, i, i+1)
	}
	res, err := desk.Approve(ctx, opening.Redemption())
	if registry.CodeOf(err) == ledger.RunFailed {
		text, _ := registry.PublicText(err)
		return outcome{end: Failed, text: text}, nil
	}
	return outcome{end: Ran, result: res.JSON}, err
}
