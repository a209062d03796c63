package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
)

const private = "the private words of olga"

func failure(kind string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"about ` + private + `"},"request_id":"req_9"}`
}

// modelError checks that an error is a ModelError that gives nothing away.
func modelError(t *testing.T, err error) *chattools.ModelError {
	t.Helper()
	var m *chattools.ModelError
	require.ErrorAs(t, err, &m)
	for _, text := range []string{err.Error(), m.Error(), errorsText(err)} {
		require.NotContains(t, text, secret)
		require.NotContains(t, text, private)
		require.NotContains(t, text, "http://")
	}
	var own *sdk.Error
	require.False(t, errors.As(err, &own), "the SDK's error holds the request and its key")
	return m
}

// errorsText is the text of an error and of all it wraps.
func errorsText(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += err.Error() + "\n"
	}
	return text
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		kind    string
		header  map[string]string
		trouble chattools.Trouble
		retry   bool
		after   time.Duration
	}{
		{"a bad request", 400, "invalid_request_error", nil, chattools.TroubleRequest, false, 0},
		{"a wrong key", 401, "authentication_error", nil, chattools.TroubleIdentity, false, 0},
		{"no money", 402, "billing_error", nil, chattools.TroubleIdentity, false, 0},
		{"not allowed", 403, "permission_error", nil, chattools.TroubleIdentity, false, 0},
		{"no such model", 404, "not_found_error", nil, chattools.TroubleRequest, false, 0},
		{"busy with the same", 409, "conflict_error", nil, chattools.TroubleOverloaded, true, 0},
		{"too large", 413, "request_too_large", nil, chattools.TroubleRequest, false, 0},
		{"too many", 429, "rate_limit_error", map[string]string{"retry-after": "7"}, chattools.TroubleRate, true, 7 * time.Second},
		{"too many, to the millisecond", 429, "rate_limit_error", map[string]string{"retry-after-ms": "1500", "retry-after": "2"}, chattools.TroubleRate, true, 1500 * time.Millisecond},
		{"too many, until a moment", 429, "rate_limit_error", map[string]string{"date": "Tue, 01 Dec 2026 10:00:00 GMT", "retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, chattools.TroubleRate, true, 30 * time.Second},
		{"too many, until a moment ago", 429, "rate_limit_error", map[string]string{"date": "Tue, 01 Dec 2026 10:00:00 GMT", "retry-after": "Tue, 01 Dec 2026 09:00:30 GMT"}, chattools.TroubleRate, true, 0},
		{"too many, nonsense", 429, "rate_limit_error", map[string]string{"retry-after": "soon"}, chattools.TroubleRate, true, 0},
		{"too many, less than nothing", 429, "rate_limit_error", map[string]string{"retry-after": "-5"}, chattools.TroubleRate, true, 0},
		{"spent for the month", 429, "rate_limit_error", map[string]string{"x-should-retry": "false"}, chattools.TroubleRate, false, 0},
		{"broken", 500, "api_error", nil, chattools.TroubleOverloaded, true, 0},
		{"unavailable", 503, "api_error", map[string]string{"retry-after": "1"}, chattools.TroubleOverloaded, true, time.Second},
		{"overloaded", 529, "overloaded_error", nil, chattools.TroubleOverloaded, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, how way) {
				c := converse(t, how, reply{status: tt.status, body: failure(tt.kind), header: tt.header})
				m := modelError(t, c.err)
				require.Equal(t, tt.trouble, m.Trouble)
				require.Equal(t, tt.status, m.Status)
				require.Equal(t, tt.retry, m.Retry)
				require.Equal(t, tt.after, m.After)
				require.Len(t, c.requests, 1, "nobody asked to try again")
				var said *anthropic.APIError
				require.ErrorAs(t, c.err, &said)
				require.Equal(t, tt.kind, said.Type)
				require.Equal(t, "about "+private, said.Message)
				require.ErrorContains(t, c.err, tt.kind)
				require.ErrorContains(t, c.err, "req_")

				// The conversation is as far as it got, and goes on when the host tries again.
				require.Len(t, c.Messages, 1)
				_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Again.", nil)
				require.NoError(t, err)
				require.Empty(t, c.refused)
			})
		})
	}
}

func TestErrorsWithoutSense(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		c := converse(t, how, reply{status: 502, body: "<html>" + private + "</html>"})
		m := modelError(t, c.err)
		require.Equal(t, chattools.TroubleOverloaded, m.Trouble)
		require.ErrorContains(t, c.err, "an error without a type")
	})
	for _, body := range []string{`{`, `nonsense ` + private, `{}`, `[]`, `{"type":"message","content":[],"stop_reason":null}`, `{"type":"message","content":"` + private + `","stop_reason":7}`} {
		c := converse(t, ways[0], reply{body: body})
		m := modelError(t, c.err)
		require.Equal(t, chattools.TroubleStream, m.Trouble, body)
		require.True(t, m.Retry)
	}
}

// An error in the middle of a stream has no status, and the answer so far is no turn.
func TestErrorEvents(t *testing.T) {
	for kind, want := range map[string]struct {
		trouble chattools.Trouble
		retry   bool
	}{
		"overloaded_error": {chattools.TroubleOverloaded, true}, "api_error": {chattools.TroubleOverloaded, true},
		"rate_limit_error": {chattools.TroubleRate, true}, "invalid_request_error": {chattools.TroubleRequest, false},
		"authentication_error": {chattools.TroubleIdentity, false}, "something_new": {chattools.TroubleStream, true},
	} {
		r := reply{stop: "tool_use", blocks: []said{{text: "Well"}, {call: "list", input: `{}`}}}
		events := r.list()
		for n := range events {
			c := converse(t, ways[1], reply{events: append(events[:n:n], "error "+failure(kind))})
			m := modelError(t, c.err)
			require.Equal(t, want.trouble, m.Trouble, kind)
			require.Equal(t, want.retry, m.Retry, kind)
			require.Zero(t, m.Status)
			require.Empty(t, c.ran)
			require.Len(t, c.Messages, 1)
		}
	}
}

// Wherever an answer breaks off, nothing of it runs.
func TestAnswersThatBreakOff(t *testing.T) {
	r := reply{stop: "tool_use", blocks: []said{{thinking: "Hm."}, {text: "Well"}, {call: "list", input: `{}`}, {call: "refund", input: `{"order":"W1","cents":1}`}}}
	for n := 1; n < len(r.list()); n++ {
		r.length = n
		c := converse(t, ways[1], r)
		m := modelError(t, c.err)
		require.Equal(t, chattools.TroubleStream, m.Trouble)
		require.True(t, m.Retry)
		require.Empty(t, c.ran)
		require.Len(t, c.Messages, 1)
	}
	r.length = 0
	for i, text := range []string{r.message(), r.stream()} {
		for n := 1; n < len(text); n += 41 {
			r.cut = n
			c := converse(t, ways[i], r)
			m := modelError(t, c.err)
			require.True(t, m.Retry)
			require.Empty(t, c.ran)
		}
	}
}

// T6, and other streams that are not what the API documents: they are errors, never calls.
func TestT6StreamsOutOfOrder(t *testing.T) {
	const (
		start = `message_start {"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{}}}`
		call  = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"list","input":{}}}`
		text  = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		some  = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`
		word  = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`
		end   = `content_block_stop {"type":"content_block_stop","index":0}`
		done  = `message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`
		stop  = `message_stop {"type":"message_stop"}`
	)
	for name, events := range map[string][]string{
		"two blocks with one index":     {start, call, some, end, call, some, end, done, stop},
		"two open blocks, one index":    {start, call, call, some, end, done, stop},
		"an index too high":             {start, `content_block_start {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"list","input":{}}}`, done, stop},
		"a fragment without a block":    {start, some, done, stop},
		"a fragment after the end":      {start, call, end, some, done, stop},
		"an end without a block":        {start, end, done, stop},
		"two ends":                      {start, call, end, end, done, stop},
		"no end of the block":           {start, call, some, done, stop},
		"no start":                      {call, some, end, done, stop},
		"two starts":                    {start, start, call, some, end, done, stop},
		"no reason":                     {start, call, some, end, stop},
		"no stop":                       {start, call, some, end, done},
		"text in a call":                {start, call, word, end, done, stop},
		"a negative index":              {start, `content_block_delta {"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"a"}}`, done, stop},
		"an event that cannot be read":  {start, call, `content_block_delta {"type":`, end, done, stop},
		"nothing at all":                {},
		"data that is not JSON":         {"message_start nonsense"},
		"an answer without any message": {`ping {"type":"ping"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if len(events) == 0 {
				events = []string{`ping {"type":"ping"}`}
			}
			c := converse(t, ways[1], reply{events: events})
			m := modelError(t, c.err)
			require.Equal(t, chattools.TroubleStream, m.Trouble)
			require.True(t, m.Retry)
			require.Empty(t, c.ran)
		})
	}
	// What is new in the API is passed over.
	c := converse(t, ways[1], reply{events: []string{
		start, `news {"type":"news"}`, text, `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"news_delta"}}`, some, word, end,
		`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":1,"cache_creation_input_tokens":4}}`, stop, `news {"type":"news"}`,
	}})
	require.NoError(t, c.err)
	require.Equal(t, "a", c.reply.Text)
	require.Equal(t, chattools.Usage{Input: 3, Output: 2, CacheRead: 1, CacheWrite: 4}, c.reply.Usage)
}

// The host's context ends a request, and says so; a server that is not there may be there later.
func TestContextAndConnection(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		hangs := make(chan struct{})
		a := newAPI()
		defer a.Close()
		defer close(hangs)
		a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-hangs:
			case <-r.Context().Done():
			}
		})
		client, err := anthropic.New(a.client(), anthropic.Options{Model: "m", Timeout: 50 * time.Millisecond})
		require.NoError(t, err)
		hello := chattools.Request{Messages: []chattools.Message{{Role: chattools.RoleUser, Text: private}}}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = ask(ctx, how.of(client), hello)
		require.Equal(t, context.DeadlineExceeded, err)
		if how.name == ways[0].name {
			_, err = ask(t.Context(), how.of(client), hello)
			m := modelError(t, err)
			require.Equal(t, chattools.TroubleOverloaded, m.Trouble)
			require.True(t, m.Retry)
		}

		gone := newAPI()
		gone.Close()
		client, err = anthropic.New(gone.client(), anthropic.Options{Model: "m"})
		require.NoError(t, err)
		_, err = ask(t.Context(), how.of(client), hello)
		m := modelError(t, err)
		require.Equal(t, chattools.TroubleOverloaded, m.Trouble)
		require.True(t, m.Retry)
		require.Zero(t, m.Status)
	})
}

// ask asks in the way of a model.
func ask(ctx context.Context, m chattools.Model, r chattools.Request) (chattools.Turn, error) {
	if s, ok := m.(chattools.Streamer); ok {
		return s.Stream(ctx, r, nil)
	}
	return m.Next(ctx, r)
}

// Whatever the host's client says, the SDK tries again only if the options ask for it.
func TestRetries(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		for retries, want := range []int{1, 2, 3} {
			busy := reply{status: 529, body: failure("overloaded_error"), header: map[string]string{"retry-after-ms": "1"}}
			a := newAPI(busy, busy, busy, busy)
			host := sdk.NewClient(append(a.client().Options, option.WithMaxRetries(5))...)
			client, err := anthropic.New(host, anthropic.Options{Model: "m", Retries: retries})
			require.NoError(t, err)
			_, err = ask(t.Context(), how.of(client), chattools.Request{Messages: []chattools.Message{{Role: chattools.RoleUser, Text: "a"}}})
			require.True(t, modelError(t, err).Retry)
			require.Len(t, a.requests, want)
			a.Close()
		}
	})
}
