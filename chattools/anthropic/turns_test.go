package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
)

// bothWays runs a test for answers in one piece and for streams.
func bothWays(t *testing.T, f func(t *testing.T, how way)) {
	for _, how := range ways {
		t.Run(how.name, func(t *testing.T) { f(t, how) })
	}
}

// sent is the body of a request.
func (c *conversed) sent(t *testing.T, i int) wanted {
	t.Helper()
	var w wanted
	require.NoError(t, json.Unmarshal([]byte(c.requests[i]), &w))
	return w
}

func TestConversationWithTools(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_use", blocks: []said{
				{text: "I look them up. "},
				{call: "find", input: `{"id":1}`}, {call: "refund", input: `{"order":"W1","cents":5}`}, {call: "echo", input: `{"text":"ä😀<"}`},
			}},
			reply{stop: "end_turn", blocks: []said{{text: "One refund waits."}}})
		require.NoError(t, c.err)
		require.Equal(t, chattools.EndingSaid, c.reply.Ending)
		require.Equal(t, "One refund waits.", c.reply.Text)
		require.Equal(t, []chattools.Status{chattools.Done, chattools.NeedsApproval, chattools.Done}, c.statuses())
		require.Len(t, c.reply.Waiting, 1)
		require.Equal(t, chattools.Usage{Input: 40, Output: 14, CacheRead: 8, CacheWrite: 6}, c.reply.Usage)
		require.ElementsMatch(t, []string{"find", "echo ä😀<"}, c.ran)

		told := ""
		for _, e := range c.events {
			if e, ok := e.(chattools.Text); ok {
				told += e.Delta
			}
		}
		require.Equal(t, "I look them up. One refund waits.", told)

		// T10: all results in the very next message of the user, in the order of the calls.
		w := c.sent(t, 1)
		require.Len(t, w.Messages, 3)
		require.Len(t, w.Messages[2].Content, 3)
		for i, b := range w.Messages[2].Content {
			require.Equal(t, w.Messages[1].Content[i+1].ID, b.ToolUseID)
			require.False(t, b.IsError, "waiting for a person is no error")
			text, _ := c.answers()[i].ForModel()
			require.Equal(t, text, b.Content[0].Text)
		}
		require.Contains(t, w.Messages[2].Content[2].Content[0].Text, `"ä😀\u003c"`)
		require.Contains(t, w.System[0].Text, "needs_approval")

		// The decision is told before what the user says next.
		proposal := c.reply.Waiting[0]
		o, err := c.desk.Open(t.Context(), "shop", proposal, c.olga)
		require.NoError(t, err)
		_, err = c.desk.Approve(t.Context(), o.Redemption())
		require.NoError(t, err)
		raw, err := json.Marshal(c.Conversation)
		require.NoError(t, err)
		c.Conversation = new(chattools.Conversation)
		require.NoError(t, json.Unmarshal(raw, c.Conversation))
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "And now?", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
		w = c.sent(t, 2)
		last := w.Messages[len(w.Messages)-1]
		require.Len(t, last.Content, 2)
		require.Contains(t, last.Content[0].Text, "<gate-notice>")
		require.Contains(t, last.Content[0].Text, "it ran, and it is done")
		require.Equal(t, "And now?", last.Content[1].Text)
	})
}

// Calls of an answer that did not come to its own end do not run, whatever they look like.
func TestCutOff(t *testing.T) {
	for _, tt := range []struct {
		stop   string
		ending chattools.Stop
	}{
		{"max_tokens", chattools.StopLength}, {"model_context_window_exceeded", chattools.StopLength},
		{"refusal", chattools.StopRefusal}, {"pause_turn", chattools.StopOther}, {"something_new", chattools.StopOther}, {"stop_sequence", chattools.StopEnd},
	} {
		bothWays(t, func(t *testing.T, how way) {
			c := converse(t, how,
				reply{stop: tt.stop, blocks: []said{{text: "Well"}, {call: "list", input: `{}`}, {call: "refund", input: `{"order":"W1","cents":1}`}}},
				reply{stop: "end_turn", blocks: []said{{text: "I see."}}})
			require.NoError(t, c.err)
			require.Empty(t, c.ran, tt.stop)
			require.Empty(t, c.reply.Waiting)
			require.Equal(t, []chattools.Status{chattools.Invalid, chattools.Invalid}, c.statuses(), tt.stop)
			require.Contains(t, c.answers()[0].Text, "cut off")
		})
	}
	c := converse(t, ways[1], reply{stop: "max_tokens", blocks: []said{{call: "list", fragments: []string{`{"lim`}}}})
	require.Equal(t, []chattools.Status{chattools.Invalid}, c.statuses())
	c = converse(t, ways[1], reply{stop: "max_tokens", blocks: []said{{call: "list", bare: true}}})
	require.Empty(t, c.ran)
}

func TestStops(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		for stop, want := range map[string]chattools.Ending{
			"end_turn": chattools.EndingSaid, "stop_sequence": chattools.EndingSaid, "max_tokens": chattools.EndingCut, "refusal": chattools.EndingRefused,
		} {
			c := converse(t, how, reply{stop: stop, blocks: []said{{text: "Hm."}}})
			require.NoError(t, c.err)
			require.Equal(t, want, c.reply.Ending, stop)
		}
		c := converse(t, how, reply{stop: "refusal"}, reply{stop: "end_turn", blocks: []said{{text: "Yes."}}})
		require.Equal(t, chattools.EndingRefused, c.reply.Ending)
		_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Then this.", nil) // after an empty answer
		require.NoError(t, err)
		require.Empty(t, c.refused)
		require.Len(t, c.sent(t, 1).Messages, 1)
	})
}

// T3: ids that are equal, empty, used before or not acceptable get the calls their own answers.
func TestT3Ids(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_use", blocks: []said{
				{call: "echo", id: "x", input: `{"text":"1"}`}, {call: "echo", id: "x", input: `{"text":"2"}`},
				{call: "echo", id: "-", input: `{"text":"3"}`}, {call: "echo", id: "-", input: `{"text":"4"}`},
			}},
			reply{stop: "tool_use", blocks: []said{{call: "echo", id: "x", input: `{"text":"5"}`}, {call: "echo", id: "functions.echo:0", input: `{"text":"6"}`}}})
		require.NoError(t, c.err)
		require.Len(t, c.ran, 6)
		for i, a := range c.answers() {
			require.Equal(t, fmt.Sprintf(`"%d"`, i+1), string(a.Result))
		}
		for _, turn := range []int{1, 2} {
			w := c.sent(t, turn)
			last := w.Messages[len(w.Messages)-1].Content
			for i, call := range w.Messages[len(w.Messages)-2].Content {
				require.Equal(t, call.ID, last[i].ToolUseID)
				var input struct{ Text string }
				require.NoError(t, json.Unmarshal(call.Input, &input))
				require.Contains(t, last[i].Content[0].Text, fmt.Sprintf("%q", input.Text))
			}
		}
	})
}

// T4: a call that is delivered twice runs once.
func TestT4TheSameCallTwice(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		again := said{call: "echo", id: "x", input: `{"text":"1"}`}
		c := converse(t, how, reply{stop: "tool_use", blocks: []said{again, again}})
		require.NoError(t, c.err)
		require.Equal(t, []string{"echo 1"}, c.ran)
		require.Len(t, c.sent(t, 1).Messages[1].Content, 1)
	})
}

// T7: a tool that does not exist is answered, whatever its name, and the conversation goes on.
func TestT7UnknownTools(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		for _, name := range []string{"refund_order2", "functions.refund", "a b", strings.Repeat("n", 200), "größe", "."} {
			c := converse(t, how, reply{stop: "tool_use", blocks: []said{{call: name, input: `{}`}}}, reply{stop: "end_turn", blocks: []said{{text: "I see."}}})
			require.NoError(t, c.err)
			require.Equal(t, []chattools.Status{chattools.Unknown}, c.statuses())
			require.Equal(t, name, c.Messages[1].Calls[0].Name)
		}
	})
}

// T8: what does not exist and what is hidden are answered alike, and what may not be done otherwise.
func TestT8NoTwoRefusalsAlike(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_use", blocks: []said{
			{call: "nothing", input: `{"a":1}`}, {call: "secret", input: `{}`}, {call: "refund", input: `{"order":"W1","cents":1}`}, {call: "refund", input: `{"order":"W1","cents":0}`},
		}})
		require.Equal(t, []chattools.Status{chattools.Unknown, chattools.Unknown, chattools.NeedsApproval, chattools.Invalid}, c.statuses())
		unknown := c.answers()
		unknown[0].CallID, unknown[1].CallID = "", ""
		require.Equal(t, unknown[0], unknown[1])
		require.NotContains(t, c.requests[0], `"name":"secret"`)

		vera, err := authz.NewSession("shop", "assistant", authz.For(authz.LoggedIn("vera")))
		require.NoError(t, err)
		c.session, c.script = vera, []reply{{stop: "tool_use", blocks: []said{{call: "refund", input: `{"order":"W1","cents":1}`}}}}
		c.Conversation = new(chattools.Conversation)
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Refund it.", nil)
		require.NoError(t, err)
		require.Equal(t, []chattools.Status{chattools.Forbidden}, c.statuses())
		require.Empty(t, c.ran)
	})
}

// A tool that is taken away is gone from the next request; with its calls in the history and no tools left, the
// request is still one that the API accepts.
func TestToolsThatAreTakenAway(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_use", blocks: []said{{call: "list", input: `{}`}}})
		facts := c.facts(authz.Read)
		facts.Settings.Disabled = []string{"echo", "find", "list", "broken", "huge"}
		require.NoError(t, c.people.Set("shop", facts))
		c.script = []reply{{stop: "tool_use", blocks: []said{{call: "list", input: `{}`}}}}
		_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Again.", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
		require.Equal(t, []string{"list"}, c.ran)
		w := c.sent(t, len(c.requests)-1)
		require.Len(t, w.Tools, 1)
		require.Equal(t, "no_tools", w.Tools[0].Name)
		require.Equal(t, "none", w.ToolChoice.Type)
	})
}

// A15 and large results: what tools return becomes text that every later request can hold.
func TestResults(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_use", blocks: []said{{call: "huge", input: `{}`}, {call: "broken", input: `{}`}, {call: "list", input: `{}`}}})
		require.NoError(t, c.err)
		content := c.sent(t, 1).Messages[2].Content
		require.Less(t, len(content[0].Content[0].Text), 256<<10)
		require.Contains(t, content[0].Content[0].Text, `"cut":true`)
		require.NotContains(t, content[1].Content[0].Text, "a\xffb")
		require.Contains(t, content[2].Content[0].Text, `"result":[]`, "S8: a list of nothing is a list")
	})
}

// S2, S6: providers get no output schema, not that of a tool that returns a list either, and an answer that does
// not fit what the tool returns is text like every other.
func TestNoOutputSchema(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_use", blocks: []said{{call: "list", input: `{}`}, {call: "refund", input: `{"order":"A-1","cents":100}`}, {call: "hidden", input: `{}`}}})
		require.NoError(t, c.err)
		require.Equal(t, []chattools.Status{chattools.Done, chattools.NeedsApproval, chattools.Unknown}, c.statuses())
		var w struct{ Tools []map[string]json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(c.requests[0]), &w))
		require.NotEmpty(t, w.Tools)
		for _, tool := range w.Tools {
			for member := range tool {
				require.Contains(t, []string{"type", "name", "description", "input_schema", "cache_control"}, member)
			}
		}
		for _, result := range c.sent(t, 1).Messages[2].Content {
			require.Len(t, result.Content, 1)
			require.Equal(t, "text", result.Content[0].Type)
			require.NotEmpty(t, result.Content[0].Text)
		}
	})
}

// T2: wherever a history is cut, calls keep their answers.
func TestT2CutAnywhere(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_use", blocks: []said{{thinking: "Hm."}, {call: "list", input: `{}`}, {call: "find", input: `{"id":1}`}}},
			reply{stop: "tool_use", blocks: []said{{call: "echo", input: `{"text":"a"}`}}},
			reply{stop: "end_turn", blocks: []said{{text: "Done."}}})
		_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "More.", nil)
		require.NoError(t, err)
		client, err := anthropic.New(c.client(), anthropic.Options{Model: "m"})
		require.NoError(t, err)
		tools, err := c.gate.Catalog(t.Context(), c.session)
		require.NoError(t, err)
		for from := range c.Messages {
			for to := from + 1; to <= len(c.Messages); to++ { // torn where Trim would not
				_, err := how.of(client).Next(t.Context(), chattools.Request{Messages: c.Messages[from:to], Tools: tools})
				if err != nil {
					require.ErrorContains(t, err, "the conversation is empty")
				}
			}
			if trimmed := chattools.Trim(c.Messages, from); len(trimmed) > 0 {
				_, err := how.of(client).Next(t.Context(), chattools.Request{Messages: trimmed, Tools: tools})
				require.NoError(t, err)
			}
		}
		require.Empty(t, c.refused)
	})
}
