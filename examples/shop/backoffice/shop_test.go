package backoffice_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
)

func TestSampleDataLosesNothing(t *testing.T) {
	file, err := os.Open("data/db.json.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	want, err := io.ReadAll(unzipped)
	require.NoError(t, err)

	snapshot := open(t).Snapshot()
	data := snapshot.Data()
	require.Len(t, data.Users, 230)
	require.Len(t, data.Orders, 608)
	require.Len(t, data.Products, 50)
	require.True(t, workload.SameJSON(want, marshal(t, data)))
	require.True(t, workload.SameJSON(want, snapshot.Bytes()))
}

// The shop relies on these.
func TestSampleDataIsConsistent(t *testing.T) {
	data := open(t).Snapshot().Data()
	for id, order := range data.Orders {
		require.Equal(t, id, order.OrderID)
		require.Contains(t, data.Users, order.UserID)
		require.NotEmpty(t, order.PaymentHistory)
		for _, paid := range order.PaymentHistory {
			require.Contains(t, data.Users[order.UserID].PaymentMethods, paid.PaymentMethodID)
		}
		for _, item := range order.Items {
			require.Contains(t, data.Products, item.ProductID)
		}
	}
	for _, user := range data.Users {
		for id, method := range user.PaymentMethods {
			require.Equal(t, id, method.ID)
			require.Equal(t, method.Source == backoffice.GiftCard, method.Balance != nil)
		}
	}
}

func TestShopsAreSeparate(t *testing.T) {
	one, other := open(t), open(t)
	fresh := other.Snapshot().Bytes()
	_, err := one.CancelPendingOrder(t.Context(), backoffice.CancelOrder{OrderID: pendingOrder, Reason: backoffice.NoLongerNeeded})
	require.NoError(t, err)
	require.NotEqual(t, fresh, one.Snapshot().Bytes())
	require.Equal(t, fresh, other.Snapshot().Bytes())
	require.Equal(t, fresh, open(t).Snapshot().Bytes())
}

func TestAnswersAreTheCallersOwn(t *testing.T) {
	shop := open(t)
	_, err := shop.ReturnDeliveredOrderItems(t.Context(), backoffice.ReturnItems{OrderID: deliveredOrder, ItemIDs: []string{"9190635437"}, PaymentMethodID: "paypal_7503218"})
	require.NoError(t, err)
	snapshot := shop.Snapshot()
	before := snapshot.Bytes()

	order, err := shop.GetOrderDetails(t.Context(), backoffice.GetOrder{OrderID: deliveredOrder})
	require.NoError(t, err)
	order.Items[0].Options["color"] = "pink"
	order.Fulfillments[0].ItemIDs[0] = "0"
	order.PaymentHistory[0].Amount = 0
	order.Return.Items[0] = "0"

	user, err := shop.GetUserDetails(t.Context(), backoffice.GetUser{UserID: "yusuf_garcia_3055"})
	require.NoError(t, err)
	*user.PaymentMethods["gift_card_7588375"].Balance = 1e6
	user.Orders[0] = "#W0"

	product, err := shop.GetProductDetails(t.Context(), backoffice.GetProduct{ProductID: "6817146515"})
	require.NoError(t, err)
	product.Variants["9083642334"].Options["color"] = "pink"
	delete(product.Variants, "4385534692")

	data := snapshot.Data()
	data.Orders[deliveredOrder].Status = backoffice.Cancelled
	delete(data.Users, "yusuf_garcia_3055")

	require.Equal(t, before, snapshot.Bytes())
	require.Equal(t, before, shop.Snapshot().Bytes())
}

func TestUsersAreFoundInAnyCase(t *testing.T) {
	shop := open(t)
	id, err := shop.FindUserIDByNameZip(t.Context(), backoffice.FindByNameZip{FirstName: "mei", LastName: "KOVACS", Zip: "28236"})
	require.NoError(t, err)
	require.Equal(t, "mei_kovacs_8020", id)
	id, err = shop.FindUserIDByEmail(t.Context(), backoffice.FindByEmail{Email: "Mei.Kovacs8232@Example.com"})
	require.NoError(t, err)
	require.Equal(t, "mei_kovacs_8020", id)
}

func TestThink(t *testing.T) {
	answer, err := open(t).Think(t.Context(), backoffice.Thought{Thought: "what now?"})
	require.NoError(t, err)
	require.Empty(t, answer)
}

func TestOwnersAndVersions(t *testing.T) {
	shop := open(t)
	owner, ok := shop.OrderOwner(pendingOrder)
	require.True(t, ok)
	require.Equal(t, "yusuf_garcia_3055", owner)
	require.True(t, shop.HasUser(owner))
	require.Len(t, shop.UserVersion(owner), 64)

	_, ok = shop.OrderOwner("#W0")
	require.False(t, ok)
	require.False(t, shop.HasUser("nobody_0"))
	require.Empty(t, shop.OrderVersion("#W0"))
	require.Empty(t, shop.UserVersion("nobody_0"))

	version := shop.OrderVersion(pendingOrder)
	_, err := shop.ModifyPendingOrderAddress(t.Context(), backoffice.OrderAddress{OrderID: pendingOrder})
	require.NoError(t, err)
	require.NotEqual(t, version, shop.OrderVersion(pendingOrder))
}

// Of many who cancel one order, one succeeds, and the money comes back once.
// Others meanwhile read what is either before or after, never between.
func TestConcurrentCalls(t *testing.T) {
	const order, owner, card = "#W1649831", "fatima_brown_5229", "gift_card_8633125"
	shop := open(t)
	var cancelled atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := shop.CancelPendingOrder(t.Context(), backoffice.CancelOrder{OrderID: order, Reason: backoffice.NoLongerNeeded})
			if err == nil {
				cancelled.Add(1)
			}
		})
		group.Go(func() {
			data := shop.Snapshot().Data()
			text, _ := json.Marshal(data.Orders[order])
			balance := *data.Users[owner].PaymentMethods[card].Balance
			if refunded := data.Orders[order].Status == backoffice.Cancelled; refunded != (balance == 495.47) {
				t.Errorf("balance %v with %s", balance, text)
			}
		})
		group.Go(func() {
			shop.OrderVersion(order)
			_, _ = shop.GetUserDetails(t.Context(), backoffice.GetUser{UserID: owner})
			_, _ = shop.FindUserIDByEmail(t.Context(), backoffice.FindByEmail{Email: "nobody@example.com"})
			_, _ = shop.ModifyUserAddress(t.Context(), backoffice.UserAddress{UserID: owner})
		})
	}
	group.Wait()
	require.EqualValues(t, 1, cancelled.Load())
}

func TestCalculate(t *testing.T) {
	answer, err := open(t).Calculate(t.Context(), backoffice.Calculation{Expression: "2 + 2"})
	require.NoError(t, err)
	require.Equal(t, "4.0", answer)
	_, err = open(t).Calculate(t.Context(), backoffice.Calculation{Expression: "2 ^ 3"})
	require.EqualError(t, err, "Error: invalid characters in expression")
	require.ErrorAs(t, err, new(*backoffice.Error))
}
