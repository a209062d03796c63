package openai

import (
	"encoding/json"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// completion is an answer of chat completions, or a chunk of one.
type completion struct {
	Choices []choice   `json:"choices"`
	Usage   *chatUsage `json:"usage"`
	Error   *problem   `json:"error"`
}

type choice struct {
	Index   int      `json:"index"`
	Message chatSaid `json:"message"`
	Delta   chatSaid `json:"delta"` // in a chunk
	Reason  words    `json:"finish_reason"`
}

type chatSaid struct {
	Content words      `json:"content"`
	Refusal words      `json:"refusal"`
	Calls   []chatCall `json:"tool_calls"`
}

type chatCall struct {
	Index    int   `json:"index"` // in a chunk
	ID       words `json:"id"`
	Function struct {
		Name      words           `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type chatUsage struct {
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Details    details `json:"prompt_tokens_details"`
}

// details say which tokens of the input are not new.
type details struct {
	Read  int `json:"cached_tokens"`
	Write int `json:"cache_write_tokens"`
}

// usage counts each token once.
func usage(input, output int, d details) chattools.Usage {
	return chattools.Usage{Input: max(0, input-d.Read-d.Write), Output: output, CacheRead: d.Read, CacheWrite: d.Write}
}

func (u *chatUsage) usage() chattools.Usage {
	if u == nil {
		return chattools.Usage{}
	}
	return usage(u.Prompt, u.Completion, u.Details)
}

// turn makes a turn of an answer that came in one piece.
func (c *completion) turn() (chattools.Turn, error) {
	if c.Error != nil {
		return chattools.Turn{}, inside(*c.Error)
	}
	if len(c.Choices) == 0 || c.Choices[0].Reason == "" {
		return chattools.Turn{}, broken(errUnreadable)
	}
	said := c.Choices[0].Message
	var calls []chattools.Call
	for _, call := range said.Calls {
		var a wire.Arguments
		a.Add(call.Function.Arguments)
		calls = append(calls, chattools.Call{ID: string(call.ID), Name: string(call.Function.Name), Arguments: a.Bytes()})
	}
	return chatTurn(string(said.Content), string(said.Refusal), calls, string(c.Choices[0].Reason), c.Usage), nil
}

// chatTurn puts a turn together. Only an answer that came to its own end has calls that are what was meant.
func chatTurn(text, refusal string, calls []chattools.Call, reason string, u *chatUsage) chattools.Turn {
	stop, ended := chatStop(reason)
	switch {
	case !ended:
	case len(calls) > 0:
		stop = chattools.StopCalls // some servers say "stop" also then
	case refusal != "":
		stop = chattools.StopRefusal
	default:
		stop = chattools.StopEnd
	}
	for i := range calls {
		calls[i].Truncated = !ended
	}
	m := chattools.Message{Role: chattools.RoleAssistant, Text: text + refusal, Calls: calls}
	return chattools.Turn{Message: m, Stop: stop, Usage: u.usage()}
}

func chatStop(reason string) (stop chattools.Stop, ended bool) {
	switch reason {
	case "stop", "tool_calls", "function_call":
		return "", true
	case "length":
		return chattools.StopLength, false
	case "content_filter":
		return chattools.StopRefusal, false
	}
	return chattools.StopOther, false
}
