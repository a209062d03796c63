package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// story is the recorded task that is told: a customer asks to pay an order from her gift card.
const story = "retail-test-040"

// tell plays one recorded conversation for somebody who sees this for the first time.
func tell(ctx context.Context, out io.Writer, w *store.World) error {
	task, err := taskOf(story)
	if err != nil {
		return err
	}
	t := &teller{World: w, out: out}
	if t.session, err = w.Session(task.UserID, task.ID); err != nil {
		return err
	}
	t.session = t.session.WithOrigin("chat")
	return t.all(ctx, task)
}

func taskOf(id string) (workload.Task, error) {
	tasks, err := workload.Tasks()
	if err != nil {
		return workload.Task{}, err
	}
	for _, task := range tasks {
		if task.ID == id {
			return task, nil
		}
	}
	return workload.Task{}, fmt.Errorf("there is no task %q", id)
}

type teller struct {
	*store.World
	out     io.Writer
	session authz.Session
}

func (t *teller) say(format string, args ...any) {
	fmt.Fprintln(t.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

func (t *teller) all(ctx context.Context, task workload.Task) error {
	t.say("Isabella chats with the shop's assistant, a model with an account of its own. She would like to pay")
	t.say("her order from her gift card. The model may look at what is hers; what moves money, staff approve.\n")
	if err := t.catalog(ctx); err != nil {
		return err
	}
	for i, action := range task.Actions {
		call := chattools.Call{ID: fmt.Sprint("call_", i+1), Name: action.Name, Arguments: action.Arguments}
		answer, err := t.call(ctx, call)
		if err != nil {
			return err
		}
		if answer.Status == chattools.NeedsApproval {
			if err := t.decide(ctx, answer.Proposal); err != nil {
				return err
			}
		}
	}
	t.say("Somebody talks the model into looking at an order of another customer:")
	if _, err := t.call(ctx, chattools.Call{ID: "call_9", Name: "get_order_details", Arguments: []byte(`{"order_id":"#W2890441"}`)}); err != nil {
		return err
	}
	t.say("And into a tool that nobody gave it:")
	if _, err := t.call(ctx, chattools.Call{ID: "call_10", Name: "approve_proposal", Arguments: []byte(`{"confirm":true}`)}); err != nil {
		return err
	}
	return t.audit(ctx)
}

func (t *teller) catalog(ctx context.Context) error {
	tools, err := t.Gate.Catalog(ctx, t.session)
	if err != nil {
		return err
	}
	var reads, changes []string
	for _, tool := range tools {
		if tool.Mode == authz.Read {
			reads = append(reads, tool.Name)
		} else {
			changes = append(changes, tool.Name)
		}
	}
	t.say("The model sees %d tools. Reads run at once:\n    %s", len(tools), strings.Join(reads, "\n    "))
	t.say("Changes wait for a person:\n    %s\n", strings.Join(changes, "\n    "))
	return nil
}

// call makes one call as the model and shows what the model gets to read.
func (t *teller) call(ctx context.Context, c chattools.Call) (chattools.Answer, error) {
	t.Pass(4e9)
	answer := t.Gate.Call(ctx, t.session, c)
	text, err := json.Marshal(answer)
	if err != nil {
		return answer, err
	}
	t.say("model  > %s %s", c.Name, c.Arguments)
	t.say("gate   < %s\n", shorten(string(text)))
	return answer, nil
}

// decide is the human side: Isabella may not approve, Sam of the staff may, and only once.
func (t *teller) decide(ctx context.Context, proposal string) error {
	hers, err := t.Desk.Open(ctx, store.Scope, proposal, t.session.Human())
	if err != nil {
		return err
	}
	t.say("Isabella opens the proposal. May she approve it? %t (%s)", hers.Refusal == nil, registry.CodeOf(hers.Refusal))
	t.Pass(20e9)
	o, err := t.Desk.Open(ctx, store.Scope, proposal, authz.LoggedIn(store.Sam))
	if err != nil {
		return err
	}
	t.say("Sam of the staff opens it too, and reads:\n")
	t.say("    %s", o.Card.Sentence)
	t.say("    asked by     %s", o.Proposal.Session)
	t.say("    risk         %s; it affects %s; undo: %s", o.Card.Risk, o.Card.Reach, o.Card.Undo)
	t.say("    parameters   %s", o.Proposal.Params)
	t.say("    their hash   %s…", o.Proposal.Params.Hash().Short())
	t.say("    time left    %s\n", o.Proposal.ExpiresAt.Sub(t.Now()))
	t.Pass(7e9)
	res, err := t.Desk.Approve(ctx, o.Redemption())
	if err != nil {
		return err
	}
	t.say("Sam approves. It runs:\n    %s", shorten(string(res.JSON)))
	_, err = t.Desk.Approve(ctx, o.Redemption())
	t.say("Sam's second click is answered %q.\n", registry.CodeOf(err))
	return nil
}

// audit prints the trail that models and people share.
func (t *teller) audit(ctx context.Context) error {
	records, err := t.Book.Audit(ctx, ledger.AuditQuery{Scope: store.Scope})
	if err != nil {
		return err
	}
	t.say("The audit trail, one for models and people:\n")
	t.say("    %-8s  %-8s  %-30s  %-14s  %-20s  %s", "time", "event", "action", "how it ended", "for", "approved by")
	for _, r := range records {
		t.say("    %-8s  %-8s  %-30s  %-14s  %-20s  %s", r.At.Format("15:04:05"), r.Event, r.Action, r.Code, r.Session.Human().ID(), r.Operator)
	}
	return nil
}

// shorten cuts a long line and says so.
func shorten(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}
