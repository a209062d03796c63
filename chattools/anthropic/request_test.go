package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
)

var hello = []chattools.Message{{Role: chattools.RoleUser, Text: "Hello."}}

func TestNewRefuses(t *testing.T) {
	for _, o := range []anthropic.Options{{}, {Model: "m", MaxTokens: -1}, {Model: "m", Retries: -1}, {Model: "m", Timeout: -1}} {
		_, err := anthropic.New(sdk.Client{}, o)
		require.ErrorContains(t, err, "anthropic: ")
	}
}

func TestOptions(t *testing.T) {
	bothWays(t, func(t *testing.T, how way) {
		a := newAPI()
		defer a.Close()
		next := func(o anthropic.Options, r chattools.Request) wanted {
			o.Model, r.Messages = "m", hello
			client, err := anthropic.New(a.client(), o)
			require.NoError(t, err)
			turn, err := ask(t.Context(), how.of(client), r)
			require.NoError(t, err)
			require.Equal(t, "Nothing more.", turn.Message.Text)
			var w wanted
			require.NoError(t, json.Unmarshal([]byte(a.requests[len(a.requests)-1]), &w))
			return w
		}
		w := next(anthropic.Options{}, chattools.Request{})
		require.Equal(t, 8192, w.MaxTokens)
		require.Empty(t, w.System)
		require.Empty(t, w.Tools)
		require.Equal(t, 100, next(anthropic.Options{MaxTokens: 100}, chattools.Request{}).MaxTokens)
		require.Equal(t, 50_000, next(anthropic.Options{MaxTokens: 100}, chattools.Request{MaxTokens: 50_000}).MaxTokens)
		w = next(anthropic.Options{Thinking: sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{}}, Effort: sdk.OutputConfigEffortLow}, chattools.Request{})
		require.Equal(t, map[string]any{"type": "adaptive"}, w.Thinking)
		require.Equal(t, map[string]any{"effort": "low"}, w.OutputConfig)
	})
}

// Marks for the cache stand where a later request goes on from, and nowhere if they are not wanted.
func TestCacheMarks(t *testing.T) {
	a := newAPI()
	defer a.Close()
	r := chattools.Request{System: "S", Tools: tools("a", "b"), Messages: []chattools.Message{
		hello[0], {Role: chattools.RoleAssistant, Calls: []chattools.Call{{ID: "1", Name: "a", Arguments: []byte(`{}`)}}},
		{Role: chattools.RoleTool, Answers: []chattools.Answer{{CallID: "1", Status: chattools.Done}}},
		{Role: chattools.RoleAssistant, Text: "b"}, {Role: chattools.RoleUser, Text: "c"},
	}}
	for _, without := range []bool{false, true} {
		client, err := anthropic.New(a.client(), anthropic.Options{Model: "m", NoCache: without})
		require.NoError(t, err)
		_, err = client.Next(t.Context(), r)
		require.NoError(t, err)
	}
	require.Empty(t, a.refused)
	var w wanted
	require.NoError(t, json.Unmarshal([]byte(a.requests[0]), &w))
	require.Nil(t, w.Tools[0].Cache)
	require.NotNil(t, w.Tools[1].Cache)
	require.NotNil(t, w.System[0].Cache)
	require.Nil(t, w.Messages[0].Content[0].Cache)
	require.NotNil(t, w.Messages[2].Content[0].Cache)
	require.NotNil(t, w.Messages[4].Content[0].Cache)
	require.NotContains(t, a.requests[1], "cache_control")
}

// S1, S4, S9: schemas that the API would refuse are sent in a form that it takes, and the gate's stay as they are.
func TestSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"S1 a composition at the root":   `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		"S4 definitions used twice":      `{"type":"object","$defs":{"p":{"type":"object","properties":{"x":{"type":"integer"}}}},"properties":{"a":{"$ref":"#/$defs/p"},"b":{"$ref":"#/$defs/p"}}}`,
		"S4 a definition within itself":  `{"type":"object","properties":{"next":{"$ref":"#"}}}`,
		"a tuple of an earlier draft":    `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}]}}}`,
		"a property that may not be so":  `{"type":"object","properties":{"filter[id]":{"type":"string"}},"additionalProperties":false}`,
		"boolean schemas":                `{"type":"object","properties":{"a":true,"b":false}}`,
		"limits beyond double precision": `{"type":"object","properties":{"a":{"type":"integer","maximum":9007199254740993}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI()
			defer a.Close()
			var log bytes.Buffer
			client, err := anthropic.New(a.client(), anthropic.Options{Model: "m", Logger: slog.New(slog.NewTextHandler(&log, nil))})
			require.NoError(t, err)
			tool := &chattools.Tool{Name: "t", Schema: json.RawMessage(schema)}
			for range 2 {
				_, err = client.Next(t.Context(), chattools.Request{Messages: hello, Tools: append(tools("other"), tool)})
				require.NoError(t, err)
			}
			require.Empty(t, a.refused)
			require.Equal(t, schema, string(tool.Schema))
			require.LessOrEqual(t, strings.Count(log.String(), "wider schema"), 1, "told once")
			require.NotContains(t, a.requests[0], "$ref")
			if strings.Contains(schema, "9007") {
				require.Contains(t, a.requests[0], `"maximum":9007199254740993`)
			}
		})
	}
}

// N1, N3, N5: every tool is sent by its own name, or none is sent.
func TestNames(t *testing.T) {
	a := newAPI()
	defer a.Close()
	client, err := anthropic.New(a.client(), anthropic.Options{Model: "m"})
	require.NoError(t, err)
	long := strings.Repeat("m", 24) + "_" + strings.Repeat("t", 42)
	_, err = client.Next(t.Context(), chattools.Request{Messages: hello, Tools: tools("sales_execute_sql", "billing_execute_sql", "demo-read", "demo_read", long)})
	require.NoError(t, err)
	for _, names := range [][]string{{"execute_sql", "execute_sql"}, {"demo_read", "demo/read"}, {"a.b"}, {""}, {strings.Repeat("n", 129)}} {
		_, err = client.Next(t.Context(), chattools.Request{Messages: hello, Tools: tools(names...)})
		m := modelError(t, err)
		require.Equal(t, chattools.TroubleTools, m.Trouble)
		require.False(t, m.Retry)
		require.ErrorContains(t, err, names[len(names)-1])
	}
	_, err = client.Stream(t.Context(), chattools.Request{Messages: hello, Tools: []*chattools.Tool{{Name: "t", Schema: json.RawMessage(`[]`)}}}, nil)
	require.Equal(t, chattools.TroubleTools, modelError(t, err).Trouble)
	require.Len(t, a.requests, 1)
}

// N7: there is no limit on tools, and none is left out.
func TestN7ManyTools(t *testing.T) {
	a := newAPI()
	defer a.Close()
	client, err := anthropic.New(a.client(), anthropic.Options{Model: "m"})
	require.NoError(t, err)
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("tool_%d", i))
	}
	_, err = client.Next(t.Context(), chattools.Request{Messages: hello, Tools: tools(names...)})
	require.NoError(t, err)
	var w wanted
	require.NoError(t, json.Unmarshal([]byte(a.requests[0]), &w))
	require.Len(t, w.Tools, 300)
}

// All published tools together are one request that the API accepts.
func TestRealTools(t *testing.T) {
	published, err := wiretest.Tools()
	require.NoError(t, err)
	var all []*chattools.Tool
	for _, tool := range published {
		all = append(all, &chattools.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema})
	}
	a := newAPI()
	defer a.Close()
	client, err := anthropic.New(a.client(), anthropic.Options{Model: "m"})
	require.NoError(t, err)
	_, err = client.Next(t.Context(), chattools.Request{Messages: hello, Tools: all})
	require.NoError(t, err)
	require.Empty(t, a.refused)
	var w wanted
	require.NoError(t, json.Unmarshal([]byte(a.requests[0]), &w))
	require.Len(t, w.Tools, 253)
	for i, tool := range published {
		require.Equal(t, tool.Name, w.Tools[i].Name)
		require.Equal(t, tool.Description, w.Tools[i].Description)
		require.Equal(t, string(tool.InputSchema), string(all[i].Schema))
	}
}

// 1,000 requests of one session are the same bytes, and so is the beginning of those that go on from it.
func TestStableBytes(t *testing.T) {
	c := converse(t, ways[0],
		reply{stop: "tool_use", blocks: []said{{thinking: "Hm."}, {text: "I look."}, {call: "find", input: `{"id":1,"tags":["b","a"]}`}, {call: "refund", input: `{"order":"W1","cents":5}`}}},
		reply{stop: "end_turn", blocks: []said{{text: "There."}}})
	require.NoError(t, c.err)
	published, err := wiretest.Tools()
	require.NoError(t, err)
	first := ""
	for i := range 1000 {
		client, err := anthropic.New(c.client(), anthropic.Options{Model: "m"})
		require.NoError(t, err)
		catalog, err := c.gate.Catalog(t.Context(), c.session)
		require.NoError(t, err)
		for _, tool := range published[100:110] {
			catalog = append(catalog, &chattools.Tool{Name: tool.Server + "_" + tool.Name, Schema: tool.InputSchema})
		}
		raw, err := json.Marshal(c.Messages)
		require.NoError(t, err)
		var messages []chattools.Message
		require.NoError(t, json.Unmarshal(raw, &messages))
		_, err = client.Next(t.Context(), chattools.Request{System: "S", Messages: append(messages, hello[0]), Tools: catalog})
		require.NoError(t, err)
		latest := c.requests[len(c.requests)-1]
		c.requests = c.requests[:2]
		if i == 0 {
			first = latest
		}
		require.True(t, first == latest, "request %d has other bytes", i)
	}
	require.Empty(t, c.refused)

	// Without the marks, which move on, one request begins as the one before it did.
	type prefix struct {
		System, Tools json.RawMessage
		Messages      []json.RawMessage
	}
	var all [2]prefix
	for i := range all {
		text := strings.ReplaceAll(c.requests[i], `"cache_control":{"type":"ephemeral"},`, "")
		require.NoError(t, json.Unmarshal([]byte(text), &all[i]))
	}
	require.Equal(t, string(all[0].System), string(all[1].System))
	require.Equal(t, string(all[0].Tools), string(all[1].Tools))
	require.Len(t, all[0].Messages, 1)
	require.Equal(t, string(all[0].Messages[0]), string(all[1].Messages[0]))
}
