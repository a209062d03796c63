package backoffice

import "context"

var errNotPending = refuse("non-pending order cannot be modified")

// OrderAddress is a new shipping address for an order.
type OrderAddress struct {
	OrderID string `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
	Address
}

// OrderPayment is a new payment method for an order.
type OrderPayment struct {
	OrderID         string `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
	PaymentMethodID string `json:"payment_method_id" jsonschema_description:"The payment method id to pay or receive refund for the item price difference, such as 'gift_card_0000000' or 'credit_card_0000000'. These can be looked up from the user or order details."`
}

// ModifyPendingOrderAddress gives a pending order a new shipping address.
func (s *Shop) ModifyPendingOrderAddress(ctx context.Context, p OrderAddress) (Order, error) {
	return s.changeOrder(ctx, p.OrderID, func(order *Order, _ *User) error {
		if order.Status != Pending {
			return errNotPending
		}
		order.Address = p.Address
		return nil
	})
}

// ModifyPendingOrderPayment has a pending order paid by another of the user's
// payment methods and refunds the first one.
func (s *Shop) ModifyPendingOrderPayment(ctx context.Context, p OrderPayment) (Order, error) {
	return s.changeOrder(ctx, p.OrderID, func(order *Order, owner *User) error {
		if order.Status != Pending {
			return errNotPending
		}
		method, ok := owner.PaymentMethods[p.PaymentMethodID]
		if !ok {
			return errNoPaymentMethod
		}
		if len(order.PaymentHistory) != 1 || order.PaymentHistory[0].TransactionType != Paid {
			return refuse("there should be exactly one payment for a pending order")
		}
		paid := order.PaymentHistory[0]
		if paid.PaymentMethodID == p.PaymentMethodID {
			return refuse("the new payment method should be different from the current one")
		}
		if !method.covers(paid.Amount) {
			return refuse("insufficient gift card balance to pay for the order")
		}
		owner.charge(p.PaymentMethodID, paid.Amount)
		owner.charge(paid.PaymentMethodID, -paid.Amount)
		order.PaymentHistory = append(order.PaymentHistory,
			Payment{Paid, paid.Amount, p.PaymentMethodID},
			Payment{Refunded, paid.Amount, paid.PaymentMethodID})
		return nil
	})
}
