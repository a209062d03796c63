package mcptools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/mcptest"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// The official suites pass for both revisions. What they expect to fail is in the baseline files, each with its
// reason: features that this server does not offer. A scenario that is listed there and passes fails the run.
func TestConformance(t *testing.T) {
	node := mcptest.Open(t)
	for _, c := range []struct {
		revision, baseline string
		stateful           bool
		more               string // that is expected to fail
	}{
		{mcptest.Previous, "testdata/conformance-2025-11-25.yml", true, ""},
		{mcptest.Previous, "testdata/conformance-2025-11-25.yml", false, "  - server-sse-multiple-streams # needs a session, of which there are none\n"},
		{mcptest.Latest, "testdata/conformance-2026-07-28.yml", false, ""},
	} {
		t.Run(fmt.Sprint(c.revision, ", stateful: ", c.stateful), func(t *testing.T) {
			s := openShop(t)
			s.conformanceTools(t)
			server, err := mcptools.NewServer(mcptools.Config{Gate: s.gate, Identify: identify, Stateful: c.stateful})
			require.NoError(t, err)
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Set("Authorization", "Bearer assistant-olga") // the suite has no way to send one
				server.ServeHTTP(w, r)
			}))
			defer h.Close()
			defer h.CloseClientConnections()
			defer server.Close()
			out, err := node.Conformance(t, c.revision, "server", "--url", h.URL+"/mcp", "--suite", "all", "--expected-failures", baseline(t, c.baseline, c.more))
			t.Log(out)
			require.NoError(t, err)
		})
	}
}

// baseline returns a file with the expected failures, and more of them.
func baseline(t *testing.T, file, more string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "baseline.yml")
	require.NoError(t, os.WriteFile(path, append(text, more...), 0o600))
	return path
}

// conformanceTools puts the tools that the suites ask for behind the gate, as far as an action can be what they
// ask for.
func (s *shop) conformanceTools(t *testing.T) {
	t.Helper()
	define := func(name, schema string, result any, err error) *registry.Action {
		return registry.Define(name, registry.Spec[anything]{
			Description: "For the conformance suite.", Permission: "conformance:read", Mode: authz.Read, Schema: json.RawMessage(schema),
		}, func(context.Context, anything) (any, error) { return result, err })
	}
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{
			define("test_simple_text", `{"type":"object"}`, "This is a simple text response for testing.", nil),
			define("test_error_handling", `{"type":"object"}`, nil, registry.Public(errors.New("This tool intentionally returns an error for testing"))),
			define("json_schema_2020_12_tool", `{
				"$schema": "https://json-schema.org/draft/2020-12/schema",
				"type": "object",
				"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
				"properties": {
					"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}, "contactMethod": {"type": "string", "enum": ["phone", "email"]},
					"phone": {"type": "string"}, "email": {"type": "string"}
				},
				"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
				"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
				"then": {"required": ["phone"]}, "else": {"required": ["email"]},
				"additionalProperties": false
			}`, nil, nil),
		},
		Source: s.people, Ledger: new(ledger.Memory), Keys: s.reg.Keys(),
	})
	require.NoError(t, err)
	s.gate = chattools.NewGate(approval.NewDesk(reg))
}
