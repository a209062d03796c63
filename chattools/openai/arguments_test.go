package openai_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
)

// Arguments reach the gate as they were sent: what is not exactly right is refused there, with a text to act
// on, never runs and never becomes {}. The next request, with the refused call in its history, is accepted.
func TestArguments(t *testing.T) {
	tests := []struct {
		name      string
		tool      string
		input     string
		fragments []string // as a stream of chat completions; nil means the input in one fragment
		want      chattools.Status
		text      string // part of the answer
		ran       string // what ran, if anything
	}{
		{name: "A1 nothing", tool: "list", input: "", want: chattools.Invalid, text: "{}"},
		{name: "A1 nothing, in fragments", tool: "list", input: "", fragments: []string{"", "raw:null", ""}, want: chattools.Invalid, text: "{}"},
		{name: "A1 no arguments at all", tool: "list", input: "-", want: chattools.Invalid, text: "{}"},
		{name: "A1 null instead of text", tool: "list", input: "raw:null", want: chattools.Invalid, text: "{}"},
		{name: "A1 white space", tool: "list", input: " \n\t", fragments: []string{" ", "\n\t"}, want: chattools.Invalid, text: "{}"},
		{name: "an object instead of text", tool: "echo", input: `raw:{"text":"a\\\"b\n"}`, want: chattools.Done, ran: "echo a\\\"b\n"},
		{name: "a number instead of text", tool: "list", input: `raw:7`, want: chattools.Invalid, text: "object"},
		{name: "A15 half a character and a backslash before it", tool: "echo", input: `raw:"{\"text\":\"\\\ud800\"}"`, want: chattools.Invalid},
		{name: "A15 bytes that are no text", tool: "echo", input: "raw:\"{\\\"text\\\":\\\"\xff\\\"}\"", want: chattools.Invalid},
		{name: "A1 an empty object", tool: "list", input: `{}`, want: chattools.Done, ran: "list"},
		{name: "A1 an empty object where something is required", tool: "echo", input: `{}`, want: chattools.Invalid, text: "text"},
		{name: "A3 null", tool: "list", input: `null`, want: chattools.Invalid, text: "{}"},
		{name: "A3 null in text", tool: "echo", input: `{"text":"null"}`, want: chattools.Done, ran: "echo null"},
		{name: "A3 null for what is optional", tool: "find", input: `{"id":1,"tags":null}`, want: chattools.Invalid, text: "tags"},
		{name: "A5 a list in text", tool: "find", input: `{"id":1,"tags":"[\"a\"]"}`, want: chattools.Invalid, text: "array"},
		{name: "A5 the object in text", tool: "list", input: `"{}"`, want: chattools.Invalid, text: "object"},
		{name: "A6 a number in text", tool: "find", input: `{"id":"1234567890123456789"}`, want: chattools.Invalid, text: "integer"},
		{name: "A6 all digits", tool: "find", input: `{"id":1234567890123456789}`, want: chattools.Done, text: `{"id":1234567890123456789}`, ran: "find"},
		{name: "A6 more than 64 bits", tool: "find", input: `{"id":12345678901234567890123}`, want: chattools.Invalid},
		{name: "A9 half an object", tool: "list", input: `{"limit":`, fragments: []string{`{"li`, `mit":`}, want: chattools.Invalid},
		{name: "A10 an object and more of it", tool: "list", input: `{}"limit":1}`, fragments: []string{`{}`, `"limit":1}`}, want: chattools.Invalid},
		{name: "A10 two objects", tool: "list", input: `{"limit":1}{"limit":2}`, fragments: []string{`{"limit":1}`, `{"limit":2}`}, want: chattools.Invalid},
		{name: "A10 an object and white space", tool: "list", input: "{}\n", fragments: []string{`{}`, "\n"}, want: chattools.Done, ran: "list"},
		{name: "A11 no JSON", tool: "list", input: `{limit: 1}`, want: chattools.Invalid},
		{name: "A11 a comma too many", tool: "list", input: `{"limit":1,}`, want: chattools.Invalid},
		{name: "A13 a name in another case", tool: "echo", input: `{"text":"a","Text":"b"}`, want: chattools.Invalid},
		{name: "A13 a long s", tool: "find", input: `{"id":1,"tagſ":["a"]}`, want: chattools.Invalid},
		{name: "A14 a name twice", tool: "echo", input: `{"text":"a","text":"b"}`, want: chattools.Invalid, text: "text"},
		{name: "A15 half a character", tool: "echo", input: `{"text":"\ud800"}`, want: chattools.Invalid},
		{name: "A15 half a character in the fragment itself", tool: "echo", input: `raw:"{\"text\":\"\ud800\"}"`, want: chattools.Invalid},
		{name: "A15 a character in two fragments", tool: "echo", input: `raw:"{\"text\":\"\ud83d\ude00\"}"`, fragments: []string{`raw:"{\"text\":\"\ud83d"`, `raw:"\ude00\"}"`}, want: chattools.Done, ran: "echo 😀"},
		{name: "A15 characters and their escapes", tool: "echo", input: `{"text":"ä😀\ud83d\ude00\u00e4\n"}`, want: chattools.Done, ran: "echo ä😀😀ä\n"},
		{name: "escapes of the wire", tool: "echo", input: `raw:"\u007b\"text\"\u003a\"\ud83d\ude00\\\\\\n\/\b\"\r\n\t\f}"`, want: chattools.Invalid},
		{name: "S9 an exponent", tool: "find", input: `{"id":1e2000000}`, want: chattools.Invalid},
		{name: "S9 many digits", tool: "find", input: `{"id":` + strings.Repeat("9", 200_000) + `}`, want: chattools.Invalid},
		{name: "S9 many levels", tool: "find", input: `{"id":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, want: chattools.Invalid},
		{name: "a list", tool: "list", input: `[]`, want: chattools.Invalid, text: "object"},
		{name: "a change with half its arguments", tool: "refund", input: `{"order":"W1","cents":1`, want: chattools.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, how way) {
				start := time.Now()
				c := converse(t, how,
					reply{stop: "tool_calls", pieces: []said{{call: tt.tool, input: tt.input, fragments: tt.fragments}}},
					reply{stop: "stop", pieces: []said{{text: "I see."}}})
				require.NoError(t, c.err)
				require.Equal(t, chattools.EndingSaid, c.reply.Ending)
				require.Less(t, time.Since(start), 5*time.Second)
				require.Equal(t, []chattools.Status{tt.want}, c.statuses())
				require.Contains(t, c.answers()[0].Text+string(c.answers()[0].Result), tt.text)
				if tt.ran == "" {
					require.Empty(t, c.ran)
				} else {
					require.Equal(t, []string{tt.ran}, c.ran)
				}
			})
		})
	}
}

// The arguments that the conversation keeps are the bytes that arrived, also if they are nonsense. What goes
// back to the provider is what it accepts.
func TestArgumentsAreKeptAsTheyCame(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		const input = `{ "b" : 1.0 , "a":9007199254740993,"a" : "<\u00e4>" }`
		c := converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: "list", input: input, fragments: []string{input[:7], input[7:20], "", input[20:]}}}})
		require.Equal(t, input, string(c.Messages[1].Calls[0].Arguments))
		c = converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: "list", input: `{"limit":`}}})
		require.Equal(t, `{"limit":`, string(c.Messages[1].Calls[0].Arguments))
		require.Equal(t, `{}`, only(c.sent(t, 1), "call")[0].arguments)
		c = converse(t, how, reply{stop: "tool_calls", pieces: []said{{call: "list", input: `{ "limit": 1.0 }`}}})
		require.Equal(t, `{ "limit": 1.0 }`, only(c.sent(t, 1), "call")[0].arguments)
	})
}

// A7: an id beyond 2^53 keeps its digits on the way to the model, and on the way back.
func TestA7IdsBeyondDoublePrecision(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		c := converse(t, how,
			reply{stop: "tool_calls", pieces: []said{{call: "find", input: `{"id":725653563933458432}`}}},
			reply{stop: "tool_calls", pieces: []said{{call: "find", input: `{"id":725653563933458433}`}}})
		require.Equal(t, []chattools.Status{chattools.Done, chattools.Done}, c.statuses())
		require.Contains(t, c.requests[1], `725653563933458432`)
		require.Contains(t, c.requests[2], `725653563933458433`)
		require.Equal(t, `{"id":725653563933458433}`, string(c.answers()[1].Result))
	})
}
