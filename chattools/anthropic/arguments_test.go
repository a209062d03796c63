package anthropic_test

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
		input     string   // in one piece; empty if it cannot be said there
		fragments []string // as a stream; nil means the input in one fragment
		initial   string   // of a stream; see said
		bare      bool
		want      chattools.Status
		text      string // part of the answer
		ran       string // what ran, if anything
	}{
		{name: "A1 nothing", tool: "list", input: "-", fragments: []string{""}, initial: "-", want: chattools.Invalid, text: "{}"},
		{name: "A1 no fragment and no input", tool: "list", input: "-", bare: true, initial: "-", want: chattools.Invalid, text: "{}"},
		{name: "A1 the empty text", tool: "list", input: `""`, fragments: []string{""}, initial: `""`, want: chattools.Invalid},
		{name: "A1 white space", tool: "list", fragments: []string{" ", "\n\t"}, want: chattools.Invalid, text: "{}"},
		{name: "A1 an empty object", tool: "list", input: `{}`, want: chattools.Done, ran: "list"},
		{name: "A1 an empty object without fragments", tool: "list", input: `{}`, bare: true, want: chattools.Done, ran: "list"},
		{name: "A1 nothing beside what the block began with", tool: "list", input: `{}`, fragments: []string{"", ""}, want: chattools.Done, ran: "list"},
		{name: "A1 an empty object where something is required", tool: "echo", input: `{}`, want: chattools.Invalid, text: "text"},
		{name: "a block that began with its input", tool: "echo", input: `{"text":"a"}`, initial: `{"text":"a"}`, bare: true, want: chattools.Done, ran: "echo a"},
		{name: "A3 null", tool: "list", input: `null`, want: chattools.Invalid, text: "{}"},
		{name: "A3 null in text", tool: "echo", input: `{"text":"null"}`, want: chattools.Done, ran: "echo null"},
		{name: "A3 null for what is optional", tool: "find", input: `{"id":1,"tags":null}`, want: chattools.Invalid, text: "tags"},
		{name: "A5 a list in text", tool: "find", input: `{"id":1,"tags":"[\"a\"]"}`, want: chattools.Invalid, text: "array"},
		{name: "A5 the object in text", tool: "list", input: `"{}"`, want: chattools.Invalid, text: "object"},
		{name: "A6 a number in text", tool: "find", input: `{"id":"1234567890123456789"}`, want: chattools.Invalid, text: "integer"},
		{name: "A6 all digits", tool: "find", input: `{"id":1234567890123456789}`, want: chattools.Done, text: `{"id":1234567890123456789}`, ran: "find"},
		{name: "A6 more than 64 bits", tool: "find", input: `{"id":12345678901234567890123}`, want: chattools.Invalid},
		{name: "A9 half an object", tool: "list", fragments: []string{`{"li`, `mit":`}, want: chattools.Invalid},
		{name: "A10 an object and more of it", tool: "list", fragments: []string{`{}`, `"limit":1}`}, want: chattools.Invalid},
		{name: "A10 two objects", tool: "list", fragments: []string{`{"limit":1}`, `{"limit":2}`}, want: chattools.Invalid},
		{name: "A10 an object and white space", tool: "list", fragments: []string{`{}`, "\n"}, want: chattools.Done, ran: "list"},
		{name: "A11 no JSON", tool: "list", fragments: []string{`{limit: 1}`}, want: chattools.Invalid},
		{name: "A11 a comma too many", tool: "list", fragments: []string{`{"limit":1,}`}, want: chattools.Invalid},
		{name: "A13 a name in another case", tool: "echo", input: `{"text":"a","Text":"b"}`, want: chattools.Invalid},
		{name: "A13 a long s", tool: "find", input: `{"id":1,"tagſ":["a"]}`, want: chattools.Invalid},
		{name: "A14 a name twice", tool: "echo", input: `{"text":"a","text":"b"}`, want: chattools.Invalid, text: "text"},
		{name: "A15 half a character", tool: "echo", input: `{"text":"\ud800"}`, want: chattools.Invalid},
		{name: "A15 half a character in the fragment itself and a backslash before it", tool: "echo", fragments: []string{`raw:"{\"text\":\"\\\ud800\"}"`}, want: chattools.Invalid},
		{name: "A15 half a character at the start of a fragment", tool: "echo", fragments: []string{`raw:"{\"text\":\"\\"`, `raw:"\ud800\"}"`}, want: chattools.Invalid},
		{name: "A15 half a character in the fragment itself", tool: "echo", fragments: []string{`raw:"{\"text\":\"\ud800\"}"`}, want: chattools.Invalid},
		{name: "A15 a character in two fragments", tool: "echo", fragments: []string{`raw:"{\"text\":\"\ud83d"`, `raw:"\ude00\"}"`}, want: chattools.Done, ran: "echo 😀"},
		{name: "A15 characters and their escapes", tool: "echo", input: `{"text":"ä😀\ud83d\ude00\u00e4\n"}`, want: chattools.Done, ran: "echo ä😀😀ä\n"},
		{name: "escapes of the wire", tool: "echo", fragments: []string{`raw:"\u007b\"text\"\u003a\"\ud83d\ude00\\\\\\n\/\b\"\r\n\t\f}"`}, want: chattools.Invalid},
		{name: "S9 an exponent", tool: "find", input: `{"id":1e2000000}`, want: chattools.Invalid},
		{name: "S9 many digits", tool: "find", input: `{"id":` + strings.Repeat("9", 200_000) + `}`, want: chattools.Invalid},
		{name: "S9 many levels", tool: "find", input: `{"id":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`, want: chattools.Invalid},
		{name: "a list", tool: "list", input: `[]`, want: chattools.Invalid, text: "object"},
		{name: "a change with half its arguments", tool: "refund", fragments: []string{`{"order":"W1","cents":1`}, want: chattools.Invalid},
	}
	for _, tt := range tests {
		for i, how := range ways {
			if i == 0 && tt.input == "" || i == 1 && tt.input == "-" && tt.fragments == nil && !tt.bare {
				continue
			}
			t.Run(tt.name+", "+how.name, func(t *testing.T) {
				start := time.Now()
				input := strings.TrimPrefix(tt.input, "-")
				c := converse(t, how,
					reply{stop: "tool_use", blocks: []said{{call: tt.tool, input: input, fragments: tt.fragments, initial: tt.initial, bare: tt.bare}}},
					reply{stop: "end_turn", blocks: []said{{text: "I see."}}})
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
		}
	}
}

// A2: the same arguments have the same hash, whichever way they came.
func TestA2OneCallTwoWays(t *testing.T) {
	var hashes []string
	for _, how := range ways {
		for _, input := range []string{`{"order":"W1","cents":100}`, `{ "cents" : 1e2, "order" : "\u00571" }`} {
			c := converse(t, how, reply{stop: "tool_use", blocks: []said{{call: "refund", input: input}}})
			require.Equal(t, []chattools.Status{chattools.NeedsApproval}, c.statuses())
			o, err := c.desk.Open(t.Context(), "shop", c.answers()[0].Proposal, c.olga)
			require.NoError(t, err)
			hashes = append(hashes, o.Proposal.Params.Hash().String())
		}
	}
	for _, h := range hashes {
		require.Equal(t, hashes[0], h)
	}
}

// The arguments that the conversation keeps are the bytes that arrived, also if they are nonsense.
func TestArgumentsAreKeptAsTheyCame(t *testing.T) {
	for _, how := range ways {
		const input = `{ "b" : 1.0 , "a":9007199254740993,"a" : "<\u00e4>" }`
		c := converse(t, how, reply{stop: "tool_use", blocks: []said{{call: "list", input: input, fragments: []string{input[:7], input[7:20], "", input[20:]}}}})
		require.Equal(t, input, string(c.Messages[1].Calls[0].Arguments))
	}
	c := converse(t, ways[1], reply{stop: "tool_use", blocks: []said{{call: "list", fragments: []string{`{"limit":`}}}})
	require.Equal(t, `{"limit":`, string(c.Messages[1].Calls[0].Arguments))
	require.Contains(t, c.requests[1], `"input":{},"name":"list","type":"tool_use"`)
}

// A7: an id beyond 2^53 keeps its digits on the way to the model, and on the way back.
func TestA7IdsBeyondDoublePrecision(t *testing.T) {
	for _, how := range ways {
		c := converse(t, how,
			reply{stop: "tool_use", blocks: []said{{call: "find", input: `{"id":725653563933458432}`}}},
			reply{stop: "tool_use", blocks: []said{{call: "find", input: `{"id":725653563933458433}`}}})
		require.Equal(t, []chattools.Status{chattools.Done, chattools.Done}, c.statuses())
		require.Contains(t, c.requests[1], `725653563933458432`)
		require.Contains(t, c.requests[2], `725653563933458433`)
		require.Equal(t, `{"id":725653563933458433}`, string(c.answers()[1].Result))
	}
}
