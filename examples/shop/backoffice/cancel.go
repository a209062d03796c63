package backoffice

import "context"

// The reasons for which an order may be cancelled.
const (
	NoLongerNeeded   = "no longer needed"
	OrderedByMistake = "ordered by mistake"
)

// CancelOrder says which order to cancel, and why.
type CancelOrder struct {
	OrderID string `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
	Reason  string `json:"reason" jsonschema:"enum=no longer needed,enum=ordered by mistake" jsonschema_description:"The reason for cancellation, which should be either 'no longer needed' or 'ordered by mistake'."`
}

// CancelPendingOrder cancels an order and refunds every entry of its payment
// history. A gift card has the money at once.
func (s *Shop) CancelPendingOrder(ctx context.Context, p CancelOrder) (Order, error) {
	return s.changeOrder(ctx, p.OrderID, func(order *Order, owner *User) error {
		if order.Status != Pending {
			return refuse("non-pending order cannot be cancelled")
		}
		if p.Reason != NoLongerNeeded && p.Reason != OrderedByMistake {
			return refuse("invalid reason")
		}
		for _, paid := range order.PaymentHistory {
			owner.charge(paid.PaymentMethodID, -paid.Amount)
			order.PaymentHistory = append(order.PaymentHistory, Payment{Refunded, paid.Amount, paid.PaymentMethodID})
		}
		order.Status = Cancelled
		order.CancelReason = p.Reason
		return nil
	})
}
