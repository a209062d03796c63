package airline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Replay makes the calls of every conversation through the gate, with an operator who decides about what the
// model proposes as soon as it does.
func Replay(ctx context.Context, data *Data, truth *Truths, approves Operator) (*Report, error) {
	w, err := newWorld()
	if err != nil {
		return nil, err
	}
	r := &replay{world: w, Report: &Report{Gated: true}, truth: truth, approves: approves}
	for _, c := range data.Conversations {
		if err := r.conversation(ctx, c); err != nil {
			return nil, fmt.Errorf("airline: %s: %w", c.ID, err)
		}
	}
	r.Entered = w.entered
	return r.Report, nil
}

type replay struct {
	*world
	*Report
	truth     *Truths
	approves  Operator
	unasked   []Step   // writes of the ground truth that the model has not asked for
	left      []Step   // writes of the ground truth that are still to be approved
	proposals []string // proposals of the conversation so far
}

// conversation plays one conversation on a fresh copy of the data.
func (r *replay) conversation(ctx context.Context, c Conversation) error {
	if err := r.fresh(); err != nil {
		return err
	}
	s, err := r.session(c)
	if err != nil {
		return err
	}
	needed := r.truth.writes[c.TaskID]
	r.unasked, r.left, r.proposals = slices.Clone(needed), slices.Clone(needed), nil
	for i, call := range c.Calls {
		r.now = r.now.Add(time.Second)
		r.Calls++
		label := fmt.Sprintf("%s: call %d %s", c.ID, i, call.Name)
		sent := chattools.Call{ID: fmt.Sprint("call_", i), Name: call.Name, Arguments: call.Arguments}
		if call.Effect == Write {
			r.Writes++
			r.unasked = without(r.unasked, step(call.Name, call.Arguments))
			err = r.write(ctx, s, sent, label, call.Expect)
		} else {
			r.Others++
			err = r.other(ctx, s, sent, label, call.Expect)
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	r.Missing += len(r.unasked)
	r.finish(c, r.truth, r.airline.Snapshot())
	r.now = r.now.Add(time.Hour) // longer than any proposal lives
	return r.settle(ctx, c)
}

// other makes a call that does not write. It must be answered at once, as recorded, and change nothing.
func (r *replay) other(ctx context.Context, s authz.Session, c chattools.Call, label string, want Expect) error {
	before := r.airline.Snapshot()
	answer := r.gate.Call(ctx, s, c)
	got, err := expect(answer.Status == chattools.Done, answer.Result, answer.Text)
	if err != nil {
		return err
	}
	got.Records, got.Changes = office.Diff(before, r.airline.Snapshot())
	r.invalid(answer)
	differences := want.differences(got)
	for _, difference := range differences {
		r.differ("%s: %s: %s", label, answer.Status, difference)
	}
	if len(differences) == 0 {
		r.Answered++
	}
	return nil
}

// write makes a call that writes. It must wait for approval, unless there is nothing that the customer may
// ask for.
func (r *replay) write(ctx context.Context, s authz.Session, c chattools.Call, label string, want Expect) error {
	before := r.airline.Snapshot()
	answer := r.gate.Call(ctx, s, c)
	if !same(before, r.airline.Snapshot()) {
		r.differ("%s: the call itself changed something", label)
	}
	switch answer.Status {
	case chattools.NeedsApproval:
		if slices.Contains(r.proposals, answer.Proposal) {
			r.Same++
		}
		r.proposals = append(r.proposals, answer.Proposal)
		ran, err := r.decide(ctx, answer.Proposal, want)
		if err == nil && !ran {
			r.stopped(want)
		}
		return err
	case chattools.Forbidden:
		r.Refused++
		if r.belongs(c.Arguments, s) {
			r.differ("%s: forbidden, though it is the customer's own", label)
		}
	default:
		r.invalid(answer)
		r.differ("%s: answered %s %s", label, answer.Status, answer.Text)
	}
	r.stopped(want)
	return nil
}

// belongs reports whether what a write names is there and belongs to the customer of the session.
func (r *replay) belongs(arguments []byte, s authz.Session) bool {
	var names struct {
		UserID        string `json:"user_id"`
		ReservationID string `json:"reservation_id"`
	}
	if json.Unmarshal(arguments, &names) != nil {
		return false
	}
	if owner, ok := r.airline.ReservationOwner(names.ReservationID); ok {
		names.UserID = owner
	}
	customer, _ := s.Principal()
	return authz.ID(names.UserID) == customer
}

// decide is the operator's part: open the proposal, approve or dismiss it. It reports whether it ran.
func (r *replay) decide(ctx context.Context, proposal string, want Expect) (ran bool, err error) {
	if r.approves == nil {
		return false, nil
	}
	d, person := r.gate.Desk(), authz.LoggedIn(staff)
	o, err := d.Open(ctx, scope, proposal, person)
	if err == nil && o.Refusal != nil {
		err = o.Refusal
	}
	if err != nil {
		return false, err
	}
	proposed := step(o.Proposal.Action, []byte(o.Proposal.Params.String()))
	if !r.approves(proposed, r.left) {
		return false, d.Dismiss(ctx, scope, proposal, person, "the task does not need this")
	}
	r.left = without(r.left, proposed)
	before := r.airline.Snapshot()
	res, err := d.Approve(ctx, o.Redemption())
	text, public := registry.PublicText(err)
	if err != nil && !(registry.CodeOf(err) == ledger.RunFailed && public) {
		return false, err
	}
	got, err := expect(err == nil, res.JSON, text)
	if err != nil {
		return false, err
	}
	got.Records, got.Changes = office.Diff(before, r.airline.Snapshot())
	r.ran(want, got)
	return true, nil
}

// expect is what came of a call: its result, or what was said instead.
func expect(ok bool, result json.RawMessage, text string) (Expect, error) {
	if ok {
		return Expect{OK: true, Result: result}, nil
	}
	said, err := json.Marshal(text)
	return Expect{Result: said}, err
}
