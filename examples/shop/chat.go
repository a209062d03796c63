package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// chatWith is a conversation on the terminal: the customer of the story writes, and commands with a slash are
// what Sam of the staff does. Nothing is held while a proposal waits; what was decided is told to the model
// before the next message.
func chatWith(ctx context.Context, in io.Reader, out io.Writer, model chattools.Model, name string, w *store.World) error {
	task, err := taskOf(story)
	if err != nil {
		return err
	}
	session, err := w.Session(task.UserID, "chat")
	if err != nil {
		return err
	}
	c := &chatter{
		World: w, out: out, session: session.WithOrigin("chat"),
		loop: chattools.NewLoop(w.Gate, model, chattools.Options{System: "You are the assistant of an online shop. You speak with " + task.UserID + "."}),
	}
	c.say("You are Isabella Lopez, talking to the shop's assistant (%s).", name)
	c.say("Ask, for instance, to pay order #W4923227 with another card. Sam of the staff decides here too:")
	c.say("    /pending    /approve ID    /dismiss ID REASON    /quit\n")
	for lines := bufio.NewScanner(in); ; {
		fmt.Fprint(out, "you > ")
		if !lines.Scan() {
			c.say("")
			return lines.Err()
		}
		c.Pass(5e9)
		if line := strings.TrimSpace(lines.Text()); line == "/quit" {
			return nil
		} else if err := c.line(ctx, line); err != nil {
			return err
		}
	}
}

type chatter struct {
	*store.World
	out     io.Writer
	loop    *chattools.Loop
	session authz.Session
	talk    chattools.Conversation
}

func (c *chatter) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// line is one line of the customer, or a command of Sam's.
func (c *chatter) line(ctx context.Context, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	id, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch verb {
	case "":
		return nil
	case "/pending":
		return c.pending(ctx)
	case "/approve":
		redemption, err := c.Open(ctx, id, store.Sam)
		if err == nil {
			_, err = c.Desk.Approve(ctx, redemption)
		}
		return c.decided(err)
	case "/dismiss":
		return c.decided(c.Desk.Dismiss(ctx, store.Scope, id, authz.LoggedIn(store.Sam), reason))
	}
	if strings.HasPrefix(verb, "/") {
		c.say("There is no such command.")
		return nil
	}
	_, err := c.loop.Say(ctx, c.session, &c.talk, line, c.show)
	if err != nil {
		c.say("The model could not be reached: %v", err)
	}
	return nil
}

// show prints what a loop tells while it works.
func (c *chatter) show(e chattools.Event) {
	switch e := e.(type) {
	case chattools.Text:
		fmt.Fprint(c.out, e.Delta)
	case chattools.Called:
		c.say("    … %s %s", e.Call.Name, shorten(string(e.Call.Arguments)))
	case chattools.Answered:
		c.say("    … %s", e.Answer.Status)
	case chattools.Pending:
		c.say("    … waits for staff: %s", e.Proposal)
	case chattools.Decided:
		c.say("    … the ledger says: %s is %s", e.Notice.Proposal, e.Notice.Status.Status)
	case chattools.Finished:
		c.say("")
	}
}

// pending prints what Sam can decide about.
func (c *chatter) pending(ctx context.Context) error {
	person := authz.LoggedIn(store.Sam)
	list, err := c.Desk.Pending(ctx, store.Scope, person, ledger.Cursor{})
	if err != nil {
		return err
	}
	for _, p := range list {
		o, err := c.Desk.Open(ctx, store.Scope, p.ID, person)
		if err != nil {
			return err
		}
		c.say("    %s  %s", p.ID, o.Card.Sentence)
	}
	c.say("    %d waiting", len(list))
	return nil
}

// decided prints how a decision was taken. A refusal is for the operator to read, not the end of the program.
func (c *chatter) decided(err error) error {
	c.say("    %s", registry.CodeOf(err))
	return nil
}

// scripted is the model without a key: it plays the recorded calls of the story, one in each turn.
type scripted struct {
	calls []chattools.Call
	next  int
}

func newScripted() (*scripted, error) {
	task, err := taskOf(story)
	if err != nil {
		return nil, err
	}
	s := &scripted{}
	for i, action := range task.Actions {
		s.calls = append(s.calls, chattools.Call{ID: fmt.Sprint("call_", i+1), Name: action.Name, Arguments: action.Arguments})
	}
	return s, nil
}

// Next makes the next recorded call, and says something when there is none left. What it says rests on what
// it was told, as a model's words should.
func (s *scripted) Next(_ context.Context, r chattools.Request) (chattools.Turn, error) {
	if s.next < len(s.calls) {
		call := s.calls[s.next]
		s.next++
		return chattools.Turn{Message: chattools.Message{Calls: []chattools.Call{call}}, Stop: chattools.StopCalls}, nil
	}
	text := "I have asked the staff to change the payment of your order; nothing is changed before they agree."
	for _, m := range r.Messages {
		for _, n := range m.Notices {
			text = fmt.Sprintf("About your order: %s is %s. (A script plays me; set a key to talk to a model.)", n.Action, n.Status.Status)
		}
	}
	return chattools.Turn{Message: chattools.Message{Text: text}, Stop: chattools.StopEnd}, nil
}
