package main

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/registry"
)

// Who works in the shop, beside its customers.
const (
	scope     authz.Scope = "shop"
	assistant authz.ID    = "assistant"
	sam       authz.ID    = "sam" // staff
	sue       authz.ID    = "sue" // staff
)

// world is the shop with a gate in front of it.
type world struct {
	*place
	keys  *token.Ring
	clock atomic.Int64 // microseconds
	reg   *registry.Registry
	desk  *approval.Desk
	gate  *chattools.Gate
}

// newWorld opens a shop whose clock starts at a fixed instant and moves only when it is told to.
func newWorld(ctx context.Context, p *place) (*world, error) {
	w := &world{place: p}
	w.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).UnixMicro())
	if err := w.office.reset(ctx); err != nil {
		return nil, err
	}
	facts, err := facts()
	if err != nil {
		return nil, err
	}
	if err := w.people.Edit(ctx, scope, func(f *authz.Facts) error { *f = facts; return nil }); err != nil {
		return nil, err
	}
	key, err := token.NewKey("k1")
	if err != nil {
		return nil, err
	}
	if w.keys, err = token.NewRing("example", key); err != nil {
		return nil, err
	}
	return w, w.build(w.config("1"))
}

// build puts desk and gate on a registry.
func (w *world) build(c registry.Config) (err error) {
	if w.reg, err = registry.New(c); err != nil {
		return err
	}
	w.desk = approval.NewDesk(w.reg)
	w.gate = chattools.NewGate(w.desk)
	return nil
}

func (w *world) registry(revision string) (*registry.Registry, error) {
	return registry.New(w.config(revision))
}

func (w *world) config(revision string) registry.Config {
	return registry.Config{
		Actions:     append(w.office.actions(revision), approval.OwnProposals(w.book, w.keys)),
		ProposeOnly: moneyMoves,
		Roles: []authz.Role{
			{Name: "customer", Permissions: []authz.Permission{findCustomers, readProducts, useAssistant, approval.ReadOwnProposals}},
			{Name: "staff", Permissions: []authz.Permission{
				readOrders, readCustomers, findCustomers, readProducts, useAssistant, editOrders, editCustomers, editRefunds, editPayments,
			}},
		},
		Source: w.people, Ledger: w.book, Keys: w.keys, Now: w.now,
	}
}

// facts says who may do what: a customer reads and asks below their own path, staff perform, and the
// assistant is an editor, held back by whom it acts for.
func facts() (authz.Facts, error) {
	sample, err := backoffice.Sample()
	if err != nil {
		return authz.Facts{}, err
	}
	f := authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: assistant, Name: "Assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: sam, Name: "Sam", Kind: authz.Human, Active: true, Roles: []string{"staff"}},
			{ID: sue, Name: "Sue", Kind: authz.Human, Active: true, Roles: []string{"staff"}},
		},
	}
	for id, user := range sample.Data().Users {
		own, err := authz.MustPath("/customers").Join(id)
		if err != nil {
			continue // such an account has no path, and so no rights
		}
		f.Actors = append(f.Actors, authz.Actor{
			ID: authz.ID(id), Name: user.Name.FirstName, Kind: authz.Human, Active: true, Roles: []string{"customer"},
			Overrides: []authz.Override{{At: own, Effect: authz.Allow, Of: []authz.Permission{
				readOrders, readCustomers, requestOrders, requestCustomers, requestRefunds, requestPayments,
			}}},
		})
	}
	slices.SortFunc(f.Actors, func(a, b authz.Actor) int { return cmp.Compare(a.ID, b.ID) })
	return f, nil
}

func (w *world) now() time.Time { return time.UnixMicro(w.clock.Load()).UTC() }

func (w *world) pass(d time.Duration) { w.clock.Add(d.Microseconds()) }

// session is the assistant's, working for a customer on one task.
func (w *world) session(customer, task string) (authz.Session, error) {
	s, err := authz.NewSession(scope, assistant, authz.For(authz.LoggedIn(authz.ID(customer))))
	return s.WithRun(task).WithConversation(task).WithOrigin("replay"), err
}

// open is what a member of staff does first: it gives them their token.
func (w *world) open(ctx context.Context, proposal string, staff authz.ID) (registry.Redemption, error) {
	o, err := w.desk.Open(ctx, scope, proposal, authz.LoggedIn(staff))
	if err == nil && o.Refusal != nil {
		err = o.Refusal
	}
	return o.Redemption(), err
}
