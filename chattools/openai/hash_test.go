package openai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	anthropicsdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

// otherProvider is a model of Anthropic's that makes one call, in one piece or as a stream.
func otherProvider(t *testing.T, stream bool, name, arguments string) chattools.Model {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !stream {
			w.Header().Set("content-type", "application/json")
			_, _ = fmt.Fprintf(w, `{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"a","name":%q,"input":%s}],"stop_reason":"tool_use","usage":{}}`, name, arguments)
			return
		}
		w.Header().Set("content-type", "text/event-stream")
		for _, e := range []string{
			`{"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{}}}`,
			fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":%q,"input":{}}}`, name),
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + quote(arguments) + `}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{}}`, `{"type":"message_stop"}`,
		} {
			name, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, e)
		}
	}))
	t.Cleanup(server.Close)
	host := anthropicsdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(server.URL), option.WithAPIKey("k"), option.WithHTTPClient(server.Client()))
	model, err := anthropic.New(host, anthropic.Options{Model: "m"})
	require.NoError(t, err)
	if stream {
		return model
	}
	return inOnePiece{model}
}

// A2: the same arguments get the same answer, and a proposal with the same hash, whichever provider and way
// they came by.
func TestA2OneCallManyWays(t *testing.T) {
	for _, tt := range []struct {
		arguments string
		want      chattools.Status
		broken    bool // not JSON, so that some ways cannot carry it
	}{
		{`{"order":"W1","cents":100}`, chattools.NeedsApproval, false},
		{`{ "cents" : 1e2, "order" : "\u00571" }`, chattools.NeedsApproval, false},
		{`{"order":"ä😀\u2028<&>","cents":9007199254740993}`, chattools.NeedsApproval, false},
		{`{"order":"\ud83d\ude00","cents":9223372036854775807}`, chattools.NeedsApproval, false},
		{`{"order":"W1","cents":9223372036854775808}`, chattools.Invalid, false},
		{`{"order":"W1","cents":1.5}`, chattools.Invalid, false},
		{`{"order":"W1","cents":"100"}`, chattools.Invalid, false},
		{`{"order":"W1","cents":-0}`, chattools.Invalid, false},
		{`{"order":"W1","order":"W2","cents":1}`, chattools.Invalid, false},
		{`{"order":"W1","cents":1,"Cents":2}`, chattools.Invalid, false},
		{`{"order":"\ud800","cents":1}`, chattools.Invalid, false},
		{`null`, chattools.Invalid, false},
		{`"{}"`, chattools.Invalid, false},
		{`[]`, chattools.Invalid, false},
		{`{}`, chattools.Invalid, false},
		{`{"order":"W1","cents":1`, chattools.Invalid, true},
		{`{"order":"W1","cents":1}{}`, chattools.Invalid, true},
		{` `, chattools.Invalid, true},
	} {
		t.Run(tt.arguments, func(t *testing.T) {
			models := []chattools.Model{otherProvider(t, true, "refund", tt.arguments)}
			if !tt.broken {
				models = append(models, otherProvider(t, false, "refund", tt.arguments))
			}
			for _, how := range ways {
				a := newAPI(reply{stop: "tool_calls", pieces: []said{{call: "refund", input: tt.arguments}}})
				t.Cleanup(a.Close)
				model, err := how.model(a.client(), openai.Options{Model: "m"})
				require.NoError(t, err)
				models = append(models, model)
			}
			var hashes, texts []string
			w := newWorld()
			for _, m := range models {
				turn, err := ask(t.Context(), m, chattools.Request{Messages: hello, Tools: tools("refund")})
				require.NoError(t, err)
				require.Len(t, turn.Message.Calls, 1)
				answer := w.gate.Call(t.Context(), w.session, turn.Message.Calls[0])
				require.Equal(t, tt.want, answer.Status)
				texts = append(texts, answer.Text)
				if answer.Proposal != "" {
					o, err := w.desk.Open(t.Context(), "shop", answer.Proposal, w.olga)
					require.NoError(t, err)
					hashes = append(hashes, o.Proposal.Params.Hash().String())
				}
			}
			for _, text := range texts {
				require.Equal(t, texts[0], text)
			}
			for _, hash := range hashes {
				require.Equal(t, hashes[0], hash)
			}
			require.Empty(t, w.ran)
		})
	}
}
