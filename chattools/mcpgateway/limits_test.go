package mcpgateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
)

// TestConnectionsAreCountedUntilTheyAreClosed: one that was given up and still waits for a call takes its place of the limit.
func TestConnectionsAreCountedUntilTheyAreClosed(t *testing.T) {
	t.Parallel()
	called, hang := make(chan struct{}, 9), make(chan struct{})
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called <- struct{}{}
		<-hang
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}}, nil
	})
	var dialed atomic.Int64
	w := newWorld(t, func(c *mcpgateway.Config) {
		c.Shared = func(string) bool { return true }
		c.Limits.Connections, c.Limits.Connect, c.Limits.Call = 1, time.Second, time.Hour
		c.Dial = func(ctx context.Context, _ mcpgateway.Peer) (mcp.Transport, error) {
			dialed.Add(1)
			here, there := mcp.NewInMemoryTransports()
			_, err := server.Connect(ctx, there, nil)
			return here, err
		}
	})
	require.NoError(t, w.trust("up", "x"))
	first := make(chan chattools.Answer, 1)
	go func() { first <- w.call(w.bot, "up_read", `{}`) }()
	<-called
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-called; cancel() }()
	a := w.Gate().Call(ctx, w.other, chattools.Call{Name: "up_read", Arguments: []byte(`{}`)}) // gives the connection up
	require.Equal(t, chattools.Failed, a.Status)
	require.Equal(t, chattools.Failed, w.call(w.other, "up_read", `{}`).Status, "there is no place for another")
	require.EqualValues(t, 1, dialed.Load())
	close(hang)
	require.Equal(t, chattools.Done, (<-first).Status, "who gave up took nobody's call away")
	require.Equal(t, chattools.Done, w.call(w.other, "up_read", `{}`).Status)
	require.EqualValues(t, 2, dialed.Load())
}

// TestCloseFailsWhatIsUnderWay: also a call over HTTP, which no end of a connection would stop.
func TestCloseFailsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	web := newWeb(t, false)
	called, hang := make(chan struct{}), make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			close(called)
			<-hang
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		web.Config.Handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(func() { close(hang) })
	w := newWorld(t, overHTTP, func(c *mcpgateway.Config) { c.Limits.Call = time.Hour })
	require.NoError(t, w.trust("web", front.URL))
	done := make(chan chattools.Answer, 1)
	go func() { done <- w.call(w.bot, "web_read", `{}`) }()
	<-called
	w.Close()
	select {
	case a := <-done:
		require.Equal(t, chattools.Failed, a.Status)
	case <-time.After(20 * time.Second):
		t.Fatal("the call goes on")
	}
}
