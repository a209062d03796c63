package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// TestMain is the program itself where a test runs it as a child.
func TestMain(m *testing.M) {
	if args := os.Getenv("MCPSERVER_ARGS"); args != "" {
		os.Args = append(os.Args[:1], strings.Split(args, " ")...)
		main()
		return
	}
	os.Exit(m.Run())
}

const (
	isabella = "isabella_lopez_6490"
	aarav    = "aarav_anderson_8794"
)

// payment asks to pay Isabella's order with another card. The SDK writes to what it sends.
func payment() *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "modify_pending_order_payment", Arguments: map[string]any{
		"order_id": "#W4923227", "payment_method_id": "credit_card_8897086",
	}}
}

// log collects what the program says.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// find waits until the log has a line with a word, and returns what follows it.
func (l *log) find(t *testing.T, word string) string {
	t.Helper()
	var found string
	require.Eventually(t, func() bool {
		_, rest, ok := strings.Cut(l.String(), word)
		line, _, whole := strings.Cut(rest, "\n")
		found = line
		return ok && whole
	}, 20*time.Second, time.Millisecond)
	return found
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func client(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

// walk is what a customer's model and a member of staff do: ask, wait, approve, look, and approve no more.
func walk(t *testing.T, cs *mcp.ClientSession, staff func(args ...string) (string, error)) {
	t.Helper()
	call := func(p *mcp.CallToolParams) (string, bool) {
		res, err := cs.CallTool(t.Context(), p)
		require.NoError(t, err)
		return res.Content[0].(*mcp.TextContent).Text, res.IsError
	}
	out, err := staff("pending")
	require.NoError(t, err)
	require.Equal(t, "0 waiting\n", out)
	text, failed := call(payment())
	require.False(t, failed)
	out, err = staff("pending")
	require.NoError(t, err)
	id, sentence, _ := strings.Cut(out, "  ")
	require.Equal(t, "Pay order \"#W4923227\" with \"credit_card_8897086\" instead.\n1 waiting\n", sentence)
	require.Contains(t, text, id)
	again, _ := call(payment())
	require.Equal(t, text, again)

	out, err = staff("show", id)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(out, "hash        ")
	hash, _, _ := strings.Cut(rest, "\n")
	out, err = staff("approve", id, hash)
	require.NoError(t, err)
	require.Contains(t, out, "Approved.")
	status, _ := call(&mcp.CallToolParams{Name: "proposal_status", Arguments: map[string]any{"proposal": id}})
	require.Contains(t, status, `"status":"done"`)
	_, err = staff("approve", id, hash)
	require.ErrorContains(t, err, "spent")
}

func TestByHTTP(t *testing.T) {
	for _, mode := range []string{"-stateful=false", "-stateful=true"} {
		file := filepath.Join(t.TempDir(), "operator.json")
		ctx, stop := context.WithCancel(t.Context())
		said, done := new(log), make(chan error, 1)
		go func() {
			done <- run(ctx, []string{mode, "-http", "127.0.0.1:0", "-operator", file, "-token", isabella + "=hers", "-token", aarav + "=his"}, io.Discard, said)
		}()
		url := said.find(t, "serving ")
		hers := client(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer("hers")}})
		his := client(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer("his")}})
		res, err := his.CallTool(t.Context(), payment())
		require.NoError(t, err)
		require.True(t, res.IsError, "the order is not his")
		walk(t, hers, func(args ...string) (string, error) {
			var out bytes.Buffer
			err := run(t.Context(), append([]string{"-operator", file}, args...), &out, io.Discard)
			return out.String(), err
		})
		_, err = mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
		require.Error(t, err, "without a token")
		require.NoError(t, hers.Close())
		require.NoError(t, his.Close())
		stop()
		require.ErrorIs(t, <-done, context.Canceled)
		require.NoFileExists(t, file)
		require.NotContains(t, said.String(), "hers")
	}
}

func TestByStandardInput(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "operator.json")
	child := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), "MCPSERVER_ARGS="+strings.Join(append([]string{"-operator", file}, args...), " "))
		return c
	}
	cs := client(t, &mcp.CommandTransport{Command: child("-customer", isabella)})
	walk(t, cs, func(args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append([]string{"-operator", file}, args...), &out, io.Discard)
		return out.String(), err
	})
	text, err := child("pending").Output()
	require.NoError(t, err)
	require.Equal(t, "0 waiting\n", string(text))
	require.NoError(t, cs.Close())
	require.NoFileExists(t, file)
}

func TestATokenIsMade(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	said, done := new(log), make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-http", "127.0.0.1:0", "-operator", filepath.Join(t.TempDir(), "o.json"), "-customer", aarav}, io.Discard, said)
	}()
	token, url := said.find(t, "the token of "+aarav+" is "), said.find(t, "serving ")
	cs := client(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}})
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_user_details", Arguments: map[string]any{"user_id": aarav}})
	require.NoError(t, err)
	require.False(t, res.IsError)
	require.NoError(t, cs.Close())
	stop()
	require.ErrorIs(t, <-done, context.Canceled)
}

func TestArgumentsThatAreNone(t *testing.T) {
	for _, args := range [][]string{{"-what"}, {"-token", "x"}, {"-operator", "/no/such/file", "pending"}, {"-operator", "/no/such/file", "serve"}} {
		require.Error(t, run(t.Context(), args, io.Discard, io.Discard), args)
	}
}
