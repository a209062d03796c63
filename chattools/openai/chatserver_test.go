package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// wantedChat is a request of chat completions as the API documents it.
type wantedChat struct {
	Model    string          `json:"model"`
	Messages []wantedMessage `json:"messages"`
	Tools    []struct {
		Type     string     `json:"type"`
		Function wantedTool `json:"function"`
	} `json:"tools"`
	MaxTokens     *int   `json:"max_completion_tokens"`
	Effort        string `json:"reasoning_effort"`
	Store         *bool  `json:"store"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type wantedMessage struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
}

func strictly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func checkChat(body []byte) string {
	var w wantedChat
	if err := strictly(body, &w); err != nil {
		return err.Error()
	}
	if w.Model == "" || len(w.Messages) == 0 || w.MaxTokens != nil && *w.MaxTokens < 1 || w.Stream != w.StreamOptions.Usage {
		return "a parameter is missing or wrong"
	}
	var tools []wantedTool
	for i, t := range w.Tools {
		if t.Type != "function" {
			return fmt.Sprintf("Missing required parameter: 'tools[%d].type'.", i)
		}
		tools = append(tools, t.Function)
	}
	if problem := checkTools(body, tools); problem != "" {
		return problem
	}
	var open []string
	for i, m := range w.Messages {
		where := fmt.Sprintf("messages[%d]: ", i)
		if m.Role == "tool" {
			if len(open) == 0 || m.CallID != open[0] {
				return where + "messages with role 'tool' must be a response to a preceding message with 'tool_calls', in its order"
			}
			if m.Content == nil || *m.Content == "" {
				return where + "content is missing"
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return where + fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %q", open)
		}
		if m.CallID != "" || len(m.Calls) > 0 && m.Role != "assistant" || !slices.Contains([]string{"system", "user", "assistant"}, m.Role) {
			return where + "unexpected parameter"
		}
		if m.Content == nil && len(m.Calls) == 0 || m.Content != nil && strings.TrimSpace(*m.Content) == "" {
			return where + "content is missing"
		}
		for _, c := range m.Calls {
			if c.Type != "function" || c.ID == "" || len(c.ID) > 40 || slices.Contains(open, c.ID) {
				return where + "string too long. Expected a string with maximum length 40, one for each call"
			}
			if problem := checkCall(c.Function.Name, c.Function.Arguments); problem != "" {
				return where + problem
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %q", open)
	}
	return ""
}

const chatUsage = `{"prompt_tokens":27,"completion_tokens":7,"total_tokens":34,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":2}}`

// completion is an answer in one piece.
func (r reply) completion() string {
	var calls []string
	for _, p := range r.pieces {
		if p.call != "" {
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q%s}}`, p.id, p.call, p.argumentsField()))
		}
	}
	text, refusal := r.text()
	field := func(text string) string {
		if text == "" {
			return "null"
		}
		return quote(text)
	}
	list := ""
	if calls != nil {
		list = `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":%s,"annotations":[]%s},"logprobs":null,"finish_reason":%q}],"usage":%s,"service_tier":"default"}`,
		field(text), field(refusal), list, r.stop, chatUsage)
}

// chunk is one chunk of an answer.
func chunk(delta, reason string) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null}`, delta, reason)
}

// chunks is an answer in chunks.
func (r reply) chunks() []string {
	all := []string{chunk(`{"role":"assistant","content":"","refusal":null}`, "null")}
	index := 0
	for _, p := range r.pieces {
		switch {
		case p.call != "":
			all = append(all, chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, index, p.id, p.call), "null"))
			fragments := p.fragments
			if fragments == nil && p.input != "-" {
				fragments = []string{p.input}
			}
			for _, f := range fragments {
				all = append(all, chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, index, quote(f)), "null"))
			}
			index++
		case p.refusal != "":
			all = append(all, chunk(`{"refusal":`+quote(p.refusal)+`}`, "null"))
		default:
			for _, word := range strings.SplitAfter(p.text, " ") {
				all = append(all, chunk(`{"content":`+quote(word)+`}`, "null"))
			}
		}
	}
	return append(all, chunk(`{}`, `"`+r.stop+`"`),
		`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":`+chatUsage+`}`, `[DONE]`)
}
