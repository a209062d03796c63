package main

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
	readOrders    authz.Permission = "orders:read"
	readCustomers authz.Permission = "customers:read"
	findCustomers authz.Permission = "customers:find"
	readProducts  authz.Permission = "products:read"
	useAssistant  authz.Permission = "assistant:use"

	editOrders       authz.Permission = "orders:edit"
	requestOrders    authz.Permission = "orders:request"
	editCustomers    authz.Permission = "customers:edit"
	requestCustomers authz.Permission = "customers:request"
	editRefunds      authz.Permission = "refunds:edit"
	requestRefunds   authz.Permission = "refunds:request"
	editPayments     authz.Permission = "payments:edit"
	requestPayments  authz.Permission = "payments:request"
)

// moneyMoves are the permissions that no action may need without a person's click: New checks it.
var moneyMoves = []authz.Permission{editRefunds, editPayments}

// actions makes every call of the back office an action. The revision stands for the code behind them.
func (o *office) actions(revision string) []*registry.Action {
	return []*registry.Action{
		read(o, "get_order_details", "Get the status and details of an order.", readOrders,
			func(ctx context.Context, p backoffice.GetOrder) ([]authz.Path, error) { return o.order(ctx, p.OrderID) }, (*backoffice.Shop).GetOrderDetails),
		read(o, "get_user_details", "Get the details of a customer, including their orders.", readCustomers,
			func(ctx context.Context, p backoffice.GetUser) ([]authz.Path, error) { return o.user(ctx, p.UserID) }, (*backoffice.Shop).GetUserDetails),
		read(o, "find_user_id_by_email", "Find a customer's id by their email address.", findCustomers, nil, (*backoffice.Shop).FindUserIDByEmail),
		read(o, "find_user_id_by_name_zip", "Find a customer's id by first name, last name and zip code.", findCustomers, nil, (*backoffice.Shop).FindUserIDByNameZip),
		read(o, "get_product_details", "Get the variants, prices and availability of a product.", readProducts, nil, (*backoffice.Shop).GetProductDetails),
		read(o, "list_all_product_types", "List the names and ids of all product types.", readProducts, nil, (*backoffice.Shop).ListAllProductTypes),
		read(o, "calculate", "Work out an arithmetic expression.", useAssistant, nil, (*backoffice.Shop).Calculate),
		read(o, "think", "Think about something; it reads and changes nothing.", useAssistant, nil, (*backoffice.Shop).Think),
		read(o, "transfer_to_human_agents", "Hand the conversation over to a person, with a summary.", useAssistant, nil, (*backoffice.Shop).TransferToHumanAgents),

		write(o, "cancel_pending_order", ofOrder(o, registry.Spec[backoffice.CancelOrder]{
			Description: "Cancel a pending order and refund what was paid.",
			Permission:  editRefunds, Ask: requestRefunds, Mode: authz.Propose, Revision: revision,
			Sentence: "Cancel order {order_id} and refund it in full, because it is {reason}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "the customer has to order again", Destructive: true,
		}, func(p backoffice.CancelOrder) string { return p.OrderID }), (*backoffice.Shop).CancelPendingOrder),
		write(o, "return_delivered_order_items", ofOrder(o, registry.Spec[backoffice.ReturnItems]{
			Description: "Request the return of items of a delivered order, refunded to the given payment method.",
			Permission:  editRefunds, Ask: requestRefunds, Mode: authz.Propose, Revision: revision,
			Sentence: "Take back items {item_ids} of order {order_id} and refund them to {payment_method_id}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "before the parcel arrives",
		}, func(p backoffice.ReturnItems) string { return p.OrderID }), (*backoffice.Shop).ReturnDeliveredOrderItems),
		write(o, "exchange_delivered_order_items", ofOrder(o, registry.Spec[backoffice.ExchangeItems]{
			Description: "Exchange items of a delivered order for other variants of the same products. It can be done once for each order.",
			Permission:  editPayments, Ask: requestPayments, Mode: authz.Propose, Revision: revision,
			Sentence: "Exchange items {item_ids} of order {order_id} for {new_item_ids}; settle the difference with {payment_method_id}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "before the parcel arrives",
		}, func(p backoffice.ExchangeItems) string { return p.OrderID }), (*backoffice.Shop).ExchangeDeliveredOrderItems),
		write(o, "modify_pending_order_items", ofOrder(o, registry.Spec[backoffice.ModifyItems]{
			Description: "Change items of a pending order to other variants of the same products. It can be done once for each order.",
			Permission:  editPayments, Ask: requestPayments, Mode: authz.Propose, Revision: revision,
			Sentence: "Change items {item_ids} of order {order_id} to {new_item_ids}; settle the difference with {payment_method_id}.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "not through this action",
		}, func(p backoffice.ModifyItems) string { return p.OrderID }), (*backoffice.Shop).ModifyPendingOrderItems),
		write(o, "modify_pending_order_payment", ofOrder(o, registry.Spec[backoffice.OrderPayment]{
			Description: "Pay a pending order with another payment method; the first one is refunded.",
			Permission:  editPayments, Ask: requestPayments, Mode: authz.Propose, Revision: revision,
			Sentence: "Pay order {order_id} with {payment_method_id} instead.",
			Risk:     registry.RiskMedium, Reach: "one order and its payments", Undo: "by changing it back",
		}, func(p backoffice.OrderPayment) string { return p.OrderID }), (*backoffice.Shop).ModifyPendingOrderPayment),
		write(o, "modify_pending_order_address", ofOrder(o, registry.Spec[backoffice.OrderAddress]{
			Description: "Change the shipping address of a pending order.",
			Permission:  editOrders, Ask: requestOrders, Mode: authz.Execute, Revision: revision,
			Sentence: "Ship order {order_id} to {address1}, {address2}, {city}, {state} {zip}, {country}.",
			Risk:     registry.RiskLow, Reach: "one order", Undo: "by changing it back",
		}, func(p backoffice.OrderAddress) string { return p.OrderID }), (*backoffice.Shop).ModifyPendingOrderAddress),
		write(o, "modify_user_address", registry.Spec[backoffice.UserAddress]{
			Description: "Change the default address of a customer.",
			Permission:  editCustomers, Ask: requestCustomers, Mode: authz.Execute, Revision: revision,
			Sentence: "Make {address1}, {address2}, {city}, {state} {zip}, {country} the address of customer {user_id}.",
			Risk:     registry.RiskLow, Reach: "one customer", Undo: "by changing it back", Idempotent: true,
			Target: func(ctx context.Context, p backoffice.UserAddress) ([]authz.Path, error) {
				return o.user(ctx, p.UserID)
			},
			Version: func(ctx context.Context, p backoffice.UserAddress) (string, error) {
				shop, err := o.now(ctx)
				if err != nil {
					return "", err
				}
				return shop.UserVersion(p.UserID), nil
			},
		}, (*backoffice.Shop).ModifyUserAddress),
	}
}

func (o *office) order(ctx context.Context, id string) ([]authz.Path, error) {
	shop, err := o.now(ctx)
	if err != nil {
		return nil, err
	}
	owner, ok := shop.OrderOwner(id)
	if !ok {
		return nil, registry.ErrNoTarget
	}
	return below(owner, "orders", id)
}

func (o *office) user(ctx context.Context, id string) ([]authz.Path, error) {
	shop, err := o.now(ctx)
	if err != nil {
		return nil, err
	}
	if !shop.HasUser(id) {
		return nil, registry.ErrNoTarget
	}
	return below(id, "profile")
}

// ofOrder says of an action which order it is about, and binds it to the state of the order and of its owner: a
// change may settle with the owner's gift card.
func ofOrder[P any](o *office, s registry.Spec[P], id func(P) string) registry.Spec[P] {
	s.Target = func(ctx context.Context, p P) ([]authz.Path, error) { return o.order(ctx, id(p)) }
	s.Version = func(ctx context.Context, p P) (string, error) {
		shop, err := o.now(ctx)
		if err != nil {
			return "", err
		}
		owner, _ := shop.OrderOwner(id(p))
		return shop.OrderVersion(id(p)) + shop.UserVersion(owner), nil
	}
	return s
}

// below is the path of something that belongs to a customer. The owner comes first, so that one override on
// /customers/ID covers all that is theirs.
func below(customer string, segments ...string) ([]authz.Path, error) {
	path, err := authz.MustPath("/customers").Join(append([]string{customer}, segments...)...)
	return []authz.Path{path}, err
}

type method[P, R any] func(*backoffice.Shop, context.Context, P) (R, error)

func read[P, R any](o *office, name, description string, permission authz.Permission, target func(context.Context, P) ([]authz.Path, error), run method[P, R]) *registry.Action {
	spec := registry.Spec[P]{Description: description, Permission: permission, Mode: authz.Read, Target: target}
	return registry.Define(name, spec, func(ctx context.Context, p P) (r R, err error) {
		shop, err := o.now(ctx)
		if err == nil {
			r, err = run(shop, ctx, p)
		}
		return r, tellable(err)
	})
}

func write[P, R any](o *office, name string, spec registry.Spec[P], run method[P, R]) *registry.Action {
	return registry.Define(name, spec, func(ctx context.Context, p P) (r R, err error) {
		o.runs.Add(1)
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
