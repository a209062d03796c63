package backoffice_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
)

func open(t *testing.T) *backoffice.Shop {
	t.Helper()
	shop, err := backoffice.Open()
	require.NoError(t, err)
	return shop
}

// The customer of these orders has a PayPal account, a credit card and a gift
// card with a balance of 15.
const (
	pendingOrder   = "#W6885344" // one backpack, paid by PayPal
	deliveredOrder = "#W4794911" // five items, paid by PayPal
)

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name, call, arguments string
		text                  string
		notFound              bool
	}{
		{"cancel an unknown order", "cancel_pending_order", `{"order_id":"#W0","reason":"no longer needed"}`,
			"Error: order not found", true},
		{"cancel a delivered order", "cancel_pending_order", `{"order_id":"#W4794911","reason":"no longer needed"}`,
			"Error: non-pending order cannot be cancelled", false},
		{"cancel for another reason", "cancel_pending_order", `{"order_id":"#W6885344","reason":"too expensive"}`,
			"Error: invalid reason", false},

		{"return from an unknown order", "return_delivered_order_items", `{"order_id":"#W0","item_ids":[],"payment_method_id":"paypal_7503218"}`,
			"Error: order not found", true},
		{"return from a pending order", "return_delivered_order_items", `{"order_id":"#W6885344","item_ids":["5917587651"],"payment_method_id":"paypal_7503218"}`,
			"Error: non-delivered order cannot be returned", false},
		{"refund a stranger", "return_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437"],"payment_method_id":"paypal_7644869"}`,
			"Error: payment method not found", false},
		{"refund another card", "return_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437"],"payment_method_id":"credit_card_8405687"}`,
			"Error: payment method should be either the original payment method or a gift card", false},
		{"return an item twice", "return_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437","9190635437"],"payment_method_id":"paypal_7503218"}`,
			"Error: some item not found", false},

		{"exchange in an unknown order", "exchange_delivered_order_items", `{"order_id":"#W0","item_ids":[],"new_item_ids":[],"payment_method_id":"paypal_7503218"}`,
			"Error: order not found", true},
		{"exchange in a pending order", "exchange_delivered_order_items", `{"order_id":"#W6885344","item_ids":[],"new_item_ids":[],"payment_method_id":"paypal_7503218"}`,
			"Error: non-delivered order cannot be exchanged", false},
		{"exchange an item twice", "exchange_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437","9190635437"],"new_item_ids":["5370728469","5370728469"],"payment_method_id":"paypal_7503218"}`,
			"Error: 9190635437 not found", false},
		{"exchange one for two", "exchange_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437"],"new_item_ids":["5370728469","5370728469"],"payment_method_id":"paypal_7503218"}`,
			"Error: the number of items to be exchanged should match", false},
		{"exchange for something sold out", "exchange_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437"],"new_item_ids":["4385534692"],"payment_method_id":"paypal_7503218"}`,
			"Error: new item 4385534692 not found or available", false},
		{"exchange for another product", "exchange_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437"],"new_item_ids":["7523669277"],"payment_method_id":"paypal_7503218"}`,
			"Error: new item 7523669277 not found or available", false},
		{"exchange at a stranger's expense", "exchange_delivered_order_items", `{"order_id":"#W4794911","item_ids":["9190635437"],"new_item_ids":["5370728469"],"payment_method_id":"paypal_7644869"}`,
			"Error: payment method not found", false},

		{"modify the items of an unknown order", "modify_pending_order_items", `{"order_id":"#W0","item_ids":[],"new_item_ids":[],"payment_method_id":"paypal_7503218"}`,
			"Error: order not found", true},
		{"modify the items of a delivered order", "modify_pending_order_items", `{"order_id":"#W4794911","item_ids":[],"new_item_ids":[],"payment_method_id":"paypal_7503218"}`,
			"Error: non-pending order cannot be modified", false},
		{"modify an item the order lacks", "modify_pending_order_items", `{"order_id":"#W6885344","item_ids":["9190635437"],"new_item_ids":["5370728469"],"payment_method_id":"paypal_7503218"}`,
			"Error: 9190635437 not found", false},
		{"modify at a stranger's expense", "modify_pending_order_items", `{"order_id":"#W6885344","item_ids":["5917587651"],"new_item_ids":["6906307980"],"payment_method_id":"paypal_7644869"}`,
			"Error: payment method not found", false},

		{"move an unknown order", "modify_pending_order_address", `{"order_id":"#W0"}`, "Error: order not found", true},
		{"move a delivered order", "modify_pending_order_address", `{"order_id":"#W4794911"}`,
			"Error: non-pending order cannot be modified", false},

		{"pay an unknown order", "modify_pending_order_payment", `{"order_id":"#W0","payment_method_id":"paypal_7503218"}`,
			"Error: order not found", true},
		{"pay a delivered order", "modify_pending_order_payment", `{"order_id":"#W4794911","payment_method_id":"credit_card_8405687"}`,
			"Error: non-pending order cannot be modified", false},
		{"pay at a stranger's expense", "modify_pending_order_payment", `{"order_id":"#W6885344","payment_method_id":"paypal_7644869"}`,
			"Error: payment method not found", false},
		{"pay as before", "modify_pending_order_payment", `{"order_id":"#W6885344","payment_method_id":"paypal_7503218"}`,
			"Error: the new payment method should be different from the current one", false},
		{"pay with too little", "modify_pending_order_payment", `{"order_id":"#W6885344","payment_method_id":"gift_card_7588375"}`,
			"Error: insufficient gift card balance to pay for the order", false},

		{"move an unknown user", "modify_user_address", `{"user_id":"nobody_0"}`, "Error: user not found", true},
		{"read an unknown user", "get_user_details", `{"user_id":"nobody_0"}`, "Error: user not found", true},
		{"read an unknown order", "get_order_details", `{"order_id":"W6885344"}`, "Error: order not found", true},
		{"read an unknown product", "get_product_details", `{"product_id":"5917587651"}`, "Error: product not found", true},
		{"find an unknown email", "find_user_id_by_email", `{"email":"nobody@example.com"}`, "Error: user not found", true},
		{"find a name elsewhere", "find_user_id_by_name_zip", `{"first_name":"Yusuf","last_name":"Garcia","zip":"00000"}`,
			"Error: user not found", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			shop := open(t)
			before := shop.Snapshot()
			_, err := calls[test.call](t.Context(), shop, json.RawMessage(test.arguments))
			var refusal *backoffice.Error
			require.ErrorAs(t, err, &refusal)
			require.EqualError(t, err, test.text)
			require.Equal(t, test.notFound, errors.Is(err, backoffice.ErrNotFound))
			records, changes := backoffice.Diff(before, shop.Snapshot())
			require.Empty(t, records)
			require.Empty(t, changes)
		})
	}
}

func TestPaymentIsModifiedOnce(t *testing.T) {
	shop := open(t)
	_, err := shop.ModifyPendingOrderPayment(t.Context(), backoffice.OrderPayment{OrderID: pendingOrder, PaymentMethodID: "credit_card_8405687"})
	require.NoError(t, err)
	_, err = shop.ModifyPendingOrderPayment(t.Context(), backoffice.OrderPayment{OrderID: pendingOrder, PaymentMethodID: "paypal_7503218"})
	require.EqualError(t, err, "Error: there should be exactly one payment for a pending order")
}

func TestCancelledContextChangesNothing(t *testing.T) {
	shop := open(t)
	before := shop.Snapshot()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range calls {
		_, err := run(ctx, shop, json.RawMessage(`{}`))
		require.ErrorIs(t, err, context.Canceled, name)
	}
	require.Equal(t, before.Bytes(), shop.Snapshot().Bytes())
}
