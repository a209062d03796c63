package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
)

// Reasoning goes back with its signatures, in its place among text and calls, after the conversation was
// stored; other providers' messages have nothing to give back.
func TestReasoning(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_use", blocks: []said{
				{thinking: "They want <two> things. 😀"}, {redacted: "b3BhcXVl"}, {text: "First ä. "}, {call: "list", input: `{}`},
				{thinking: "And the other."}, {text: "Second."}, {call: "echo", input: `{"text":"a"}`},
			}},
			reply{stop: "end_turn", blocks: []said{{thinking: "All there."}, {text: "Done."}}})
		require.NoError(t, c.err)
		require.Equal(t, "First ä. Second.", c.Messages[1].Text)
		require.Equal(t, "anthropic", c.Messages[1].Provider)

		raw, err := json.Marshal(c.Conversation)
		require.NoError(t, err)
		c.Conversation = new(chattools.Conversation)
		require.NoError(t, json.Unmarshal(raw, c.Conversation))
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "More.", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused) // the server knows its signatures

		kinds := func(m wantedMessage) string {
			var all []string
			for _, b := range m.Content {
				all = append(all, b.Type)
			}
			return strings.Join(all, " ")
		}
		for _, request := range []int{1, 2} {
			m := c.sent(t, request).Messages
			require.Equal(t, "thinking redacted_thinking text tool_use thinking text tool_use", kinds(m[1]))
			require.Equal(t, "First ä. ", m[1].Content[2].Text)
			require.Equal(t, "b3BhcXVl", m[1].Content[1].Data)
		}
		require.Equal(t, "thinking text", kinds(c.sent(t, 2).Messages[3]))

		for i := range c.Messages {
			c.Messages[i].Provider = "other"
		}
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "More.", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
		require.Equal(t, "text tool_use tool_use", kinds(c.sent(t, 3).Messages[1]))
	})
}

// Reasoning that was cut off has no signature and cannot go back; reasoning alone is no turn.
func TestReasoningThatWasCutOff(t *testing.T) {
	c := converse(t, ways[1], reply{events: []string{
		`message_start {"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{}}}`,
		`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`,
		`content_block_stop {"type":"content_block_stop","index":0}`,
		`message_delta {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}}`,
		`message_stop {"type":"message_stop"}`,
	}}, reply{stop: "max_tokens", blocks: []said{{thinking: "Hm."}}})
	require.Equal(t, chattools.EndingCut, c.reply.Ending)
	require.Empty(t, c.Messages[1].Opaque)
	for range 2 {
		_, err := c.loop(t, ways[1]).Say(t.Context(), c.session, c.Conversation, "Go on.", nil)
		require.NoError(t, err)
	}
	require.Empty(t, c.refused)
}

// What a host or a client made of the kept order is never a reason to panic or to lose text and calls.
func TestOpaqueThatWasTamperedWith(t *testing.T) {
	a := newAPI()
	defer a.Close()
	client, err := anthropic.New(a.client(), anthropic.Options{Model: "m"})
	require.NoError(t, err)
	for _, opaque := range []string{``, `nonsense`, `{}`, `[{"text":-5},{"text":3}]`, `[{"text":9223372036854775807},{"text":9223372036854775807},{"text":5}]`,
		`[{"call":true},{"call":true},{"call":true}]`, `[{"text":2},{"call":true},{"text":1}]`, `[{"type":"tool_result"},{}]`, `[null]`} {
		_, err := client.Next(t.Context(), chattools.Request{Tools: tools("list"), Messages: []chattools.Message{
			{Role: chattools.RoleUser, Text: "a"},
			{Role: chattools.RoleAssistant, Text: "äö", Calls: []chattools.Call{{ID: "1", Name: "list", Arguments: []byte(`{}`)}}, Provider: "anthropic", Opaque: json.RawMessage(opaque)},
			{Role: chattools.RoleTool, Answers: []chattools.Answer{{CallID: "1", Status: chattools.Done}}},
		}})
		require.NoError(t, err, opaque)
		var w wanted
		require.NoError(t, json.Unmarshal([]byte(a.requests[len(a.requests)-1]), &w))
		require.Contains(t, w.Messages[1].Content[0].Text+w.Messages[1].Content[1].Text, "äö"[:2])
	}
	require.Empty(t, a.refused)
}

// tools are tools without parameters.
func tools(names ...string) []*chattools.Tool {
	var all []*chattools.Tool
	for _, name := range names {
		all = append(all, &chattools.Tool{Name: name, Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
	}
	return all
}

// Whatever a conversation looks like, the API accepts the request that is made of it.
func TestHistories(t *testing.T) {
	user := func(text string) chattools.Message { return chattools.Message{Role: chattools.RoleUser, Text: text} }
	model := func(text string, calls ...chattools.Call) chattools.Message {
		return chattools.Message{Role: chattools.RoleAssistant, Text: text, Calls: calls}
	}
	notice := chattools.Message{Role: chattools.RoleNotice, Notices: []chattools.Notice{{Status: approval.Status{Proposal: "p1", Action: "refund", Status: "done"}}}}
	call := func(id string) chattools.Call {
		return chattools.Call{ID: id, Name: "list", Arguments: json.RawMessage(`{"limit":`)}
	}
	results := func(ids ...string) chattools.Message {
		m := chattools.Message{Role: chattools.RoleTool}
		for _, id := range ids {
			m.Answers = append(m.Answers, chattools.Answer{CallID: id, Status: chattools.Done, Result: json.RawMessage(`"of ` + id + `"`)})
		}
		return m
	}
	tests := []struct {
		name     string
		messages []chattools.Message
		want     string // roles and kinds of blocks
	}{
		{"begins with a notice", []chattools.Message{notice}, "user(text)"},
		{"a notice and more", []chattools.Message{notice, user("a"), user("b")}, "user(text text text)"},
		{"begins with the model", []chattools.Message{model("a"), user("b")}, "user(text) assistant(text) user(text)"},
		{"begins with results", []chattools.Message{results("x"), user("b")}, "user(text)"},
		{"ends with the model", []chattools.Message{user("a"), model("b")}, "user(text) assistant(text) user(text)"},
		{"the model twice", []chattools.Message{user("a"), model("b"), model("c"), user("d")}, "user(text) assistant(text text) user(text)"},
		{"empty texts", []chattools.Message{user(" \n"), user("a"), model("\t"), model(""), user("")}, "user(text)"},
		{"bytes that are no text", []chattools.Message{user("a\xff"), model("b\xff"), user("c")}, "user(text) assistant(text) user(text)"},
		{"calls and results", []chattools.Message{user("a"), model("b", call("1"), call("2")), results("1", "2"), user("c")},
			"user(text) assistant(text tool_use tool_use) user(tool_result tool_result text)"},
		{"results in another order", []chattools.Message{user("a"), model("", call("1"), call("2")), results("2", "1")}, "user(text) assistant(tool_use tool_use) user(tool_result tool_result)"},
		{"results in two messages", []chattools.Message{user("a"), model("", call("1"), call("2")), results("1"), results("2")}, "user(text) assistant(tool_use tool_use) user(tool_result tool_result)"},
		{"a notice after results", []chattools.Message{user("a"), model("", call("1")), results("1"), notice}, "user(text) assistant(tool_use) user(tool_result text)"},
		{"calls without results", []chattools.Message{user("a"), model("b", call("1")), user("c")}, "user(text) assistant(text tool_use) user(tool_result text)"},
		{"calls at the end", []chattools.Message{user("a"), model("b", call("1"))}, "user(text) assistant(text tool_use) user(tool_result)"},
		{"calls after calls", []chattools.Message{user("a"), model("", call("1")), model("", call("1")), results("1")}, "user(text) assistant(tool_use) user(tool_result) assistant(tool_use) user(tool_result)"},
		{"a result too many", []chattools.Message{user("a"), model("", call("1")), results("1", "9")}, "user(text) assistant(tool_use) user(tool_result)"},
		{"results twice", []chattools.Message{user("a"), model("", call("1")), results("1"), results("1")}, "user(text) assistant(tool_use) user(tool_result)"},
		{"empty ids", []chattools.Message{user("a"), model("", call(""), call("")), results("", "")}, "user(text) assistant(tool_use tool_use) user(tool_result tool_result)"},
		{"ids of another provider", []chattools.Message{user("a"), model("", call("functions.list:0"), call("call_1"), call("call_2")), results("functions.list:0", "call_1", "call_2")},
			"user(text) assistant(tool_use tool_use tool_use) user(tool_result tool_result tool_result)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAPI()
			defer a.Close()
			client, err := anthropic.New(a.client(), anthropic.Options{Model: "m"})
			require.NoError(t, err)
			_, err = client.Next(t.Context(), chattools.Request{Messages: tt.messages, Tools: tools("list")})
			require.NoError(t, err)
			require.Empty(t, a.refused)
			var w wanted
			require.NoError(t, json.Unmarshal([]byte(a.requests[0]), &w))
			got := ""
			for _, m := range w.Messages {
				var kinds []string
				for _, b := range m.Content {
					kinds = append(kinds, b.Type)
				}
				got += fmt.Sprintf(" %s(%s)", m.Role, strings.Join(kinds, " "))
			}
			require.Equal(t, tt.want, strings.TrimSpace(got))
			if strings.HasPrefix(tt.name, "results in another order") {
				for i, b := range w.Messages[2].Content {
					require.Equal(t, fmt.Sprint(i+1), b.ToolUseID)
					require.Contains(t, b.Content[0].Text, "of "+b.ToolUseID)
				}
			}
		})
	}
	for _, nothing := range [][]chattools.Message{nil, {user("")}, {results("1")}, {model("")}} {
		client, err := anthropic.New(sdk.Client{}, anthropic.Options{Model: "m"})
		require.NoError(t, err)
		_, err = client.Next(t.Context(), chattools.Request{Messages: nothing})
		m := modelError(t, err)
		require.Equal(t, chattools.TroubleRequest, m.Trouble)
	}
}
