package backoffice_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
)

// Look up an order, cancel it, see the refund.
func Example() {
	ctx := context.Background()
	shop, err := backoffice.Open()
	if err != nil {
		log.Fatal(err)
	}

	order, err := shop.GetOrderDetails(ctx, backoffice.GetOrder{OrderID: "#W1649831"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(order.OrderID, "of", order.UserID, "is", order.Status)

	cancel := backoffice.CancelOrder{OrderID: order.OrderID, Reason: backoffice.NoLongerNeeded}
	order, err = shop.CancelPendingOrder(ctx, cancel)
	if err != nil {
		log.Fatal(err)
	}
	refund := order.PaymentHistory[len(order.PaymentHistory)-1]
	fmt.Printf("%s: %s of %.2f to %s\n", order.Status, refund.TransactionType, refund.Amount, refund.PaymentMethodID)

	_, err = shop.CancelPendingOrder(ctx, cancel)
	fmt.Println(err)
	// Output:
	// #W1649831 of fatima_brown_5229 is pending
	// cancelled: refund of 483.47 to gift_card_8633125
	// Error: non-pending order cannot be cancelled
}

// Diff shows what a call changed.
func ExampleDiff() {
	shop, err := backoffice.Open()
	if err != nil {
		log.Fatal(err)
	}
	before := shop.Snapshot()
	cancel := backoffice.CancelOrder{OrderID: "#W1649831", Reason: backoffice.OrderedByMistake}
	if _, err := shop.CancelPendingOrder(context.Background(), cancel); err != nil {
		log.Fatal(err)
	}

	records, changes := backoffice.Diff(before, shop.Snapshot())
	for _, record := range records {
		fmt.Println(record.Collection, record.ID)
	}
	for _, change := range changes {
		fmt.Println(change.Op, change.Path, string(change.After))
	}
	// Output:
	// orders #W1649831
	// users fatima_brown_5229
	// add /orders/#W1649831/cancel_reason "ordered by mistake"
	// add /orders/#W1649831/payment_history/1 {"amount":483.47,"payment_method_id":"gift_card_8633125","transaction_type":"refund"}
	// replace /orders/#W1649831/status "cancelled"
	// replace /users/fatima_brown_5229/payment_methods/gift_card_8633125/balance 495.47
}

// An unknown record is told apart from other refusals.
func ExampleError() {
	shop, err := backoffice.Open()
	if err != nil {
		log.Fatal(err)
	}
	_, err = shop.GetOrderDetails(context.Background(), backoffice.GetOrder{OrderID: "W1649831"})
	fmt.Println(err)
	fmt.Println(errors.Is(err, backoffice.ErrNotFound))
	// Output:
	// Error: order not found
	// true
}
