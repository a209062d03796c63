package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// part is one item of a response: reasoning, which is kept as it came, or the place and the id of text or of a
// call, which the message itself has.
type part struct {
	Reasoning *reasoning `json:"reasoning,omitempty"`
	ID        string     `json:"id,omitempty"`
	Phase     string     `json:"phase,omitempty"` // of text
	Text      int        `json:"text,omitempty"`  // bytes of the message's text
	Call      bool       `json:"call,omitempty"`  // the message's next call

	text string
	call *chattools.Call
}

// reasoning is what a model thought, for the provider to read again.
type reasoning struct {
	ID        string   `json:"id"`
	Summary   []string `json:"summary,omitempty"`
	Content   []string `json:"content,omitempty"`
	Encrypted string   `json:"encrypted,omitempty"`
}

// keep makes a message of parts. If complete, their ids and order are kept beside it.
func keep(parts []part, complete bool) (chattools.Message, error) {
	m := chattools.Message{Role: chattools.RoleAssistant}
	known := false
	for i, p := range parts {
		switch {
		case p.call != nil:
			parts[i].Call = true
			m.Calls = append(m.Calls, *p.call)
		case p.Reasoning == nil:
			parts[i].Text = len(p.text)
			m.Text += p.text
		}
		known = known || p.ID != "" || p.Reasoning != nil
	}
	if !known || !complete || parts[len(parts)-1].Reasoning != nil { // the API refuses reasoning that nothing follows
		return m, nil
	}
	raw, err := json.Marshal(parts)
	m.Provider, m.Opaque = provider, raw
	return m, err
}

// layout puts a message of the assistant back into parts, as they were kept. What was kept counts only as a
// whole: the API knows which items belong together, and refuses some without the others. It does not count if
// the message has been changed since, or if the API neither stores its reasoning nor gave it away.
func layout(m chattools.Message, stored bool) []part {
	var kept []part
	if m.Provider == provider && json.Unmarshal(m.Opaque, &kept) == nil && fits(kept, m, stored) {
		text, calls := m.Text, m.Calls
		for i, p := range kept {
			switch {
			case p.Reasoning != nil:
			case p.Call:
				kept[i].call, calls = &calls[0], calls[1:]
			default:
				kept[i].text, text = text[:p.Text], text[p.Text:]
			}
		}
		return kept
	}
	parts := []part{{text: m.Text}}
	for i := range m.Calls {
		parts = append(parts, part{call: &m.Calls[i]})
	}
	return parts
}

func fits(kept []part, m chattools.Message, stored bool) bool {
	length, calls := 0, 0
	for _, p := range kept {
		switch {
		case p.Reasoning != nil:
			if !stored && p.Reasoning.Encrypted == "" {
				return false
			}
		case p.Call:
			calls++
		case p.Text < 0 || p.Text > len(m.Text):
			return false
		default:
			length += p.Text
		}
	}
	return length == len(m.Text) && calls == len(m.Calls)
}

// items writes a part; empty text is none.
func (p part) items(w *calls) responses.ResponseInputParam {
	switch {
	case p.Reasoning != nil:
		return responses.ResponseInputParam{p.Reasoning.item()}
	case p.call != nil:
		id, name, arguments := w.call(*p.call)
		call := responses.ResponseInputItemParamOfFunctionCall(arguments, id, name)
		if p.ID != "" {
			call.OfFunctionCall.ID = sdk.String(p.ID)
		}
		return responses.ResponseInputParam{call}
	case blank(p.text):
		return nil
	case p.ID == "":
		return responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(wire.Clean(p.text), responses.EasyInputMessageRoleAssistant)}
	}
	text := responses.ResponseOutputMessageContentUnionParam{OfOutputText: &responses.ResponseOutputTextParam{
		Text: wire.Clean(p.text), Annotations: []responses.ResponseOutputTextAnnotationUnionParam{},
	}}
	message := responses.ResponseInputItemParamOfOutputMessage(
		[]responses.ResponseOutputMessageContentUnionParam{text}, p.ID, responses.ResponseOutputMessageStatusCompleted)
	message.OfOutputMessage.Phase = responses.ResponseOutputMessagePhase(p.Phase)
	return responses.ResponseInputParam{message}
}

func (r *reasoning) item() responses.ResponseInputItemUnionParam {
	summary := []responses.ResponseReasoningItemSummaryParam{}
	for _, text := range r.Summary {
		summary = append(summary, responses.ResponseReasoningItemSummaryParam{Text: text})
	}
	item := responses.ResponseInputItemParamOfReasoning(r.ID, summary)
	for _, text := range r.Content {
		item.OfReasoning.Content = append(item.OfReasoning.Content, responses.ResponseReasoningItemContentParam{Text: text})
	}
	if r.Encrypted != "" {
		item.OfReasoning.EncryptedContent = sdk.String(r.Encrypted)
	}
	return item
}
