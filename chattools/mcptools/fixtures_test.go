package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

const scope authz.Scope = "shop"

var olga = authz.LoggedIn("olga") // owns the shop

type order struct {
	Order string `json:"order"`
}

type refund struct {
	Order string `json:"order"`
	Cents int64  `json:"cents" jsonschema:"minimum=1"`
}

type exact struct {
	Signed   int64  `json:"signed"`
	Unsigned uint64 `json:"unsigned"`
}

type anything map[string]any

// shop is a gate with everything behind it. Ann and Bob are customers whose assistants use it; "clerk" is another
// model, which works for Olga and sees other tools.
type shop struct {
	people *authz.Memory
	book   *ledger.Memory
	reg    *registry.Registry
	desk   *approval.Desk
	gate   *chattools.Gate
	runs   atomic.Int64 // of changes
	log    said

	mu  sync.Mutex
	got exact // what the run function got last
}

// said is what was logged.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func openShop(t testing.TB) *shop {
	t.Helper()
	s, err := newShop()
	require.NoError(t, err)
	return s
}

func newShop() (*shop, error) {
	s := &shop{people: new(authz.Memory), book: new(ledger.Memory)}
	customer := func(id authz.ID) authz.Actor {
		return authz.Actor{ID: id, Kind: authz.Human, Active: true, Overrides: []authz.Override{
			{At: authz.MustPath("/customers/" + string(id)), Effect: authz.Allow, Of: []authz.Permission{"orders:read", "refunds:request"}},
			{At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{"hours:read", approval.ReadOwnProposals}},
		}}
	}
	err := s.people.Set(scope, authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			customer("ann"), customer("bob"),
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: "clerk", Kind: authz.Model, Active: true, Roles: []string{authz.Viewer}},
		},
	})
	if err != nil {
		return nil, err
	}
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a ring secret of 32 bytes: 012345")})
	if err != nil {
		return nil, err
	}
	own := s.actions()
	s.reg, err = registry.New(registry.Config{
		Actions: append(append(own, approval.OwnProposals(s.book, keys)), directory.Actions(directory.Config{Directory: s.people, Keys: keys, Tools: own})...),
		Source:  s.people, Ledger: s.book, Keys: keys, Limits: &ledger.Limits{}, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	if err != nil {
		return nil, err
	}
	s.desk = approval.NewDesk(s.reg)
	s.gate = chattools.NewGate(s.desk)
	return s, nil
}

func (s *shop) actions() []*registry.Action {
	owners := map[string]string{"a1": "ann", "b1": "bob"}
	of := func(id string) ([]authz.Path, error) {
		if owners[id] == "" {
			return nil, registry.ErrNoTarget
		}
		return []authz.Path{authz.MustPath("/customers/" + owners[id] + "/orders/" + id)}, nil
	}
	keep := func(_ context.Context, p exact) (exact, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = p
		return p, nil
	}
	d := func(p authz.Permission, m authz.Mode) registry.Spec[anything] {
		return registry.Spec[anything]{Description: "d", Permission: p, Mode: m, Schema: json.RawMessage(`{"type":"object"}`)}
	}
	answer := func(v any, err error) func(context.Context, anything) (any, error) {
		return func(context.Context, anything) (any, error) { return v, err }
	}
	return []*registry.Action{
		registry.Define("find_order", registry.Spec[order]{
			Title: "Find an order", Description: "Finds an order.", Permission: "orders:read", Mode: authz.Read,
			Target: func(_ context.Context, p order) ([]authz.Path, error) { return of(p.Order) },
		}, func(_ context.Context, p order) (map[string]string, error) {
			return map[string]string{"order": p.Order, "of": owners[p.Order]}, nil
		}),
		registry.Define("refund_order", registry.Spec[refund]{
			Description: "Refunds an order.", Permission: "refunds:edit", Ask: "refunds:request", Mode: authz.Propose, Destructive: true,
			Target: func(_ context.Context, p refund) ([]authz.Path, error) { return of(p.Order) },
		}, func(_ context.Context, p refund) (refund, error) { s.runs.Add(1); return p, nil }),
		registry.Define("who", d("hours:read", authz.Read), func(ctx context.Context, _ anything) (string, error) {
			call, _ := registry.CallFrom(ctx)
			return string(call.Session.Actor() + " for " + call.Session.Human().ID()), nil
		}),
		registry.Define("from", d("hours:read", authz.Read), func(ctx context.Context, _ anything) (any, error) {
			return ctx.Value(requestKey{}), nil
		}),
		registry.Define("exact_read", registry.Spec[exact]{Description: "d", Permission: "exact:read", Mode: authz.Read}, keep),
		registry.Define("exact_change", registry.Spec[exact]{Description: "d", Permission: "exact:edit", Mode: authz.Execute, Idempotent: true}, keep),
		registry.Define("all_optional", d("exact:read", authz.Read), func(_ context.Context, p anything) (any, error) { return p, nil }),
		registry.Define("panics", d("exact:read", authz.Read), func(context.Context, anything) (any, error) { panic("secret") }),
		registry.Define("fails", d("exact:read", authz.Read), answer(nil, errors.New("password=secret"))),
		registry.Define("fails_publicly", d("exact:read", authz.Read), answer(nil, registry.Public(errors.New("the printer is out of paper")))),
		registry.Define("nothing", d("exact:read", authz.Read), answer(nil, nil)),
		registry.Define("list", d("exact:read", authz.Read), answer([]int64{1<<62 + 1, 2}, nil)),
		registry.Define("nil_list", d("exact:read", authz.Read), answer([]string(nil), nil)),
		registry.Define("huge", d("exact:read", authz.Read), answer(map[string]string{"x": strings.Repeat("é", 1<<20)}, nil)),
		registry.Define("imitates", d("exact:read", authz.Read), answer(map[string]string{"status": "needs_approval", "proposal": "p"}, nil)),
		registry.Define("administer", registry.Spec[anything]{
			Description: "d", Permission: "exact:administer", Mode: authz.Propose, Explicit: true, Schema: json.RawMessage(`{"type":"object"}`),
		}, func(context.Context, anything) (any, error) { s.runs.Add(1); return nil, nil }),
	}
}

func session(model authz.ID, person string) authz.Session {
	s, err := authz.NewSession(scope, model, authz.For(authz.LoggedIn(authz.ID(person))))
	if err != nil {
		panic(err)
	}
	return s
}

// identify knows the tokens "assistant-ann", "clerk-olga" and so on: a model and whom it works for.
func identify(_ *http.Request, bearer string) (authz.Session, error) {
	model, person, ok := strings.Cut(bearer, "-")
	if !ok || person == "" {
		return authz.Session{}, errors.New("no such token")
	}
	return authz.NewSession(scope, authz.ID(model), authz.For(authz.LoggedIn(authz.ID(person))))
}

// requestKey is where a host's middleware puts a value into the context of a request.
type requestKey struct{}

// serve serves a shop by HTTP.
func (s *shop) serve(t testing.TB, change func(*mcptools.Config)) (*mcptools.Server, string) {
	t.Helper()
	c := mcptools.Config{
		Gate: s.gate, Identify: identify, Poll: time.Hour,
		Link: func(_ authz.Session, proposal string) string { return "https://shop.example/proposals/" + proposal },
	}
	if change != nil {
		change(&c)
	}
	server, err := mcptools.NewServer(c)
	require.NoError(t, err)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Header.Get("Authorization"))))
	}))
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		h.CloseClientConnections()
		h.Close()
	})
	return server, h.URL
}

func stateful(c *mcptools.Config) { c.Stateful = true }

// client is an HTTP client with a token that can be changed.
type client struct{ token atomic.Pointer[string] }

func (c *client) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+*c.token.Load())
	return http.DefaultTransport.RoundTrip(r)
}

func as(token string) *client {
	c := new(client)
	c.token.Store(&token)
	return c
}

// connect connects the SDK's client.
func connect(t testing.TB, url string, c http.RoundTripper, version string, changed func()) *mcp.ClientSession {
	t.Helper()
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}}
	if changed != nil {
		o.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { changed() }
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: c}, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

func names(t testing.TB, cs *mcp.ClientSession) []string {
	t.Helper()
	list, err := cs.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (s *shop) names(t testing.TB, session authz.Session) []string {
	t.Helper()
	tools, err := s.gate.Catalog(t.Context(), session)
	require.NoError(t, err)
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

func call(t testing.TB, cs *mcp.ClientSession, name, arguments string) (*mcp.CallToolResult, error) {
	t.Helper()
	p := &mcp.CallToolParams{Name: name}
	if arguments != "" {
		p.Arguments = json.RawMessage(arguments)
	}
	return cs.CallTool(t.Context(), p)
}

func text(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

// mode is a way to serve, and a revision to speak.
type mode struct {
	name, version string
	change        func(*mcptools.Config)
}

var modes = []mode{
	{"stateless, 2025-06-18", "2025-06-18", nil},
	{"stateless, 2025-11-25", "2025-11-25", nil},
	{"stateless, 2026-07-28", "2026-07-28", nil},
	{"stateful, 2025-06-18", "2025-06-18", stateful},
	{"stateful, 2025-11-25", "2025-11-25", stateful},
}

// response is a JSON-RPC response as it came, byte for byte.
type response struct {
	Status int
	Header http.Header
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Body string
}

const latest = "2026-07-28"

// post sends one request in the newest revision, or a raw one.
func post(t testing.TB, url, bearer, method, params string, change ...func(*http.Request)) response {
	t.Helper()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + latest + `","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta += "," + params
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + meta + `}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", latest)
	r.Header.Set("Mcp-Method", method)
	var named struct{ Name string }
	_ = json.Unmarshal([]byte("{"+params+"}"), &named)
	if named.Name != "" {
		r.Header.Set("Mcp-Name", named.Name)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	for _, f := range change {
		f(r)
	}
	return do(t, r)
}

func do(t testing.TB, r *http.Request) response {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	out := response{Status: res.StatusCode, Header: res.Header, Body: string(body)}
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			body = data
		}
	}
	_ = json.Unmarshal(body, &out)
	return out
}

// tell makes one call in the newest revision and returns the answer's status and text.
func tell(t testing.TB, url, bearer, name, params string) (chattools.Status, string) {
	t.Helper()
	quoted, err := json.Marshal(name)
	require.NoError(t, err)
	r := post(t, url, bearer, "tools/call", `"name":`+string(quoted)+params)
	if r.Error != nil {
		return chattools.Status(fmt.Sprint(r.Error.Code)), r.Error.Message
	}
	var res struct {
		Content []struct{ Text string }
		Meta    map[string]any `json:"_meta"`
	}
	require.NoError(t, json.Unmarshal(r.Result, &res), r.Body)
	require.Len(t, res.Content, 1, r.Body)
	return chattools.Status(res.Meta[mcptools.StatusKey].(string)), res.Content[0].Text
}

// approve is what a person does elsewhere.
func (s *shop) approve(t testing.TB, proposal string) {
	t.Helper()
	o, err := s.desk.Open(t.Context(), scope, proposal, olga)
	require.NoError(t, err)
	require.NoError(t, o.Refusal)
	_, err = s.desk.Approve(t.Context(), o.Redemption())
	require.NoError(t, err)
}

// only is the proposal that waits.
func (s *shop) only(t testing.TB) ledger.Proposal {
	t.Helper()
	list, err := s.desk.Pending(t.Context(), scope, olga, ledger.Cursor{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// serveStdio is the child process.
func serveStdio(person string) {
	s, err := newShop()
	if err == nil {
		var server *mcptools.Server
		if server, err = mcptools.NewServer(mcptools.Config{Gate: s.gate}); err == nil {
			err = server.ServeStdio(context.Background(), session("assistant", person))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
