package airline

import (
	"cmp"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Who works at the airline, beside its customers.
const (
	scope authz.Scope = "airline"
	model authz.ID    = "gpt-4o"
	staff authz.ID    = "staff" // the operator
)

// world is the airline with a gate in front of it, in memory. It is for one goroutine.
type world struct {
	*desk
	book *ledger.Memory
	gate *chattools.Gate
	now  time.Time // moves only when it is told to
}

func newWorld() (*world, error) {
	w := &world{desk: new(desk), book: new(ledger.Memory), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	if err := w.fresh(); err != nil {
		return nil, err
	}
	people := new(authz.Memory)
	if err := people.Set(scope, facts(w.airline.Snapshot().Data().Users)); err != nil {
		return nil, err
	}
	key, err := token.NewKey("k1")
	if err != nil {
		return nil, err
	}
	keys, err := token.NewRing("example", key)
	if err != nil {
		return nil, err
	}
	reg, err := registry.New(registry.Config{
		Actions:     w.actions(),
		ProposeOnly: moneyMoves,
		Roles: []authz.Role{
			{Name: "customer", Permissions: []authz.Permission{readFlights, useAssistant}},
			{Name: "staff", Permissions: []authz.Permission{
				readFlights, readReservations, readCustomers, useAssistant, editBookings, editRefunds, editCertificates, editPassengers,
			}},
		},
		Source: people, Ledger: w.book, Keys: keys, Now: func() time.Time { return w.now },
	})
	if err != nil {
		return nil, err
	}
	w.gate = chattools.NewGate(approval.NewDesk(reg))
	return w, nil
}

// facts says who may do what: a customer reads and asks below their own path, staff perform, and the model is
// an editor, held back by whom it serves.
func facts(users map[string]*office.User) authz.Facts {
	f := authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute},
		Actors: []authz.Actor{
			{ID: model, Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: staff, Kind: authz.Human, Active: true, Roles: []string{"staff"}},
		},
	}
	for id, user := range users {
		own, err := authz.MustPath("/customers").Join(id)
		if err != nil {
			continue // such an account has no path, and so no rights
		}
		f.Actors = append(f.Actors, authz.Actor{
			ID: authz.ID(id), Name: user.Name.FirstName, Kind: authz.Human, Active: true, Roles: []string{"customer"},
			Overrides: []authz.Override{{At: own, Effect: authz.Allow, Of: []authz.Permission{
				readReservations, readCustomers, requestBookings, requestRefunds, requestCertificates, requestPassengers,
			}}},
		})
	}
	slices.SortFunc(f.Actors, func(a, b authz.Actor) int { return cmp.Compare(a.ID, b.ID) })
	return f
}

// fresh puts a fresh airline behind the desk.
func (w *world) fresh() (err error) {
	w.airline, err = office.Open()
	return err
}

// session is the model's, working for the customer of a conversation.
func (w *world) session(c Conversation) (authz.Session, error) {
	s, err := authz.NewSession(scope, model, authz.For(authz.LoggedIn(authz.ID(c.UserID))))
	return s.WithRun(c.ID).WithConversation(c.ID).WithOrigin("replay"), err
}
