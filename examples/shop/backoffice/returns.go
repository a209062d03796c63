package backoffice

import (
	"context"
	"slices"
)

// ReturnItems says which items of a delivered order come back, and where the
// refund goes.
type ReturnItems struct {
	OrderID         string   `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
	ItemIDs         []string `json:"item_ids" jsonschema_description:"The item ids to be returned, each such as '1008292230'. There could be duplicate items in the list."`
	PaymentMethodID string   `json:"payment_method_id" jsonschema_description:"The payment method id to pay or receive refund for the item price difference, such as 'gift_card_0000000' or 'credit_card_0000000'. These can be looked up from the user or order details."`
}

// Return is what an order records of a requested return.
type Return struct {
	Items           []string `json:"return_items"`
	PaymentMethodID string   `json:"return_payment_method_id"`
}

// ReturnDeliveredOrderItems requests the return of items of a delivered order.
// The refund may go to the original payment method or to one of the user's gift
// cards; no money moves yet.
func (s *Shop) ReturnDeliveredOrderItems(ctx context.Context, p ReturnItems) (Order, error) {
	return s.changeOrder(ctx, p.OrderID, func(order *Order, owner *User) error {
		if order.Status != Delivered {
			return refuse("non-delivered order cannot be returned")
		}
		method, ok := owner.PaymentMethods[p.PaymentMethodID]
		if !ok {
			return errNoPaymentMethod
		}
		if method.Source != GiftCard && method.ID != order.PaymentHistory[0].PaymentMethodID {
			return refuse("payment method should be either the original payment method or a gift card")
		}
		if _, missing := order.lacks(p.ItemIDs); missing {
			return refuse("some item not found")
		}
		order.Status = ReturnRequested
		order.Return = &Return{Items: sorted(p.ItemIDs), PaymentMethodID: p.PaymentMethodID}
		return nil
	})
}

func (r *Return) clone() *Return {
	if r == nil {
		return nil
	}
	c := *r
	c.Items = slices.Clone(r.Items)
	return &c
}
