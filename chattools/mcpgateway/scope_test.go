package mcpgateway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
	"github.com/sallyport-dev/sallyport/chattools/mcpgateway"
	"github.com/sallyport-dev/sallyport/registry"
)

// TestPerPrincipal: two people with one model have connections of their own, unless the host shares them.
func TestPerPrincipal(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		w := newWorld(t, func(c *mcpgateway.Config) { c.Shared = func(string) bool { return shared } })
		require.NoError(t, w.trust("up", "plain"))
		w.peers = nil
		for range 2 {
			require.Equal(t, chattools.Done, w.call(w.bot, "up_read", `{}`).Status)
			require.Equal(t, chattools.Done, w.call(w.other, "up_read", `{}`).Status)
		}
		if shared {
			require.Empty(t, w.peers) // the owner's, which is everybody's
			continue
		}
		var who []authz.ID
		for _, p := range w.peers {
			id, ok := p.Session.Principal()
			require.True(t, ok)
			who = append(who, id)
		}
		require.Equal(t, []authz.ID{"olga", "otto"}, who)
	}
}

// TestOtherScope: what one scope's owner added is not there for another.
func TestOtherScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.trust("up", "plain"))
	require.NoError(t, w.people.Set("away", authz.Facts{Actors: []authz.Actor{{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}}}}))
	w.owner = must(authz.NewPersonSession("away", olga))
	for action, params := range map[string]string{"up_read": `{}`, "mcp_list_servers": `{}`, "mcp_remove_server": `{"name":"up"}`} {
		_, err := w.does(action, params)
		require.Equal(t, mcpgateway.WrongScope, reasonOf(err), action)
	}
}

// TestSavedTools: all 253 definitions of real servers import, list and validate.
func TestSavedTools(t *testing.T) {
	t.Parallel()
	saved, err := wiretest.Tools()
	require.NoError(t, err)
	servers := map[string][]wiretest.Tool{}
	for _, tool := range saved {
		servers[tool.Server] = append(servers[tool.Server], tool)
	}
	count := 0
	for name, tools := range servers {
		w := newWorld(t, func(c *mcpgateway.Config) { c.Dial = publishing(tools) })
		require.NoError(t, w.trust("saved", name))
		r, err := w.review("saved")
		require.NoError(t, err)
		require.Empty(t, r.Refused, name)
		require.True(t, r.Accepted)
		catalog := must(w.Gate().Catalog(t.Context(), w.bot))
		count += len(catalog)
		for _, tool := range catalog {
			a := w.call(w.bot, tool.Name, `{"no such parameter":1,"id":"\ud800"}`)
			require.Equal(t, chattools.Invalid, a.Status, tool.Name)
		}
	}
	require.Equal(t, 253, count)
}

// TestConfig: what cannot work is refused at once.
func TestConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, spoil := range []func(*mcpgateway.Config){
		func(c *mcpgateway.Config) { c.Scope = "" }, func(c *mcpgateway.Config) { c.Store = nil },
		func(c *mcpgateway.Config) { c.Dial = nil }, func(c *mcpgateway.Config) { c.Rule = nil }, func(c *mcpgateway.Config) { c.Build = nil },
		func(c *mcpgateway.Config) {
			c.Build = func([]*registry.Action) (registry.Config, error) { return registry.Config{}, errors.New("no") }
		},
		func(c *mcpgateway.Config) {
			build := c.Build
			c.Build = func([]*registry.Action) (registry.Config, error) { return build(nil) }
		},
		func(c *mcpgateway.Config) {
			c.Build = func([]*registry.Action) (registry.Config, error) { return registry.Config{}, nil }
		},
		func(c *mcpgateway.Config) { c.Store = badStore{} },
	} {
		c := w.config
		spoil(&c)
		_, err := mcpgateway.Open(t.Context(), c)
		require.Error(t, err)
	}
}

type badStore struct{}

func (badStore) Load(context.Context, authz.Scope) (mcpgateway.Pins, error) {
	return mcpgateway.Pins{}, errors.New("no disk")
}

func (badStore) Save(context.Context, authz.Scope, mcpgateway.Pins) error {
	return errors.New("no disk")
}
