package backoffice

import (
	"context"
	"math"
	"slices"

	"github.com/sallyport-dev/sallyport/examples/internal/arith"
)

// ModifyItems says which items of a pending order become which others.
type ModifyItems struct {
	OrderID         string   `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
	ItemIDs         []string `json:"item_ids" jsonschema_description:"The item ids to be modified, each such as '1008292230'. There could be duplicate items in the list."`
	NewItemIDs      []string `json:"new_item_ids" jsonschema_description:"The item ids to be modified for, each such as '1008292230'. There could be duplicate items in the list. Each new item id should match the item id in the same position and be of the same product."`
	PaymentMethodID string   `json:"payment_method_id" jsonschema_description:"The payment method id to pay or receive refund for the item price difference, such as 'gift_card_0000000' or 'credit_card_0000000'. These can be looked up from the user or order details."`
}

// ExchangeItems says which items of a delivered order are exchanged for which
// others.
type ExchangeItems struct {
	OrderID         string   `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
	ItemIDs         []string `json:"item_ids" jsonschema_description:"The item ids to be exchanged, each such as '1008292230'. There could be duplicate items in the list."`
	NewItemIDs      []string `json:"new_item_ids" jsonschema_description:"The item ids to be exchanged for, each such as '1008292230'. There could be duplicate items in the list. Each new item id should match the item id in the same position and be of the same product."`
	PaymentMethodID string   `json:"payment_method_id" jsonschema_description:"The payment method id to pay or receive refund for the item price difference, such as 'gift_card_0000000' or 'credit_card_0000000'. These can be looked up from the user or order details."`
}

// Exchange is what an order records of a requested exchange. The price
// difference is what the user still has to pay; below zero, what they get back.
type Exchange struct {
	Items           []string `json:"exchange_items"`
	NewItems        []string `json:"exchange_new_items"`
	PaymentMethodID string   `json:"exchange_payment_method_id"`
	PriceDifference float64  `json:"exchange_price_difference"`
}

// ModifyPendingOrderItems replaces items of a pending order by other variants of
// the same products and settles the difference in price. It works once per order.
func (s *Shop) ModifyPendingOrderItems(ctx context.Context, p ModifyItems) (Order, error) {
	return s.changeOrder(ctx, p.OrderID, func(order *Order, owner *User) error {
		if order.Status != Pending {
			return errNotPending
		}
		variants, difference, err := s.priceSwap(order, p.ItemIDs, p.NewItemIDs)
		if err != nil {
			return err
		}
		method, ok := owner.PaymentMethods[p.PaymentMethodID]
		if !ok {
			return errNoPaymentMethod
		}
		if !method.covers(difference) {
			return refuse("insufficient gift card balance to pay for the new item")
		}
		owner.charge(p.PaymentMethodID, difference)
		order.PaymentHistory = append(order.PaymentHistory, settlement(difference, p.PaymentMethodID))
		for i, id := range p.ItemIDs {
			item, variant := order.item(id), variants[i].clone()
			item.ItemID, item.Price, item.Options = variant.ItemID, variant.Price, variant.Options
		}
		order.Status = PendingModified
		return nil
	})
}

// ExchangeDeliveredOrderItems requests the exchange of items of a delivered
// order for other variants of the same products. No money moves yet.
func (s *Shop) ExchangeDeliveredOrderItems(ctx context.Context, p ExchangeItems) (Order, error) {
	return s.changeOrder(ctx, p.OrderID, func(order *Order, owner *User) error {
		if order.Status != Delivered {
			return refuse("non-delivered order cannot be exchanged")
		}
		_, difference, err := s.priceSwap(order, p.ItemIDs, p.NewItemIDs)
		if err != nil {
			return err
		}
		difference = arith.Cents(difference)
		method, ok := owner.PaymentMethods[p.PaymentMethodID]
		if !ok {
			return errNoPaymentMethod
		}
		if !method.covers(difference) {
			return refuse("insufficient gift card balance to pay for the price difference")
		}
		order.Status = ExchangeRequested
		order.Exchange = &Exchange{
			Items:           sorted(p.ItemIDs),
			NewItems:        sorted(p.NewItemIDs),
			PaymentMethodID: p.PaymentMethodID,
			PriceDifference: difference,
		}
		return nil
	})
}

// priceSwap returns the variants that are to replace the items, and what they
// cost more. The sum is not rounded: the payment history has it exactly.
// The shop must be locked.
func (s *Shop) priceSwap(order *Order, itemIDs, newItemIDs []string) ([]Variant, float64, error) {
	if id, missing := order.lacks(itemIDs); missing {
		return nil, 0, refuse("%s not found", id)
	}
	if len(itemIDs) != len(newItemIDs) {
		return nil, 0, refuse("the number of items to be exchanged should match")
	}
	variants := make([]Variant, len(itemIDs))
	difference := 0.0
	for i, id := range itemIDs {
		item := order.item(id)
		variant, ok := s.data.Products[item.ProductID].Variants[newItemIDs[i]]
		if !ok || !variant.Available {
			return nil, 0, refuse("new item %s not found or available", newItemIDs[i])
		}
		variants[i] = variant
		difference += variant.Price - item.Price
	}
	return variants, difference, nil
}

// settlement is the entry for a difference in price. No difference is a refund
// of nothing.
func settlement(difference float64, methodID string) Payment {
	if difference > 0 {
		return Payment{Paid, difference, methodID}
	}
	return Payment{Refunded, math.Abs(difference), methodID}
}

func (e *Exchange) clone() *Exchange {
	if e == nil {
		return nil
	}
	c := *e
	c.Items, c.NewItems = slices.Clone(e.Items), slices.Clone(e.NewItems)
	return &c
}
