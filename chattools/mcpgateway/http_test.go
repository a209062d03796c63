package mcpgateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
)

// web is an MCP server over HTTP that remembers what reached it.
type web struct {
	*httptest.Server
	tools *mcp.Server

	mu   sync.Mutex
	got  []http.Header
	args []string
}

func newWeb(t *testing.T, stateless bool) *web {
	w := new(web)
	server := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, &mcp.ServerOptions{
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs = 1 << 40 }, // for ever, says the server
	})
	w.tools = server
	for _, name := range []string{"read", "note"} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.args = append(w.args, string(r.Params.Arguments))
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}}, nil
		})
	}
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.got = append(w.got, r.Header.Clone())
		w.mu.Unlock()
		inner.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Server.Close)
	return w
}

// credentials puts a host's own key on, by principal.
type credentials struct{ key string }

func (c credentials) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.key)
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(c *mcpgateway.Config) {
	c.Dial = func(_ context.Context, p mcpgateway.Peer) (mcp.Transport, error) {
		principal, _ := p.Session.Principal()
		return &mcp.StreamableClientTransport{Endpoint: p.Address, HTTPClient: &http.Client{Transport: credentials{"key-of-" + string(principal)}}}, nil
	}
}

// TestHTTP: both kinds of server get the approved bytes, the host's credentials for the principal, the protocol's
// version, and nothing that came in with the call.
func TestHTTP(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{true, false} {
		t.Run(fmt.Sprint("stateless ", stateless), func(t *testing.T) {
			t.Parallel()
			web := newWeb(t, stateless)
			w := newWorld(t, overHTTP)
			require.NoError(t, w.trust("web", web.URL))
			web.got = nil
			var read chattools.Answer
			// The call comes in with a bearer token, in the context that the SDK makes of it.
			inbound := auth.RequireBearerToken(func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
				return &auth.TokenInfo{UserID: "olga", Expiration: time.Now().Add(time.Hour), Extra: map[string]any{"token": "inbound-secret"}}, nil
			}, nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				read = w.Gate().Call(r.Context(), w.bot, chattools.Call{Name: "web_read", Arguments: json.RawMessage(`{"id":9007199254740993}`)})
			}))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
			r.Header.Set("Authorization", "Bearer inbound-secret")
			inbound.ServeHTTP(httptest.NewRecorder(), r)
			require.Equal(t, chattools.Done, read.Status, read.Text)

			a := w.call(w.other, "web_note", `{"u":18446744073709551615,"a":"<"}`)
			require.Equal(t, chattools.NeedsApproval, a.Status)
			_, err := w.approve(a.Proposal)
			require.NoError(t, err)
			require.Equal(t, []string{`{"id":9007199254740993}`, `{"a":"<","u":18446744073709551615}`}, web.args)

			keys := map[string]bool{}
			for _, h := range web.got {
				require.NotContains(t, fmt.Sprint(h), "inbound-secret")
				keys[h.Get("Authorization")] = true
				if h.Get("Mcp-Session-Id") != "" {
					require.Equal(t, "2025-11-25", h.Get("Mcp-Protocol-Version"))
				}
			}
			require.Equal(t, map[string]bool{"Bearer key-of-olga": true, "Bearer key-of-otto": true}, keys)

			pulled := w.call(w.other, "web_note", `{}`)
			web.tools.AddTool(&mcp.Tool{Name: "note", Description: "Other.", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
			_, err = w.approve(pulled.Proposal)
			require.Equal(t, mcpgateway.Changed, reasonOf(err), "%v", err)
		})
	}
}

// TestHostileHTTP: answers that do not end, lead elsewhere or are no answers are refused.
func TestHostileHTTP(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("credentials went elsewhere") }))
	t.Cleanup(elsewhere.Close)
	for mode, c := range map[string]struct {
		serve http.HandlerFunc
		want  mcpgateway.Reason
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, mcpgateway.Unreachable},
		"not found": {http.NotFound, mcpgateway.Unreachable},
		"html": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<h1>Log in</h1>")
		}, mcpgateway.Unreachable},
		"endless answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}, mcpgateway.TooLarge},
		"endless events": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for {
				if _, err := io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"); err != nil {
					return
				}
			}
		}, mcpgateway.TooLarge},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.serve)
			t.Cleanup(server.Close)
			w := newWorld(t, overHTTP, func(c *mcpgateway.Config) { c.Limits.Message = 1 << 20 })
			err := w.trust("web", server.URL)
			require.Equal(t, c.want, reasonOf(err), "%v", err)
		})
	}
}
