package registry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// The people and models of the shop. Carla is a customer, who may ask for refunds of her own orders; staff
// make them. The auditor sees every proposal and may do nothing about one.
var (
	olga, sam, tina = authz.LoggedIn("olga"), authz.LoggedIn("sam"), authz.LoggedIn("tina")
	carla, dave     = authz.LoggedIn("carla"), authz.LoggedIn("dave")
	audrey, gone    = authz.LoggedIn("audrey"), authz.LoggedIn("gone")
	nobody          authz.Person
)

type Order struct {
	ID string `json:"order_id"`
}

type Refund struct {
	ID    string `json:"order_id"`
	Cents int64  `json:"cents" jsonschema:"minimum=1"`
}

// shop is a host: orders with owners, and a counter that every refund increments.
type shop struct {
	t       testing.TB
	now     atomic.Int64 // the clock, in microseconds
	people  *authz.Memory
	memory  *ledger.Memory
	reg     *registry.Registry
	desk    *approval.Desk
	effects atomic.Int64

	mu     sync.Mutex
	owners map[string]string
	run    func(context.Context, Refund) (any, error) // instead of a refund's own effect
	look   func(context.Context) error                // inside a find_order
	read   func() (float64, error)                    // the measure
	lines  func(context.Context) error                // inside a preview
}

// plan is what a test may change before the shop opens.
type plan struct {
	registry.Config
	store  func(ledger.Store) ledger.Store
	refund registry.Spec[Refund]
}

func open(t testing.TB, changes ...func(*shop, *plan)) *shop {
	s := &shop{t: t, people: new(authz.Memory), memory: new(ledger.Memory), owners: map[string]string{"W1": "carla", "W2": "dave"}}
	s.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	p := &plan{Config: s.config(), refund: s.refundSpec()}
	for _, change := range changes {
		change(s, p)
	}
	p.Ledger = s.memory
	if p.store != nil {
		p.Ledger = p.store(s.memory)
	}
	p.Actions = append(s.actions(p.refund), p.Actions...)
	require.NoError(t, s.people.Set("shop", staff()))
	var err error
	s.reg, err = registry.New(p.Config)
	require.NoError(t, err)
	s.desk = approval.NewDesk(s.reg)
	return s
}

func (s *shop) config() registry.Config {
	return registry.Config{
		Source: s.people, Keys: ring(s.t), Now: func() time.Time { return time.UnixMicro(s.now.Load()).UTC() },
		ProposeOnly: []authz.Permission{"refunds:edit"},
	}
}

func ring(t testing.TB) *token.Ring {
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a secret of at least 32 bytes....")})
	require.NoError(t, err)
	return keys
}

func staff() authz.Facts {
	own := func(id string) []authz.Override {
		return []authz.Override{{At: authz.MustPath("/users/" + id), Effect: authz.Allow, Of: []authz.Permission{"orders:read", "refunds:request"}}}
	}
	human, model := authz.Human, authz.Model
	return authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Roles:    []authz.Role{{Name: "auditor", Permissions: []authz.Permission{registry.ReadProposals}}},
		Actors: []authz.Actor{
			{ID: "olga", Kind: human, Active: true, Roles: []string{authz.Owner}},
			{ID: "sam", Kind: human, Active: true, Roles: []string{authz.Editor}},
			{ID: "tina", Kind: human, Active: true, Roles: []string{authz.Editor}},
			{ID: "carla", Kind: human, Active: true, Overrides: own("carla")},
			{ID: "dave", Kind: human, Active: true, Overrides: own("dave")},
			{ID: "audrey", Kind: human, Active: true, Roles: []string{"auditor"}},
			{ID: "gone", Kind: human, Roles: []string{authz.Owner}},
			{ID: "bot", Kind: model, Active: true, Roles: []string{authz.Editor}},
			{ID: "aide", Kind: model, Active: true, Roles: []string{authz.Editor}},
			{ID: "scout", Kind: model, Active: true, Roles: []string{authz.Viewer}},
			{ID: "off", Kind: model, Roles: []string{authz.Editor}},
		},
	}
}

func (s *shop) refundSpec() registry.Spec[Refund] {
	return registry.Spec[Refund]{
		Description: "Refund part of an order.", Mode: authz.Propose, Permission: "refunds:edit", Ask: "refunds:request",
		Target:  func(_ context.Context, p Refund) ([]authz.Path, error) { return s.path(p.ID) },
		Version: func(context.Context, Refund) (string, error) { return "1", nil },
		Preview: func(ctx context.Context, p Refund) ([]registry.Difference, error) {
			if s.lines != nil {
				if err := s.lines(ctx); err != nil {
					return nil, err
				}
			}
			return []registry.Difference{{Label: "Refunded", Before: "0", After: fmt.Sprint(p.Cents)}}, nil
		},
		Measure: registry.Measure[Refund]{Better: registry.Higher, Read: func(context.Context, Refund) (float64, error) {
			if s.read != nil {
				return s.read()
			}
			return 1, nil
		}},
		Sentence: "Refund {cents} cents of order {order_id}.", Risk: registry.RiskMedium, Reach: "one customer", Undo: "charge again",
	}
}

// actions are find_order, a read; refund_order, which only a person makes happen; add_note, an execute action.
func (s *shop) actions(refund registry.Spec[Refund]) []*registry.Action {
	find := registry.Define("find_order", registry.Spec[Order]{
		Description: "Say whose an order is.", Mode: authz.Read, Permission: "orders:read",
		Target: func(_ context.Context, p Order) ([]authz.Path, error) { return s.path(p.ID) },
	}, func(ctx context.Context, p Order) (string, error) {
		if s.look != nil {
			if err := s.look(ctx); err != nil {
				return "", err
			}
		}
		return s.ownerOf(p.ID), nil
	})
	refundOrder := registry.Define("refund_order", refund, func(ctx context.Context, p Refund) (any, error) {
		if s.run != nil {
			return s.run(ctx, p)
		}
		return s.effects.Add(1), nil
	})
	note := registry.Define("add_note", registry.Spec[Order]{
		Description: "Leave a note on an order.", Mode: authz.Execute, Permission: "notes:edit",
		Target: func(_ context.Context, p Order) ([]authz.Path, error) { return s.path(p.ID) },
	}, func(context.Context, Order) (int64, error) { return s.effects.Add(1), nil })
	return []*registry.Action{find, refundOrder, note}
}

func (s *shop) path(id string) ([]authz.Path, error) {
	owner := s.ownerOf(id)
	if owner == "" {
		return nil, registry.ErrNoTarget
	}
	path, err := authz.Root().Join("users", owner, "orders", id)
	return []authz.Path{path}, err
}

func (s *shop) ownerOf(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[id]
}

func (s *shop) give(id, owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owners[id] = owner
}

func (s *shop) pass(d time.Duration) { s.now.Add(d.Microseconds()) }

// edit changes the facts about one actor, or with "" the settings alone.
func (s *shop) edit(id authz.ID, change func(*authz.Facts, *authz.Actor)) {
	require.NoError(s.t, s.people.Edit(context.Background(), "shop", func(f *authz.Facts) error {
		var actor authz.Actor
		for i := range f.Actors {
			if f.Actors[i].ID == id {
				change(f, &f.Actors[i])
				return nil
			}
		}
		change(f, &actor)
		return nil
	}))
}

func session(t testing.TB, model authz.ID, behalf authz.Behalf) authz.Session {
	s, err := authz.NewSession("shop", model, behalf)
	require.NoError(t, err)
	return s.WithRun("run-1")
}

func person(t testing.TB, p authz.Person) authz.Session {
	s, err := authz.NewPersonSession("shop", p)
	require.NoError(t, err)
	return s
}

const refundW1 = `{"order_id":"W1","cents":500}`

// propose lets the bot ask for a refund of W1 on Carla's behalf.
func (s *shop) propose() approval.Proposed {
	p, err := s.desk.Propose(context.Background(), registry.Call{
		Session: bot(s.t), Action: "refund_order", Params: []byte(refundW1),
	})
	require.NoError(s.t, err)
	return p
}

// opened is a proposal with a token that lets somebody approve it.
func (s *shop) opened(who authz.Person) registry.Redemption {
	o, err := s.desk.Open(context.Background(), "shop", s.propose().Proposal.ID, who)
	require.NoError(s.t, err)
	require.NoError(s.t, o.Refusal)
	return o.Redemption()
}

func (s *shop) row(id string) ledger.Proposal {
	p, err := s.memory.Proposal(context.Background(), "shop", id)
	require.NoError(s.t, err)
	return p
}

func (s *shop) trail(q ledger.AuditQuery) []ledger.Record {
	q.Limit = 1 << 20
	if q.Scope == "" {
		q.Scope = "shop"
	}
	list, err := s.memory.Audit(context.Background(), q)
	require.NoError(s.t, err)
	return list
}

// refused checks code and reason of a refusal, and that the newest record of the trail says the same.
func (s *shop) refused(err error, code ledger.Code, reason string, msg ...any) *registry.Refusal {
	s.t.Helper()
	r := refusal(s.t, err, code, reason, msg...)
	trail := s.trail(ledger.AuditQuery{Event: ledger.EventRefused})
	require.NotEmpty(s.t, trail, msg...)
	last := trail[len(trail)-1]
	require.Equal(s.t, []string{string(code), reason}, []string{string(last.Code), last.Reason}, msg...)
	return r
}

func refusal(t testing.TB, err error, code ledger.Code, reason string, msg ...any) *registry.Refusal {
	t.Helper()
	r, ok := errors.AsType[*registry.Refusal](err)
	require.True(t, ok, "%T %v %v", err, err, msg)
	require.Equal(t, []string{string(code), reason}, []string{string(r.Code), r.Reason}, append([]any{err.Error()}, msg...)...)
	return r
}

// bot is the session that propose uses.
func bot(t testing.TB) authz.Session { return session(t, "bot", authz.For(carla)) }

func fails(err error) func(context.Context, Refund) (any, error) {
	return func(context.Context, Refund) (any, error) { return nil, err }
}

// none says that a subscription has nothing to tell.
func none(t testing.TB, sub *registry.Subscription) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c, err := sub.Next(ctx)
	require.ErrorIs(t, err, context.Canceled, "%+v", c)
}
