package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawKey is where a result that the SDK decodes carries its own text. The SDK's types would round numbers,
// forget which hints are absent, and fail a whole call over one unknown kind of content.
const rawKey = "sallyport/raw"

// headerKey marks a parameter that a call over HTTP repeats in a header.
const headerKey = "x-mcp-header"

// wire is a transport that hands on answers and nothing else of what a server sends.
type wire struct {
	mcp.Transport
	below    mcp.Connection // set by Connect
	limit    int            // bytes of an answer over HTTP
	tools    int            // of a page that are looked at
	stale    atomic.Bool    // the server says that its tools have changed
	oversize atomic.Bool    // an answer was larger than the limit
	version  atomic.Value   // string: the protocol that was agreed on in a handshake
}

// harden returns the wire over a host's transport.
func harden(t mcp.Transport, limits Limits) *wire {
	w := &wire{Transport: t, limit: limits.Message, tools: limits.Tools}
	switch t := t.(type) {
	case *mcp.StreamableClientTransport:
		c := *t
		client := http.Client{}
		if t.HTTPClient != nil {
			client = *t.HTTPClient
		}
		if client.Transport == nil {
			client.Transport = http.DefaultTransport
		}
		client.Transport = &bounded{client.Transport, w}
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // credentials are for this address
		c.HTTPClient, c.MaxRetries, c.MaxEventSize, c.DisableStandaloneSSE = &client, -1, w.limit, true
		w.Transport = &c
	case *mcp.CommandTransport:
		c := *t
		if c.TerminateDuration <= 0 {
			c.TerminateDuration = time.Second
		}
		w.Transport = &c
	}
	return w
}

// Connect connects the transport below.
func (w *wire) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w.below = c
	return &frames{Connection: c, wire: w, asked: map[jsonrpc.ID]string{}}, nil
}

// frames is a connection of a wire.
type frames struct {
	mcp.Connection
	wire *wire

	mu    sync.Mutex
	asked map[jsonrpc.ID]string // methods of requests that wait for their answer
}

// Write notes what is asked for.
func (f *frames) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		f.mu.Lock()
		f.asked[r.ID] = r.Method
		f.mu.Unlock()
	}
	return f.Connection.Write(ctx, m)
}

// Read returns the next answer to something that was asked for. What the server asks for is answered here, before anything
// more is read: the SDK would keep what a server that does not listen goes on asking.
func (f *frames) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := f.Connection.Read(ctx)
		if err != nil {
			if strings.Contains(err.Error(), "maximum line length") { // the SDK's error has no other mark
				f.wire.oversize.Store(true)
			}
			return nil, err
		}
		switch m := m.(type) {
		case *jsonrpc.Response:
			if f.answered(m) {
				return m, nil
			}
		case *jsonrpc.Request:
			switch {
			case m.Method == "notifications/tools/list_changed":
				f.wire.stale.Store(true)
			case m.IsCall():
				answer := &jsonrpc.Response{ID: m.ID, Result: json.RawMessage("{}")}
				if m.Method != "ping" {
					answer = &jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "not offered"}}
				}
				if err := f.Connection.Write(ctx, answer); err != nil {
					return nil, err
				}
			}
		}
	}
}

// answered makes the answer to a request fit for the SDK, or reports that there is no such request.
func (f *frames) answered(r *jsonrpc.Response) bool {
	f.mu.Lock()
	method, ok := f.asked[r.ID]
	delete(f.asked, r.ID)
	f.mu.Unlock()
	if !ok || r.Error != nil {
		return ok
	}
	switch method {
	case "initialize":
		var agreed struct {
			ProtocolVersion string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Result, &agreed) == nil {
			f.wire.version.Store(agreed.ProtocolVersion)
		}
	case "tools/list":
		r.Result = carry(r.Result, map[string]any{"tools": headed(r.Result, f.wire.tools), "ttlMs": 0, "cacheScope": "private"})
	case "tools/call":
		r.Result = carry(r.Result, map[string]any{"content": []any{}})
	}
	return true
}

// carry returns a harmless result with the text of the real one.
func carry(raw json.RawMessage, result map[string]any) json.RawMessage {
	result["_meta"] = map[string]any{rawKey: strings.ToValidUTF8(string(raw), "\uFFFD")}
	text, err := json.Marshal(result)
	if err != nil {
		return json.RawMessage("null") // cannot be: nothing in it has no JSON form
	}
	return text
}

// headed returns the tools of a page that the SDK has to know, because calls of them repeat parameters in
// headers.
func headed(text json.RawMessage, limit int) []*mcp.Tool {
	var p page
	tools := []*mcp.Tool{}
	if json.Unmarshal(text, &p) != nil {
		return tools
	}
	raw, err := elements(p.Tools, limit)
	if err != nil {
		return tools
	}
	for _, text := range raw {
		var t struct {
			Name        string `json:"name"`
			InputSchema any    `json:"inputSchema"`
		}
		if strings.Contains(string(text), headerKey) && json.Unmarshal(text, &t) == nil && t.InputSchema != nil {
			tools = append(tools, &mcp.Tool{Name: t.Name, InputSchema: t.InputSchema})
		}
	}
	return tools
}

// rawOf takes the text of a result out of what the SDK made of it.
func rawOf(m mcp.Meta) json.RawMessage {
	text, _ := m[rawKey].(string)
	return json.RawMessage(text)
}

// bounded is a round tripper that reads no answer beyond the limit.
type bounded struct {
	http.RoundTripper
	wire *wire
}

// RoundTrip names the agreed protocol, as revisions with a handshake want it.
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if version, ok := b.wire.version.Load().(string); ok && r.Header.Get("Mcp-Protocol-Version") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("Mcp-Protocol-Version", version)
	}
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = &body{res.Body, b.wire, b.wire.limit}
	}
	return res, err
}

type body struct {
	io.ReadCloser
	wire *wire
	left int
}

var errOversize = errors.New("an answer is larger than the limit")

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		b.wire.oversize.Store(true)
		return 0, errOversize
	}
	return n, err
}
