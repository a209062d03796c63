package openai_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
)

const (
	done   = "[DONE]"
	callsA = `"name":"echo","arguments":"{\"text\":\"a\"}"`
	callsB = `"name":"echo","arguments":"{\"text\":\"b\"}"`
)

// piece is a chunk with pieces of calls.
func piece(calls ...string) string {
	list := ""
	for i, c := range calls {
		if i > 0 {
			list += ","
		}
		list += "{" + c + "}"
	}
	return chunk(`{"tool_calls":[`+list+`]}`, "null")
}

// T6, A10: calls of a stream of chat completions are told apart however a server numbers them, and never glued
// together. What cannot be told apart is invalid.
func TestT6Chunks(t *testing.T) {
	end := []string{chunk(`{}`, `"tool_calls"`), done}
	for name, tt := range map[string]struct {
		chunks []string
		names  []string
		ran    []string
		not    int // calls that are answered as invalid or unknown
	}{
		"one index for two": {[]string{piece(`"index":0,"id":"x","function":{` + callsA + `}`), piece(`"index":0,"id":"y","function":{` + callsB + `}`)},
			[]string{"echo", "echo"}, []string{"echo a", "echo b"}, 0},
		"one index for two, in one chunk": {[]string{piece(`"index":0,"id":"x","function":{`+callsA+`}`, `"index":0,"id":"y","function":{`+callsB+`}`)},
			[]string{"echo", "echo"}, []string{"echo a", "echo b"}, 0},
		"one index for two, in pieces": {[]string{
			piece(`"index":0,"id":"x","function":{"name":"echo","arguments":""}`), piece(`"index":0,"function":{"arguments":"{\"text\":"}`), piece(`"index":0,"function":{"arguments":"\"a\"}"}`),
			piece(`"index":0,"id":"y","function":{"name":"echo","arguments":""}`), piece(`"index":0,"function":{"arguments":"{\"text\":"}`), piece(`"index":0,"function":{"arguments":"\"b\"}"}`)},
			[]string{"echo", "echo"}, []string{"echo a", "echo b"}, 0},
		"one index for two, torn": {[]string{
			piece(`"index":0,"id":"x","function":{"name":"list","arguments":"{\"limit\":"}`), piece(`"index":0,"id":"y","function":{"name":"list","arguments":"{\"limit\":"}`), piece(`"index":0,"function":{"arguments":"1}"}`)},
			[]string{"list", "list"}, []string{"list"}, 1},
		"one index for two that alternate by id": {[]string{
			piece(`"index":0,"id":"x","function":{"name":"echo","arguments":"{\"text\":"}`), piece(`"index":0,"id":"y","function":{"name":"echo","arguments":"{\"text\":"}`),
			piece(`"index":0,"id":"x","function":{"arguments":"\"a\"}"}`), piece(`"index":0,"id":"y","function":{"arguments":"\"b\"}"}`)},
			[]string{"echo", "echo"}, []string{"echo a", "echo b"}, 0},
		"neither ids nor indexes": {[]string{piece(`"function":{` + callsA + `}`), piece(`"function":{"name":"list","arguments":"{}"}`)},
			[]string{"echo", "list"}, []string{"echo a", "list"}, 0},
		"neither ids nor indexes, and one name": {[]string{piece(`"function":{"name":"list","arguments":"{}"}`), piece(`"function":{"name":"list","arguments":"{}"}`)},
			[]string{"list"}, nil, 1},
		"neither ids nor indexes, and the first name again": {[]string{
			piece(`"function":{"name":"list","arguments":"{}"}`), piece(`"function":{` + callsA + `}`), piece(`"function":{"name":"list","arguments":"{}"}`)},
			[]string{"list", "echo", "list"}, []string{"list", "echo a", "list"}, 0},
		"one id, two names": {[]string{piece(`"index":0,"id":"x","function":{"name":"list","arguments":"{}"}`), piece(`"index":0,"id":"x","function":{"name":"echo","arguments":"{}"}`)},
			[]string{"list", "echo"}, []string{"list"}, 1},
		"the id comes later": {[]string{piece(`"index":0,"function":{"name":"list","arguments":""}`), piece(`"index":0,"id":"x","function":{"arguments":"{}"}`)},
			[]string{"list", ""}, nil, 2},
		"pieces that alternate": {[]string{
			piece(`"index":0,"id":"x","function":{"name":"echo","arguments":"{\"te"}`, `"index":1,"id":"y","function":{"name":"echo","arguments":"{\"text"}`),
			piece(`"index":1,"function":{"arguments":"\":\"b\"}"}`), piece(`"index":0,"function":{"arguments":"xt\":\"a\"}"}`)},
			[]string{"echo", "echo"}, []string{"echo a", "echo b"}, 0},
		"a gap in the indexes": {[]string{piece(`"index":3,"id":"x","function":{` + callsA + `}`), piece(`"index":1,"id":"y","function":{` + callsB + `}`)},
			[]string{"echo", "echo"}, []string{"echo b", "echo a"}, 0},
		"id and name each time": {[]string{piece(`"index":0,"id":"x","function":{"name":"echo","arguments":"{\"text\":"}`), piece(`"index":0,"id":"x","function":{"name":"echo","arguments":"\"a\"}"}`)},
			[]string{"echo"}, []string{"echo a"}, 0},
		"T4 the same piece twice": {[]string{piece(`"index":0,"id":"x","function":{` + callsA + `}`), piece(`"index":0,"id":"x","function":{` + callsA + `}`)},
			[]string{"echo"}, []string{"echo a"}, 0},
		"T4 the same call twice, numbered on": {[]string{piece(`"index":0,"id":"x","function":{` + callsA + `}`), piece(`"index":1,"id":"x","function":{` + callsA + `}`)},
			[]string{"echo"}, []string{"echo a"}, 0},
		"A10 complete at first, then more": {[]string{piece(`"index":0,"id":"x","function":{"name":"list","arguments":"{}"}`), piece(`"index":0,"function":{"arguments":"{}"}`)},
			[]string{"list"}, nil, 1},
		"A10 the same id with more": {[]string{piece(`"index":0,"id":"x","function":{"name":"list","arguments":"{}"}`), piece(`"index":0,"id":"x","function":{"name":"list","arguments":"{\"limit\":1}"}`)},
			[]string{"list"}, nil, 1},
		"no name": {[]string{piece(`"index":0,"id":"x","function":{"arguments":"{}"}`)}, []string{""}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, ways[1], reply{events: append(append([]string{}, tt.chunks...), end...)}, reply{stop: "stop", pieces: []said{{text: "I see."}}})
			require.NoError(t, c.err)
			var names []string
			for _, call := range c.Messages[1].Calls {
				names = append(names, call.Name)
			}
			require.Equal(t, tt.names, names)
			require.ElementsMatch(t, tt.ran, c.ran)
			refused := 0
			for _, s := range c.statuses() {
				if s != chattools.Done {
					refused++
				}
			}
			require.Equal(t, tt.not, refused)
			require.Len(t, c.statuses(), len(names))
		})
	}
}

// Streams of chat completions that are not what the API documents are errors, never calls.
func TestChunksOutOfOrder(t *testing.T) {
	call := piece(`"index":0,"id":"x","function":{` + callsA + `}`)
	for name, events := range map[string][]string{
		"no reason":           {call, done},
		"no end":              {call, chunk(`{}`, `"tool_calls"`)},
		"two reasons":         {call, chunk(`{}`, `"length"`), chunk(`{}`, `"tool_calls"`), done},
		"no JSON":             {call, `{"choices":`, chunk(`{}`, `"tool_calls"`), done},
		"another shape":       {call, `{"choices":[{"delta":{"tool_calls":"none"}}]}`, chunk(`{}`, `"tool_calls"`), done},
		"an index of no kind": {call, piece(`"index":"first"`), chunk(`{}`, `"tool_calls"`), done},
		"only the end":        {done},
		"nothing":             {`{}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, ways[1], reply{events: events})
			m := modelError(t, c.err)
			require.Equal(t, chattools.TroubleStream, m.Trouble)
			require.True(t, m.Retry)
			require.Empty(t, c.ran)
		})
	}
	// What other servers add or leave out is passed over.
	c := converse(t, ways[1], reply{events: []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"Hm","tool_calls":null}}],"error":null}`,
		chunk(`{"content":"a"}`, "null"), `{"choices":[{"index":1,"delta":{"content":"of another choice"},"finish_reason":"length"}]}`, chunk(`{"content":"b"}`, `"stop"`), chunk(`{"content":""}`, `"stop"`), done, `{`,
	}})
	require.NoError(t, c.err)
	require.Equal(t, "ab", c.reply.Text)
	require.Zero(t, c.reply.Usage)
}

// item is an event with a whole item.
func item(index int, callID, rest string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"function_call","id":"fc_%s","call_id":%q,"status":"completed",%s}}`, index, callID, callID, rest)
}

// T6: calls of a stream of responses are its whole items, whether or not the last event repeats them.
func TestT6Items(t *testing.T) {
	const (
		completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`
		added     = `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"x","name":"list","arguments":""}}`
		delta     = `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`
	)
	for name, tt := range map[string]struct {
		events []string
		ran    []string
		not    int
	}{
		"one index for two":            {[]string{item(0, "x", callsA), item(0, "y", callsB), completed}, []string{"echo a", "echo b"}, 0},
		"a gap":                        {[]string{item(3, "x", callsA), item(1, "y", callsB), completed}, []string{"echo b", "echo a"}, 0},
		"the same item twice":          {[]string{item(0, "x", callsA), item(0, "x", callsA), completed}, []string{"echo a"}, 0},
		"deltas alone are no call":     {[]string{delta, delta, completed}, nil, 0},
		"an item that is not complete": {[]string{`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"x","status":"incomplete","name":"list","arguments":"{}"}}`, completed}, nil, 1},
		"news":                         {[]string{`{"type":"news"}`, `{"type":"response.output_item.done","item":{"type":"news_call","id":"n"}}`, item(1, "x", callsA), completed}, []string{"echo a"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, ways[3], reply{events: tt.events}, reply{stop: "stop", pieces: []said{{text: "I see."}}})
			require.NoError(t, c.err)
			require.ElementsMatch(t, tt.ran, c.ran)
			require.Len(t, c.statuses(), len(tt.ran)+tt.not)
		})
	}
	for name, events := range map[string][]string{
		"no end of the item":    {added, delta, completed},
		"no end":                {added, delta, item(0, "x", callsA)},
		"an end without answer": {item(0, "x", callsA), `{"type":"response.completed"}`},
		"no JSON":               {item(0, "x", callsA), `{`, completed},
		"only [DONE]":           {item(0, "x", callsA), done},
		"not the end":           {item(0, "x", callsA), `{"type":"response.completed","response":{"status":"queued"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, ways[3], reply{events: events})
			m := modelError(t, c.err)
			require.Equal(t, chattools.TroubleStream, m.Trouble)
			require.True(t, m.Retry)
			require.Empty(t, c.ran)
		})
	}
	cancelled := converse(t, ways[2], reply{body: `{"status":"cancelled","output":[{"type":"function_call","call_id":"x","name":"list","arguments":"{}","status":"completed"}]}`})
	require.Equal(t, []chattools.Status{chattools.Invalid}, cancelled.statuses())
	require.Empty(t, cancelled.ran)
}
