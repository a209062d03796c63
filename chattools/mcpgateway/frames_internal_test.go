package mcpgateway

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// tape is a connection that plays what a server sends, and keeps what it is sent.
type tape struct{ in, out []jsonrpc.Message }

func (c *tape) Read(context.Context) (jsonrpc.Message, error) {
	if len(c.in) == 0 {
		return nil, io.EOF
	}
	m := c.in[0]
	c.in = c.in[1:]
	return m, nil
}

func (c *tape) Write(_ context.Context, m jsonrpc.Message) error {
	c.out = append(c.out, m)
	return nil
}

func (c *tape) Close() error      { return nil }
func (c *tape) SessionID() string { return "" }

// TestServersQuestionsAreAnsweredAtOnce: the SDK, which would queue them without end, sees none.
func TestServersQuestionsAreAnsweredAtOnce(t *testing.T) {
	id := func(v any) jsonrpc.ID {
		id, err := jsonrpc.MakeID(v)
		require.NoError(t, err)
		return id
	}
	answer := &jsonrpc.Response{ID: id("1"), Result: json.RawMessage(`{}`)}
	c := &tape{in: []jsonrpc.Message{
		&jsonrpc.Request{ID: id("a"), Method: "ping"}, &jsonrpc.Request{ID: id("b"), Method: "roots/list"},
		&jsonrpc.Request{Method: "notifications/message"}, &jsonrpc.Response{ID: id("2")}, answer,
	}}
	f := &frames{Connection: c, wire: harden(nil, Limits{}.withDefaults()), asked: map[jsonrpc.ID]string{}}
	require.NoError(t, f.Write(t.Context(), &jsonrpc.Request{ID: id("1"), Method: "x"}))
	m, err := f.Read(t.Context())
	require.NoError(t, err)
	require.Same(t, answer, m)
	require.Len(t, c.out, 3)
	require.Equal(t, &jsonrpc.Response{ID: id("a"), Result: json.RawMessage("{}")}, c.out[1])
	require.Equal(t, id("b"), c.out[2].(*jsonrpc.Response).ID)
	require.Error(t, c.out[2].(*jsonrpc.Response).Error)
}

// TestElements: of a list that is too long no more is read than shows it.
func TestElements(t *testing.T) {
	list, err := elements(json.RawMessage(`[1, {"a":[2]}, "x"]`), 3)
	require.NoError(t, err)
	require.Equal(t, []json.RawMessage{json.RawMessage(`1`), json.RawMessage(`{"a":[2]}`), json.RawMessage(`"x"`)}, list)
	many := json.RawMessage("[1" + strings.Repeat(",1", 1<<20) + "]")
	list, err = elements(many, 3)
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.Empty(t, headed(json.RawMessage(`{"tools":`+string(many)+`}`), 3))
	for _, bad := range []string{"", "null", "{}", `"x"`, "[x]"} {
		_, err := elements(json.RawMessage(bad), 3)
		require.Error(t, err, bad)
	}
}

// TestCallers: whose connection is whose.
func TestCallers(t *testing.T) {
	g := new(Gateway)
	olga, err := authz.NewSession("home", "bot", authz.For(authz.LoggedIn("olga")))
	require.NoError(t, err)
	sam, err := authz.NewSession("home", "bot", authz.For(authz.LoggedIn("sam")))
	require.NoError(t, err)
	background, err := authz.NewSession("home", "bot", authz.Background())
	require.NoError(t, err)
	other, err := authz.NewSession("home", "helper", authz.For(authz.LoggedIn("olga")))
	require.NoError(t, err)
	back, err := other.Delegate("bot")
	require.NoError(t, err)
	seen := map[caller]bool{}
	for _, s := range []authz.Session{olga, sam, background, other, back, olga.WithRun("another")} {
		c, who := g.callerOf(Server{Name: "files", Address: "x"}, s)
		require.Equal(t, s, who)
		seen[c] = true
	}
	require.Len(t, seen, 5, "a run makes no difference")
	g.Shared = func(string) bool { return true }
	a, who := g.callerOf(Server{Name: "files"}, olga)
	b, _ := g.callerOf(Server{Name: "files"}, sam)
	require.Equal(t, a, b)
	require.True(t, who.IsZero())
}

var _ mcp.Connection = (*tape)(nil)
