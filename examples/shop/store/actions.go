package store

import (
	"context"
	"errors"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/registry"
)

// Permissions of the shop. Staff perform what edit permissions stand for; a customer may only ask, and only
// about their own records.
const (
	ReadOrders    authz.Permission = "orders:read"
	ReadCustomers authz.Permission = "customers:read"
	FindCustomers authz.Permission = "customers:find"
	ReadProducts  authz.Permission = "products:read"
	UseAssistant  authz.Permission = "assistant:use"

	EditOrders       authz.Permission = "orders:edit"
	RequestOrders    authz.Permission = "orders:request"
	EditCustomers    authz.Permission = "customers:edit"
	RequestCustomers authz.Permission = "customers:request"
	EditRefunds      authz.Permission = "refunds:edit"
	RequestRefunds   authz.Permission = "refunds:request"
	EditPayments     authz.Permission = "payments:edit"
	RequestPayments  authz.Permission = "payments:request"
)

// MoneyMoves are the permissions that no action may need without a person's click: New checks it.
var MoneyMoves = []authz.Permission{EditRefunds, EditPayments}

// Actions makes every call of the back office an action. The revision stands for the code behind them.
func (o *Office) Actions(revision string) []*registry.Action {
	return []*registry.Action{
		Read(o, "get_order_details", "Get the status and details of an order.", ReadOrders,
			func(ctx context.Context, p backoffice.GetOrder) ([]authz.Path, error) { return o.order(ctx, p.OrderID) }, (*backoffice.Shop).GetOrderDetails),
		Read(o, "get_user_details", "Get the details of a customer, including their orders.", ReadCustomers,
			func(ctx context.Context, p backoffice.GetUser) ([]authz.Path, error) { return o.user(ctx, p.UserID) }, (*backoffice.Shop).GetUserDetails),
		Read(o, "find_user_id_by_email", "Find a customer's id by their email address.", FindCustomers, nil, (*backoffice.Shop).FindUserIDByEmail),
		Read(o, "find_user_id_by_name_zip", "Find a customer's id by first name, last name and zip code.", FindCustomers, nil, (*backoffice.Shop).FindUserIDByNameZip),
		Read(o, "get_product_details", "Get the variants, prices and availability of a product.", ReadProducts, nil, (*backoffice.Shop).GetProductDetails),
		Read(o, "list_all_product_types", "List the names and ids of all product types.", ReadProducts, nil, (*backoffice.Shop).ListAllProductTypes),
		Read(o, "calculate", "Work out an arithmetic expression.", UseAssistant, nil, (*backoffice.Shop).Calculate),
		Read(o, "think", "Think about something; it reads and changes nothing.", UseAssistant, nil, (*backoffice.Shop).Think),
		Read(o, "transfer_to_human_agents", "Hand the conversation over to a person, with a summary.", UseAssistant, nil, (*backoffice.Shop).TransferToHumanAgents),

		Write(o, "cancel_pending_order", OfOrder(o, registry.Spec[backoffice.CancelOrder]{
			Description: "Cancel a pending order and refund what was paid.",
			Permission:  EditRefunds, Ask: RequestRefunds, Mode: authz.Propose, Revision: revision,
			Sentence: "Cancel order {order_id} and refund it in full, because it is {reason}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "the customer has to order again", Destructive: true,
		}, func(p backoffice.CancelOrder) string { return p.OrderID }), (*backoffice.Shop).CancelPendingOrder),
		Write(o, "return_delivered_order_items", OfOrder(o, registry.Spec[backoffice.ReturnItems]{
			Description: "Request the return of items of a delivered order, refunded to the given payment method.",
			Permission:  EditRefunds, Ask: RequestRefunds, Mode: authz.Propose, Revision: revision,
			Sentence: "Take back items {item_ids} of order {order_id} and refund them to {payment_method_id}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "before the parcel arrives",
		}, func(p backoffice.ReturnItems) string { return p.OrderID }), (*backoffice.Shop).ReturnDeliveredOrderItems),
		Write(o, "exchange_delivered_order_items", OfOrder(o, registry.Spec[backoffice.ExchangeItems]{
			Description: "Exchange items of a delivered order for other variants of the same products. It can be done once for each order.",
			Permission:  EditPayments, Ask: RequestPayments, Mode: authz.Propose, Revision: revision,
			Sentence: "Exchange items {item_ids} of order {order_id} for {new_item_ids}; settle the difference with {payment_method_id}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "before the parcel arrives",
		}, func(p backoffice.ExchangeItems) string { return p.OrderID }), (*backoffice.Shop).ExchangeDeliveredOrderItems),
		Write(o, "modify_pending_order_items", OfOrder(o, registry.Spec[backoffice.ModifyItems]{
			Description: "Change items of a pending order to other variants of the same products. It can be done once for each order.",
			Permission:  EditPayments, Ask: RequestPayments, Mode: authz.Propose, Revision: revision,
			Sentence: "Change items {item_ids} of order {order_id} to {new_item_ids}; settle the difference with {payment_method_id}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "not through this action",
		}, func(p backoffice.ModifyItems) string { return p.OrderID }), (*backoffice.Shop).ModifyPendingOrderItems),
		Write(o, "modify_pending_order_payment", OfOrder(o, registry.Spec[backoffice.OrderPayment]{
			Description: "Pay a pending order with another payment method; the first one is refunded.",
			Permission:  EditPayments, Ask: RequestPayments, Mode: authz.Propose, Revision: revision,
			Sentence: "Pay order {order_id} with {payment_method_id} instead.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "by changing it back",
		}, func(p backoffice.OrderPayment) string { return p.OrderID }), (*backoffice.Shop).ModifyPendingOrderPayment),
		Write(o, "modify_pending_order_address", OfOrder(o, registry.Spec[backoffice.OrderAddress]{
			Description: "Change the shipping address of a pending order.",
			Permission:  EditOrders, Ask: RequestOrders, Mode: authz.Execute, Revision: revision,
			Sentence: "Ship order {order_id} to {address1}, {address2}, {city}, {state} {zip}, {country}.",
			Risk:     registry.RiskLow, Reach: "one order", Undo: "by changing it back",
		}, func(p backoffice.OrderAddress) string { return p.OrderID }), (*backoffice.Shop).ModifyPendingOrderAddress),
		Write(o, "modify_user_address", registry.Spec[backoffice.UserAddress]{
			Description: "Change the default address of a customer.",
			Permission:  EditCustomers, Ask: RequestCustomers, Mode: authz.Execute, Revision: revision,
			Sentence: "Make {address1}, {address2}, {city}, {state} {zip}, {country} the address of customer {user_id}.",
			Risk:     registry.RiskLow, Reach: "one customer", Undo: "by changing it back", Idempotent: true,
			Target: func(ctx context.Context, p backoffice.UserAddress) ([]authz.Path, error) {
				return o.user(ctx, p.UserID)
			},
			Version: func(ctx context.Context, p backoffice.UserAddress) (string, error) {
				shop, err := o.Now(ctx)
				if err != nil {
					return "", err
				}
				return shop.UserVersion(p.UserID), nil
			},
		}, (*backoffice.Shop).ModifyUserAddress),
	}
}

func (o *Office) order(ctx context.Context, id string) ([]authz.Path, error) {
	shop, err := o.Now(ctx)
	if err != nil {
		return nil, err
	}
	owner, ok := shop.OrderOwner(id)
	if !ok {
		return nil, registry.ErrNoTarget
	}
	return Below(owner, "orders", id)
}

func (o *Office) user(ctx context.Context, id string) ([]authz.Path, error) {
	shop, err := o.Now(ctx)
	if err != nil {
		return nil, err
	}
	if !shop.HasUser(id) {
		return nil, registry.ErrNoTarget
	}
	return Below(id, "profile")
}

// OfOrder says of an action which order it is about, and binds it to the state of the order and of its owner: a
// change may settle with the owner's gift card.
func OfOrder[P any](o *Office, s registry.Spec[P], id func(P) string) registry.Spec[P] {
	s.Target = func(ctx context.Context, p P) ([]authz.Path, error) { return o.order(ctx, id(p)) }
	s.Version = func(ctx context.Context, p P) (string, error) {
		shop, err := o.Now(ctx)
		if err != nil {
			return "", err
		}
		owner, _ := shop.OrderOwner(id(p))
		return shop.OrderVersion(id(p)) + shop.UserVersion(owner), nil
	}
	return s
}

// Below is the path of something that belongs to a customer. The owner comes first, so that one override on
// /customers/ID covers all that is theirs.
func Below(customer string, segments ...string) ([]authz.Path, error) {
	path, err := authz.MustPath("/customers").Join(append([]string{customer}, segments...)...)
	return []authz.Path{path}, err
}

type method[P, R any] func(*backoffice.Shop, context.Context, P) (R, error)

// Read makes a call that looks something up an action.
func Read[P, R any](o *Office, name, description string, permission authz.Permission, target func(context.Context, P) ([]authz.Path, error), run method[P, R]) *registry.Action {
	spec := registry.Spec[P]{Description: description, Permission: permission, Mode: authz.Read, Target: target}
	return registry.Define(name, spec, func(ctx context.Context, p P) (r R, err error) {
		shop, err := o.Now(ctx)
		if err == nil {
			r, err = run(shop, ctx, p)
		}
		return r, tellable(err)
	})
}

// Write makes a call that changes something an action.
func Write[P, R any](o *Office, name string, spec registry.Spec[P], run method[P, R]) *registry.Action {
	return registry.Define(name, spec, func(ctx context.Context, p P) (r R, err error) {
		o.Runs.Add(1)
		err = o.change(ctx, func(shop *backoffice.Shop) (err error) {
			r, err = run(shop, ctx, p)
			return err
		})
		return r, tellable(err)
	})
}

// tellable marks what the shop itself says as fit for a model; any other error stays with the operators.
func tellable(err error) error {
	if _, ok := errors.AsType[*backoffice.Error](err); ok {
		return registry.Public(err)
	}
	return err
}
