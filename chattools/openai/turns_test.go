package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

func TestConversationWithTools(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_calls", pieces: []said{
				{text: "I look them up. "},
				{call: "find", input: `{"id":1}`}, {call: "refund", input: `{"order":"W1","cents":5}`}, {call: "echo", input: `{"text":"ä😀<"}`},
			}},
			reply{stop: "stop", pieces: []said{{text: "One refund waits."}}})
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

		// T10: the result of each call, in the order of the calls, before anything else.
		all := c.sent(t, 1)
		require.Equal(t, "system user assistant call call call result result result", kinds(all))
		for i, r := range only(all, "result") {
			require.Equal(t, only(all, "call")[i].id, r.id)
			text, _ := c.answers()[i].ForModel()
			require.Equal(t, text, r.text)
		}
		require.Contains(t, all[8].text, `"ä😀\u003c"`)
		require.Contains(t, all[0].text, "needs_approval")

		// The decision is told before what the user says next.
		proposal := c.reply.Waiting[0]
		o, err := c.desk.Open(t.Context(), "shop", proposal, c.olga)
		require.NoError(t, err)
		_, err = c.desk.Approve(t.Context(), o.Redemption())
		require.NoError(t, err)
		c.restart(t)
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "And now?", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
		users := only(c.sent(t, 2), "user")
		require.Len(t, users, 3)
		require.Contains(t, users[1].text, "<gate-notice>")
		require.Contains(t, users[1].text, "it ran, and it is done")
		require.Equal(t, "And now?", users[2].text)
	})
}

// restart is what a host does between turns: it stores the conversation and reads it again.
func (c *conversed) restart(t *testing.T) {
	t.Helper()
	raw, err := json.Marshal(c.Conversation)
	require.NoError(t, err)
	c.Conversation = new(chattools.Conversation)
	require.NoError(t, json.Unmarshal(raw, c.Conversation))
}

// Calls of an answer that did not come to its own end do not run, whatever they look like.
func TestCutOff(t *testing.T) {
	for _, stop := range []string{"length", "content_filter", "something_new"} {
		everyWay(t, func(t *testing.T, how way) {
			c := converse(t, how,
				reply{stop: stop, pieces: []said{{text: "Well"}, {call: "list", input: `{}`}, {call: "refund", input: `{"order":"W1","cents":1}`}}},
				reply{stop: "stop", pieces: []said{{text: "I see."}}})
			require.NoError(t, c.err)
			require.Empty(t, c.ran, stop)
			require.Empty(t, c.reply.Waiting)
			require.Equal(t, []chattools.Status{chattools.Invalid, chattools.Invalid}, c.statuses(), stop)
			require.Contains(t, c.answers()[0].Text, "cut off")
			for _, half := range []string{`{"lim`, ``, `-`} {
				c := converse(t, how, reply{stop: stop, pieces: []said{{call: "list", input: half}}})
				require.Equal(t, []chattools.Status{chattools.Invalid}, c.statuses())
				require.Empty(t, c.ran)
			}
		})
	}
}

func TestStops(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		for stop, want := range map[string]chattools.Stop{
			"stop": chattools.StopEnd, "length": chattools.StopLength, "content_filter": chattools.StopRefusal, "something_new": chattools.StopOther,
		} {
			a := newAPI(reply{stop: stop, pieces: []said{{text: "Hm."}}})
			turn, err := a.ask(t, how, chattools.Request{Messages: hello})
			require.NoError(t, err)
			require.Equal(t, want, turn.Stop, stop)
			require.Equal(t, "Hm.", turn.Message.Text)
			a.Close()
		}
		c := converse(t, how, reply{stop: "stop", pieces: []said{{refusal: "I do not do that."}}}, reply{stop: "stop", pieces: []said{{text: "Yes."}}})
		require.Equal(t, chattools.EndingRefused, c.reply.Ending)
		require.Equal(t, "I do not do that.", c.reply.Text)
		require.Contains(t, c.events, chattools.Event(chattools.Text{Delta: "I do not do that."}))
		_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Then this.", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
		require.Equal(t, "system user assistant user", kinds(c.sent(t, 1)))

		c = converse(t, how, reply{stop: "content_filter"})
		require.Equal(t, chattools.EndingRefused, c.reply.Ending)
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Then this.", nil) // after an empty answer
		require.NoError(t, err)
		require.Empty(t, c.refused)
		require.Equal(t, "system user user", kinds(c.sent(t, 1)))

		// Some servers say that an answer with calls has just ended.
		c = converse(t, how, reply{stop: "stop", pieces: []said{{call: "list", input: `{}`}}})
		require.Equal(t, []string{"list"}, c.ran)
	})
}

// T3: ids that are equal, empty, used before or not acceptable get the calls their own answers.
func TestT3Ids(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_calls", pieces: []said{
				{call: "echo", id: "x", input: `{"text":"1"}`}, {call: "echo", id: "x", input: `{"text":"2"}`},
				{call: "echo", id: "-", input: `{"text":"3"}`}, {call: "echo", id: "-", input: `{"text":"4"}`},
			}},
			reply{stop: "tool_calls", pieces: []said{
				{call: "echo", id: "x", input: `{"text":"5"}`}, {call: "echo", id: strings.Repeat("i", 80), input: `{"text":"6"}`}, {call: "echo", id: "functions.echo:0", input: `{"text":"7"}`},
			}})
		require.NoError(t, c.err)
		require.Len(t, c.ran, 7)
		for i, a := range c.answers() {
			require.Equal(t, fmt.Sprintf(`"%d"`, i+1), string(a.Result))
		}
		results := only(c.sent(t, 2), "result")
		for i, call := range only(c.sent(t, 2), "call") {
			require.Equal(t, call.id, results[i].id)
			var input struct{ Text string }
			require.NoError(t, json.Unmarshal([]byte(call.arguments), &input))
			require.Contains(t, results[i].text, fmt.Sprintf("%q", input.Text))
		}
		require.Equal(t, "functions.echo:0", results[6].id, "some servers want their ids back")
	})
}

// T4: a call that is delivered twice runs once.
func TestT4TheSameCallTwice(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		again := said{call: "echo", id: "x", input: `{"text":"1"}`}
		c := converse(t, how, reply{stop: "tool_calls", pieces: []said{again, again}})
		require.NoError(t, c.err)
		require.Equal(t, []string{"echo 1"}, c.ran)
		require.Len(t, only(c.sent(t, 1), "call"), 1)
	})
}

// T7: a tool that does not exist is answered, whatever its name, and the conversation goes on.
func TestT7UnknownTools(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		for _, name := range []string{"refund_order2", "functions.refund", "a b", strings.Repeat("n", 200), "größe", ".", " "} {
			c := converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: name, input: `{}`}}}, reply{stop: "stop", pieces: []said{{text: "I see."}}})
			require.NoError(t, c.err)
			require.Equal(t, []chattools.Status{chattools.Unknown}, c.statuses())
			require.Equal(t, name, c.Messages[1].Calls[0].Name)
		}
	})
}

// T8: what does not exist and what is hidden are answered alike, and what may not be done otherwise.
func TestT8NoTwoRefusalsAlike(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_calls", pieces: []said{
			{call: "nothing", input: `{"a":1}`}, {call: "secret", input: `{}`}, {call: "refund", input: `{"order":"W1","cents":1}`}, {call: "refund", input: `{"order":"W1","cents":0}`},
		}})
		require.Equal(t, []chattools.Status{chattools.Unknown, chattools.Unknown, chattools.NeedsApproval, chattools.Invalid}, c.statuses())
		unknown := c.answers()
		unknown[0].CallID, unknown[1].CallID = "", ""
		require.Equal(t, unknown[0], unknown[1])
		require.NotContains(t, c.requests[0], `"name":"secret"`)

		vera, err := authz.NewSession("shop", "assistant", authz.For(authz.LoggedIn("vera")))
		require.NoError(t, err)
		c.session, c.script = vera, []reply{{stop: "tool_calls", pieces: []said{{call: "refund", input: `{"order":"W1","cents":1}`}}}}
		c.Conversation = new(chattools.Conversation)
		_, err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Refund it.", nil)
		require.NoError(t, err)
		require.Equal(t, []chattools.Status{chattools.Forbidden}, c.statuses())
		require.Empty(t, c.ran)
	})
}

// A tool that is taken away is gone from the next request, which the API accepts with its calls in the history
// and without any tool.
func TestToolsThatAreTakenAway(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: "list", input: `{}`}}})
		facts := c.facts(authz.Read)
		facts.Settings.Disabled = []string{"echo", "find", "list", "broken", "huge"}
		require.NoError(t, c.people.Set("shop", facts))
		c.script = []reply{{stop: "tool_calls", pieces: []said{{call: "list", input: `{}`}}}}
		_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Again.", nil)
		require.NoError(t, err)
		require.Empty(t, c.refused)
		require.Equal(t, []string{"list"}, c.ran)
		require.Empty(t, c.sentTools(t, len(c.requests)-1))
	})
}

// A15, R3, S8: what tools return becomes text that every later request can hold.
func TestResults(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: "huge", input: `{}`}, {call: "broken", input: `{}`}, {call: "list", input: `{}`}}})
		require.NoError(t, c.err)
		results := only(c.sent(t, 1), "result")
		require.Less(t, len(results[0].text), 256<<10)
		require.Contains(t, results[0].text, `"cut":true`)
		require.NotContains(t, results[1].text, "a\xffb")
		require.Contains(t, results[2].text, `"result":[]`, "S8: a list of nothing is a list")
	})
}

// S2, S6: providers get no output schema, not that of a tool that returns a list either, and an answer that does
// not fit what the tool returns is text like every other.
func TestNoOutputSchema(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: "list", input: `{}`}, {call: "refund", input: `{"order":"A-1","cents":100}`}, {call: "hidden", input: `{}`}}})
		require.NoError(t, c.err)
		require.Equal(t, []chattools.Status{chattools.Done, chattools.NeedsApproval, chattools.Unknown}, c.statuses())
		var w struct{ Tools []map[string]json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(c.requests[0]), &w))
		require.NotEmpty(t, w.Tools)
		for _, tool := range w.Tools {
			if inner, ok := tool["function"]; ok {
				delete(tool, "function")
				require.NoError(t, json.Unmarshal(inner, &tool))
			}
			for member := range tool {
				require.Contains(t, []string{"type", "name", "description", "parameters", "strict"}, member)
			}
		}
		results := only(c.sent(t, 1), "result")
		require.Len(t, results, 3)
		for _, result := range results {
			require.NotEmpty(t, result.text)
		}
	})
}

// T2: wherever a history is cut, calls keep their answers.
func TestT2CutAnywhere(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		pieces := []said{{text: "Hm."}, {call: "list", input: `{}`}, {call: "find", input: `{"id":1}`}}
		if !how.chat {
			pieces[0] = said{thinking: "Hm."}
		}
		c := converse(t, how,
			reply{stop: "tool_calls", pieces: pieces},
			reply{stop: "tool_calls", pieces: []said{{call: "echo", input: `{"text":"a"}`}}},
			reply{stop: "stop", pieces: []said{{text: "Done."}}})
		_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "More.", nil)
		require.NoError(t, err)
		model, err := how.model(c.client(), openai.Options{Model: "m"})
		require.NoError(t, err)
		tools, err := c.gate.Catalog(t.Context(), c.session)
		require.NoError(t, err)
		for from := range c.Messages {
			for to := from + 1; to <= len(c.Messages); to++ { // torn where Trim would not
				_, err := model.Next(t.Context(), chattools.Request{Messages: c.Messages[from:to], Tools: tools})
				if err != nil {
					require.ErrorContains(t, err, "the conversation is empty")
				}
			}
			if trimmed := chattools.Trim(c.Messages, from); len(trimmed) > 0 {
				_, err := model.Next(t.Context(), chattools.Request{Messages: trimmed, Tools: tools})
				require.NoError(t, err)
			}
		}
		require.Empty(t, c.refused)
	})
}
