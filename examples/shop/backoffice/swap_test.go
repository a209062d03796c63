package backoffice_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
)

// Both items of one variant can be swapped, each for another.
func TestModifyDuplicateItems(t *testing.T) {
	shop := open(t)
	order, err := shop.ModifyPendingOrderItems(t.Context(), backoffice.ModifyItems{
		OrderID:         "#W9093821",
		ItemIDs:         []string{"3557711149", "3557711149"},
		NewItemIDs:      []string{"5917587651", "7251508981"},
		PaymentMethodID: "credit_card_7422485",
	})
	require.NoError(t, err)
	require.Equal(t, backoffice.PendingModified, order.Status)
	require.Equal(t, "5917587651", order.Items[0].ItemID)
	require.Equal(t, "7251508981", order.Items[2].ItemID)
	require.Equal(t, 212.79, order.Items[0].Price)

	_, err = shop.CancelPendingOrder(t.Context(), backoffice.CancelOrder{OrderID: "#W9093821", Reason: backoffice.NoLongerNeeded})
	require.EqualError(t, err, "Error: non-pending order cannot be cancelled")
}

// Swapping an item for itself costs nothing and is booked as a refund of nothing.
func TestModifyItemsAtNoCost(t *testing.T) {
	shop := open(t)
	order, err := shop.ModifyPendingOrderItems(t.Context(), backoffice.ModifyItems{
		OrderID: pendingOrder, ItemIDs: []string{}, NewItemIDs: []string{}, PaymentMethodID: "gift_card_7588375",
	})
	require.NoError(t, err)
	require.Equal(t, backoffice.Payment{TransactionType: backoffice.Refunded, PaymentMethodID: "gift_card_7588375"}, order.PaymentHistory[1])
}

func TestEmptyListsStayLists(t *testing.T) {
	shop := open(t)
	exchange := backoffice.ExchangeItems{OrderID: deliveredOrder, PaymentMethodID: "paypal_7503218"}
	order, err := shop.ExchangeDeliveredOrderItems(t.Context(), exchange)
	require.NoError(t, err)
	require.Contains(t, string(marshal(t, order)), `"exchange_items":[],"exchange_new_items":[],"exchange_payment_method_id":"paypal_7503218","exchange_price_difference":0`)

	_, err = shop.ExchangeDeliveredOrderItems(t.Context(), exchange)
	require.EqualError(t, err, "Error: non-delivered order cannot be exchanged")
}
