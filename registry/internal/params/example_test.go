package params_test

import (
	"fmt"
	"log"
	"reflect"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

func Example() {
	type Refund struct {
		OrderID string `json:"order_id" jsonschema:"description=The order to refund"`
		Cents   int32  `json:"cents" jsonschema:"minimum=1"`
		Reason  string `json:"reason,omitempty" jsonschema:"default=unspecified"`
	}
	raw, err := params.Generate(reflect.TypeFor[Refund]())
	if err != nil {
		log.Fatal(err)
	}
	schema, err := params.Compile(raw)
	if err != nil {
		log.Fatal(err)
	}

	_, err = schema.Parse([]byte(`{"order_id": "W42", "cents": 0, "currency": "EUR"}`), canon.Options{})
	fmt.Println(err)

	object, err := schema.Parse([]byte(`{"order_id": "W42", "cents": 1250.0}`), canon.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(object)
	refund, err := params.Decode[Refund](object)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", refund)
	// Output:
	// params: unknown "currency"; allowed: "cents", "order_id", "reason"; /cents: expected integer, at least 1, at most 2147483647
	// {"cents":1250,"order_id":"W42","reason":"unspecified"}
	// {OrderID:W42 Cents:1250 Reason:unspecified}
}
