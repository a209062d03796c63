package token_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// A person approves one refund. The proof holds for that refund, that person
// and five minutes, and for nothing else.
func Example() {
	// In earnest the secret comes from a vault, and the clock is read once.
	secret := []byte("at least 32 random bytes, never text")
	ring, err := token.NewRing("production", token.Key{ID: "k1", Secret: secret})
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

	refund := token.Binding{
		Scope:    "acme",
		Proposal: [16]byte{0x42},
		Tool:     "orders.refund",
		User:     "maria",
		Params:   sha256.Sum256([]byte(`{"amount":1250,"order":"W42"}`)),
		Issued:   now,
		Expires:  now.Add(5 * time.Minute),
	}
	approval, err := ring.Sign(refund)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(approval)

	// Two minutes later, the refund that was shown is the refund that runs.
	now = now.Add(2 * time.Minute)
	fmt.Println(ring.Verify(approval, refund, now))

	// Ten times the amount was not approved.
	larger := refund
	larger.Params = sha256.Sum256([]byte(`{"amount":12500,"order":"W42"}`))
	fmt.Println(ring.Verify(approval, larger, now))

	// Nor did Maria approve it for someone else, or for ever.
	other := refund
	other.User = "omar"
	fmt.Println(ring.Verify(approval, other, now))
	fmt.Println(ring.Verify(approval, refund, refund.Expires))

	// Output:
	// token(redacted)
	// <nil>
	// token: params_changed
	// token: user_mismatch
	// token: expired
}

// The worked token of the package comment.
func ExampleRing_Sign() {
	ring, err := token.NewRing("production", token.Key{ID: "k1", Secret: counting(0x00, 32)})
	if err != nil {
		log.Fatal(err)
	}
	approval, err := ring.Sign(token.Binding{
		Scope:    "acme",
		Proposal: [16]byte(counting(0x10, 16)),
		Tool:     "payments.transfer",
		User:     "operator-4711",
		Params:   sha256.Sum256([]byte(`{"amount":125000,"currency":"EUR","id":9007199254740993,"to":"DE02120300000000202051"}`)),
		Issued:   time.Unix(1767225600, 0),
		Expires:  time.Unix(1767225900, 0),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(approval.Reveal())
	// Output:
	// apv1.k1.AQAAAABpVbkAAAAAAGlVuiwQERITFBUWFxgZGhscHR4fXjFFNbRRG5pfGAJ1mH30AL5_kR5W8OZ9s-1uELJxTnQAEXBheW1lbnRzLnRyYW5zZmVyAA1vcGVyYXRvci00NzEx.Ddzd8d5c1G3J-5jiN0wWIWFjIWViftA7rVRGRH_zQBY
}

// A token arrives as text. A refusal has one reason, for the log.
func ExampleRing_Verify() {
	ring, err := token.NewRing("production", token.Key{ID: "k1", Secret: counting(0, 32)})
	if err != nil {
		log.Fatal(err)
	}
	submitted, err := token.Parse("apv1.k9.AQ.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	if err != nil {
		log.Fatal(err)
	}
	err = ring.Verify(submitted, binding, now)
	var refused *token.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, "under key", refused.KeyID)
	}
	// Output: bad_signature under key k9
}

// The new key signs from now on; the old one verifies what it signed.
func ExampleNewRing_rotation() {
	oldKey := token.Key{ID: "2025-12", Secret: counting(0, 32)}
	newKey := token.Key{ID: "2026-01", Secret: counting(100, 32)}

	yesterday, err := token.NewRing("production", oldKey)
	if err != nil {
		log.Fatal(err)
	}
	pending, err := yesterday.Sign(binding)
	if err != nil {
		log.Fatal(err)
	}

	today, err := token.NewRing("production", newKey, oldKey)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(today.Verify(pending, binding, now))

	tomorrow, err := token.NewRing("production", newKey)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tomorrow.Verify(pending, binding, now))
	// Output:
	// <nil>
	// token: bad_signature
}

// A sealed row shows whether anybody changed it since.
func ExampleRing_Seal() {
	ring, err := token.NewRing("production", token.Key{ID: "k1", Secret: counting(0, 32)})
	if err != nil {
		log.Fatal(err)
	}
	stored := []byte("\x00\x05maria\x00\x0dorders.refund")
	seal, err := ring.Seal(token.PurposeProposal, "acme", stored)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ring.CheckSeal(token.PurposeProposal, "acme", stored, seal))

	changed := []byte("\x00\x04omar\x00\x0dorders.refund")
	fmt.Println(ring.CheckSeal(token.PurposeProposal, "acme", changed, seal))
	// Output:
	// <nil>
	// token: seal does not match
}
