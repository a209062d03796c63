package office

import (
	"context"
	"strconv"
)

// What is paid beside the flights.
const (
	bagPrice       = 50
	insurancePrice = 30 // for each passenger
)

// now is when reservations are made: the sample data is of this day.
const now = "2024-05-15T15:00:00"

// newReservations are the ids of reservations to come. The sample data has room
// for three.
var newReservations = []string{"HATHAT", "HATHAU", "HATHAV"}

// BookReservation says what to book, for whom, and how it is paid.
type BookReservation struct {
	UserID          string      `json:"user_id" jsonschema_description:"The ID of the user to book the reservation, such as 'sara_doe_496'."`
	Origin          string      `json:"origin" jsonschema_description:"The IATA code for the origin city, such as 'SFO'."`
	Destination     string      `json:"destination" jsonschema_description:"The IATA code for the destination city, such as 'JFK'."`
	FlightType      string      `json:"flight_type" jsonschema:"enum=one_way,enum=round_trip"`
	Cabin           string      `json:"cabin" jsonschema:"enum=basic_economy,enum=economy,enum=business"`
	Flights         []Leg       `json:"flights" jsonschema_description:"An array of objects containing details about each piece of flight."`
	Passengers      []Passenger `json:"passengers" jsonschema_description:"An array of objects containing details about each passenger."`
	PaymentMethods  []Payment   `json:"payment_methods" jsonschema_description:"An array of objects containing details about each payment method."`
	TotalBaggages   int         `json:"total_baggages" jsonschema:"minimum=0" jsonschema_description:"The total number of baggage items included in the reservation."`
	NonfreeBaggages int         `json:"nonfree_baggages" jsonschema:"minimum=0" jsonschema_description:"The number of non-free baggage items included in the reservation."`
	Insurance       string      `json:"insurance" jsonschema:"enum=yes,enum=no"`
}

// BookReservation books flights at today's prices. The payments must add up to
// the price. A certificate is used up even if it was worth more than it pays.
func (a *Airline) BookReservation(ctx context.Context, p BookReservation) (Reservation, error) {
	var booked *Reservation
	err := a.changeUser(ctx, p.UserID, func(user *User) error {
		id, ok := a.newReservation()
		if !ok {
			return refuse("no more reservations can be made")
		}
		flights, price, err := a.quote(p)
		if err != nil {
			return err
		}
		if err := user.pay(p.PaymentMethods, price); err != nil {
			return err
		}
		booked = &Reservation{
			ReservationID: id, UserID: p.UserID, CreatedAt: now,
			Origin: p.Origin, Destination: p.Destination, FlightType: p.FlightType, Cabin: p.Cabin,
			Flights: flights, Passengers: list(p.Passengers), PaymentHistory: list(p.PaymentMethods),
			TotalBaggages: p.TotalBaggages, NonfreeBaggages: p.NonfreeBaggages, Insurance: p.Insurance,
		}
		a.data.Reservations[id] = booked
		user.Reservations = append(user.Reservations, id)
		return nil
	})
	if err != nil {
		return Reservation{}, err
	}
	return *booked.clone(), nil
}

// newReservation returns an id that is still free. The airline must be locked.
func (a *Airline) newReservation() (string, bool) {
	for _, id := range newReservations {
		if _, taken := a.data.Reservations[id]; !taken {
			return id, true
		}
	}
	return "", false
}

// quote returns the flights to be booked, and what everything costs together. The
// airline must be locked.
func (a *Airline) quote(p BookReservation) ([]Segment, float64, error) {
	passengers := float64(len(p.Passengers))
	flights := make([]Segment, len(p.Flights))
	total := float64(bagPrice * p.NonfreeBaggages)
	for i, leg := range p.Flights {
		segment, err := a.book(leg, p.Cabin, len(p.Passengers))
		if err != nil {
			return nil, 0, err
		}
		flights[i] = segment
		total += segment.Price * passengers
	}
	if p.Insurance == "yes" {
		total += insurancePrice * passengers
	}
	return flights, total, nil
}

// pay spends what a booking costs.
func (u *User) pay(payments []Payment, price float64) error {
	paid := 0.0
	for _, payment := range payments {
		method, ok := u.PaymentMethods[payment.PaymentID]
		if !ok {
			return refuse("payment method %s not found", payment.PaymentID)
		}
		if !method.covers(payment.Amount) {
			return refuse("not enough balance in payment method %s", payment.PaymentID)
		}
		u.spend(payment.PaymentID, payment.Amount)
		paid += payment.Amount
	}
	if paid != price {
		return refuse("payment amount does not add up, total price is %s, but paid %s", number(price), number(paid))
	}
	return nil
}

// number writes an amount with as many digits as it needs.
func number(amount float64) string { return strconv.FormatFloat(amount, 'f', -1, 64) }
