package openai_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

// Reasoning goes back to responses with the ids of all items, in its place among text and calls, after the
// conversation was stored; other providers' messages have nothing to give back, and chat completions take
// the conversation without it.
func TestReasoning(t *testing.T) {
	for _, how := range ways[2:] {
		t.Run(how.name, func(t *testing.T) {
			c := converse(t, how,
				reply{stop: "tool_calls", pieces: []said{
					{thinking: "They want <two> things. 😀"}, {text: "First ä. ", phase: "commentary"}, {call: "list", input: `{}`},
					{thinking: "And the other."}, {call: "echo", input: `{"text":"a"}`}, {text: "Second."},
				}},
				reply{stop: "stop", pieces: []said{{thinking: "All there."}, {text: "Done."}}})
			require.NoError(t, c.err)
			require.Equal(t, "First ä. Second.", c.Messages[1].Text)
			require.Equal(t, "openai", c.Messages[1].Provider)

			c.restart(t)
			_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "More.", nil)
			require.NoError(t, err)
			require.Empty(t, c.refused) // the server knows which items belong together
			for _, request := range []int{1, 2} {
				all := c.sent(t, request)[2:]
				require.Equal(t, "reasoning assistant call reasoning call assistant result result", kinds(all[:8]))
				require.Equal(t, "rs_1_0", all[0].item.ID)
				require.Equal(t, []wantedText{{"summary_text", "They want <two> things. 😀", nil}}, all[0].item.Summary)
				require.Equal(t, "encrypted <They want <two> things. 😀>", all[0].item.Encrypted)
				require.Equal(t, "First ä. ", all[1].text)
				require.Equal(t, "commentary", all[1].item.Phase)
				require.Equal(t, "msg_1_1", all[1].item.ID)
				require.Equal(t, "fc_1_2", all[2].item.ID)
				require.Empty(t, all[5].item.Phase)
			}
			require.Equal(t, "reasoning assistant user", kinds(c.sent(t, 2)[10:]))

			model, err := ways[0].model(c.client(), openai.Options{Model: "m"})
			require.NoError(t, err)
			_, err = model.Next(t.Context(), chattools.Request{Messages: c.Messages})
			require.NoError(t, err)
			require.Equal(t, "user assistant call call result result assistant user assistant", kinds(c.sent(t, 3)))

			for i := range c.Messages {
				c.Messages[i].Provider = "other"
			}
			_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "More.", nil)
			require.NoError(t, err)
			require.Empty(t, c.refused)
			require.Empty(t, only(c.sent(t, 4), "reasoning"))
		})
	}
}

// Reasoning that the API cannot read again stays behind, with the ids that belong to it: if it was not
// encrypted and is not stored, if the answer was cut off, or if nothing follows it.
func TestReasoningThatStaysBehind(t *testing.T) {
	const plain = `{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a"}]}]}`
	a := newAPI(reply{body: plain})
	defer a.Close()
	a.thoughts["rs_1"], a.items["msg_1"] = "", "rs_1"
	turn, err := a.ask(t, ways[2], chattools.Request{Messages: hello})
	require.NoError(t, err)
	require.NotEmpty(t, turn.Message.Opaque)
	for _, stored := range []bool{false, true} {
		model, err := openai.NewResponses(a.client(), openai.Options{Model: "m", Store: stored})
		require.NoError(t, err)
		_, err = model.Next(t.Context(), chattools.Request{Messages: []chattools.Message{hello[0], turn.Message}})
		require.NoError(t, err)
	}
	require.Empty(t, a.refused)
	require.Equal(t, "user assistant", kinds(a.sent(t, 1)))
	require.Empty(t, a.sent(t, 1)[1].item.ID)
	require.Equal(t, "user reasoning assistant", kinds(a.sent(t, 2)))
	require.JSONEq(t, `[{"type":"reasoning_text","text":"Hm."}]`, string(a.sent(t, 2)[1].item.Content))

	for _, r := range []reply{
		{stop: "length", pieces: []said{{thinking: "Hm."}, {text: "a"}}}, {stop: "stop", pieces: []said{{text: "a"}, {thinking: "Hm."}}},
		{stop: "stop", pieces: []said{{thinking: "Hm."}}}, {stop: "stop", pieces: []said{{thinking: "Hm."}, {text: " "}}}, {stop: "stop"},
		{body: `{"status":"completed","output":[{"type":"reasoning","id":"rs_1"},{"type":"news_call","id":"n"},{"type":"message","id":"msg_1","content":[{"text":"a"}]}]}`},
	} {
		c := converse(t, ways[2], r)
		require.NoError(t, c.err)
		require.Empty(t, c.Messages[1].Opaque)
		_, err := c.loop(t, ways[2]).Say(t.Context(), c.session, c.Conversation, "Go on.", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
	}
}

// What a host or a client made of what was kept is never a reason to panic or to lose text and calls.
func TestOpaqueThatWasTamperedWith(t *testing.T) {
	a := newAPI()
	defer a.Close()
	model, err := openai.NewResponses(a.client(), openai.Options{Model: "m"})
	require.NoError(t, err)
	for i, opaque := range []string{``, `nonsense`, `{}`, `[{"text":-5},{"text":9},{"call":true}]`, `[{"text":9223372036854775807},{"text":9223372036854775807},{"text":6},{"call":true}]`,
		`[{"call":true},{"call":true},{"call":true}]`, `[{"text":3},{"call":true}]`, `[{"text":4}]`, `[{"text":4},{}]`, `[null]`, `[{"text":4},{"call":true},{"text":0}]`, `[{"call":true},{"text":4}]`} {
		_, err := model.Next(t.Context(), chattools.Request{Tools: tools("list"), Messages: []chattools.Message{
			{Role: chattools.RoleUser, Text: "a"},
			{Role: chattools.RoleAssistant, Text: "äö", Calls: []chattools.Call{{ID: "1", Name: "list", Arguments: []byte(`{}`)}}, Provider: "openai", Opaque: json.RawMessage(opaque)},
			{Role: chattools.RoleTool, Answers: []chattools.Answer{{CallID: "1", Status: chattools.Done}}},
		}})
		require.NoError(t, err, opaque)
		require.Equal(t, "äö", only(a.sent(t, i), "assistant")[0].text, opaque)
		require.Len(t, only(a.sent(t, i), "call"), 1)
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
		want     string
	}{
		{"begins with a notice", []chattools.Message{notice}, "user"},
		{"a notice and more", []chattools.Message{notice, user("a"), user("b")}, "user user user"},
		{"begins with the model", []chattools.Message{model("a"), user("b")}, "assistant user"},
		{"begins with results", []chattools.Message{results("x"), user("b")}, "user"},
		{"ends with the model", []chattools.Message{user("a"), model("b")}, "user assistant"},
		{"the model twice", []chattools.Message{user("a"), model("b"), model("c"), user("d")}, "user assistant assistant user"},
		{"empty texts", []chattools.Message{user(" \n"), user("a"), model("\t"), model(""), user("")}, "user"},
		{"bytes that are no text", []chattools.Message{user("a\xff"), model("b\xff"), user("c")}, "user assistant user"},
		{"calls and results", []chattools.Message{user("a"), model("b", call("1"), call("2")), results("1", "2"), user("c")}, "user assistant call call result result user"},
		{"results in another order", []chattools.Message{user("a"), model("", call("1"), call("2")), results("2", "1")}, "user call call result result"},
		{"results in two messages", []chattools.Message{user("a"), model("", call("1"), call("2")), results("1"), results("2")}, "user call call result result"},
		{"a notice after results", []chattools.Message{user("a"), model("", call("1")), results("1"), notice}, "user call result user"},
		{"calls without results", []chattools.Message{user("a"), model("b", call("1")), user("c")}, "user assistant call result user"},
		{"calls at the end", []chattools.Message{user("a"), model("b", call("1"))}, "user assistant call result"},
		{"calls after calls", []chattools.Message{user("a"), model("", call("1")), model("", call("1")), results("1")}, "user call result call result"},
		{"a result too many", []chattools.Message{user("a"), model("", call("1")), results("1", "9")}, "user call result"},
		{"results twice", []chattools.Message{user("a"), model("", call("1")), results("1"), results("1")}, "user call result"},
		{"empty ids", []chattools.Message{user("a"), model("", call(""), call("")), results("", "")}, "user call call result result"},
		{"ids that are not acceptable", []chattools.Message{user("a"), model("", call("a b"), call("call_1"), call("call_2")), results("a b", "call_1", "call_2")}, "user call call call result result result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, how way) {
				a := newAPI()
				defer a.Close()
				_, err := a.ask(t, how, chattools.Request{Messages: tt.messages, Tools: tools("list")})
				require.NoError(t, err)
				require.Empty(t, a.refused)
				require.Equal(t, tt.want, kinds(a.sent(t, 0)))
			})
		})
	}
	everyWay(t, func(t *testing.T, how way) {
		for _, nothing := range [][]chattools.Message{nil, {user("")}, {results("1")}, {model("")}} {
			m, err := how.model(sdk.Client{}, openai.Options{Model: "m"})
			require.NoError(t, err)
			_, err = ask(t.Context(), m, chattools.Request{System: "S", Messages: nothing})
			require.Equal(t, chattools.TroubleRequest, modelError(t, err).Trouble)
		}
	})
}
