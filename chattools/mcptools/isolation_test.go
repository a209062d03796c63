package mcptools_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
)

// Two identities at one address, in every mode and revision: each lists its own catalog and gets its own results,
// whoever came first, and what one may not see it cannot call.
func TestTwoIdentitiesInEveryMode(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			s := openShop(t)
			_, url := s.serve(t, m.change)
			ann := connect(t, url, as("assistant-ann"), m.version, nil)
			clerk := connect(t, url, as("clerk-olga"), m.version, nil)
			require.Equal(t, m.version, ann.InitializeResult().ProtocolVersion)
			for range 2 {
				require.Equal(t, s.names(t, session("assistant", "ann")), names(t, ann))
				require.Equal(t, s.names(t, session("clerk", "olga")), names(t, clerk))
			}
			require.Contains(t, names(t, ann), "refund_order")
			require.NotContains(t, names(t, clerk), "refund_order")

			for cs, want := range map[*mcp.ClientSession]string{ann: "assistant for ann", clerk: "clerk for olga"} {
				res, err := call(t, cs, "who", "")
				require.NoError(t, err)
				require.JSONEq(t, `"`+want+`"`, text(res))
			}
			res, err := call(t, ann, "refund_order", `{"order":"b1","cents":1}`)
			require.NoError(t, err)
			require.Equal(t, string(chattools.Forbidden), res.Meta["sallyport.dev/status"])

			_, hidden := call(t, clerk, "refund_order", `{"order":"a1","cents":1}`)
			_, absent := call(t, clerk, "no_such_tool", `{"order":"a1","cents":1}`)
			require.Error(t, hidden)
			require.Equal(t, absent.Error(), hidden.Error())
			require.Zero(t, s.runs.Load())
		})
	}
}

// A tool that is hidden and one that does not exist are the same, byte for byte and in the status of HTTP.
func TestT8_HiddenIsUnknown(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	hidden := post(t, url, "clerk-olga", "tools/call", `"name":"refund_order","arguments":{"order":"a1","cents":1}`)
	absent := post(t, url, "clerk-olga", "tools/call", `"name":"refund_orders","arguments":{"order":"a1","cents":1}`)
	require.Equal(t, absent.Body, hidden.Body)
	require.Equal(t, absent.Status, hidden.Status)
	require.Equal(t, -32602, hidden.Error.Code)
	require.Equal(t, "There is no such tool.", hidden.Error.Message)
	malformed := post(t, url, "clerk-olga", "tools/call", `"name":"refund_order","arguments":"x"`)
	require.Equal(t, absent.Body, malformed.Body, "before any argument is parsed")
}

// I1: the id of a session opens nothing for another user, and nobody opens one without being somebody.
func TestI1_SessionsBelongToTheirUser(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, stateful)
	c := as("assistant-ann")
	cs := connect(t, url, c, "2025-11-25", nil)
	require.NotEmpty(t, cs.ID())
	for _, other := range []string{"assistant-bob", "clerk-ann", "clerk-olga"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"who"}}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
		r.Header.Set("Mcp-Session-Id", cs.ID())
		r.Header.Set("Authorization", "Bearer "+other)
		res := do(t, r)
		require.Equal(t, http.StatusForbidden, res.Status, other)
		require.NotContains(t, res.Body, "ann", other)

		r.Method, r.Body, r.ContentLength = http.MethodDelete, nil, 0
		require.Equal(t, http.StatusForbidden, do(t, r).Status, other)
	}
	_, err := call(t, cs, "who", "")
	require.NoError(t, err, "it is still open")
}

func TestI1_NobodyIsLetIn(t *testing.T) {
	s := openShop(t)
	for _, m := range []mode{{"stateless", latest, nil}, {"stateful", "2025-11-25", stateful}} {
		_, url := s.serve(t, m.change)
		for name, change := range map[string]func(*http.Request){
			"no token":      func(r *http.Request) { r.Header.Del("Authorization") },
			"another kind":  func(r *http.Request) { r.Header.Set("Authorization", "Basic assistant-ann") },
			"an empty one":  func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") },
			"two tokens":    func(r *http.Request) { r.Header.Add("Authorization", "Bearer clerk-olga") },
			"unknown":       func(r *http.Request) { r.Header.Set("Authorization", "Bearer what") },
			"nobody's":      func(r *http.Request) { r.Header.Set("Authorization", "Bearer assistant-") },
			"in the url":    func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "access_token=assistant-ann" },
			"with GET":      func(r *http.Request) { r.Header.Del("Authorization"); r.Method = http.MethodGet },
			"with DELETE":   func(r *http.Request) { r.Header.Del("Authorization"); r.Method = http.MethodDelete },
			"in the params": func(r *http.Request) { r.Header.Set("Authorization", "Bearer x"); r.Header.Set("Mcp-Session-Id", "1") },
		} {
			res := post(t, url, "assistant-ann", "tools/list", "", change)
			require.Equal(t, http.StatusUnauthorized, res.Status, "%s, %s", m.name, name)
			require.Equal(t, "unauthorized\n", res.Body)
			require.Equal(t, "Bearer", res.Header.Get("WWW-Authenticate"))
		}
	}
}

// I2: within one session every call is judged by its own token and by the rights of that moment.
func TestI2_EachCallIsJudgedByItself(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, func(c *mcptools.Config) { c.Stateful, c.Identify = true, narrowing })
	c := as("assistant-ann")
	cs := connect(t, url, c, "2025-11-25", nil)
	require.Contains(t, names(t, cs), "find_order")

	narrow := "narrow:assistant-ann"
	c.token.Store(&narrow)
	require.Equal(t, []string{"who"}, names(t, cs))
	_, err := call(t, cs, "find_order", `{"order":"a1"}`)
	require.Error(t, err)

	wide := "assistant-ann"
	c.token.Store(&wide)
	res, err := call(t, cs, "find_order", `{"order":"a1"}`)
	require.NoError(t, err)
	require.False(t, res.IsError)
	res, err = call(t, cs, "from", "")
	require.NoError(t, err)
	require.Equal(t, "null", text(res), "no value of the request that opened the session")

	require.NoError(t, s.people.Edit(t.Context(), scope, func(f *authz.Facts) error {
		for i := range f.Actors {
			if f.Actors[i].ID == "assistant" {
				f.Actors[i].Active = false
			}
		}
		return nil
	}))
	_, err = call(t, cs, "find_order", `{"order":"a1"}`)
	var wire *jsonrpc.Error
	require.ErrorAs(t, err, &wire)
	require.Equal(t, "There is no such tool.", wire.Message)
	require.Empty(t, names(t, cs))
}

// I4: fifty clients at once, each with an identity of its own, each with its own answers.
func TestI4_AnswersReachWhoAsked(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			s := openShop(t)
			require.NoError(t, s.people.Edit(t.Context(), scope, func(f *authz.Facts) error {
				for i := range 50 {
					f.Actors = append(f.Actors, authz.Actor{ID: authz.ID(fmt.Sprintf("p%d", i)), Kind: authz.Human, Active: true, Roles: []string{authz.Viewer}})
				}
				return nil
			}))
			_, url := s.serve(t, m.change)
			var wg sync.WaitGroup
			for i := range 50 {
				person := fmt.Sprintf("p%d", i)
				cs := connect(t, url, as("assistant-"+person), m.version, nil)
				wg.Go(func() {
					for range 4 {
						res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "who"})
						if err != nil || text(res) != `"assistant for `+person+`"` {
							t.Errorf("%s got %v, %v", person, res, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// I6, C1: there is one page, it is private in every revision and on the level of HTTP, and what one identity
// listed is no other's.
func TestC1_ListsArePrivate(t *testing.T) {
	s := openShop(t)
	for _, m := range modes {
		_, url := s.serve(t, m.change)
		cs := connect(t, url, as("assistant-ann"), m.version, nil)
		list, err := cs.ListTools(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, "private", list.CacheScope, m.name)
		require.Zero(t, list.TTLMs, m.name)
		require.Empty(t, list.NextCursor, m.name)
		_, err = cs.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "x"})
		require.ErrorContains(t, err, "cursor", m.name)
	}
	_, url := s.serve(t, nil)
	for _, method := range []string{"tools/list", "server/discover", "resources/list", "prompts/list"} {
		res := post(t, url, "assistant-ann", method, "")
		require.Contains(t, string(res.Result), `"cacheScope":"private"`, method)
		require.Contains(t, res.Header.Get("Cache-Control"), "no-store", method)
	}
	first := post(t, url, "assistant-ann", "tools/list", "")
	require.NotContains(t, first.Body, "nextCursor", "C7: an empty cursor would be one")
	require.Equal(t, first.Body, post(t, url, "assistant-ann", "tools/list", "").Body, "the order is stable")
	require.Contains(t, post(t, url, "", "tools/list", "").Header.Get("Cache-Control"), "no-store")
}

// A local client has the identity that the host chose. There is no request to take one from.
func TestStdioHasOneIdentity(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, version := range []string{"2025-06-18", "2025-11-25", latest} {
		for _, person := range []string{"ann", "bob"} {
			command := exec.CommandContext(t.Context(), self)
			command.Env = append(os.Environ(), "MCPTOOLS_SERVE_STDIO="+person)
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			require.Contains(t, names(t, cs), "refund_order")
			res, err := call(t, cs, "who", "")
			require.NoError(t, err)
			require.Equal(t, `"assistant for `+person+`"`, text(res))
			res, err = call(t, cs, "refund_order", `{"order":"`+person[:1]+`1","cents":5}`)
			require.NoError(t, err)
			require.Equal(t, string(chattools.NeedsApproval), res.Meta["sallyport.dev/status"])
			require.NoError(t, cs.Close())
		}
	}
}

// What each action says about itself becomes its annotations, all four of them.
func TestC5_AnnotationsAreExplicit(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	var list struct {
		Tools []struct {
			Name         string
			Title        string
			Annotations  map[string]any
			InputSchema  json.RawMessage
			OutputSchema json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(post(t, url, "assistant-olga", "tools/list", "").Result, &list))
	hints := map[string][4]any{}
	for _, tool := range list.Tools {
		a := tool.Annotations
		hints[tool.Name] = [4]any{a["readOnlyHint"], a["destructiveHint"], a["idempotentHint"], a["openWorldHint"]}
		require.Nil(t, tool.OutputSchema, tool.Name)
		require.Equal(t, tool.Title, a["title"], tool.Name)
		require.True(t, strings.HasPrefix(string(tool.InputSchema), "{"))
	}
	require.Equal(t, [4]any{true, false, false, true}, hints["find_order"])
	require.Equal(t, [4]any{false, true, false, true}, hints["refund_order"])
	require.Equal(t, [4]any{false, false, true, true}, hints["exact_change"])
}

// TestManyStrangers: a flood of requests that are not let in is no flood of lines in the log, and all are counted.
func TestManyStrangers(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	_, url := s.serve(t, nil)
	const all = 128
	for range all {
		require.Equal(t, http.StatusUnauthorized, post(t, url, "", "tools/list", "").Status)
	}
	lines := strings.Count(s.log.String(), "not let in")
	require.Greater(t, lines, 4)
	require.Less(t, lines, all/4)
	require.Contains(t, s.log.String(), "times=2\n")
}
