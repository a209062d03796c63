package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// wantedResponse is a request of responses as the API documents it.
type wantedResponse struct {
	Model        string       `json:"model"`
	Instructions string       `json:"instructions"`
	Input        []wantedItem `json:"input"`
	Tools        []struct {
		Type string `json:"type"`
		wantedTool
	} `json:"tools"`
	MaxTokens *int `json:"max_output_tokens"`
	Reasoning struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Store   *bool    `json:"store"`
	Include []string `json:"include"`
	Stream  bool     `json:"stream"`
}

type wantedItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Phase     string          `json:"phase"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    string          `json:"output"`
	Summary   []wantedText    `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type wantedText struct {
	Type        string             `json:"type"`
	Text        string             `json:"text"`
	Annotations *[]json.RawMessage `json:"annotations"`
}

// text is the text of a message, if it is well written.
func (i wantedItem) text() (string, bool) {
	var text string
	if json.Unmarshal(i.Content, &text) == nil {
		return text, i.ID == "" && strings.TrimSpace(text) != ""
	}
	var list []wantedText
	if strictly(i.Content, &list) != nil || i.Role != "assistant" || i.ID == "" || i.Status != "completed" || len(list) != 1 {
		return "", false
	}
	return list[0].Text, list[0].Type == "output_text" && list[0].Annotations != nil && *list[0].Annotations != nil
}

func (a *api) checkResponses(body []byte) string {
	var w wantedResponse
	if err := strictly(body, &w); err != nil {
		return err.Error()
	}
	if w.Model == "" || len(w.Input) == 0 || w.MaxTokens != nil && *w.MaxTokens < 1 || w.Store == nil {
		return "a parameter is missing or wrong"
	}
	var tools []wantedTool
	for i, t := range w.Tools {
		if t.Type != "function" {
			return fmt.Sprintf("Missing required parameter: 'tools[%d].type'.", i)
		}
		tools = append(tools, t.wantedTool)
	}
	if problem := checkTools(body, tools); problem != "" {
		return problem
	}
	var open []string
	reasoning := ""
	seen := map[string]bool{}
	for i, item := range w.Input {
		where := fmt.Sprintf("input[%d]: ", i)
		own := item.Role == "assistant" || item.Type == "function_call"
		if reasoning != "" && !own && item.Type != "reasoning" {
			return where + fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", reasoning)
		}
		if needs := a.items[item.ID]; own && needs != "" && needs != reasoning {
			return where + fmt.Sprintf("Item '%s' was provided without its required 'reasoning' item: '%s'.", item.ID, needs)
		}
		switch item.Type {
		case "", "message":
			if _, ok := item.text(); !ok || item.Role != "user" && item.Role != "assistant" {
				return where + "Invalid value for a message."
			}
			if item.Role == "user" && len(open) > 0 {
				return where + fmt.Sprintf("No tool output found for function call %s.", open[0])
			}
		case "reasoning":
			if thought, known := a.thoughts[item.ID]; !known || item.Summary == nil || !*w.Store && item.Encrypted != thought {
				return where + fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false.", item.ID)
			}
			if len(open) > 0 && item.ID == "" {
				return where + "an id is missing"
			}
		case "function_call":
			if item.CallID == "" || len(item.CallID) > 64 || seen[item.CallID] {
				return where + "string too long. Expected a string with maximum length 64, one for each call"
			}
			if problem := checkCall(item.Name, item.Arguments); problem != "" {
				return where + problem
			}
			seen[item.CallID] = true
			open = append(open, item.CallID)
		case "function_call_output":
			if !slices.Contains(open, item.CallID) {
				return where + fmt.Sprintf("No tool call found for function call output with call_id %q.", item.CallID)
			}
			if open[0] != item.CallID || item.Output == "" {
				return where + "outputs are in the order of the calls, and not empty"
			}
			open = open[1:]
		default:
			return where + "Invalid value: '" + item.Type + "'."
		}
		switch {
		case item.Type == "reasoning":
			reasoning = item.ID
		default:
			reasoning = ""
		}
	}
	if reasoning != "" {
		return fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", reasoning)
	}
	if len(open) > 0 {
		return fmt.Sprintf("No tool output found for function call %s.", open[0])
	}
	return ""
}

const responseUsage = `{"input_tokens":27,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":3},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":34}`

// output makes the items of an answer, and remembers which of them belong together.
func (a *api) output(r reply, turn int) []string {
	var all []string
	reasoning := ""
	for i, p := range r.pieces {
		status := "completed"
		if i == len(r.pieces)-1 && r.stop != "stop" && r.stop != "tool_calls" {
			status = "incomplete"
		}
		id := fmt.Sprintf("%d_%d", turn, i)
		switch {
		case p.thinking != "":
			reasoning = "rs_" + id
			a.thoughts[reasoning] = "encrypted <" + p.thinking + ">"
			all = append(all, fmt.Sprintf(`{"id":%q,"type":"reasoning","summary":[{"type":"summary_text","text":%s}],"content":null,"encrypted_content":%s,"status":null}`,
				reasoning, quote(p.thinking), quote(a.thoughts[reasoning])))
			continue
		case p.call != "":
			id = "fc_" + id
			all = append(all, fmt.Sprintf(`{"id":%q,"type":"function_call","status":%q,"call_id":%q,"name":%q%s}`, id, status, p.id, p.call, p.argumentsField()))
		default:
			id = "msg_" + id
			content := fmt.Sprintf(`{"type":"output_text","text":%s,"annotations":[],"logprobs":[]}`, quote(p.text))
			if p.refusal != "" {
				content = `{"type":"refusal","refusal":` + quote(p.refusal) + `}`
			}
			phase := ""
			if p.phase != "" {
				phase = fmt.Sprintf(`,"phase":%q`, p.phase)
			}
			all = append(all, fmt.Sprintf(`{"id":%q,"type":"message","role":"assistant","status":%q%s,"content":[%s]}`, id, status, phase, content))
		}
		a.items[id], reasoning = reasoning, ""
	}
	return all
}

// envelope is a response around its items.
func (r reply) envelope(output []string) string {
	status, details := "completed", "null"
	switch r.stop {
	case "stop", "tool_calls":
	case "length":
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	default:
		status, details = "incomplete", fmt.Sprintf(`{"reason":%q}`, r.stop)
	}
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":%q,"error":null,"incomplete_details":%s,"model":"m","output":[%s],"parallel_tool_calls":true,"usage":%s}`,
		status, details, strings.Join(output, ","), responseUsage)
}

// response is an answer in one piece.
func (a *api) response(r reply, turn int) string { return r.envelope(a.output(r, turn)) }

// events is an answer in events.
func (a *api) events(r reply, turn int) []string {
	const begun = `{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","error":null,"model":"m","output":[],"usage":null}`
	all := []string{`{"type":"response.created","response":` + begun + `}`, `{"type":"response.in_progress","response":` + begun + `}`}
	output := a.output(r, turn)
	for i, item := range output {
		p := r.pieces[i]
		add := func(kind, rest string) {
			all = append(all, fmt.Sprintf(`{"type":%q,"output_index":%d,"item_id":"x"%s}`, kind, i, rest))
		}
		kind := "message"
		if p.call != "" {
			kind = "function_call"
		}
		add("response.output_item.added", `,"item":{"type":"`+kind+`","id":"x","status":"in_progress"}`)
		switch {
		case p.call != "":
			add("response.function_call_arguments.delta", `,"delta":"{}"`)
			add("response.function_call_arguments.done", `,"name":"other"`+strings.Replace(p.argumentsField(), "raw:", "", 1))
		case p.thinking != "":
			add("response.reasoning_summary_text.delta", `,"summary_index":0,"delta":`+quote(p.thinking))
		case p.refusal != "":
			add("response.refusal.delta", `,"content_index":0,"delta":`+quote(p.refusal))
		default:
			for _, word := range strings.SplitAfter(p.text, " ") {
				add("response.output_text.delta", `,"content_index":0,"delta":`+quote(word))
			}
		}
		add("response.output_item.done", `,"item":`+item)
	}
	last := "response.completed"
	if r.stop != "stop" && r.stop != "tool_calls" {
		last = "response.incomplete"
	}
	return append(all, fmt.Sprintf(`{"type":%q,"response":%s}`, last, r.envelope(output)))
}
