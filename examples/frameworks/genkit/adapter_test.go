package main

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
)

func TestExact(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"n":9007199254740991,"m":-9007199254740991,"x":0.1,"s":"9007199254740993"}`: true,
		`{"n":9007199254740992}`:             false, // what 9007199254740993 is rounded to
		`{"a":[1,{"n":-9007199254740992}]}`:  false,
		`{"n":1e+300}`:                       false,
		`{"n":9007199254740992.0}`:           false,
		`{"9007199254740993":[],"n":[true]}`: true,
		`null`:                               true, // the gate's to refuse
	} {
		require.Equal(t, want, exact([]byte(raw)), raw)
	}
}

// probe is a tool that notes what reaches the gate.
func probe(got *[]string) chattools.BoundTool {
	return chattools.BoundTool{
		Tool: chattools.Tool{Name: "probe", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)},
		Call: func(_ context.Context, arguments json.RawMessage) chattools.Answer {
			*got = append(*got, string(arguments))
			return chattools.Answer{Status: chattools.Invalid, Text: "no"}
		},
	}
}

// Genkit itself checks nothing: what it would refuse with an error that ends the conversation reaches the gate.
func TestFaultsReachTheGate(t *testing.T) {
	var got []string
	tools, _, err := Tools([]chattools.BoundTool{probe(&got)}, nil)
	require.NoError(t, err)
	for _, arguments := range []any{map[string]any{}, map[string]any{"n": "x", "m": 1.5}, map[string]any{"n": 7.0}, "text", []any{}} {
		out, err := tools[0].(ai.Tool).RunRaw(t.Context(), arguments)
		require.NoError(t, err)
		require.Equal(t, `{"status":"invalid","text":"no"}`, out)
	}
	require.Equal(t, []string{`{}`, `{"m":1.5,"n":"x"}`, `{"n":7}`, `"text"`, `[]`}, got)
}

// A call that Genkit restarts, as after an interrupt that somebody approved, is a call like any other.
func TestRestartIsNoApproval(t *testing.T) {
	s, err := shop.New()
	require.NoError(t, err)
	c, err := s.Talk(nil)
	require.NoError(t, err)
	catalog, err := c.Tools(t.Context())
	require.NoError(t, err)
	tools, gate, err := Tools(catalog, c.Call)
	require.NoError(t, err)
	g := genkit.Init(t.Context())
	model := genkit.DefineModel(g, "shop/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Multiturn: true, Tools: true}},
		scripted{&shop.Script{}}.generate)

	call := ai.NewToolRequestPart(&ai.ToolRequest{Name: "refund_payment", Ref: "1", Input: map[string]any{"payment": "1042", "cents": 500.0}})
	call.Metadata = map[string]any{"interrupt": true}
	refund := tools[slices.IndexFunc(tools, func(t ai.ToolRef) bool { return t.Name() == "refund_payment" })].(ai.Tool)
	response, err := genkit.Generate(t.Context(), g, ai.WithModel(model), ai.WithTools(tools...), ai.WithMiddleware(gate),
		ai.WithMessages(ai.NewUserTextMessage("Refund it."), ai.NewModelMessage(call)),
		ai.WithToolRestarts(refund.Restart(call, &ai.RestartOptions{ResumedMetadata: map[string]any{"approved": true}})))
	require.NoError(t, err)
	require.Contains(t, response.Text(), "waits for a person's approval")
	require.Len(t, c.Proposals(), 1)
	require.Zero(t, s.Refunds())
}
