package mcptools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// bell counts what a client is told.
type bell chan struct{}

func (b bell) ring() { b <- struct{}{} }

// once waits until the client was told, and fails if it was told more often meanwhile than max times.
func (b bell) once(t *testing.T, who string) {
	t.Helper()
	select {
	case <-b:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s was not told", who)
	}
}

// begin waits until a subscription is there. A client that has one is told to look, since it may have listed before.
func (b bell) begin(t *testing.T, version string) {
	t.Helper()
	if version == latest {
		b.once(t, "a new subscriber")
	}
}

func (b bell) silent(t *testing.T, who string) {
	t.Helper()
	require.Empty(t, b, "%s was told of what is not theirs", who)
}

// invoke changes something as Olga, who owns the shop.
func (s *shop) invoke(t *testing.T, action, params string) {
	t.Helper()
	owner, err := authz.NewPersonSession(scope, olga)
	require.NoError(t, err)
	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: owner, Action: action, Params: []byte(params)})
	require.NoError(t, err)
}

var listening = []mode{
	{"a session that is kept", "2025-11-25", stateful},
	{"a subscription", latest, nil},
}

// C2: clients that listen are told when settings, grants, roles or the gate change their own tools, and only then.
// A client that was told nothing holds an old list, and its call is refused.
func TestC2_ListenersAreTold(t *testing.T) {
	for _, m := range listening {
		t.Run(m.name, func(t *testing.T) {
			s := openShop(t)
			server, url := s.serve(t, m.change)
			hers, his := make(bell, 100), make(bell, 100)
			ann := connect(t, url, as("assistant-ann"), m.version, hers.ring)
			clerk := connect(t, url, as("clerk-olga"), m.version, his.ring)
			hers.begin(t, m.version)
			his.begin(t, m.version)
			require.True(t, ann.InitializeResult().Capabilities.Tools.ListChanged)
			require.Contains(t, names(t, ann), "who")

			s.invoke(t, "directory_set_grant", `{"model":"assistant","tool":"who","effect":"deny"}`)
			_, err := call(t, ann, "who", "")
			require.Error(t, err, "whatever it was shown")
			hers.once(t, "ann")
			require.NotContains(t, names(t, ann), "who")

			s.invoke(t, "directory_set_roles", `{"id":"clerk","roles":["editor"]}`)
			his.once(t, "clerk")
			require.Contains(t, names(t, clerk), "refund_order")
			hers.silent(t, "ann")

			s.invoke(t, "directory_set_ceiling", `{"ceiling":"read"}`)
			hers.once(t, "ann")
			his.once(t, "clerk")
			require.NotContains(t, names(t, clerk), "refund_order")
			require.NotContains(t, names(t, ann), "refund_order")

			s.invoke(t, "directory_set_ceiling", `{"ceiling":"execute"}`)
			hers.once(t, "ann")
			his.once(t, "clerk")

			server.Swap(s.another(t, true))
			hers.once(t, "ann")
			his.once(t, "clerk")
			require.Equal(t, []string{"what_is_new"}, names(t, ann))
			server.Swap(s.another(t, true))
			server.Swap(s.another(t, false))
			hers.once(t, "ann")
			his.once(t, "clerk")
			require.Empty(t, names(t, clerk))
			hers.silent(t, "ann: a registry that is the same is no change")
			his.silent(t, "clerk")
		})
	}
}

// another is the gate of another registry for the same people.
func (s *shop) another(t *testing.T, enabled bool) *chattools.Gate {
	t.Helper()
	a := registry.Define("what_is_new", registry.Spec[anything]{
		Description: "d", Permission: "hours:read", Mode: authz.Read, Schema: json.RawMessage(`{"type":"object"}`), Disabled: !enabled,
	}, func(context.Context, anything) (any, error) { return nil, nil })
	reg, err := registry.New(registry.Config{Actions: []*registry.Action{a}, Source: s.people, Ledger: new(ledger.Memory), Keys: s.reg.Keys()})
	require.NoError(t, err)
	return chattools.NewGate(approval.NewDesk(reg))
}

// What another process changed is noticed too.
func TestChangesOfOthersAreFound(t *testing.T) {
	for _, m := range listening {
		s := openShop(t)
		_, url := s.serve(t, func(c *mcptools.Config) {
			if m.change != nil {
				m.change(c)
			}
			c.Poll = time.Millisecond
		})
		hers := make(bell, 100)
		connect(t, url, as("assistant-ann"), m.version, hers.ring)
		hers.begin(t, m.version)
		require.NoError(t, s.people.Edit(t.Context(), scope, func(f *authz.Facts) error { f.Settings.Ceiling = authz.Read; return nil }))
		hers.once(t, "ann")
	}
}

// C3: a burst of changes ends in a list that is right, and not in one notification for each.
func TestC3_BurstsEndInTheTruth(t *testing.T) {
	for _, m := range listening {
		s := openShop(t)
		_, url := s.serve(t, m.change)
		hers := make(bell, 1000)
		ann := connect(t, url, as("assistant-ann"), m.version, hers.ring)
		hers.begin(t, m.version)
		for i := range 100 {
			s.invoke(t, "directory_set_ceiling", fmt.Sprintf(`{"ceiling":%q}`, []string{"execute", "read"}[i%2]))
		}
		for told := false; !told; {
			hers.once(t, "ann")
			told = len(names(t, ann)) == len(s.names(t, session("assistant", "ann")))
		}
		require.Less(t, len(hers), 100)
		require.NotContains(t, names(t, ann), "refund_order")
	}
}

// Somebody who listened, and was shown a list that was the truth for a moment only, is told that it is not.
func TestAListOfAMomentIsCorrected(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	hers := make(bell, 100)
	connect(t, url, as("assistant-ann"), latest, hers.ring)
	hers.begin(t, latest)
	ceiling := func(m authz.Mode) {
		require.NoError(t, s.people.Edit(t.Context(), scope, func(f *authz.Facts) error { f.Settings.Ceiling = m; return nil }))
	}
	ceiling(authz.Read) // unheard of, as by another process
	require.NotContains(t, post(t, url, "assistant-ann", "tools/list", "").Body, "refund_order")
	ceiling(authz.Execute)
	hers.once(t, "ann")
}

// Two clients of one user whose tokens allow different tools do not send each other to look without end, nor does one
// whose token allows less than the one before.
func TestDifferentTokensAreNoChange(t *testing.T) {
	for _, m := range listening {
		s := openShop(t)
		_, url := s.serve(t, func(c *mcptools.Config) {
			if m.change != nil {
				m.change(c)
			}
			c.Identify = narrowing
		})
		all, one := make(bell, 1000), make(bell, 1000)
		token, narrow := as("assistant-ann"), "narrow:assistant-ann"
		wide := connect(t, url, token, m.version, all.ring)
		all.begin(t, m.version)
		less := connect(t, url, as(narrow), m.version, one.ring)
		one.begin(t, m.version)
		for range 2 {
			require.Contains(t, names(t, wide), "find_order")
			require.Equal(t, []string{"who"}, names(t, less))
		}
		token.token.Store(&narrow)
		require.Equal(t, []string{"who"}, names(t, wide))
		time.Sleep(200 * time.Millisecond) // many times what a notification takes
		all.silent(t, m.name)
		one.silent(t, m.name)

		s.invoke(t, "directory_set_grant", `{"model":"assistant","tool":"who","effect":"deny"}`)
		all.once(t, m.name)
		one.once(t, m.name)
	}
}

// narrowing knows also tokens of somebody that allow one tool.
func narrowing(r *http.Request, bearer string) (authz.Session, error) {
	if bearer, ok := strings.CutPrefix(bearer, "narrow:"); ok {
		session, err := identify(r, bearer)
		return session.WithTools(authz.Only("who")), err
	}
	return identify(r, bearer)
}

// Who cannot be told is not promised to be.
func TestWhoCannotListenIsNotPromisedNews(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	ann := connect(t, url, as("assistant-ann"), "2025-11-25", nil)
	require.NotNil(t, ann.InitializeResult().Capabilities.Tools)
	require.False(t, ann.InitializeResult().Capabilities.Tools.ListChanged)
}

// Swap serves another registry at once, also to those who do not listen.
func TestSwap(t *testing.T) {
	for _, m := range modes {
		s := openShop(t)
		server, url := s.serve(t, m.change)
		ann := connect(t, url, as("assistant-ann"), m.version, nil)
		require.Contains(t, names(t, ann), "who")
		server.Swap(s.another(t, true))
		require.Equal(t, []string{"what_is_new"}, names(t, ann))
		_, err := call(t, ann, "who", "")
		require.Error(t, err)
		_, err = call(t, ann, "what_is_new", "")
		require.NoError(t, err)
	}
}

// A local client listens as long as it is there.
func TestALocalClientIsTold(t *testing.T) {
	for _, version := range []string{"2025-11-25", latest} {
		s := openShop(t)
		server, err := mcptools.NewServer(mcptools.Config{Gate: s.gate})
		require.NoError(t, err)
		near, far := mcp.NewInMemoryTransports()
		done := make(chan error, 1)
		go func() { done <- server.Serve(t.Context(), session("assistant", "ann"), far) }()
		hers := make(bell, 100)
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "t"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { hers.ring() },
		}).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: version})
		require.NoError(t, err)
		hers.begin(t, version)
		require.Equal(t, s.names(t, session("assistant", "ann")), names(t, cs))
		s.invoke(t, "directory_set_ceiling", `{"ceiling":"read"}`)
		hers.once(t, "the client of "+version)
		require.NoError(t, cs.Close())
		if err := <-done; err != nil {
			require.ErrorIs(t, err, io.ErrClosedPipe, "the pipe of the test has no end of file")
		}
	}
	s := openShop(t)
	server, err := mcptools.NewServer(mcptools.Config{Gate: s.gate})
	require.NoError(t, err)
	require.ErrorIs(t, server.ServeStdio(t.Context(), authz.Session{}), authz.ErrSession)
	person, err := authz.NewPersonSession(scope, olga)
	require.NoError(t, err)
	require.ErrorIs(t, server.ServeStdio(t.Context(), person), authz.ErrSession)
}

// TestSwapsRace: whichever of two gates is served in the end, changes behind it are heard, and no others.
func TestSwapsRace(t *testing.T) {
	t.Parallel()
	a, b := openShop(t), openShop(t)
	server, err := mcptools.NewServer(mcptools.Config{Gate: a.gate})
	require.NoError(t, err)
	for n := range 20 {
		var wg sync.WaitGroup
		for _, s := range []*shop{a, b} {
			wg.Go(func() {
				for range 50 {
					server.Swap(s.gate)
				}
			})
		}
		wg.Wait()
		for server.Looks() {
			continue
		}
		here, away := a, b
		if server.Gate() == b.gate {
			here, away = b, a
		}
		away.invoke(t, "directory_set_ceiling", fmt.Sprintf(`{"ceiling":%q}`, []string{"read", "execute"}[n%2]))
		require.False(t, server.Looks(), "a change behind the gate that was replaced")
		here.invoke(t, "directory_set_ceiling", fmt.Sprintf(`{"ceiling":%q}`, []string{"read", "execute"}[n%2]))
		require.True(t, server.Looks(), "a change behind the gate that is served")
	}
}
