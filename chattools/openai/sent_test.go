package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sent is one piece of a request's conversation, the same for both ways of asking.
type sent struct {
	kind      string // system, user, assistant, call, result or reasoning
	text      string // of a message or of a result
	id        string // of a call or of what it is for
	name      string // of a call
	arguments string // of a call
	item      wantedItem
}

// sent is the conversation of a request.
func (a *api) sent(t *testing.T, i int) []sent {
	t.Helper()
	if strings.Contains(a.requests[i], `"messages":`) {
		return sentChat(t, a.requests[i])
	}
	var w wantedResponse
	require.NoError(t, json.Unmarshal([]byte(a.requests[i]), &w))
	var all []sent
	if w.Instructions != "" {
		all = append(all, sent{kind: "system", text: w.Instructions})
	}
	for _, item := range w.Input {
		switch item.Type {
		case "function_call":
			all = append(all, sent{kind: "call", id: item.CallID, name: item.Name, arguments: item.Arguments, item: item})
		case "function_call_output":
			all = append(all, sent{kind: "result", id: item.CallID, text: item.Output, item: item})
		case "reasoning":
			all = append(all, sent{kind: "reasoning", item: item})
		default:
			text, ok := item.text()
			require.True(t, ok)
			all = append(all, sent{kind: item.Role, text: text, item: item})
		}
	}
	return all
}

func sentChat(t *testing.T, body string) []sent {
	t.Helper()
	var w wantedChat
	require.NoError(t, json.Unmarshal([]byte(body), &w))
	var all []sent
	for _, m := range w.Messages {
		switch {
		case m.Role == "tool":
			all = append(all, sent{kind: "result", id: m.CallID, text: *m.Content})
		case m.Content != nil:
			all = append(all, sent{kind: m.Role, text: *m.Content})
		}
		for _, call := range m.Calls {
			all = append(all, sent{kind: "call", id: call.ID, name: call.Function.Name, arguments: call.Function.Arguments})
		}
	}
	return all
}

// kinds are the kinds of all pieces.
func kinds(all []sent) string {
	var names []string
	for _, s := range all {
		names = append(names, s.kind)
	}
	return strings.Join(names, " ")
}

// only are the pieces of a kind.
func only(all []sent, kind string) []sent {
	var some []sent
	for _, s := range all {
		if s.kind == kind {
			some = append(some, s)
		}
	}
	return some
}

// sentTools are the tools of a request.
func (a *api) sentTools(t *testing.T, i int) []wantedTool {
	t.Helper()
	var w struct {
		Tools []struct {
			Function *wantedTool
			wantedTool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.requests[i]), &w))
	var all []wantedTool
	for _, tool := range w.Tools {
		if tool.Function != nil {
			tool.wantedTool = *tool.Function
		}
		all = append(all, tool.wantedTool)
	}
	return all
}
