package shop

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sallyport-dev/sallyport/chattools"
)

// Script is a model that plays a part, without key or network: whatever it reads, it does the next thing on
// its list. It is for one conversation, one turn at a time.
type Script struct {
	Steps []Step
	Seen  []Seen // what it got in each turn so far
}

// Step is one turn of a script: it calls tools or, if there is no call, says something.
type Step struct {
	Calls  []chattools.Call
	Say    func(read []string) string
	Before func() // something happens while the model thinks; may be nil
}

// Seen is what the model got in one turn.
type Seen struct {
	Offered []Offer
	Read    []string // the person's message, or the results of its calls in their order
}

// Offer is a tool as the framework shows it to the model.
type Offer struct {
	Name   string
	Schema json.RawMessage
}

// Next takes the next step.
func (s *Script) Next(seen Seen) Step {
	s.Seen = append(s.Seen, seen)
	if len(s.Seen) > len(s.Steps) {
		return Step{Say: Report}
	}
	step := s.Steps[len(s.Seen)-1]
	if step.Before != nil {
		step.Before()
	}
	return step
}

// Calling is a step that makes one call.
func Calling(name, arguments string) Step {
	return Step{Calls: []chattools.Call{{ID: "call_" + name, Name: name, Arguments: json.RawMessage(arguments)}}}
}

// Report is what an honest model says of the last thing it read.
func Report(read []string) string {
	last := read[len(read)-1]
	switch {
	case strings.Contains(last, `"status":"needs_approval"`):
		return "I have asked for it. It waits for a person's approval; nothing has been changed."
	case strings.Contains(last, `"status":"done"`):
		return "It is done."
	}
	return "I cannot say that it is done."
}

// Chat says something to the agent and returns its reply. It keeps the history.
type Chat func(ctx context.Context, said string) (string, error)

// Framework lets a script converse through a framework's own agent.
type Framework func(c *Conversation, model *Script) (Chat, error)

// Say says something in a conversation, after what has become of its proposals.
func (c *Conversation) Say(ctx context.Context, chat Chat, said string) (string, error) {
	news, err := c.News(ctx)
	if err != nil {
		return "", err
	}
	return chat(ctx, news+said)
}

// Play tells the story of one refund: a read runs, the change waits, Olga approves, and the next turn says
// what is true.
func Play(ctx context.Context, out io.Writer, open Framework) error {
	s, err := New()
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	c, err := s.Talk(func(call chattools.Call, a chattools.Answer) {
		text, _ := a.ForModel()
		say("  %s\n    %s", strings.TrimSpace(call.Name+" "+string(call.Arguments)), text)
	})
	if err != nil {
		return err
	}
	model := &Script{Steps: []Step{
		Calling("find_payment", `{"payment":"1042"}`),
		Calling("refund_payment", `{"cents":500,"payment":"1042"}`),
		{Say: Report},
		Calling("add_note", `{"payment":"1042","text":"refunded"}`),
		{Say: Report},
		{Say: Report},
	}}
	chat, err := open(c, model)
	if err != nil {
		return err
	}
	turn := func(said string) error {
		say("Olga: %s", said)
		reply, err := c.Say(ctx, chat, said)
		if err == nil {
			say("The model: %s\n", reply)
		}
		return err
	}
	if err := turn("Refund 5.00 of payment 1042, please."); err != nil {
		return err
	}
	if err := turn("And leave a note that it is refunded."); err != nil {
		return err
	}
	say("%d cents of the payment are left. Olga opens the proposal at her desk.", s.Left("1042"))
	waiting := c.Proposals()
	if len(waiting) != 1 {
		return fmt.Errorf("%d proposals wait, not one", len(waiting))
	}
	sentence, err := s.Approve(ctx, waiting[0])
	if err != nil {
		return err
	}
	say("She reads: %s\nShe approves, and %d cents are left.\n", sentence, s.Left("1042"))
	if err := turn("Has it been done?"); err != nil {
		return err
	}
	say("What the model had read before it said so:\n%s", strings.Join(model.Seen[len(model.Seen)-1].Read, "\n"))
	return nil
}
