package office

import "context"

// CancelReservation names a reservation to cancel.
type CancelReservation struct {
	ReservationID string `json:"reservation_id" jsonschema_description:"The reservation ID, such as 'ZFA04Y'."`
}

// CancelReservation cancels a whole reservation and enters the refund of every
// payment; the bank does the rest. It does not look whether the reservation was
// cancelled before: a second call reverses the refunds.
func (a *Airline) CancelReservation(ctx context.Context, p CancelReservation) (Reservation, error) {
	return a.changeReservation(ctx, p.ReservationID, func(r *Reservation, _ *User) error {
		for _, paid := range list(r.PaymentHistory) {
			r.PaymentHistory = append(r.PaymentHistory, Payment{PaymentID: paid.PaymentID, Amount: -paid.Amount})
		}
		r.Status = Cancelled
		return nil
	})
}
