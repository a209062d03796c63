package mcpgateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// world is a gateway with an owner, two people with a model, and a directory.
type world struct {
	*mcpgateway.Gateway
	t      *testing.T
	config mcpgateway.Config
	book   *ledger.Memory
	people *authz.Memory
	owner  authz.Session
	bot    authz.Session // the model for olga
	other  authz.Session // the model for otto

	file string // that tells running servers to change their mode

	mu    sync.Mutex
	peers []mcpgateway.Peer
	cmds  []*exec.Cmd
}

var olga = authz.LoggedIn("olga")

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// readsByName is a host's rule: what is called read is one.
func readsByName(t mcpgateway.Tool) mcpgateway.Policy {
	if t.Name == "read" {
		return mcpgateway.Policy{Mode: authz.Read}
	}
	return mcpgateway.Policy{}
}

// newWorld opens a gateway whose servers are hostile programs: the address is the mode.
func newWorld(t *testing.T, change ...func(*mcpgateway.Config)) *world {
	w := &world{t: t, file: filepath.Join(t.TempDir(), "mode")}
	w.open(change...)
	t.Cleanup(func() {
		w.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range w.cmds {
			require.Eventually(t, func() bool {
				return c.Process == nil || errors.Is(c.Process.Signal(syscall.Signal(0)), os.ErrProcessDone)
			}, 10*time.Second, 10*time.Millisecond, "a server still runs")
		}
	})
	return w
}

// open opens the gateway.
func (w *world) open(change ...func(*mcpgateway.Config)) {
	w.book, w.people = new(ledger.Memory), new(authz.Memory)
	check(w.people.Set("home", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "otto", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
			{ID: "bot", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		},
	}))
	w.owner = must(authz.NewPersonSession("home", olga))
	w.bot = must(authz.NewSession("home", "bot", authz.For(olga)))
	w.other = must(authz.NewSession("home", "bot", authz.For(authz.LoggedIn("otto"))))
	keys := must(token.NewRing("test", must(token.NewKey("k1"))))
	w.config = mcpgateway.Config{
		Scope: "home", Store: new(mcpgateway.Memory), Rule: readsByName, Dial: w.dial,
		Build: func(actions []*registry.Action) (registry.Config, error) {
			return registry.Config{Actions: actions, Source: w.people, Ledger: w.book, Keys: keys}, nil
		},
		Limits: mcpgateway.Limits{Connect: 20 * time.Second, List: 20 * time.Second, Call: 20 * time.Second},
	}
	for _, f := range change {
		f(&w.config)
	}
	w.Gateway = must(mcpgateway.Open(context.Background(), w.config))
}

func (w *world) dial(_ context.Context, p mcpgateway.Peer) (mcp.Transport, error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "SALLYPORT_TEST_HOSTILE="+p.Address, "SALLYPORT_TEST_SWITCH="+w.file)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.peers, w.cmds = append(w.peers, p), append(w.cmds, c)
	return &mcp.CommandTransport{Command: c, TerminateDuration: 200 * time.Millisecond}, nil
}

// switchMode changes what running servers do.
func (w *world) switchMode(mode string) {
	require.NoError(w.t, os.WriteFile(w.file, []byte(mode), 0o600))
}

// publishing is a Dial to a server in this process that has the given tools.
func publishing(tools []wiretest.Tool) func(context.Context, mcpgateway.Peer) (mcp.Transport, error) {
	return func(ctx context.Context, _ mcpgateway.Peer) (mcp.Transport, error) {
		server := mcp.NewServer(&mcp.Implementation{Name: "saved", Version: "1"}, nil)
		for _, t := range tools {
			server.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}, nil)
		}
		here, there := mcp.NewInMemoryTransports()
		_, err := server.Connect(ctx, there, nil)
		return here, err
	}
}

// does performs an action as the owner.
func (w *world) does(action string, params any) (registry.Result, error) {
	return w.doesIn(w.t.Context(), action, params)
}

func (w *world) doesIn(ctx context.Context, action string, params any) (registry.Result, error) {
	text, ok := params.(string)
	if !ok {
		text = string(must(json.Marshal(params)))
	}
	return w.Desk().Registry().Invoke(ctx, registry.Call{Session: w.owner, Action: action, Params: []byte(text)})
}

// trust adds a server and accepts what it has.
func (w *world) trust(name, address string) error { return w.trustIn(w.t.Context(), name, address) }

func (w *world) trustIn(ctx context.Context, name, address string) error {
	if _, err := w.doesIn(ctx, "mcp_add_server", mcpgateway.Added{Name: name, Address: address}); err != nil {
		return err
	}
	return w.acceptIn(ctx, name)
}

func (w *world) accept(name string) error { return w.acceptIn(w.t.Context(), name) }

func (w *world) acceptIn(ctx context.Context, name string) error {
	r, err := w.reviewIn(ctx, name)
	if err == nil {
		_, err = w.doesIn(ctx, "mcp_accept_server", mcpgateway.Accepted{Name: name, Digest: r.Digest})
	}
	return err
}

func (w *world) review(name string) (mcpgateway.Review, error) {
	return w.reviewIn(w.t.Context(), name)
}

func (w *world) reviewIn(ctx context.Context, name string) (mcpgateway.Review, error) {
	r, err := w.doesIn(ctx, "mcp_review_server", mcpgateway.Named{Name: name})
	if err != nil {
		return mcpgateway.Review{}, err
	}
	return r.Value.(mcpgateway.Review), nil
}

// call is a call of the model.
func (w *world) call(s authz.Session, name, arguments string) chattools.Answer {
	return w.Gate().Call(w.t.Context(), s, chattools.Call{Name: name, Arguments: json.RawMessage(arguments)})
}

// approve opens and approves a proposal as its owner.
func (w *world) approve(id string) (registry.Result, error) {
	o, err := w.Desk().Open(w.t.Context(), "home", id, olga)
	if err == nil && o.Refusal != nil {
		err = o.Refusal
	}
	if err != nil {
		return registry.Result{}, err
	}
	return w.Desk().Approve(w.t.Context(), o.Redemption())
}

// names are the tools that the model sees.
func (w *world) names() (names []string) {
	for _, t := range must(w.Gate().Catalog(w.t.Context(), w.bot)) {
		names = append(names, t.Name)
	}
	return names
}
