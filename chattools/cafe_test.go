package chattools_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// cafe is a small host for conversations: a read, a slow read, and a change that needs approval.
type cafe struct {
	people  *authz.Memory
	desk    *approval.Desk
	gate    *chattools.Gate
	session authz.Session
	olga    authz.Person
	clock   atomic.Int64
	orders  atomic.Int64 // changes that ran
	fail    atomic.Bool
	running atomic.Int64
	most    atomic.Int64 // reads that ran side by side
}

type drink struct {
	Name string `json:"name"`
}

func openCafe(t *testing.T) *cafe {
	t.Helper()
	c := &cafe{people: new(authz.Memory), olga: authz.LoggedIn("olga")}
	c.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Unix())
	require.NoError(t, c.people.Set("cafe", authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute}, Actors: []authz.Actor{
		{ID: "waiter", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
	}}))
	key, err := token.NewKey("k1")
	require.NoError(t, err)
	keys, err := token.NewRing("test", key)
	require.NoError(t, err)
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{
			registry.Define("price", registry.Spec[drink]{Description: "d", Permission: "menu:read", Mode: authz.Read}, c.price),
			registry.Define("order", registry.Spec[drink]{Description: "d", Permission: "orders:edit", Mode: authz.Propose}, c.order),
		},
		Source: c.people, Ledger: new(ledger.Memory), Keys: keys, Now: func() time.Time { return time.Unix(c.clock.Load(), 0) },
	})
	require.NoError(t, err)
	c.desk = approval.NewDesk(reg)
	c.gate = chattools.NewGate(c.desk)
	c.session, err = authz.NewSession("cafe", "waiter", authz.For(c.olga))
	require.NoError(t, err)
	return c
}

func (c *cafe) price(_ context.Context, d drink) (string, error) {
	n := c.running.Add(1)
	defer c.running.Add(-1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	return "price of " + d.Name, nil
}

func (c *cafe) order(_ context.Context, d drink) (string, error) {
	if c.fail.Load() {
		return "", registry.Public(errors.New("the machine is broken"))
	}
	c.orders.Add(1)
	return d.Name + " is coming", nil
}

// script is a model that says what it was given, one turn after the other, and keeps what it was asked.
type script struct {
	turns []chattools.Turn
	asked []chattools.Request
}

func (s *script) Next(ctx context.Context, r chattools.Request) (chattools.Turn, error) {
	r.Messages = append([]chattools.Message(nil), r.Messages...)
	s.asked = append(s.asked, r)
	if err := ctx.Err(); err != nil {
		return chattools.Turn{}, err
	}
	if len(s.turns) == 0 {
		return says("ok"), nil
	}
	t := s.turns[0]
	s.turns = s.turns[1:]
	return t, nil
}

func says(text string) chattools.Turn {
	return chattools.Turn{Message: chattools.Message{Text: text}, Stop: chattools.StopEnd, Usage: chattools.Usage{Input: 10, Output: 5}}
}

func calls(list ...chattools.Call) chattools.Turn {
	return chattools.Turn{Message: chattools.Message{Calls: list}, Stop: chattools.StopCalls, Usage: chattools.Usage{Input: 10, Output: 5}}
}

func call(id, name, arguments string) chattools.Call {
	return chattools.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

func order(id, name string) chattools.Call { return call(id, "order", `{"name":"`+name+`"}`) }

// restart is what a host does between turns: it stores the conversation and reads it again.
func restart(t *testing.T, c *chattools.Conversation) *chattools.Conversation {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	var again chattools.Conversation
	require.NoError(t, json.Unmarshal(text, &again))
	second, err := json.Marshal(&again)
	require.NoError(t, err)
	require.Equal(t, string(text), string(second), "a conversation survives JSON")
	return &again
}

// lastNotice is what the model was told in its latest request about the past.
func lastNotice(s *script) string {
	var text string
	for _, m := range s.asked[len(s.asked)-1].Messages {
		if m.Role == chattools.RoleNotice {
			text = m.ForModel()
		}
	}
	return text
}
