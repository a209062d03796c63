package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/sallyport-dev/sallyport/chattools"
)

// guide is the model of the browser's chat where no key is set: it knows a few words. What it says about a proposal rests
// on what it was told, as a model's words should.
type guide struct{}

var orderNumber = regexp.MustCompile(`#?W\d{5,10}`)

// Next answers the last message, after at most one call.
func (guide) Next(_ context.Context, r chattools.Request) (chattools.Turn, error) {
	say := func(format string, args ...any) (chattools.Turn, error) {
		return chattools.Turn{Message: chattools.Message{Text: fmt.Sprintf(format, args...)}, Stop: chattools.StopEnd}, nil
	}
	if len(r.Messages) == 0 {
		return say("Hello.")
	}
	last := r.Messages[len(r.Messages)-1]
	switch {
	case len(last.Notices) > 0:
		n := last.Notices[0]
		if n.Reason != "" {
			return say("There is news about %s: %s. %s", n.Action, n.Status.Status, n.Reason)
		}
		return say("There is news about %s: %s.", n.Action, n.Status.Status)
	case len(last.Answers) > 0:
		switch a := last.Answers[0]; a.Status {
		case chattools.NeedsApproval:
			return say("I have asked the staff. Nothing is changed before they agree; I will tell you.")
		case chattools.Done:
			return say("Here is what I found: %s", shorten(string(a.Result)))
		default:
			return say("That did not work: %s", a.Text)
		}
	}
	text := strings.ToLower(last.Text)
	order := orderNumber.FindString(strings.ToUpper(last.Text))
	if order != "" && order[0] != '#' {
		order = "#" + order
	}
	call := func(name string, params any) (chattools.Turn, error) {
		arguments, err := json.Marshal(params)
		return chattools.Turn{Message: chattools.Message{Calls: []chattools.Call{{Name: name, Arguments: arguments}}}, Stop: chattools.StopCalls}, err
	}
	switch {
	case order == "":
		return say("I am a script, and know little: give me an order’s number, such as #W4923227, and say whether to show it or to cancel and refund it.")
	case strings.Contains(text, "cancel") || strings.Contains(text, "refund"):
		return call("cancel_pending_order", map[string]string{"order_id": order, "reason": "no longer needed"})
	}
	return call("get_order_details", map[string]string{"order_id": order})
}
