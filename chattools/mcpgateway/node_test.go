package mcpgateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/mcptest"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
)

// conform is the client that the conformance suite starts: a gateway that imports what is at the address and calls
// all of it.
func conform(address string) {
	w := &world{}
	w.open(func(c *mcpgateway.Config) { overHTTP(c) })
	defer w.Close()
	ctx := context.Background()
	if err := w.trustIn(ctx, "up", address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var asked struct {
		ToolCalls []struct {
			Name      string                     `json:"name"`
			Arguments map[string]json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &asked) // there is none in most scenarios
	calls := map[string][]string{"up_add_numbers": {`{"a":5,"b":3}`}}
	calls["up_valid_tool"] = []string{`{"region":"us-west1"}`}
	if focal := w.Desk().Registry().Lookup("up_json_schema_2020_12_tool"); focal != nil {
		calls["up_json_schema_echo"] = []string{`{"schema":` + string(focal.Schema) + `}`}
	}
	for _, c := range asked.ToolCalls {
		maps.DeleteFunc(c.Arguments, func(_ string, v json.RawMessage) bool { return string(v) == "null" }) // which its schema forbids
		calls["up_"+c.Name] = append(calls["up_"+c.Name], string(must(json.Marshal(c.Arguments))))
	}
	for _, a := range w.Desk().Registry().Actions() {
		if !strings.HasPrefix(a.Name, "up_") {
			continue
		}
		if calls[a.Name] == nil {
			calls[a.Name] = []string{"{}"}
		}
		for _, arguments := range calls[a.Name] {
			if _, err := w.doesIn(ctx, a.Name, arguments); err != nil {
				fmt.Fprintln(os.Stderr, a.Name, arguments, err)
			}
		}
	}
}

// TestConformance runs the client scenarios that are about tools. The others are about what a gateway does not do:
// elicitation and input from its user, and logging in, which is the host's.
func TestConformance(t *testing.T) {
	node := mcptest.Open(t)
	t.Setenv("SALLYPORT_TEST_CONFORM", "1")
	for revision, scenarios := range map[string][]string{
		mcptest.Previous: {"initialize", "tools_call"},
		mcptest.Latest: {
			"tools_call", "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
			"json-schema-ref-no-deref", "json-schema-2020-12-preservation",
		},
	} {
		for _, scenario := range scenarios {
			t.Run(revision+" "+scenario, func(t *testing.T) {
				out, err := node.Conformance(t, revision, "client", "--command", os.Args[0], "--scenario", scenario)
				require.NoError(t, err, out)
				t.Log(out)
			})
		}
	}
}

// public returns a Dial to a server of the npm registry.
func public(dir, name string, args ...string) func(context.Context, mcpgateway.Peer) (mcp.Transport, error) {
	modules := filepath.Join(dir, "node_modules")
	return func(ctx context.Context, _ mcpgateway.Peer) (mcp.Transport, error) {
		c := exec.CommandContext(ctx, filepath.Join(modules, "node", "bin", "node"), append([]string{filepath.Join(modules, "@modelcontextprotocol", name, "dist", "index.js")}, args...)...)
		return &mcp.CommandTransport{Command: c, TerminateDuration: 5 * time.Second}, nil
	}
}

// TestPublicServers: in front of servers that others wrote, reads pass, changes wait, and what runs is what was
// shown.
func TestPublicServers(t *testing.T) {
	mcptest.Open(t)
	dir := os.Getenv("SALLYPORT_TEST_NODE")
	files := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(files, "a.txt"), []byte("hello"), 0o600))
	t.Setenv("MEMORY_FILE_PATH", filepath.Join(files, "memory.json"))
	reads := func(names ...string) func(*mcpgateway.Config) {
		return func(c *mcpgateway.Config) {
			c.Rule = func(t mcpgateway.Tool) mcpgateway.Policy {
				for _, n := range names {
					if t.Name == n {
						return mcpgateway.Policy{Mode: authz.Read}
					}
				}
				return mcpgateway.Policy{}
			}
		}
	}
	path := func(name string) string { return string(must(json.Marshal(filepath.Join(files, name)))) }
	for server, c := range map[string]struct {
		dial          func(context.Context, mcpgateway.Peer) (mcp.Transport, error)
		read          string
		readArguments string
		readResult    string
		write         string
		arguments     string
		written       string // of the answer
		after         func()
	}{
		"filesystem": {
			public(dir, "server-filesystem", files), "read_text_file", `{"path":` + path("a.txt") + `}`, "hello",
			"write_file", `{"path":` + path("b.txt") + `,"content":"<é> 9007199254740993"}`, "Successfully wrote", func() {
				text, err := os.ReadFile(filepath.Join(files, "b.txt"))
				require.NoError(t, err)
				require.Equal(t, "<é> 9007199254740993", string(text))
			},
		},
		"memory": {
			public(dir, "server-memory"), "read_graph", `{}`, `"entities":[]`,
			"create_entities", `{"entities":[{"name":"a","entityType":"b","observations":["c"]}]}`, `"name":"a"`, func() {
				text, err := os.ReadFile(filepath.Join(files, "memory.json"))
				require.NoError(t, err)
				require.Contains(t, string(text), `"name":"a"`)
			},
		},
		"everything": {
			public(dir, "server-everything"), "echo", `{"message":"hi"}`, "Echo: hi",
			"get-sum", `{"a":2,"b":3}`, "5", func() {},
		},
	} {
		t.Run(server, func(t *testing.T) {
			w := newWorld(t, reads(c.read), func(config *mcpgateway.Config) { config.Dial = c.dial })
			require.NoError(t, w.trust("up", server))
			r, err := w.review("up")
			require.NoError(t, err)
			require.Empty(t, r.Refused)
			read := w.call(w.bot, "up_"+c.read, c.readArguments)
			require.Equal(t, chattools.Done, read.Status, read.Text)
			require.Contains(t, string(read.Result), c.readResult)
			waits := w.call(w.bot, "up_"+c.write, c.arguments)
			require.Equal(t, chattools.NeedsApproval, waits.Status)
			done, err := w.approve(waits.Proposal)
			require.NoError(t, err)
			require.Contains(t, string(done.JSON), c.written)
			c.after()
			_, err = w.approve(waits.Proposal)
			require.Error(t, err) // once
		})
	}
}
