package airline

import (
	"context"
	"errors"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
	"github.com/sallyport-dev/sallyport/registry"
)

// Permissions of the airline. Staff perform what edit permissions stand for; a customer may only ask, and only
// about what is theirs.
const (
	readFlights      authz.Permission = "flights:read"
	readReservations authz.Permission = "reservations:read"
	readCustomers    authz.Permission = "customers:read"
	useAssistant     authz.Permission = "assistant:use"

	editBookings        authz.Permission = "bookings:edit"
	requestBookings     authz.Permission = "bookings:request"
	editRefunds         authz.Permission = "refunds:edit"
	requestRefunds      authz.Permission = "refunds:request"
	editCertificates    authz.Permission = "certificates:edit"
	requestCertificates authz.Permission = "certificates:request"
	editPassengers      authz.Permission = "passengers:edit"
	requestPassengers   authz.Permission = "passengers:request"
)

// moneyMoves are the permissions that no action may need without a person's click: registry.New checks it.
var moneyMoves = []authz.Permission{editBookings, editRefunds, editCertificates}

// desk is the airline that the actions work on; each conversation puts a fresh one there.
type desk struct {
	airline *office.Airline
	entered int // run functions of writes that were entered
}

// actions makes every call of the airline an action.
func (d *desk) actions() []*registry.Action {
	return append(d.reads(),
		write(d, "book_reservation", ofUser(d, registry.Spec[office.BookReservation]{
			Description: "Book a reservation.",
			Permission:  editBookings, Ask: requestBookings, Mode: authz.Propose, Risk: registry.RiskMedium,
			Sentence: "Book {flights} from {origin} to {destination} ({flight_type}, {cabin}) for customer {user_id}: passengers {passengers}, " +
				"{total_baggages} bags, {nonfree_baggages} of them not free, insurance {insurance}. Charge {payment_methods}.",
			Reach: "one customer and their payment methods", Undo: "by cancelling it; a certificate stays used up",
		}, func(p office.BookReservation) string { return p.UserID }), (*office.Airline).BookReservation),

		write(d, "send_certificate", ofUser(d, registry.Spec[office.SendCertificate]{
			Description: "Send a certificate to a user. Be careful!",
			Permission:  editCertificates, Ask: requestCertificates, Mode: authz.Propose, Risk: registry.RiskMedium,
			Sentence: "Give customer {user_id} a travel certificate of {amount} dollars.",
			Reach:    "one customer", Undo: "not through this desk",
		}, func(p office.SendCertificate) string { return p.UserID }), (*office.Airline).SendCertificate),

		write(d, "cancel_reservation", ofReservation(d, registry.Spec[office.CancelReservation]{
			Description: "Cancel the whole reservation.",
			Permission:  editRefunds, Ask: requestRefunds, Mode: authz.Propose, Risk: registry.RiskHigh, Destructive: true,
			Sentence: "Cancel the whole reservation {reservation_id} and refund every payment.",
			Reach:    "one reservation and its payments", Undo: "the customer has to book again",
		}, func(p office.CancelReservation) string { return p.ReservationID }), (*office.Airline).CancelReservation),

		write(d, "update_reservation_flights", ofReservation(d, registry.Spec[office.UpdateFlights]{
			Description: "Update the flight information of a reservation.",
			Permission:  editBookings, Ask: requestBookings, Mode: authz.Propose, Risk: registry.RiskMedium,
			Sentence: "Change reservation {reservation_id} to the flights {flights} in {cabin}; settle the difference with {payment_id}.",
			Reach:    "one reservation and a payment method", Undo: "by changing it back, at the prices of that day",
		}, func(p office.UpdateFlights) string { return p.ReservationID }), (*office.Airline).UpdateReservationFlights),

		write(d, "update_reservation_baggages", ofReservation(d, registry.Spec[office.UpdateBaggages]{
			Description: "Update the baggage information of a reservation.",
			Permission:  editBookings, Ask: requestBookings, Mode: authz.Propose, Risk: registry.RiskLow,
			Sentence: "Make it {total_baggages} bags, {nonfree_baggages} of them not free, on reservation {reservation_id}; charge {payment_id}.",
			Reach:    "one reservation and a payment method", Undo: "what was paid is not refunded",
		}, func(p office.UpdateBaggages) string { return p.ReservationID }), (*office.Airline).UpdateReservationBaggages),

		write(d, "update_reservation_passengers", ofReservation(d, registry.Spec[office.UpdatePassengers]{
			Description: "Update the passenger information of a reservation.",
			Permission:  editPassengers, Ask: requestPassengers, Mode: authz.Execute, Risk: registry.RiskLow, Idempotent: true,
			Sentence: "Make {passengers} the passengers of reservation {reservation_id}.",
			Reach:    "one reservation", Undo: "by changing it back",
		}, func(p office.UpdatePassengers) string { return p.ReservationID }), (*office.Airline).UpdateReservationPassengers),
	)
}

func (d *desk) reads() []*registry.Action {
	reservation := func(_ context.Context, p office.GetReservation) ([]authz.Path, error) {
		return d.reservation(p.ReservationID)
	}
	user := func(_ context.Context, p office.GetUser) ([]authz.Path, error) { return d.user(p.UserID) }
	return []*registry.Action{
		read(d, "get_reservation_details", "Get the details of a reservation.", readReservations, reservation, (*office.Airline).GetReservationDetails),
		read(d, "get_user_details", "Get the details of an user, including their reservations.", readCustomers, user, (*office.Airline).GetUserDetails),
		read(d, "list_all_airports", "List all airports and their cities.", readFlights, nil, (*office.Airline).ListAllAirports),
		read(d, "search_direct_flight", "Search direct flights between two cities on a specific date.", readFlights, nil, (*office.Airline).SearchDirectFlight),
		read(d, "search_onestop_flight", "Search flights with one stop between two cities on a specific date.", readFlights, nil, (*office.Airline).SearchOnestopFlight),
		read(d, "calculate", "Calculate the result of a mathematical expression.", useAssistant, nil, (*office.Airline).Calculate),
		read(d, "think", "Think about something; it reads and changes nothing.", useAssistant, nil, (*office.Airline).Think),
		read(d, "transfer_to_human_agents", "Transfer the user to a human agent, with a summary of the user's issue.", useAssistant, nil, (*office.Airline).TransferToHumanAgents),
	}
}

// reservation is the path of a reservation: below whoever booked it.
func (d *desk) reservation(id string) ([]authz.Path, error) {
	owner, ok := d.airline.ReservationOwner(id)
	if !ok {
		return nil, registry.ErrNoTarget
	}
	return below(owner, "reservations", id)
}

// user is the path of what belongs to a customer and to no reservation.
func (d *desk) user(id string) ([]authz.Path, error) {
	if !d.airline.HasUser(id) {
		return nil, registry.ErrNoTarget
	}
	return below(id, "profile")
}

// below is the path of something that belongs to a customer. The owner comes first, so that one override on
// /customers/ID covers all that is theirs.
func below(customer string, segments ...string) ([]authz.Path, error) {
	path, err := authz.MustPath("/customers").Join(append([]string{customer}, segments...)...)
	return []authz.Path{path}, err
}

// ofUser completes a write that concerns a customer, whom id names.
func ofUser[P any](d *desk, s registry.Spec[P], id func(P) string) registry.Spec[P] {
	s.Target = func(_ context.Context, p P) ([]authz.Path, error) { return d.user(id(p)) }
	s.Version = func(_ context.Context, p P) (string, error) { return d.airline.UserVersion(id(p)), nil }
	return s
}

// ofReservation completes a write that concerns a reservation, which id names. What it costs is settled with
// its owner's payment methods, so its version is that of both.
func ofReservation[P any](d *desk, s registry.Spec[P], id func(P) string) registry.Spec[P] {
	s.Target = func(_ context.Context, p P) ([]authz.Path, error) { return d.reservation(id(p)) }
	s.Version = func(_ context.Context, p P) (string, error) {
		owner, _ := d.airline.ReservationOwner(id(p))
		return d.airline.ReservationVersion(id(p)) + d.airline.UserVersion(owner), nil
	}
	return s
}

func read[P, R any](d *desk, name, description string, permission authz.Permission, target func(context.Context, P) ([]authz.Path, error), run method[P, R]) *registry.Action {
	spec := registry.Spec[P]{Description: description, Permission: permission, Mode: authz.Read, Target: target}
	return registry.Define(name, spec, func(ctx context.Context, p P) (R, error) {
		r, err := run(d.airline, ctx, p)
		return r, tellable(err)
	})
}

func write[P, R any](d *desk, name string, spec registry.Spec[P], run method[P, R]) *registry.Action {
	return registry.Define(name, spec, func(ctx context.Context, p P) (R, error) {
		d.entered++
		r, err := run(d.airline, ctx, p)
		return r, tellable(err)
	})
}

// tellable marks what the airline itself says as fit for a model; any other error stays with the operators.
func tellable(err error) error {
	if _, ok := errors.AsType[*office.Error](err); ok {
		return registry.Public(err)
	}
	return err
}
