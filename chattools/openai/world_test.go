package openai_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/openai"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// world is a small app behind a gate. It counts what ran.
type world struct {
	gate    *chattools.Gate
	desk    *approval.Desk
	people  *authz.Memory
	session authz.Session
	olga    authz.Person

	mu  sync.Mutex
	ran []string // name of the action and what it got
}

func (w *world) did(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran = append(w.ran, what)
}

type echoParams struct {
	Text string `json:"text"`
}

type findParams struct {
	ID   int64    `json:"id"`
	Tags []string `json:"tags,omitempty"`
}

type optional struct {
	Limit int `json:"limit,omitempty"`
}

type refundParams struct {
	Order string `json:"order"`
	Cents int64  `json:"cents" jsonschema:"minimum=1"`
}

func newWorld() *world {
	w := &world{people: new(authz.Memory), olga: authz.LoggedIn("olga")}
	check(w.people.Set("shop", w.facts(authz.Propose)))
	reg := must(registry.New(registry.Config{
		Actions: []*registry.Action{
			registry.Define("echo", registry.Spec[echoParams]{Description: "Say it again.", Permission: "x:read", Mode: authz.Read},
				func(_ context.Context, p echoParams) (string, error) { w.did("echo " + p.Text); return p.Text, nil }),
			registry.Define("find", registry.Spec[findParams]{Description: "Find by id.", Permission: "x:read", Mode: authz.Read},
				func(_ context.Context, p findParams) (findParams, error) { w.did("find"); return p, nil }),
			registry.Define("list", registry.Spec[optional]{Description: "List all.", Permission: "x:read", Mode: authz.Read},
				func(context.Context, optional) ([]string, error) { w.did("list"); return nil, nil }),
			registry.Define("broken", registry.Spec[optional]{Description: "Bytes that are no text.", Permission: "x:read", Mode: authz.Read},
				func(context.Context, optional) (string, error) { w.did("broken"); return "a\xffb", nil }),
			registry.Define("huge", registry.Spec[optional]{Description: "Much.", Permission: "x:read", Mode: authz.Read},
				func(context.Context, optional) (string, error) {
					w.did("huge")
					return strings.Repeat("ä😀", 1<<20), nil
				}),
			registry.Define("refund", registry.Spec[refundParams]{Description: "Refund an order.", Permission: "refunds:edit", Mode: authz.Propose},
				func(_ context.Context, p refundParams) (bool, error) { w.did("refund " + p.Order); return true, nil }),
			registry.Define("secret", registry.Spec[optional]{Description: "Hidden.", Permission: "secrets:read", Mode: authz.Read},
				func(context.Context, optional) (bool, error) { w.did("secret"); return true, nil }),
		},
		Source: w.people, Ledger: new(ledger.Memory), Keys: must(token.NewRing("test", must(token.NewKey("k1")))),
	}))
	w.desk = approval.NewDesk(reg)
	w.gate = chattools.NewGate(w.desk)
	w.session = must(authz.NewSession("shop", "assistant", authz.For(w.olga)))
	return w
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func (w *world) facts(ceiling authz.Mode) authz.Facts {
	return authz.Facts{
		Settings: authz.Settings{Ceiling: ceiling},
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "vera", Kind: authz.Human, Active: true, Roles: []string{authz.Viewer}},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{{Tool: "secret", Effect: authz.Deny}}},
		},
	}
}

// inOnePiece hides that a model can stream.
type inOnePiece struct{ chattools.Model }

// way is one of the ways of asking a model.
type way struct {
	name   string
	chat   bool // and not responses
	stream bool
}

var ways = []way{
	{"chat in one piece", true, false}, {"chat as a stream", true, true},
	{"responses in one piece", false, false}, {"responses as a stream", false, true},
}

// everyWay runs a test for each way.
func everyWay(t *testing.T, f func(t *testing.T, how way)) {
	for _, how := range ways {
		t.Run(how.name, func(t *testing.T) { f(t, how) })
	}
}

// model makes the model that a way asks.
func (how way) model(c sdk.Client, o openai.Options) (chattools.Model, error) {
	var m chattools.Model
	var err error
	if how.chat {
		m, err = openai.NewChat(c, o)
	} else {
		m, err = openai.NewResponses(c, o)
	}
	if !how.stream {
		m = inOnePiece{m}
	}
	return m, err
}

// conversed is a conversation that was had, with everything around it.
type conversed struct {
	*api
	*world
	*chattools.Conversation
	reply  chattools.Reply
	err    error
	events []chattools.Event
}

// converse runs a script through a loop, in one way.
func converse(t *testing.T, how way, script ...reply) *conversed {
	t.Helper()
	c := &conversed{api: newAPI(script...), world: newWorld(), Conversation: &chattools.Conversation{ID: "c"}}
	t.Cleanup(c.Close)
	c.reply, c.err = c.loop(t, how).Say(t.Context(), c.session, c.Conversation, "Hello.", func(e chattools.Event) { c.events = append(c.events, e) })
	require.Empty(t, c.refused, "the provider refused a request")
	return c
}

func (c *conversed) loop(t *testing.T, how way) *chattools.Loop {
	t.Helper()
	model, err := how.model(c.client(), openai.Options{Model: "m"})
	require.NoError(t, err)
	return chattools.NewLoop(c.gate, model, chattools.Options{})
}

// answers are all answers to calls, in order.
func (c *conversed) answers() []chattools.Answer {
	var all []chattools.Answer
	for _, m := range c.Messages {
		all = append(all, m.Answers...)
	}
	return all
}

func (c *conversed) statuses() []chattools.Status {
	var all []chattools.Status
	for _, a := range c.answers() {
		all = append(all, a.Status)
	}
	return all
}

var hello = []chattools.Message{{Role: chattools.RoleUser, Text: "Hello."}}

// ask asks a model once, without a loop.
func (a *api) ask(t *testing.T, how way, r chattools.Request) (chattools.Turn, error) {
	t.Helper()
	model, err := how.model(a.client(), openai.Options{Model: "m"})
	require.NoError(t, err)
	return ask(t.Context(), model, r)
}

// ask asks in the way of a model.
func ask(ctx context.Context, m chattools.Model, r chattools.Request) (chattools.Turn, error) {
	if s, ok := m.(chattools.Streamer); ok {
		return s.Stream(ctx, r, nil)
	}
	return m.Next(ctx, r)
}
