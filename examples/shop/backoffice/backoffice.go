// Package backoffice is an online shop's back office: users, orders, products,
// and the calls with which its staff look them up and change them.
//
// [Open] gives a [Shop] filled with sample data. Each of its calls is a method
// that takes its parameters as a struct: [Shop.GetOrderDetails] reads,
// [Shop.CancelPendingOrder] writes. What the shop refuses, it refuses with an
// [*Error] and leaves everything as it was.
//
// The package knows nothing of models, approvals or Sallyport: it is the plain
// application that a gate is put in front of. In particular it checks no
// ownership, so any known order id works for any caller. For whoever guards it,
// [Shop.OrderOwner] says whose an order is, [Shop.OrderVersion] detects a stale
// write, and [Diff] shows what a call changed.
//
// Calls, wording and sample data follow the retail domain of tau-bench; see
// data/README.md.
package backoffice

import (
	"context"
	"maps"
	"sync"
)

// Shop holds the records and serves the calls. All its methods may be called
// concurrently; each is atomic. Open makes one.
type Shop struct {
	mu sync.Mutex
	// data's records are never changed in place: a write puts changed copies
	// into its maps. So a snapshot can share the records.
	data Data
}

// Open returns a shop with its own fresh copy of the sample data.
func Open() (*Shop, error) {
	data, err := seed()
	if err != nil {
		return nil, err
	}
	return &Shop{data: data.share()}, nil
}

// New returns a shop that holds what a snapshot holds.
func New(s Snapshot) *Shop { return &Shop{data: s.data.share()} }

// changeOrder lets change edit copies of an order and of the user who owns it,
// and keeps both if change returns nil. It answers with the order as it then is.
func (s *Shop) changeOrder(ctx context.Context, id string, change func(*Order, *User) error) (Order, error) {
	if err := ctx.Err(); err != nil {
		return Order{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.data.Orders[id]
	if !ok {
		return Order{}, errOrderNotFound
	}
	order, owner := stored.clone(), s.data.Users[stored.UserID].clone()
	if err := change(order, owner); err != nil {
		return Order{}, err
	}
	s.data.Orders[id], s.data.Users[stored.UserID] = order, owner
	return *order.clone(), nil
}

// find returns a copy of one record, or missing if there is none.
func find[T interface{ clone() T }](ctx context.Context, s *Shop, records map[string]T, id string, missing error) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	record, ok := records[id]
	if !ok {
		return none, missing
	}
	return record.clone(), nil
}

// share returns a Data with maps of its own and the same records.
func (d Data) share() Data {
	return Data{Users: maps.Clone(d.Users), Orders: maps.Clone(d.Orders), Products: maps.Clone(d.Products)}
}
