package chattools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Conversation is what a host stores between turns. It is plain data that survives JSON, and no proof of
// anything: what was done is what the ledger says.
type Conversation struct {
	ID       string    `json:"id"`
	Messages []Message `json:"messages"`
}

// Notice tells a model what became of something it asked for.
type Notice struct {
	approval.Status
	Call string `json:"call,omitempty"` // id of the call that asked for it
}

// noRecord is the status of a change of which the history says that it was done and the ledger does not.
const noRecord = "not_done"

// callJSON is a Call in JSON: the arguments are text, since they need not be JSON.
type callJSON struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Truncated bool   `json:"truncated,omitempty"`
}

// MarshalJSON keeps the arguments as text, whatever they are. Bytes that are not UTF-8 become U+FFFD; the
// gate has refused such arguments.
func (c Call) MarshalJSON() ([]byte, error) {
	return json.Marshal(callJSON{c.ID, c.Name, strings.ToValidUTF8(string(c.Arguments), "\uFFFD"), c.Truncated})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Call) UnmarshalJSON(data []byte) error {
	var d callJSON
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	*c = Call{d.ID, d.Name, json.RawMessage(d.Arguments), d.Truncated}
	return nil
}

// Echo returns the arguments in a form that every provider accepts back in the history: as they were, if they
// are strict JSON, and {} otherwise. It is never what runs.
func (c Call) Echo() json.RawMessage {
	if _, err := canon.Parse(c.Arguments, canon.Options{AllowFoldClash: true}); err != nil {
		return json.RawMessage("{}")
	}
	return c.Arguments
}

// ForModel returns the answer as the text of a tool's result, and whether to mark it as an error. Waiting for
// approval is not one: a framework would try again.
func (a Answer) ForModel() (text string, isError bool) {
	a.CallID = ""
	raw, err := json.Marshal(a)
	if err != nil { // a result that is no JSON
		raw, _ = json.Marshal(Answer{Status: a.Status, Text: textNoResult, Proposal: a.Proposal})
	}
	return string(raw), a.Status != Done && a.Status != NeedsApproval
}

// ForModel returns the notices of a message as text, framed as the gate's.
func (m Message) ForModel() string {
	if m.Role != RoleNotice {
		return m.Text
	}
	var b strings.Builder
	b.WriteString("<gate-notice>\n")
	for _, n := range m.Notices {
		raw, err := json.Marshal(n)
		if err != nil {
			raw = fmt.Appendf(nil, `{"proposal":%q,"status":%q}`, n.Proposal, n.Status.Status)
		}
		b.Write(raw)
		b.WriteString("\n" + meaning(n.Status.Status) + "\n")
	}
	b.WriteString("</gate-notice>")
	return b.String()
}

// meaning says in words what a status is; no two can be mistaken for one another.
func meaning(status string) string {
	switch status {
	case "waiting":
		return "It still waits for a person. Nothing has been changed."
	case "done":
		return "A person approved it, it ran, and it is done."
	case "revised":
		return "A person changed its parameters; it did not run. The successor waits or was decided by itself."
	case "dismissed":
		return "A person said no to it. It did not run and will not run."
	case "expired":
		return "Nobody decided in time. It did not run. It may be proposed again."
	case "failed":
		return "A person approved it, it ran, and it failed."
	case "interrupted":
		return "A person approved it, and nobody knows whether it took effect. Do not propose it again before a person has looked."
	case "running":
		return "A person approved it and it is running now."
	case noRecord:
		return "There is no record that this was done. Do not say that it was."
	}
	return ""
}

// News compares a history with the ledger and returns what the model has not been told yet, or was told
// wrongly, about its proposals. A surface with a loop of its own adds it as a message of [RoleNotice]. The
// error is the store's.
func (g *Gate) News(ctx context.Context, s authz.Session, history []Message) ([]Notice, error) {
	told := map[string]string{}
	for _, m := range history {
		for _, n := range m.Notices {
			told[n.Call+"\x00"+n.Proposal] = n.Status.Status
		}
	}
	var news []Notice
	add := func(n Notice) {
		if told[n.Call+"\x00"+n.Proposal] != n.Status.Status {
			news = append(news, n)
		}
	}
	for i, m := range history {
		for j, a := range m.Answers {
			call := callOf(history, i, j)
			switch {
			case a.Proposal != "":
				for id := a.Proposal; id != ""; { // a revised proposal, and what took its place
					n, err := g.truth(ctx, s, call, id)
					if err != nil {
						return nil, err
					}
					if id = n.Successor; told[n.Call+"\x00"+n.Proposal] != "" || !saidAlready(a, n) {
						add(n)
					}
				}
			case a.Status == Done && g.changes(call.Name):
				add(Notice{approval.Status{Action: call.Name, Status: noRecord}, call.ID})
			}
		}
	}
	return news, nil
}

// saidAlready reports whether the answer itself told the model what the ledger says.
func saidAlready(a Answer, n Notice) bool {
	if a.Proposal != n.Proposal {
		return false
	}
	return a.Status == NeedsApproval && n.Status.Status == "waiting" || a.Status == Done && n.Status.Status == "done" ||
		a.Status == Failed && n.Status.Status == "failed"
}

// truth is what the ledger says about a proposal that an answer names.
func (g *Gate) truth(ctx context.Context, s authz.Session, call Call, proposal string) (Notice, error) {
	st, err := g.desk.Status(ctx, s, proposal)
	if errors.Is(err, ledger.ErrNotFound) {
		return Notice{approval.Status{Proposal: proposal, Action: call.Name, Status: noRecord}, call.ID}, nil
	}
	st.ExpiresAt = nil // the same notice is the same bytes
	return Notice{st, call.ID}, err
}

// callOf returns the call that an answer is for.
func callOf(messages []Message, i, j int) Call {
	if i == 0 || j >= len(messages[i-1].Calls) {
		return Call{}
	}
	return messages[i-1].Calls[j]
}

func (g *Gate) changes(name string) bool {
	return g.desk.Registry().Mode(name) > authz.Read
}

// Trim returns the latest messages, at most keep of them, without tearing calls from their answers: it starts
// at a message of the user. The messages are shared.
func Trim(messages []Message, keep int) []Message {
	from := max(0, len(messages)-keep)
	for from < len(messages) && messages[from].Role != RoleUser {
		from++
	}
	return messages[from:]
}
