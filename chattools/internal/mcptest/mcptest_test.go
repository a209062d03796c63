package mcptest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools/internal/mcptest"
)

// Every client and suite reaches a server, and tells what it found.
func TestEveryClientRuns(t *testing.T) {
	node := mcptest.Open(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "test_simple_text", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "This is a simple text response for testing."}}}, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer h.Close()

	for _, revision := range []string{mcptest.Previous, mcptest.Latest} {
		out, err := node.Conformance(t, revision, "server", "--url", h.URL, "--scenario", "tools-call-simple-text")
		require.NoError(t, err, out)
		_, err = node.Conformance(t, revision, "server", "--url", h.URL, "--scenario", "tools-call-image")
		require.Error(t, err)
	}
	out, log, err := node.Inspector(t, h.URL, "--transport", "http", "--method", "tools/list")
	require.NoError(t, err, log)
	require.Contains(t, out, "test_simple_text")
	outcomes := node.TypeScript(t, mcptest.Job{URL: h.URL, Steps: []mcptest.Step{{}, {Call: "test_simple_text"}, {Call: "none"}}})
	require.Equal(t, "test_simple_text", outcomes[0].Result.Tools[0].Name)
	require.Equal(t, "This is a simple text response for testing.", outcomes[1].Result.Content[0].Text)
	require.Contains(t, outcomes[2].Error, "none")
}
