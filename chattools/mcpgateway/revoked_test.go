package mcpgateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
)

// TestRemovedAtOnce: what an owner removed runs no more, also for whoever still holds the gate or the desk of the
// registry before.
func TestRemovedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.trust("up", "plain"))
	gate, desk := w.Gate(), w.Desk()
	waits := w.call(w.bot, "up_note", `{"text":"x"}`)
	_, err := w.does("mcp_remove_server", mcpgateway.Named{Name: "up"})
	require.NoError(t, err)

	a := gate.Call(t.Context(), w.bot, chattools.Call{Name: "up_read", Arguments: json.RawMessage(`{}`)})
	require.Equal(t, chattools.Failed, a.Status)
	require.Equal(t, "The server no longer has this tool. Nothing was run.", a.Text)
	o, err := desk.Open(t.Context(), "home", waits.Proposal, olga)
	require.NoError(t, err)
	_, err = desk.Approve(t.Context(), o.Redemption())
	require.Equal(t, mcpgateway.Gone, reasonOf(err), "%v", err)
}

// TestRemovedElsewhere: what an owner removed in one process runs in no other: no change at all, and no read once
// the last look is too old.
func TestRemovedElsewhere(t *testing.T) {
	t.Parallel()
	store := new(mcpgateway.Memory)
	kept := func(c *mcpgateway.Config) { c.Store = store }
	a := newWorld(t, kept)
	require.NoError(t, a.trust("up", "plain"))
	b := newWorld(t, kept)
	soon := newWorld(t, kept, func(c *mcpgateway.Config) { c.Limits.Fresh = time.Nanosecond })
	require.Equal(t, chattools.Done, soon.call(soon.bot, "up_read", `{}`).Status)
	waits := b.call(b.bot, "up_note", `{"text":"x"}`)
	_, err := a.does("mcp_remove_server", mcpgateway.Named{Name: "up"})
	require.NoError(t, err)

	require.Equal(t, chattools.Failed, soon.call(soon.bot, "up_read", `{}`).Status)
	require.Empty(t, soon.names())
	o, err := b.Desk().Open(t.Context(), "home", waits.Proposal, olga)
	require.NoError(t, err)
	_, err = b.Desk().Approve(t.Context(), o.Redemption())
	require.Equal(t, mcpgateway.Gone, reasonOf(err), "%v", err)
	require.Empty(t, b.names())
}

// lapsing is a store that can be away.
type lapsing struct {
	mcpgateway.Memory
	away atomic.Bool
}

func (l *lapsing) Load(ctx context.Context, scope authz.Scope) (mcpgateway.Pins, error) {
	if l.away.Load() {
		return mcpgateway.Pins{}, errors.New("no disk")
	}
	return l.Memory.Load(ctx, scope)
}

// TestNoStoreNoChange: where nobody can tell what is accepted, nothing is changed.
func TestNoStoreNoChange(t *testing.T) {
	t.Parallel()
	store := new(lapsing)
	w := newWorld(t, func(c *mcpgateway.Config) { c.Store = store })
	require.NoError(t, w.trust("up", "plain"))
	store.away.Store(true)
	_, err := w.does("up_note", `{}`)
	require.ErrorContains(t, err, "no disk")
	store.away.Store(false)
	_, err = w.does("up_note", `{}`)
	require.NoError(t, err)
}

// TestServerThatDiedMeanwhile: a connection that broke while nobody used it costs no approval, since nothing was sent by it;
// and where the server does not come back, nothing was run.
func TestServerThatDiedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *mcpgateway.Config) { c.Limits.Connect = 5 * time.Second })
	require.NoError(t, w.trust("up", "plain"))
	kill := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range w.cmds {
			_ = c.Process.Kill() // those that ended before are no matter
		}
	}
	for range 3 {
		waits := w.call(w.bot, "up_note", `{"text":"x"}`)
		kill()
		_, err := w.approve(waits.Proposal)
		require.NoError(t, err)
	}
	w.switchMode("mute at initialize")
	waits := w.call(w.bot, "up_note", `{"text":"x"}`)
	kill()
	_, err := w.approve(waits.Proposal)
	require.Equal(t, mcpgateway.Unreachable, reasonOf(err), "%v", err)
}

// TestAcceptedElsewhere: a tool that changed and was accepted by another process is no longer out.
func TestAcceptedElsewhere(t *testing.T) {
	t.Parallel()
	store := new(mcpgateway.Memory)
	kept := func(c *mcpgateway.Config) { c.Store = store }
	a := newWorld(t, kept)
	require.NoError(t, a.trust("up", "plain"))
	b := newWorld(t, kept)
	a.switchMode("rug pulled")
	b.switchMode("rug pulled")
	_, err := b.does("up_note", `{}`)
	require.Equal(t, mcpgateway.Changed, reasonOf(err), "%v", err)
	require.NoError(t, b.trust("two", "plain"))
	require.NotContains(t, b.names(), "up_note", "another server is no reason")
	_, err = a.does("mcp_remove_server", mcpgateway.Named{Name: "up"})
	require.ErrorContains(t, err, "look again")
	require.NoError(t, a.accept("up"))
	_, err = b.does("two_note", `{}`)
	require.NoError(t, err)
	require.Contains(t, b.names(), "up_note")
}

// TestAcceptedMeanwhile: a call that began before an owner accepted what the tool is now does not take it out again.
func TestAcceptedMeanwhile(t *testing.T) {
	t.Parallel()
	var slow atomic.Bool
	asked, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	tool := func(description string) {
		server.AddTool(&mcp.Tool{Name: "note", Description: description, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	}
	tool("Old.")
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" && slow.Load() {
				once.Do(func() { close(asked); <-goOn })
			}
			return next(ctx, method, r)
		}
	})
	w := newWorld(t, func(c *mcpgateway.Config) {
		c.Dial = func(ctx context.Context, _ mcpgateway.Peer) (mcp.Transport, error) {
			here, there := mcp.NewInMemoryTransports()
			_, err := server.Connect(ctx, there, nil)
			return here, err
		}
	})
	require.NoError(t, w.trust("up", "x"))
	waits := w.call(w.bot, "up_note", `{}`)
	slow.Store(true)
	done := make(chan error, 1)
	go func() {
		_, err := w.approve(waits.Proposal)
		done <- err
	}()
	<-asked
	slow.Store(false)
	tool("New.")
	require.NoError(t, w.accept("up")) // on the owner's own connection
	close(goOn)
	require.Equal(t, mcpgateway.Changed, reasonOf(<-done))
	require.Equal(t, []string{"up_note"}, w.names())
}
