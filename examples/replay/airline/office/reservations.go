package office

import (
	"context"
	"slices"
)

// Cancelled is the status of a reservation that was cancelled. Others have none.
const Cancelled = "cancelled"

// Reservation is what a user booked, for whom, and how it was paid.
type Reservation struct {
	ReservationID   string      `json:"reservation_id"`
	UserID          string      `json:"user_id"`
	Origin          string      `json:"origin"`
	Destination     string      `json:"destination"`
	FlightType      string      `json:"flight_type"` // one_way or round_trip
	Cabin           string      `json:"cabin"`
	Flights         []Segment   `json:"flights"`
	Passengers      []Passenger `json:"passengers"`
	PaymentHistory  []Payment   `json:"payment_history"`
	CreatedAt       string      `json:"created_at"`
	TotalBaggages   int         `json:"total_baggages"`
	NonfreeBaggages int         `json:"nonfree_baggages"`
	Insurance       string      `json:"insurance"` // yes or no
	Status          string      `json:"status,omitempty"`
}

// Segment is one flight of a reservation, with its price for one passenger.
type Segment struct {
	FlightNumber string  `json:"flight_number"`
	Date         string  `json:"date"`
	Price        float64 `json:"price"`
	Origin       string  `json:"origin"`
	Destination  string  `json:"destination"`
}

// Passenger is who flies.
type Passenger struct {
	FirstName string `json:"first_name" jsonschema_description:"The first name of the passenger, such as 'Noah'."`
	LastName  string `json:"last_name" jsonschema_description:"The last name of the passenger, such as 'Brown'."`
	DOB       string `json:"dob" jsonschema_description:"The date of birth of the passenger in the format 'YYYY-MM-DD', such as '1990-01-01'."`
}

// GetReservation names a reservation to read.
type GetReservation struct {
	ReservationID string `json:"reservation_id" jsonschema_description:"The reservation id, such as '8JX2WO'."`
}

// GetReservationDetails returns a reservation.
func (a *Airline) GetReservationDetails(ctx context.Context, p GetReservation) (Reservation, error) {
	reservation, err := find(ctx, a, a.data.Reservations, p.ReservationID, errReservationNotFound)
	if err != nil {
		return Reservation{}, err
	}
	return *reservation, nil
}

func (r *Reservation) clone() *Reservation {
	c := *r
	c.Flights = slices.Clone(r.Flights)
	c.Passengers = slices.Clone(r.Passengers)
	c.PaymentHistory = slices.Clone(r.PaymentHistory)
	return &c
}

// list returns a copy of a list, never nil.
func list[T any](elements []T) []T { return append([]T{}, elements...) }
