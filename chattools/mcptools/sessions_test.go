package mcptools_test

import (
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// TestSessionsOfOneUserAreBounded: the oldest gives way, and no other user's.
func TestSessionsOfOneUserAreBounded(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, stateful)
	other := connect(t, url, as("assistant-bob"), "2025-11-25", nil)
	var mine []*mcp.ClientSession
	for range 65 {
		mine = append(mine, connect(t, url, as("assistant-ann"), "2025-11-25", nil))
	}
	require.Eventually(t, func() bool {
		_, err := mine[0].ListTools(t.Context(), nil)
		return err != nil
	}, 10*time.Second, 10*time.Millisecond, "the oldest has ended")
	for _, cs := range []*mcp.ClientSession{mine[1], mine[64], other} {
		require.NotEmpty(t, names(t, cs))
	}
	for _, cs := range mine[1:21] {
		require.NoError(t, cs.Close())
	}
	for range 10 {
		connect(t, url, as("assistant-ann"), "2025-11-25", nil)
	}
	require.NotEmpty(t, names(t, mine[21]), "those that have ended do not count")
}
