package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// whole makes a turn of an answer that came in one piece.
func whole(m *sdk.Message) (chattools.Turn, error) {
	if m.Type != "message" || m.StopReason == "" || !strings.HasPrefix(m.JSON.Content.Raw(), "[") {
		return chattools.Turn{}, broken(errUnreadable)
	}
	var parts []part
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			parts = append(parts, part{text: wire.Clean(b.Text)})
		case "tool_use":
			parts = append(parts, part{call: &chattools.Call{ID: b.ID, Name: b.Name, Arguments: json.RawMessage(b.JSON.Input.Raw())}})
		case "thinking":
			parts = append(parts, part{Thinking: &thinking{b.Thinking, b.Signature}})
		case "redacted_thinking":
			parts = append(parts, part{Redacted: b.Data})
		}
	}
	u := m.Usage
	return turn(parts, m.StopReason, chattools.Usage{
		Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
	})
}

// turn puts a turn together. Only an answer that came to its own end has calls that are what was meant.
func turn(parts []part, reason sdk.StopReason, u chattools.Usage) (chattools.Turn, error) {
	stop, ended := stopOf(reason)
	var full []part
	for _, p := range parts {
		switch {
		case p.call != nil:
			p.call.Truncated = !ended
		case p.Thinking != nil && p.Thinking.Signature == "":
			continue // it was cut off, and the API would not take it back
		case p.Thinking == nil && p.Redacted == "" && p.text == "":
			continue
		}
		full = append(full, p)
	}
	m, err := keep(full)
	if err != nil {
		return chattools.Turn{}, broken(errUnreadable)
	}
	return chattools.Turn{Message: m, Stop: stop, Usage: u}, nil
}

func stopOf(reason sdk.StopReason) (stop chattools.Stop, ended bool) {
	switch reason {
	case sdk.StopReasonEndTurn:
		return chattools.StopEnd, true
	case sdk.StopReasonToolUse:
		return chattools.StopCalls, true
	case sdk.StopReasonStopSequence:
		return chattools.StopEnd, false
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return chattools.StopLength, false
	case sdk.StopReasonRefusal:
		return chattools.StopRefusal, false
	}
	return chattools.StopOther, false
}
