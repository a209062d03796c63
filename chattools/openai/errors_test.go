package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

const private = "the private words of olga, and " + secret

func failure(kind string) string {
	return `{"error":{"message":"about ` + private + `","type":"` + kind + `","param":null,"code":null}}`
}

// modelError checks that an error is a ModelError that gives nothing away.
func modelError(t *testing.T, err error) *chattools.ModelError {
	t.Helper()
	var m *chattools.ModelError
	require.ErrorAs(t, err, &m)
	for e := err; e != nil; e = errors.Unwrap(e) {
		require.NotContains(t, e.Error(), secret)
		require.NotContains(t, e.Error(), "private words")
		require.NotContains(t, e.Error(), "http://")
	}
	var own *sdk.Error
	require.False(t, errors.As(err, &own), "the SDK's error holds the request and its key")
	return m
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
		{"too slow", 408, "timeout", nil, chattools.TroubleOverloaded, true, 0},
		{"busy with the same", 409, "conflict_error", nil, chattools.TroubleOverloaded, true, 0},
		{"too large", 413, "request_too_large", nil, chattools.TroubleRequest, false, 0},
		{"too many", 429, "rate_limit_error", map[string]string{"retry-after": "7"}, chattools.TroubleRate, true, 7 * time.Second},
		{"too many, to the millisecond", 429, "requests", map[string]string{"retry-after-ms": "1500", "retry-after": "2"}, chattools.TroubleRate, true, 1500 * time.Millisecond},
		{"too many, until a moment", 429, "tokens", map[string]string{"date": "Tue, 01 Dec 2026 10:00:00 GMT", "retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, chattools.TroubleRate, true, 30 * time.Second},
		{"too many, until a moment ago", 429, "tokens", map[string]string{"date": "Tue, 01 Dec 2026 10:00:00 GMT", "retry-after": "Tue, 01 Dec 2026 09:00:30 GMT"}, chattools.TroubleRate, true, 0},
		{"too many, nonsense", 429, "tokens", map[string]string{"retry-after": "soon"}, chattools.TroubleRate, true, 0},
		{"too many, less than nothing", 429, "tokens", map[string]string{"retry-after": "-5"}, chattools.TroubleRate, true, 0},
		{"spent", 429, "insufficient_quota", nil, chattools.TroubleRate, false, 0},
		{"spent for the month", 429, "tokens", map[string]string{"x-should-retry": "false"}, chattools.TroubleRate, false, 0},
		{"broken", 500, "server_error", nil, chattools.TroubleOverloaded, true, 0},
		{"unavailable", 503, "service_unavailable_error", map[string]string{"retry-after": "1"}, chattools.TroubleOverloaded, true, time.Second},
		{"overloaded", 529, "overloaded_error", nil, chattools.TroubleOverloaded, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, how way) {
				c := converse(t, how, reply{status: tt.status, body: failure(tt.kind), header: tt.header})
				m := modelError(t, c.err)
				require.Equal(t, tt.trouble, m.Trouble)
				require.Equal(t, tt.status, m.Status)
				require.Equal(t, tt.retry, m.Retry)
				require.Equal(t, tt.after, m.After)
				require.Len(t, c.requests, 1, "nobody asked to try again")
				var said *openai.APIError
				require.ErrorAs(t, c.err, &said)
				require.Equal(t, tt.kind, said.Type)
				require.Equal(t, "about "+private, said.Message)
				require.ErrorContains(t, c.err, tt.kind+", request req_1")

				// The conversation is as far as it got, and goes on when the host tries again.
				require.Len(t, c.Messages, 1)
				_, err := c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Again.", nil)
				require.NoError(t, err)
				require.Empty(t, c.refused)
			})
		})
	}
}

// Servers write errors in many ways, and some repeat the key.
func TestErrorsWithoutSense(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		for body, want := range map[string]string{
			"<html>" + private + "</html>": "an error without a type",
			``:                             "an error without a type",
			`{"error":"` + private + `"}`:  "an error without a type",
			`{"error":{"type":"` + secret + `","code":"` + private + `","message":7}}`:                "an error without a type",
			`{"object":"error","message":"` + private + `","type":"BadRequestError","code":400}`:      "an error without a type",
			`{"object":"error","message":"` + private + `","type":"bad_request_error","code":400}`:    "bad_request_error",
			`{"error":{"type":"invalid_request_error","code":"context_length_exceeded","param":"a"}}`: "context_length_exceeded",
		} {
			c := converse(t, how, reply{status: 502, body: body, header: map[string]string{"x-request-id": secret}})
			m := modelError(t, c.err)
			require.Equal(t, chattools.TroubleOverloaded, m.Trouble)
			require.Equal(t, 502, m.Status)
			require.True(t, strings.HasSuffix(c.err.Error(), ": "+want), c.err)
		}
	})
	for _, how := range []way{ways[0], ways[2]} {
		for _, body := range []string{`{`, `nonsense ` + private, `{}`, `[]`, `{"choices":[]}`, `{"choices":[{"message":{"content":"a"},"finish_reason":null}]}`,
			`{"choices":"` + private + `"}`, `{"status":"in_progress","output":[]}`, `{"status":"completed","output":"` + private + `"}`, `{"status":"failed","error":null}`} {
			c := converse(t, how, reply{body: body})
			m := modelError(t, c.err)
			require.Equal(t, chattools.TroubleStream, m.Trouble, body)
			require.True(t, m.Retry)
		}
	}
}

// An error within an answer has no status, and the answer so far is no turn.
func TestErrorsWithinAnswers(t *testing.T) {
	own := newAPI()
	defer own.Close()
	for kind, want := range map[string]struct {
		trouble chattools.Trouble
		retry   bool
	}{
		"server_error": {chattools.TroubleOverloaded, true}, "overloaded_error": {chattools.TroubleOverloaded, true},
		"rate_limit_exceeded": {chattools.TroubleRate, true}, "insufficient_quota": {chattools.TroubleRate, false},
		"invalid_prompt": {chattools.TroubleRequest, false}, "invalid_request_error": {chattools.TroubleRequest, false},
		"invalid_api_key": {chattools.TroubleIdentity, false}, "something_new": {chattools.TroubleStream, true},
	} {
		check := func(t *testing.T, c *conversed) {
			t.Helper()
			m := modelError(t, c.err)
			require.Equal(t, want.trouble, m.Trouble, kind)
			require.Equal(t, want.retry, m.Retry, kind)
			require.Zero(t, m.Status)
			require.ErrorContains(t, c.err, kind)
			require.Empty(t, c.ran)
			require.Len(t, c.Messages, 1)
		}
		r := reply{stop: "tool_calls", pieces: []said{{text: "Well"}, {call: "list", id: "a", input: `{}`}}}
		chunks := r.chunks()
		for n := range chunks {
			check(t, converse(t, ways[1], reply{events: append(chunks[:n:n], failure(kind))}))
		}
		check(t, converse(t, ways[0], reply{body: failure(kind)}))

		flat := `{"type":"error","code":"` + kind + `","message":"` + private + `","param":null,"sequence_number":1}`
		failed := `{"status":"failed","error":{"code":"` + kind + `","message":"` + private + `"},"output":[{"type":"function_call","call_id":"a","name":"list","arguments":"{}","status":"completed"}]}`
		events := own.events(r, 1)
		for n := range events {
			for _, last := range []string{flat, `{"type":"error",` + failure(kind)[1:], failure(kind), `{"type":"response.failed","response":` + failed + `}`} {
				check(t, converse(t, ways[3], reply{events: append(events[:n:n], last)}))
			}
		}
		check(t, converse(t, ways[2], reply{body: failed}))
	}
}

// Wherever an answer breaks off, nothing of it runs.
func TestAnswersThatBreakOff(t *testing.T) {
	r := reply{stop: "tool_calls", pieces: []said{{text: "Well"}, {call: "list", id: "a", input: `{}`}, {call: "refund", id: "b", input: `{"order":"W1","cents":1}`}}}
	own := newAPI()
	defer own.Close()
	broken := func(how way, r reply) {
		c := converse(t, how, r)
		m := modelError(t, c.err)
		require.Equal(t, chattools.TroubleStream, m.Trouble)
		require.True(t, m.Retry)
		require.Empty(t, c.ran)
		require.Len(t, c.Messages, 1)
	}
	for i, how := range ways {
		if how.stream {
			events := r.chunks()
			if !how.chat {
				events = own.events(r, 1)
			}
			for n := 1; n < len(events); n++ {
				r.length = n
				broken(how, r)
			}
			r.length = 0
		}
		text := own.write(r, how, 1)
		for n := 1 + i; n < len(text)-2; n += 61 {
			r.cut = n
			broken(how, r)
		}
		r.cut = 0
	}
}

// The host's context ends a request, and says so; a server that is not there may be there later.
func TestContextAndConnection(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		hangs := make(chan struct{})
		a := newAPI()
		defer a.Close()
		defer close(hangs)
		var start atomic.Bool
		a.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if start.Load() { // of an answer that does not go on
				w.Header().Set("content-type", "text/event-stream")
				_ = http.NewResponseController(w).Flush()
			}
			select {
			case <-hangs:
			case <-r.Context().Done():
			}
		})
		model, err := how.model(a.client(), openai.Options{Model: "m", Timeout: 50 * time.Millisecond})
		require.NoError(t, err)
		r := chattools.Request{Messages: []chattools.Message{{Role: chattools.RoleUser, Text: private}}}
		for _, begins := range []bool{false, true} {
			start.Store(begins)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			_, err = ask(ctx, model, r)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		if start.Store(false); !how.stream {
			_, err = ask(t.Context(), model, r)
			m := modelError(t, err)
			require.Equal(t, chattools.TroubleOverloaded, m.Trouble)
			require.True(t, m.Retry)
		}

		gone := newAPI()
		gone.Close()
		_, err = gone.ask(t, how, r)
		m := modelError(t, err)
		require.Equal(t, chattools.TroubleOverloaded, m.Trouble)
		require.True(t, m.Retry)
		require.Zero(t, m.Status)
	})
}

// Whatever the host's client says, the SDK tries again only if the options ask for it.
func TestRetries(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		for retries, want := range []int{1, 2, 3} {
			busy := reply{status: 503, body: failure("server_error"), header: map[string]string{"retry-after-ms": "1"}}
			a := newAPI(busy, busy, busy, busy)
			host := sdk.NewClient(append(a.client().Options, option.WithMaxRetries(5))...)
			model, err := how.model(host, openai.Options{Model: "m", Retries: retries})
			require.NoError(t, err)
			_, err = ask(t.Context(), model, chattools.Request{Messages: hello})
			require.True(t, modelError(t, err).Retry)
			require.Len(t, a.requests, want)
			a.Close()
		}
	})
}
