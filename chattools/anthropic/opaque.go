package anthropic

import (
	"encoding/json"

	"github.com/sallyport-dev/sallyport/chattools"
)

// part is one block of an answer: reasoning, which is kept as it came, or the place of text or of a call,
// which the message itself has.
type part struct {
	Thinking *thinking `json:"thinking,omitempty"`
	Redacted string    `json:"redacted,omitempty"`
	Text     int       `json:"text,omitempty"` // bytes of the message's text
	Call     bool      `json:"call,omitempty"` // the message's next call

	text string
	call *chattools.Call
}

// thinking is reasoning with the signature by which the API knows it as its own.
type thinking struct {
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// keep makes a message of parts. Their order is kept beside it if there is reasoning; otherwise text before
// calls says the same.
func keep(parts []part) (chattools.Message, error) {
	m := chattools.Message{Role: chattools.RoleAssistant}
	reasoning := false
	for i, p := range parts {
		switch {
		case p.call != nil:
			parts[i].Call = true
			m.Calls = append(m.Calls, *p.call)
		case p.text != "":
			parts[i].Text = len(p.text)
			m.Text += p.text
		default:
			reasoning = true
		}
	}
	if !reasoning {
		return m, nil
	}
	raw, err := json.Marshal(parts)
	m.Provider, m.Opaque = provider, raw
	return m, err
}

// layout puts a message of the assistant back into parts. Calls that were taken out or given new ids since,
// and text that is no longer the one that was kept, still have their place.
func layout(m chattools.Message) []part {
	var kept []part
	if m.Provider == provider && json.Unmarshal(m.Opaque, &kept) != nil {
		kept = nil
	}
	length := 0
	for _, p := range kept {
		length += max(0, p.Text)
	}
	var parts []part
	text, calls := m.Text, m.Calls
	for _, p := range kept {
		switch {
		case p.Thinking != nil || p.Redacted != "":
			parts = append(parts, p)
		case p.Text > 0:
			n := min(p.Text, len(text))
			if length != len(m.Text) {
				n = len(text)
			}
			parts = append(parts, part{text: text[:n]})
			text = text[n:]
		case p.Call && len(calls) > 0:
			parts = append(parts, part{call: &calls[0]})
			calls = calls[1:]
		}
	}
	if text != "" {
		parts = append(parts, part{text: text})
	}
	for i := range calls {
		parts = append(parts, part{call: &calls[i]})
	}
	return parts
}
