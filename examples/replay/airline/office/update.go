package office

import "context"

// UpdateFlights says which flights a reservation is to have from now on.
type UpdateFlights struct {
	ReservationID string `json:"reservation_id" jsonschema_description:"The reservation ID, such as 'ZFA04Y'."`
	Cabin         string `json:"cabin" jsonschema:"enum=basic_economy,enum=economy,enum=business"`
	Flights       []Leg  `json:"flights" jsonschema_description:"An array of objects containing details about each piece of flight in the ENTIRE new reservation. Even if the a flight segment is not changed, it should still be included in the array."`
	PaymentID     string `json:"payment_id" jsonschema_description:"The payment id stored in user profile, such as 'credit_card_7815826', 'gift_card_7815826', 'certificate_7815826'."`
}

// UpdateBaggages says how many bags a reservation is to have from now on.
type UpdateBaggages struct {
	ReservationID   string `json:"reservation_id" jsonschema_description:"The reservation ID, such as 'ZFA04Y'."`
	TotalBaggages   int    `json:"total_baggages" jsonschema:"minimum=0" jsonschema_description:"The updated total number of baggage items included in the reservation."`
	NonfreeBaggages int    `json:"nonfree_baggages" jsonschema:"minimum=0" jsonschema_description:"The updated number of non-free baggage items included in the reservation."`
	PaymentID       string `json:"payment_id" jsonschema_description:"The payment id stored in user profile, such as 'credit_card_7815826', 'gift_card_7815826', 'certificate_7815826'."`
}

// UpdatePassengers says who flies from now on.
type UpdatePassengers struct {
	ReservationID string      `json:"reservation_id" jsonschema_description:"The reservation ID, such as 'ZFA04Y'."`
	Passengers    []Passenger `json:"passengers" jsonschema_description:"An array of objects containing details about each passenger."`
}

// UpdateReservationFlights changes flights or cabin and settles the difference in
// price, either way. A flight that stays in the same cabin keeps its price; the
// others have today's. The reservation keeps the cabin it was booked in.
func (a *Airline) UpdateReservationFlights(ctx context.Context, p UpdateFlights) (Reservation, error) {
	return a.changeReservation(ctx, p.ReservationID, func(r *Reservation, owner *User) error {
		flights := make([]Segment, len(p.Flights))
		difference := 0.0
		for i, leg := range p.Flights {
			segment, ok := r.has(leg)
			if !ok || p.Cabin != r.Cabin {
				var err error
				if segment, err = a.book(leg, p.Cabin, len(r.Passengers)); err != nil {
					return err
				}
			}
			flights[i] = segment
			difference += segment.Price * float64(len(r.Passengers))
		}
		for _, segment := range r.Flights {
			difference -= segment.Price * float64(len(r.Passengers))
		}
		if err := owner.settle(r, p.PaymentID, difference); err != nil {
			return err
		}
		r.Flights = flights
		return nil
	})
}

// UpdateReservationBaggages changes the number of bags. Bags that were not free
// and no longer come are not refunded.
func (a *Airline) UpdateReservationBaggages(ctx context.Context, p UpdateBaggages) (Reservation, error) {
	return a.changeReservation(ctx, p.ReservationID, func(r *Reservation, owner *User) error {
		more := max(0, p.NonfreeBaggages-r.NonfreeBaggages)
		if err := owner.settle(r, p.PaymentID, float64(bagPrice*more)); err != nil {
			return err
		}
		r.TotalBaggages, r.NonfreeBaggages = p.TotalBaggages, p.NonfreeBaggages
		return nil
	})
}

// UpdateReservationPassengers changes who flies, not how many.
func (a *Airline) UpdateReservationPassengers(ctx context.Context, p UpdatePassengers) (Reservation, error) {
	return a.changeReservation(ctx, p.ReservationID, func(r *Reservation, _ *User) error {
		if len(p.Passengers) != len(r.Passengers) {
			return refuse("number of passengers does not match")
		}
		r.Passengers = list(p.Passengers)
		return nil
	})
}

// has returns the segment that a leg already is.
func (r *Reservation) has(leg Leg) (Segment, bool) {
	for _, segment := range r.Flights {
		if segment.FlightNumber == leg.FlightNumber && segment.Date == leg.Date {
			return segment, true
		}
	}
	return Segment{}, false
}
