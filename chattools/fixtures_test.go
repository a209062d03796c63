package chattools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
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

const scope authz.Scope = "shop"

var (
	olga = authz.LoggedIn("olga") // owns the shop
	ann  = authz.LoggedIn("ann")  // a customer: reads and asks for refunds below /customers/ann
	bob  = authz.LoggedIn("bob")  // another one
	nell = authz.LoggedIn("nell") // has no rights at all
)

// ringSecret is the secret of the shop's only key; tests search for it.
var ringSecret = []byte("a ring secret of 32 bytes: 012345")

type orderID struct {
	Order string `json:"order" jsonschema:"maxLength=32" jsonschema_description:"The order's number"`
}

type refund struct {
	Order string `json:"order" jsonschema:"maxLength=32" jsonschema_description:"The order's number"`
	Cents int64  `json:"cents" jsonschema:"minimum=1,maximum=100000"`
}

type note struct {
	Order string `json:"order"`
	Text  string `json:"text" jsonschema:"maxLength=200"`
}

type nothing struct{}

// shop is a gate with everything behind it. Hooks are set before the calls that they are for.
type shop struct {
	keys    *token.Ring
	people  *authz.Memory
	book    *ledger.Memory
	reg     *registry.Registry
	desk    *approval.Desk
	gate    *chattools.Gate
	clock   atomic.Int64 // microseconds
	targets atomic.Int64 // how often a target function was entered
	runs    atomic.Int64 // how often a run function was entered

	find    func(context.Context, orderID) (any, error) // instead of what find_order does
	target  func(order string) ([]authz.Path, error)    // instead of what the orders' target does
	version func() (string, error)                      // of what a refund is about
}

// openShop opens a shop; change may alter its configuration before it is built.
func openShop(t *testing.T, change func(*registry.Config)) *shop {
	t.Helper()
	s := &shop{people: new(authz.Memory), book: new(ledger.Memory)}
	s.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).UnixMicro())
	require.NoError(t, s.people.Set(scope, facts()))
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: ringSecret})
	require.NoError(t, err)
	s.keys = keys
	c := registry.Config{
		Actions: s.actions(), Source: s.people, Ledger: s.book, Keys: keys,
		Now: func() time.Time { return time.UnixMicro(s.clock.Load()) },
	}
	if change != nil {
		change(&c)
	}
	s.reg, err = registry.New(c)
	require.NoError(t, err)
	s.desk = approval.NewDesk(s.reg)
	s.gate = chattools.NewGate(s.desk)
	return s
}

func facts() authz.Facts {
	customer := func(id authz.ID) authz.Actor {
		return authz.Actor{ID: id, Kind: authz.Human, Active: true, Overrides: []authz.Override{{
			At: authz.MustPath("/customers/" + string(id)), Effect: authz.Allow,
			Of: []authz.Permission{"orders:read", "refunds:request"},
		}, {
			At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{"hours:read", approval.ReadOwnProposals},
		}}}
	}
	model := func(id authz.ID, active bool, roles ...string) authz.Actor {
		return authz.Actor{ID: id, Kind: authz.Model, Active: active, Roles: roles}
	}
	return authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "nell", Kind: authz.Human, Active: true},
			customer("ann"), customer("bob"),
			model("assistant", true, authz.Editor), model("second", true, authz.Editor),
			model("watcher", true, authz.Viewer), model("boss", true, authz.Owner),
			model("retired", false, authz.Editor), model("blank", true),
		},
	}
}

func (s *shop) actions() []*registry.Action {
	owners := map[string]string{"a1": "ann", "a2": "ann", "b1": "bob"}
	at := func(order string) ([]authz.Path, error) {
		s.targets.Add(1)
		if s.target != nil {
			return s.target(order)
		}
		owner, ok := owners[order]
		if !ok {
			return nil, registry.ErrNoTarget
		}
		return []authz.Path{authz.MustPath("/customers/" + owner + "/" + order)}, nil
	}
	return []*registry.Action{
		registry.Define("find_order", registry.Spec[orderID]{
			Description: "Find an order.", Mode: authz.Read, Permission: "orders:read",
			Target: func(_ context.Context, p orderID) ([]authz.Path, error) { return at(p.Order) },
		}, func(ctx context.Context, p orderID) (any, error) {
			s.runs.Add(1)
			if s.find != nil {
				return s.find(ctx, p)
			}
			return map[string]string{"order": p.Order, "owner": owners[p.Order]}, nil
		}),
		registry.Define("opening_hours", registry.Spec[nothing]{
			Description: "Say when the shop is open.", Mode: authz.Read, Permission: "hours:read",
		}, func(context.Context, nothing) (string, error) { return "9 to 17", nil }),
		registry.Define("refund_order", registry.Spec[refund]{
			Title: "Refund", Description: "Refund part of an order.", Mode: authz.Propose,
			Permission: "refunds:edit", Ask: "refunds:request", Destructive: true,
			Target: func(_ context.Context, p refund) ([]authz.Path, error) { return at(p.Order) },
			Version: func(context.Context, refund) (string, error) {
				if s.version != nil {
					return s.version()
				}
				return "1", nil
			},
		}, func(_ context.Context, p refund) (int64, error) { s.runs.Add(1); return p.Cents, nil }),
		registry.Define("add_note", registry.Spec[note]{
			Description: "Leave a note on an order.", Mode: authz.Execute, Permission: "notes:edit", Idempotent: true,
			Target: func(_ context.Context, p note) ([]authz.Path, error) { return at(p.Order) },
		}, func(context.Context, note) (bool, error) { s.runs.Add(1); return true, nil }),
		registry.Define("close_shop", registry.Spec[nothing]{
			Description: "Close the shop for good.", Mode: authz.Propose, Permission: "shop:close", Explicit: true,
		}, func(context.Context, nothing) (bool, error) { s.runs.Add(1); return true, nil }),
		approval.OwnProposals(s.book, s.keys),
	}
}

func (s *shop) pass(d time.Duration) { s.clock.Add(d.Microseconds()) }

// edit changes the facts, of one actor if it has an id.
func (s *shop) edit(t *testing.T, id authz.ID, change func(*authz.Facts, *authz.Actor)) {
	t.Helper()
	require.NoError(t, s.people.Edit(t.Context(), scope, func(f *authz.Facts) error {
		i := slices.IndexFunc(f.Actors, func(a authz.Actor) bool { return a.ID == id })
		change(f, &f.Actors[i])
		return nil
	}))
}

// approve lets olga approve a proposal.
func (s *shop) approve(t *testing.T, proposal string) error {
	t.Helper()
	o, err := s.desk.Open(t.Context(), scope, proposal, olga)
	require.NoError(t, err)
	require.NoError(t, o.Refusal)
	_, err = s.desk.Approve(t.Context(), o.Redemption())
	return err
}

// names lists a session's catalog.
func (s *shop) names(t *testing.T, session authz.Session) []string {
	t.Helper()
	tools, err := s.gate.Catalog(t.Context(), session)
	require.NoError(t, err)
	names := []string{}
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// call makes a call without an id.
func (s *shop) call(t *testing.T, session authz.Session, name, arguments string) chattools.Answer {
	t.Helper()
	return s.gate.Call(t.Context(), session, chattools.Call{Name: name, Arguments: []byte(arguments)})
}

// sessionOf is the session of a model for a person, or in the background for nobody.
func sessionOf(t *testing.T, model authz.ID, person authz.Person) authz.Session {
	t.Helper()
	behalf := authz.For(person)
	if person.IsZero() {
		behalf = authz.Background()
	}
	s, err := authz.NewSession(scope, model, behalf)
	require.NoError(t, err)
	return s
}

// text is an answer as a model reads it.
func text(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return string(bytes.TrimSpace(b.Bytes()))
}

var errPrivate = errors.New("dial tcp 10.0.0.7:5432: password=hunter2")
