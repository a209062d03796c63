package openai

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// response is an answer of responses.
type response struct {
	Status     string   `json:"status"`
	Error      *problem `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []item `json:"output"`
	Usage  *struct {
		Input   int     `json:"input_tokens"`
		Output  int     `json:"output_tokens"`
		Details details `json:"input_tokens_details"`
	} `json:"usage"`
}

// item is one item of an output.
type item struct {
	Type      string          `json:"type"`
	ID        words           `json:"id"`
	Status    words           `json:"status"`
	Content   []content       `json:"content"`           // of a message or of reasoning
	Phase     words           `json:"phase"`             // of a message
	CallID    words           `json:"call_id"`           // of a call
	Name      words           `json:"name"`              // of a call
	Arguments json.RawMessage `json:"arguments"`         // of a call
	Summary   []content       `json:"summary"`           // of reasoning
	Encrypted words           `json:"encrypted_content"` // of reasoning
}

type content struct {
	Text    words `json:"text"`
	Refusal words `json:"refusal"`
}

// turn makes a turn of a whole answer. Only an answer that came to its own end has calls that are what was
// meant.
func (r *response) turn() (chattools.Turn, error) {
	if r.Error != nil {
		return chattools.Turn{}, inside(*r.Error)
	}
	stop, ended, err := r.stop()
	if err != nil {
		return chattools.Turn{}, err
	}
	parts, complete, refused := r.parts(ended)
	m, err := keep(parts, complete)
	if err != nil {
		return chattools.Turn{}, broken(errUnreadable)
	}
	switch {
	case !ended:
	case len(m.Calls) > 0:
		stop = chattools.StopCalls
	case refused:
		stop = chattools.StopRefusal
	}
	t := chattools.Turn{Message: m, Stop: stop}
	if u := r.Usage; u != nil {
		t.Usage = usage(u.Input, u.Output, u.Details)
	}
	return t, nil
}

func (r *response) stop() (stop chattools.Stop, ended bool, err error) {
	switch r.Status {
	case "completed":
		return chattools.StopEnd, true, nil
	case "cancelled":
		return chattools.StopOther, false, nil
	case "failed":
		return "", false, inside(problem{})
	case "incomplete":
	default:
		return "", false, broken(errUnreadable)
	}
	switch {
	case r.Incomplete == nil:
	case r.Incomplete.Reason == "max_output_tokens":
		return chattools.StopLength, false, nil
	case r.Incomplete.Reason == "content_filter":
		return chattools.StopRefusal, false, nil
	}
	return chattools.StopOther, false, nil
}

// parts reads the items. They are complete if there is nothing among them that this package does not send
// again.
func (r *response) parts(ended bool) (parts []part, complete, refused bool) {
	complete = ended
	for _, i := range r.Output {
		switch i.Type {
		case "message":
			p := part{ID: string(i.ID), Phase: string(i.Phase)}
			for _, c := range i.Content {
				p.text += string(c.Text) + string(c.Refusal)
				refused = refused || c.Refusal != ""
			}
			if !blank(p.text) {
				parts = append(parts, p)
			}
		case "function_call":
			var a wire.Arguments
			a.Add(i.Arguments)
			cut := !ended || i.Status != "" && i.Status != "completed"
			parts = append(parts, part{ID: string(i.ID), call: &chattools.Call{
				ID: string(i.CallID), Name: string(i.Name), Arguments: a.Bytes(), Truncated: cut,
			}})
		case "reasoning":
			parts = append(parts, part{Reasoning: &reasoning{string(i.ID), texts(i.Summary), texts(i.Content), string(i.Encrypted)}})
		default:
			complete = false
		}
	}
	return parts, complete, refused
}

func texts(list []content) []string {
	var all []string
	for _, c := range list {
		all = append(all, string(c.Text))
	}
	return all
}

// responseStream puts an answer together from its events.
type responseStream struct {
	tell     func(delta string)
	begun    int       // items
	done     []arrived // items
	response response
}

type arrived struct {
	index int
	item  item
}

// take takes one event. Calls are taken from whole items only. Events of unknown kinds are passed over, as the
// API asks.
func (s *responseStream) take(data []byte) (last bool, err error) {
	var e struct {
		problem
		Kind     string    `json:"type"`
		Delta    words     `json:"delta"`
		Index    int       `json:"output_index"`
		Item     item      `json:"item"`
		Response *response `json:"response"`
		Error    *problem  `json:"error"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return true, broken(errUnreadable)
	}
	switch e.Kind {
	case "response.output_text.delta", "response.refusal.delta":
		if s.tell != nil && e.Delta != "" {
			s.tell(string(e.Delta))
		}
	case "response.output_item.added":
		s.begun++
	case "response.output_item.done":
		s.done = append(s.done, arrived{e.Index, e.Item})
	case "response.completed", "response.incomplete", "response.failed":
		if e.Response == nil {
			return true, broken(errUnreadable)
		}
		s.response = *e.Response
		return true, s.finish()
	case "error":
		if e.Error != nil {
			e.problem = *e.Error
		}
		return true, inside(e.problem)
	default:
		if e.Error != nil {
			return true, inside(*e.Error)
		}
	}
	return false, nil
}

// finish takes the items one by one if the last event has none, as with some servers.
func (s *responseStream) finish() error {
	if len(s.response.Output) > 0 {
		return nil
	}
	if s.response.Status == "completed" && s.begun > len(s.done) {
		return broken(errOutOfOrder)
	}
	slices.SortStableFunc(s.done, func(a, b arrived) int { return cmp.Compare(a.index, b.index) })
	for _, a := range s.done {
		s.response.Output = append(s.response.Output, a.item)
	}
	return nil
}
