package bfcl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// repeat makes a recorded call and compares what comes of it with the recording, byte for byte.
func (c *conversation) repeat(ctx context.Context, call Call) {
	c.report.Calls++
	c.expected = &call
	defer func() { c.expected = nil }()
	before, writes := c.runs, c.tools[call.Name].writes()
	a, text := c.ask(ctx, call.Name, call.Arguments)
	if place, bad := breaksSchema(call); bad {
		if a.Status != chattools.Invalid || !strings.Contains(a.Text, place) || c.runs != before {
			c.differ("%s %s is answered %s, although %s does not fit its schema", call.Name, call.Arguments, text, place)
			return
		}
		c.report.Invalid = append(c.report.Invalid, call.Name+" "+string(call.Arguments)+": "+a.Text)
		return
	}
	if waits := a.Status == chattools.NeedsApproval; waits != writes || waits && c.runs != before {
		c.differ("%s %s is answered %s", call.Name, call.Arguments, text)
		return
	}
	if writes {
		var err error
		if a, err = c.approve(ctx, a.Proposal, call); err != nil {
			c.differ("%s %s is not approved: %v", call.Name, call.Arguments, err)
			return
		}
	}
	want := call.Expect
	same := a.Status == chattools.Done && bytes.Equal(a.Result, want.Result)
	if !want.OK {
		same = a.Status == chattools.Failed && a.Text == want.Error
	}
	if !same || c.runs != before+1 {
		c.differ("%s %s came to %s %s %s after %d runs, recorded %s %s", call.Name, call.Arguments, a.Status, a.Text, a.Result,
			c.runs-before, want.Result, want.Error)
		return
	}
	c.count(call, a, writes)
}

// count counts a call that was answered as recorded.
func (c *conversation) count(call Call, a chattools.Answer, writes bool) {
	if writes {
		c.report.Writes++
	} else {
		c.report.Reads++
	}
	if writes && call.Expect.Changed {
		c.report.Changed++
	}
	if tried := c.early[call.Name]; tried != nil && bytes.Equal(tried, call.Arguments) {
		c.report.Passed++
		delete(c.early, call.Name)
	}
	n, err := large(a)
	if err != nil {
		c.differ("the answer to %s cannot be read: %v", call.Name, err)
	}
	c.report.Large += n
}

// approve is the operator's part: to look at what was proposed, and to approve it if it is the recorded call.
// The answer is what the run came to.
func (c *conversation) approve(ctx context.Context, proposal string, call Call) (chattools.Answer, error) {
	o, err := c.Desk().Open(ctx, scope, proposal, authz.LoggedIn(operator))
	if err != nil {
		return chattools.Answer{}, err
	}
	if o.Refusal != nil {
		return chattools.Answer{}, o.Refusal
	}
	want, err := c.tools[call.Name].canonical(call.Arguments)
	if err != nil {
		return chattools.Answer{}, err
	}
	if p := o.Proposal; p.Action != call.Name || p.Params != want {
		return chattools.Answer{}, fmt.Errorf("proposed is %s %s, recorded %s %s", p.Action, p.Params, call.Name, want)
	}
	res, err := c.Desk().Approve(ctx, o.Redemption())
	text, public := registry.PublicText(err)
	switch {
	case err == nil:
		return chattools.Answer{Status: chattools.Done, Result: res.JSON, Proposal: res.Proposal}, nil
	case registry.CodeOf(err) == ledger.RunFailed && public:
		return chattools.Answer{Status: chattools.Failed, Text: text, Proposal: proposal}, nil
	}
	return chattools.Answer{}, err
}

// breaksSchema reports whether a call is the one of the recording whose arguments its own tool's schema does
// not take, and where: it closes a ticket whose number is a string.
func breaksSchema(c Call) (place string, bad bool) {
	var arguments struct {
		Ticket json.RawMessage `json:"ticket_id"`
	}
	err := json.Unmarshal(c.Arguments, &arguments)
	return "ticket_id", c.Name == "close_ticket" && err == nil && bytes.HasPrefix(arguments.Ticket, []byte(`"`))
}

// large counts the integers in a result that a float64 cannot be trusted with, in the text of the answer.
func large(a chattools.Answer) (n int, err error) {
	text, err := json.Marshal(a)
	if err != nil {
		return 0, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if digits, ok := t.(json.Number); ok {
			if i, err := strconv.ParseInt(digits.String(), 10, 64); err == nil && (i >= 1<<53 || i <= -1<<53) {
				n++
			}
		}
	}
}
