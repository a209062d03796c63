// Package store is the shop's side of Sallyport: its back office as actions, who works there and what they may do, the
// gate in front of it all, and where everything is kept.
package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// Who works in the shop, beside its customers.
const (
	Scope     authz.Scope = "shop"
	Assistant authz.ID    = "assistant"
	Sam       authz.ID    = "sam" // staff
	Sue       authz.ID    = "sue" // staff
	Ada       authz.ID    = "ada" // owner, of a shop that Open opens
)

// World is the shop with a gate in front of it.
type World struct {
	*Place
	Keys *token.Ring
	Reg  *registry.Registry
	Desk *approval.Desk
	Gate *chattools.Gate

	clock atomic.Int64 // microseconds; zero for the real time
}

// New opens a shop whose clock starts at a fixed instant and moves only when it is told to.
func New(ctx context.Context, p *Place) (*World, error) {
	w := &World{Place: p}
	w.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).UnixMicro())
	if err := w.Office.Reset(ctx); err != nil {
		return nil, err
	}
	facts, err := Facts()
	if err != nil {
		return nil, err
	}
	if err := w.People.Edit(ctx, Scope, func(f *authz.Facts) error { *f = facts; return nil }); err != nil {
		return nil, err
	}
	key, err := token.NewKey("k1")
	if err != nil {
		return nil, err
	}
	if w.Keys, err = token.NewRing("example", key); err != nil {
		return nil, err
	}
	return w, w.Build(w.Config("1"))
}

// Open opens a shop that goes on where it was left, by the real time, in which an owner can change who may do what.
// A place that has no shop yet gets one with the sample data. Proposals wait for as long as life says.
func Open(ctx context.Context, p *Place, keys *token.Ring, life time.Duration) (*World, error) {
	w := &World{Place: p, Keys: keys}
	_, err := w.People.Facts(ctx, Scope, nil)
	if errors.Is(err, authz.ErrUnknownScope) {
		var facts authz.Facts
		if facts, err = Facts(); err == nil {
			facts.Actors = append(facts.Actors, authz.Actor{ID: Ada, Name: "Ada", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}})
			err = w.People.Edit(ctx, Scope, func(f *authz.Facts) error { *f = facts; return nil })
		}
		if err == nil && p.Memory != nil {
			err = w.Office.Reset(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	c := w.Config("1")
	c.Lifetime = life
	c.Actions = append(c.Actions, directory.Actions(directory.Config{Directory: w.People, Keys: keys, Tools: c.Actions, Roles: c.Roles})...)
	return w, w.Build(c)
}

// Build puts desk and gate on a registry.
func (w *World) Build(c registry.Config) (err error) {
	if w.Reg, err = registry.New(c); err != nil {
		return err
	}
	w.Desk = approval.NewDesk(w.Reg)
	w.Gate = chattools.NewGate(w.Desk)
	return nil
}

// Registry returns another registry on the same shop.
func (w *World) Registry(revision string) (*registry.Registry, error) {
	return registry.New(w.Config(revision))
}

// Config returns the configuration of the shop's registry. The revision stands for the code behind the actions.
func (w *World) Config(revision string) registry.Config {
	return registry.Config{
		Actions:     append(w.Office.Actions(revision), approval.OwnProposals(w.Book, w.Keys)),
		ProposeOnly: MoneyMoves,
		Roles: []authz.Role{
			{Name: "customer", Permissions: []authz.Permission{FindCustomers, ReadProducts, UseAssistant, approval.ReadOwnProposals}},
			{Name: "staff", Permissions: []authz.Permission{
				ReadOrders, ReadCustomers, FindCustomers, ReadProducts, UseAssistant, EditOrders, EditCustomers, EditRefunds, EditPayments,
			}},
		},
		Source: w.People, Ledger: w.Book, Keys: w.Keys, Now: w.Now,
	}
}

// Facts says who may do what: a customer reads and asks below their own path, staff perform, and the
// assistant is an editor, held back by whom it acts for.
func Facts() (authz.Facts, error) {
	sample, err := backoffice.Sample()
	if err != nil {
		return authz.Facts{}, err
	}
	f := authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: Assistant, Name: "Assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: Sam, Name: "Sam", Kind: authz.Human, Active: true, Roles: []string{"staff"}},
			{ID: Sue, Name: "Sue", Kind: authz.Human, Active: true, Roles: []string{"staff"}},
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
				ReadOrders, ReadCustomers, RequestOrders, RequestCustomers, RequestRefunds, RequestPayments,
			}}},
		})
	}
	slices.SortFunc(f.Actors, func(a, b authz.Actor) int { return cmp.Compare(a.ID, b.ID) })
	return f, nil
}

// Now returns the time of the shop.
func (w *World) Now() time.Time {
	if us := w.clock.Load(); us != 0 {
		return time.UnixMicro(us).UTC()
	}
	return time.Now()
}

// Stop stops the clock at an instant, after which it moves only when it is told to; at the zero instant the real time is
// back.
func (w *World) Stop(at time.Time) {
	if at.IsZero() {
		w.clock.Store(0)
		return
	}
	w.clock.Store(at.UnixMicro())
}

// Pass moves a clock that was stopped.
func (w *World) Pass(d time.Duration) { w.clock.Add(d.Microseconds()) }

// Session is the assistant's, working for a customer on one task.
func (w *World) Session(customer, task string) (authz.Session, error) {
	s, err := authz.NewSession(Scope, Assistant, authz.For(authz.LoggedIn(authz.ID(customer))))
	return s.WithRun(task).WithConversation(task).WithOrigin("replay"), err
}

// Open is what a member of staff does first: it gives them their token.
func (w *World) Open(ctx context.Context, proposal string, staff authz.ID) (registry.Redemption, error) {
	o, err := w.Desk.Open(ctx, Scope, proposal, authz.LoggedIn(staff))
	if err == nil && o.Refusal != nil {
		err = o.Refusal
	}
	return o.Redemption(), err
}
