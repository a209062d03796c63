package canon_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// Two spellings of the same parameters have one text and one hash. What cannot
// be kept exactly is refused, with the place.
func Example() {
	proposed, err := canon.Parse([]byte(`{"to": "DE02", "amount": 1.25e5, "id": 9007199254740993}`), canon.Options{})
	if err != nil {
		log.Fatal(err)
	}
	again, err := canon.Parse([]byte(`{"id":9007199254740993.0,"amount":125000,"\u0074o":"DE02"}`), canon.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(proposed)
	fmt.Println("same:", proposed == again, proposed.Hash().Short() == again.Hash().Short())

	_, err = canon.Parse([]byte(`{"orders":[{"rate":0.5},{"rate":0.1000000000000000055}]}`), canon.Options{})
	fmt.Println(err)
	var refused *canon.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, refused.Pointer)
	}

	// Output:
	// {"amount":125000,"id":9007199254740993,"to":"DE02"}
	// same: true true
	// canon: inexact_number at "/orders/1/rate" (byte 32): write fewer digits, or send the number as a string
	// inexact_number /orders/1/rate
}

// An operator sees every character that could hide, and which words are not
// what they seem.
func ExampleObject_Display() {
	o, err := canon.Parse([]byte(`{"to":"pаypal.com","memo":"invoice\u202e1000","lines":[1,2.50]}`), canon.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Display(0))
	for _, s := range o.Suspicions() {
		fmt.Println(s)
	}

	// Output:
	// {
	//   "lines": [
	//     1,
	//     2.5
	//   ],
	//   "memo": "invoice\u202e1000",
	//   "to": "pаypal.com"
	// }
	// line 7: "pаypal" mixes Latin and Cyrillic (U+0430)
}

// A long document is cut only where the reader is told so.
func ExampleObject_Display_cut() {
	o, err := canon.Parse([]byte(`{"note":"a very long story","then":"more"}`), canon.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(o.Display(24))

	// Output:
	// {
	//   "note": "a very long
	// … cut: 24 of 51 bytes shown; the document has 42 bytes, its SHA-256 begins c7cd21aecaa3ed16
}

// A store gives back the text that it kept, or nothing.
func ExampleStored() {
	_, err := canon.Stored(`{"amount":125000}`)
	fmt.Println(err)
	_, err = canon.Stored(`{"amount":1.25e5}`)
	fmt.Println(err)

	// Output:
	// <nil>
	// canon: not_canonical (byte 11): the stored text is not in its canonical form
}

func ExampleQuote() {
	fmt.Println("unknown recipient", canon.Quote("ops\u200b@example\n"))

	// Output:
	// unknown recipient "ops\u200b@example\n"
}
