package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

func TestNewRefuses(t *testing.T) {
	for _, o := range []openai.Options{{}, {Model: "m", MaxTokens: -1}, {Model: "m", Retries: -1}, {Model: "m", Timeout: -1}} {
		_, err := openai.NewChat(sdk.Client{}, o)
		require.ErrorContains(t, err, "openai: ")
		_, err = openai.NewResponses(sdk.Client{}, o)
		require.ErrorContains(t, err, "openai: ")
	}
}

func TestOptions(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		a := newAPI()
		defer a.Close()
		next := func(o openai.Options, r chattools.Request) (chat wantedChat, responses wantedResponse) {
			o.Model, r.Messages = "m", hello
			model, err := how.model(a.client(), o)
			require.NoError(t, err)
			turn, err := ask(t.Context(), model, r)
			require.NoError(t, err)
			require.Equal(t, "Nothing more.", turn.Message.Text)
			body := []byte(a.requests[len(a.requests)-1])
			require.NoError(t, json.Unmarshal(body, &chat))
			require.NoError(t, json.Unmarshal(body, &responses))
			return chat, responses
		}
		tokens := func(o openai.Options, r chattools.Request) *int {
			chat, responses := next(o, r)
			if how.chat {
				return chat.MaxTokens
			}
			return responses.MaxTokens
		}
		require.Nil(t, tokens(openai.Options{}, chattools.Request{}))
		require.Equal(t, 100, *tokens(openai.Options{MaxTokens: 100}, chattools.Request{}))
		require.Equal(t, 50_000, *tokens(openai.Options{MaxTokens: 100}, chattools.Request{MaxTokens: 50_000}))
		chat, responses := next(openai.Options{Effort: "low", Store: true, AskReasoning: true}, chattools.Request{System: "S"})
		require.True(t, *chat.Store)
		require.Equal(t, "m", chat.Model)
		if how.chat {
			require.Equal(t, "low", chat.Effort)
			require.Equal(t, "system user", kinds(a.sent(t, 3)))
		} else {
			require.Equal(t, "low", responses.Reasoning.Effort)
			require.Equal(t, []string{"reasoning.encrypted_content"}, responses.Include)
			require.Equal(t, "S", responses.Instructions)
		}
		if _, responses = next(openai.Options{}, chattools.Request{}); !how.chat {
			require.False(t, *responses.Store)
			require.Empty(t, responses.Include)
		}
	})
}

// S1, S4, S9: schemas that the API would refuse are sent in a form that it takes, and the gate's stay as they are.
func TestSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"S1 a composition at the root":   `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		"S4 definitions used twice":      `{"type":"object","$defs":{"p":{"type":"object","properties":{"x":{"type":"integer"}}}},"properties":{"a":{"$ref":"#/$defs/p"},"b":{"$ref":"#/$defs/p"}}}`,
		"S4 a definition within itself":  `{"type":"object","properties":{"next":{"$ref":"#"}}}`,
		"no properties":                  `{"type":"object"}`,
		"a tuple of an earlier draft":    `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}]}}}`,
		"boolean schemas":                `{"type":"object","properties":{"a":true,"b":false}}`,
		"limits beyond double precision": `{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"type":"number","default":1.0}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, how way) {
				a := newAPI()
				defer a.Close()
				var log bytes.Buffer
				model, err := how.model(a.client(), openai.Options{Model: "m", Logger: slog.New(slog.NewTextHandler(&log, nil))})
				require.NoError(t, err)
				tool := &chattools.Tool{Name: "t", Schema: json.RawMessage(schema)}
				for range 2 {
					_, err = ask(t.Context(), model, chattools.Request{Messages: hello, Tools: append(tools("other"), tool)})
					require.NoError(t, err)
				}
				require.Empty(t, a.refused)
				require.Equal(t, schema, string(tool.Schema))
				require.LessOrEqual(t, strings.Count(log.String(), "wider schema"), 1, "told once")
				require.NotContains(t, a.requests[0], "$ref")
				if strings.Contains(schema, "9007") {
					require.Equal(t, schema, string(a.sentTools(t, 0)[1].Parameters))
				}
			})
		})
	}
}

// N1, N3, N5: every tool is sent by its own name, or none is sent.
func TestNames(t *testing.T) {
	everyWay(t, func(t *testing.T, how way) {
		a := newAPI()
		defer a.Close()
		_, err := a.ask(t, how, chattools.Request{Messages: hello, Tools: tools("sales_execute_sql", "billing_execute_sql", "demo-read", "demo_read", strings.Repeat("t", 64))})
		require.NoError(t, err)
		for _, names := range [][]string{{"execute_sql", "execute_sql"}, {"demo_read", "demo/read"}, {"a.b"}, {""}, {strings.Repeat("n", 67)}} {
			_, err = a.ask(t, how, chattools.Request{Messages: hello, Tools: tools(names...)})
			m := modelError(t, err)
			require.Equal(t, chattools.TroubleTools, m.Trouble)
			require.False(t, m.Retry)
			require.ErrorContains(t, err, names[len(names)-1])
		}
		_, err = a.ask(t, how, chattools.Request{Messages: hello, Tools: []*chattools.Tool{{Name: "t", Schema: json.RawMessage(`[]`)}}})
		require.Equal(t, chattools.TroubleTools, modelError(t, err).Trouble)
		require.Len(t, a.requests, 1)
	})
}

// N7: more than 128 tools are an error that names the limit, unless the host chooses which to send.
func TestN7ManyTools(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("tool_%d", i))
	}
	many := chattools.Request{Messages: hello, Tools: tools(names...)}
	everyWay(t, func(t *testing.T, how way) {
		a := newAPI()
		defer a.Close()
		_, err := a.ask(t, how, many)
		m := modelError(t, err)
		require.Equal(t, chattools.TroubleTools, m.Trouble)
		require.False(t, m.Retry)
		require.ErrorContains(t, err, "300 tools, but a request may have at most 128")
		require.Empty(t, a.requests)

		last := func(r chattools.Request, limit int) []*chattools.Tool { return r.Tools[len(r.Tools)-limit:] }
		model, err := how.model(a.client(), openai.Options{Model: "m", Select: last})
		require.NoError(t, err)
		_, err = ask(t.Context(), model, many)
		require.NoError(t, err)
		require.Len(t, a.sentTools(t, 0), 128)
		require.Equal(t, "tool_172", a.sentTools(t, 0)[0].Name)
		_, err = ask(t.Context(), model, chattools.Request{Messages: hello, Tools: many.Tools[:128]})
		require.NoError(t, err)
		require.Equal(t, "tool_0", a.sentTools(t, 1)[0].Name)

		model, err = how.model(a.client(), openai.Options{Model: "m", Select: func(r chattools.Request, limit int) []*chattools.Tool { return r.Tools[:limit+1] }})
		require.NoError(t, err)
		_, err = ask(t.Context(), model, many)
		require.ErrorContains(t, err, "129 tools")
	})
}

// All published tools are tools that the API accepts, as many at a time as it takes. The schemas that the gate
// uses lose nothing.
func TestRealTools(t *testing.T) {
	published, err := wiretest.Tools()
	require.NoError(t, err)
	require.Len(t, published, 253)
	var all []*chattools.Tool
	for _, tool := range published {
		all = append(all, &chattools.Tool{Name: tool.Name, Description: tool.Description, Schema: bytes.Clone(tool.InputSchema)})
	}
	everyWay(t, func(t *testing.T, how way) {
		a := newAPI()
		defer a.Close()
		_, err := a.ask(t, how, chattools.Request{Messages: hello, Tools: all})
		require.ErrorContains(t, err, "253 tools, but a request may have at most 128")
		for _, strict := range []bool{false, true} {
			model, err := how.model(a.client(), openai.Options{Model: "m", Strict: strict})
			require.NoError(t, err)
			for _, from := range []int{0, 125} {
				a.requests = nil
				_, err = ask(t.Context(), model, chattools.Request{Messages: hello, Tools: all[from : from+128]})
				require.NoError(t, err)
				require.Empty(t, a.refused)
				sent := a.sentTools(t, 0)
				require.Len(t, sent, 128)
				for i, tool := range published[from : from+128] {
					require.Equal(t, tool.Name, sent[i].Name)
					require.Equal(t, tool.Description, *sent[i].Description)
					require.Equal(t, string(tool.InputSchema), string(all[from+i].Schema))
				}
			}
		}
	})
}

// 1,000 requests of one session are the same bytes, also after the conversation was stored, and a later request
// begins as an earlier one did.
func TestStableBytes(t *testing.T) {
	published, err := wiretest.Tools()
	require.NoError(t, err)
	for _, how := range []way{ways[0], ways[3]} {
		pieces := []said{{text: "I <look>."}, {call: "find", input: `{"id":1,"tags":["b","a"]}`}, {call: "refund", input: `{"order":"W1","cents":5}`}}
		if !how.chat {
			pieces = append([]said{{thinking: "Hm <&>."}}, pieces...)
		}
		c := converse(t, how, reply{stop: "tool_calls", pieces: pieces}, reply{stop: "stop", pieces: []said{{text: "There."}}})
		require.NoError(t, c.err)
		first := ""
		messages := append(c.Messages, hello[0])
		for i := range 1000 {
			model, err := how.model(c.client(), openai.Options{Model: "m", Strict: true})
			require.NoError(t, err)
			catalog, err := c.gate.Catalog(t.Context(), c.session)
			require.NoError(t, err)
			for _, tool := range published[100:110] {
				catalog = append(catalog, &chattools.Tool{Name: tool.Server + "_" + tool.Name, Schema: tool.InputSchema})
			}
			_, err = ask(t.Context(), model, chattools.Request{System: "S", Messages: messages, Tools: catalog})
			require.NoError(t, err)
			latest := c.requests[len(c.requests)-1]
			c.requests = c.requests[:2]
			if i == 0 {
				first = latest
			}
			require.True(t, first == latest, "request %d has other bytes", i)
			raw, err := json.Marshal(messages)
			require.NoError(t, err)
			messages = nil
			require.NoError(t, json.Unmarshal(raw, &messages))
		}
		require.Empty(t, c.refused)

		type prefix struct {
			Tools           json.RawMessage
			Messages, Input []json.RawMessage
		}
		var all [2]prefix
		for i := range all {
			require.NoError(t, json.Unmarshal([]byte(c.requests[i]), &all[i]))
		}
		require.Equal(t, string(all[0].Tools), string(all[1].Tools))
		for i, m := range append(all[0].Messages, all[0].Input...) {
			require.Equal(t, string(m), string(append(all[1].Messages, all[1].Input...)[i]))
		}
	}
}
