package backoffice

import (
	"context"
	"maps"
	"slices"
)

// The statuses of an order. A pending order whose items were modified can be
// neither modified again nor cancelled.
const (
	Pending           = "pending"
	PendingModified   = "pending (item modified)"
	Processed         = "processed"
	Delivered         = "delivered"
	Cancelled         = "cancelled"
	ReturnRequested   = "return requested"
	ExchangeRequested = "exchange requested"
)

// Order is what a user ordered, where it goes and how it was paid.
type Order struct {
	OrderID        string        `json:"order_id"`
	UserID         string        `json:"user_id"`
	Address        Address       `json:"address"`
	Items          []Item        `json:"items"`
	Fulfillments   []Fulfillment `json:"fulfillments"`
	Status         string        `json:"status"`
	PaymentHistory []Payment     `json:"payment_history"`

	CancelReason string `json:"cancel_reason,omitempty"`
	*Return             // set once a return is requested
	*Exchange           // set once an exchange is requested
}

// Item is a variant of a product as it was ordered.
type Item struct {
	Name      string            `json:"name"`
	ProductID string            `json:"product_id"`
	ItemID    string            `json:"item_id"`
	Price     float64           `json:"price"`
	Options   map[string]string `json:"options"`
}

// Fulfillment is a parcel of an order.
type Fulfillment struct {
	TrackingID []string `json:"tracking_id"`
	ItemIDs    []string `json:"item_ids"`
}

// GetOrder names an order to read.
type GetOrder struct {
	OrderID string `json:"order_id" jsonschema_description:"The order id, such as '#W0000000'. Be careful there is a '#' symbol at the beginning of the order id."`
}

// GetOrderDetails returns an order.
func (s *Shop) GetOrderDetails(ctx context.Context, p GetOrder) (Order, error) {
	order, err := find(ctx, s, s.data.Orders, p.OrderID, errOrderNotFound)
	if err != nil {
		return Order{}, err
	}
	return *order, nil
}

// count returns how many items of the order are of one variant.
func (o *Order) count(itemID string) int {
	n := 0
	for _, item := range o.Items {
		if item.ItemID == itemID {
			n++
		}
	}
	return n
}

// lacks returns the first of the item ids that is listed more often than the
// order has it, if any.
func (o *Order) lacks(itemIDs []string) (itemID string, missing bool) {
	wanted := make(map[string]int)
	for _, id := range itemIDs {
		wanted[id]++
	}
	for _, id := range itemIDs {
		if wanted[id] > o.count(id) {
			return id, true
		}
	}
	return "", false
}

// item returns the order's first item of a variant. The order must have one.
func (o *Order) item(itemID string) *Item {
	return &o.Items[slices.IndexFunc(o.Items, func(i Item) bool { return i.ItemID == itemID })]
}

func (o *Order) clone() *Order {
	c := *o
	c.Items = slices.Clone(o.Items)
	for i := range c.Items {
		c.Items[i].Options = maps.Clone(c.Items[i].Options)
	}
	c.Fulfillments = slices.Clone(o.Fulfillments)
	for i, f := range c.Fulfillments {
		c.Fulfillments[i] = Fulfillment{TrackingID: slices.Clone(f.TrackingID), ItemIDs: slices.Clone(f.ItemIDs)}
	}
	c.PaymentHistory = slices.Clone(o.PaymentHistory)
	c.Return = o.Return.clone()
	c.Exchange = o.Exchange.clone()
	return &c
}

// sorted returns the ids in order, never nil.
func sorted(ids []string) []string {
	s := append([]string{}, ids...)
	slices.Sort(s)
	return s
}
