// Package office is an airline's back office: users, reservations, flights, and
// the calls with which its staff look them up and change them.
//
// [Open] gives an [Airline] filled with sample data. Each of its calls is a
// method that takes its parameters as a struct: [Airline.GetReservationDetails]
// reads, [Airline.CancelReservation] writes. What the airline refuses, it refuses
// with an [*Error] and leaves everything as it was.
//
// The package knows nothing of models, approvals or Sallyport: it is the plain
// application that a gate is put in front of. It checks no ownership, and little
// of the airline's policy: that a reservation may be cancelled, say, or that the
// bags are paid which are not free, is for its staff to see to. For whoever
// guards it, [Airline.ReservationOwner] says whose a reservation is,
// [Airline.ReservationVersion] detects a stale write, and [Diff] shows what a call
// changed.
//
// Calls, wording and sample data follow the airline domain of tau-bench; see
// data/README.md. So do these habits: flights keep their seats when somebody
// books, a change of flights leaves the cabin on the reservation as it was, and a
// reservation that is cancelled twice is refunded with opposite signs. An
// approval that counts once matters the more in front of such an application.
package office

import (
	"context"
	"maps"
	"sync"
)

// Airline holds the records and serves the calls. All its methods may be called
// concurrently; each is atomic. Open makes one.
type Airline struct {
	mu sync.Mutex
	// data's records are never changed in place: a write puts changed copies
	// into its maps. So a snapshot can share the records.
	data Data
}

// Open returns an airline with its own fresh copy of the sample data.
func Open() (*Airline, error) {
	data, err := seed()
	if err != nil {
		return nil, err
	}
	return &Airline{data: data.share()}, nil
}

// changeUser lets change edit a copy of a user, and keeps it if change returns nil.
// The airline is locked meanwhile.
func (a *Airline) changeUser(ctx context.Context, id string, change func(*User) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	stored, ok := a.data.Users[id]
	if !ok {
		return errUserNotFound
	}
	user := stored.clone()
	if err := change(user); err != nil {
		return err
	}
	a.data.Users[id] = user
	return nil
}

// changeReservation lets change edit copies of a reservation and of the user who
// owns it, and keeps both if change returns nil. It answers with the reservation
// as it then is. The airline is locked meanwhile.
func (a *Airline) changeReservation(ctx context.Context, id string, change func(*Reservation, *User) error) (Reservation, error) {
	if err := ctx.Err(); err != nil {
		return Reservation{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	stored, ok := a.data.Reservations[id]
	if !ok {
		return Reservation{}, errReservationNotFound
	}
	reservation, owner := stored.clone(), a.data.Users[stored.UserID].clone()
	if err := change(reservation, owner); err != nil {
		return Reservation{}, err
	}
	a.data.Reservations[id], a.data.Users[stored.UserID] = reservation, owner
	return *reservation.clone(), nil
}

// find returns a copy of one record, or missing if there is none.
func find[T interface{ clone() T }](ctx context.Context, a *Airline, records map[string]T, id string, missing error) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	record, ok := records[id]
	if !ok {
		return none, missing
	}
	return record.clone(), nil
}

// share returns a Data with maps of its own and the same records.
func (d Data) share() Data {
	return Data{Users: maps.Clone(d.Users), Reservations: maps.Clone(d.Reservations), Flights: maps.Clone(d.Flights)}
}
