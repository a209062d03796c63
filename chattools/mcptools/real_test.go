package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/mcptest"
	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// All 253 published tools are served on one page with their schemas as they are, and a client on the TypeScript
// SDK, which refuses a whole list for one bad tool, takes it.
func TestRealToolsAreListed(t *testing.T) {
	s := openShop(t)
	tools, err := wiretest.Tools()
	require.NoError(t, err)
	schemas := map[string]json.RawMessage{}
	var actions []*registry.Action
	for i, tool := range tools {
		name := fmt.Sprintf("t%03d_%s", i, tool.Name)
		schemas[name] = tool.InputSchema
		actions = append(actions, registry.Define(name, registry.Spec[anything]{
			Description: tool.Description, Permission: "real:read", Mode: authz.Read, Schema: tool.InputSchema,
		}, func(context.Context, anything) (any, error) { return nil, nil }))
	}
	reg, err := registry.New(registry.Config{Actions: actions, Source: s.people, Ledger: new(ledger.Memory), Keys: s.reg.Keys()})
	require.NoError(t, err)
	s.gate = chattools.NewGate(approval.NewDesk(reg))
	_, url := s.serve(t, nil)
	var list struct {
		NextCursor string
		Tools      []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(post(t, url, "assistant-olga", "tools/list", "").Result, &list))
	require.Len(t, list.Tools, 253)
	require.Empty(t, list.NextCursor)
	for _, tool := range list.Tools {
		require.JSONEq(t, string(schemas[tool.Name]), string(tool.InputSchema), tool.Name)
	}
	t.Run("TypeScript", func(t *testing.T) {
		outcomes := mcptest.Open(t).TypeScript(t, mcptest.Job{
			URL: url, Headers: map[string]string{"Authorization": "Bearer assistant-olga"}, Steps: []mcptest.Step{{}},
		})
		require.Len(t, outcomes[0].Result.Tools, 253)
	})
}
