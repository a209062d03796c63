package main

import (
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop/shoptest"
)

// Arguments arrive as the model sent them, so what is no JSON, or means two things, is refused and not repaired.
func TestRawArguments(t *testing.T) {
	sent := []string{``, `{"payment":"1042"`, `{"payment":"1042","cents":1,"cents":500}`, `{"payment":"\ud800","cents":1}`, `null`, `[]`}
	var steps []shop.Step
	for _, arguments := range sent {
		steps = append(steps, shop.Calling("refund_payment", arguments))
	}
	talk := shoptest.Open(t, open, steps...)
	talk.Say("Refund it.")
	require.Len(t, talk.Calls, len(sent))
	for i, arguments := range sent {
		require.Equal(t, arguments, string(talk.Calls[i].Arguments))
		require.Contains(t, talk.Model.Seen[i+1].Read[0], `{"status":"invalid"`, arguments)
	}
	require.Empty(t, talk.C.Proposals())
}

// Eino's schema type drops keywords that it does not know. The model sees less; the gate's schema is untouched.
func TestPoorerSchema(t *testing.T) {
	given := `{"type":"object","properties":{"n":{"type":"integer","minimum":-9007199254740993}},"x-unit":"cents"}`
	catalog := []chattools.BoundTool{{Tool: chattools.Tool{Name: "probe", Schema: []byte(given)}}}
	node, err := ToolsNode(catalog, nil)
	require.NoError(t, err)
	info, err := node.Tools[0].(tool.InvokableTool).Info(t.Context())
	require.NoError(t, err)
	shown, err := info.ToJSONSchema()
	require.NoError(t, err)
	text, err := json.Marshal(shown)
	require.NoError(t, err)
	require.Contains(t, string(text), "-9007199254740993")
	require.NotContains(t, string(text), "x-unit")
	require.Equal(t, given, string(catalog[0].Schema))
}
