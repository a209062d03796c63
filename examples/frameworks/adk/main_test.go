package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop/shoptest"
)

func TestFramework(t *testing.T) { shoptest.Run(t, open, false) }

func Example() {
	if err := shop.Play(context.Background(), os.Stdout, open); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Olga: Refund 5.00 of payment 1042, please.
	//   find_payment {"payment":"1042"}
	//     {"status":"done","result":{"payment":1042,"cents":5000}}
	//   refund_payment {"cents":500,"payment":"1042"}
	//     {"status":"needs_approval","text":"This needs a person's approval and waits for it. Nothing has been changed yet.","proposal":"019cadc6-9a80-7669-b865-642069647320"}
	// The model: I have asked for it. It waits for a person's approval; nothing has been changed.
	//
	// Olga: And leave a note that it is refunded.
	//   add_note
	//     {"status":"unknown","text":"There is no such tool."}
	// The model: I cannot say that it is done.
	//
	// 5000 cents of the payment are left. Olga opens the proposal at her desk.
	// She reads: Refund 500 cents of payment "1042".
	// She approves, and 4500 cents are left.
	//
	// Olga: Has it been done?
	// The model: It is done.
	//
	// What the model had read before it said so:
	// <gate-notice>
	// {"proposal":"019cadc6-9a80-7669-b865-642069647320","action":"refund_payment","status":"done","result":{"payment":1042,"cents":4500}}
	// A person approved it, it ran, and it is done.
	// </gate-notice>
	// Has it been done?
}
