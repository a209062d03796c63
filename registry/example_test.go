package registry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type Parcel struct {
	Order string `json:"order"`
}

type Discount struct {
	Order   string `json:"order"`
	Percent int    `json:"percent" jsonschema:"minimum=1,maximum=20"`
}

// A shop defines a read and a change. A model may do the one; the other it can only propose. A person with the
// right does both.
func Example() {
	discounts := map[string]int{}
	track := registry.Define("track_parcel", registry.Spec[Parcel]{
		Description: "Say where the parcel of an order is.",
		Mode:        authz.Read,
		Permission:  "parcels:read",
	}, func(_ context.Context, p Parcel) (string, error) { return "in Utrecht", nil })
	discount := registry.Define("give_discount", registry.Spec[Discount]{
		Description: "Take some percent off an order.",
		Mode:        authz.Propose,
		Permission:  "discounts:edit",
	}, func(_ context.Context, p Discount) (int, error) {
		discounts[p.Order] += p.Percent
		return discounts[p.Order], nil
	})

	reg, err := registry.New(registry.Config{
		Actions:     []*registry.Action{track, discount},
		ProposeOnly: []authz.Permission{"discounts:edit"},
		Source:      people(),
		Ledger:      new(ledger.Memory),
		Keys:        keys(),
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	model, err := authz.NewSession("shop", "assistant", authz.For(authz.LoggedIn("ruth")))
	if err != nil {
		log.Fatal(err)
	}
	parcel, err := reg.Invoke(ctx, registry.Call{Session: model, Action: "track_parcel", Params: []byte(`{"order": "W42"}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the model reads:", parcel.Value)

	_, err = reg.Invoke(ctx, registry.Call{Session: model, Action: "give_discount", Params: []byte(`{"order": "W42", "percent": 5}`)})
	fmt.Println("the model changes:", registry.CodeOf(err))

	ruth, err := authz.NewPersonSession("shop", authz.LoggedIn("ruth"))
	if err != nil {
		log.Fatal(err)
	}
	given, err := reg.Invoke(ctx, registry.Call{Session: ruth, Action: "give_discount", Params: []byte(`{"order": "W42", "percent": 5}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("ruth changes: %s percent\n", given.JSON)

	_, err = reg.Invoke(ctx, registry.Call{Session: ruth, Action: "give_discount", Params: []byte(`{"order": "W42", "percent": 50}`)})
	fmt.Println(err)
	// Output:
	// the model reads: in Utrecht
	// the model changes: needs_approval
	// ruth changes: 5 percent
	// registry: invalid: params: /percent: expected integer, at least 1, at most 20
}

// New says everything that is wrong at once.
func ExampleNew_faults() {
	type Nothing struct{}
	run := func(context.Context, Nothing) (bool, error) { return true, nil }
	_, err := registry.New(registry.Config{
		Actions: []*registry.Action{
			registry.Define("pay_out", registry.Spec[Nothing]{Description: "Pay.", Mode: authz.Execute, Permission: "payouts:make"}, run),
			registry.Define("Pay-Out", registry.Spec[Nothing]{Description: "Pay.", Mode: authz.Propose, Permission: "payouts:make"}, run),
			registry.Define("purge", registry.Spec[Nothing]{Mode: authz.Read, Permission: "logs:read", Destructive: true}, run),
		},
		ProposeOnly: []authz.Permission{"payouts:make"},
		Source:      people(),
		Ledger:      new(ledger.Memory),
	})
	fmt.Println(err)

	var faults *registry.ConfigError
	fmt.Println(errors.As(err, &faults), len(faults.Faults))
	// Output:
	// registry: the configuration is not valid:
	// 	Keys: is required
	// 	action "pay_out": Mode: is execute, but "payouts:make" is propose-only
	// 	action "Pay-Out": name: is also "pay_out" for somebody who ignores case or mixes up - and _
	// 	action "purge": Description: is required: a model chooses by it
	// 	action "purge": Destructive: a read destroys nothing; declare what it changes as Propose or Execute
	// true 5
}

// A subscriber hears of every change that it may read, whoever made it.
func ExampleRegistry_Subscribe() {
	discount := registry.Define("give_discount", registry.Spec[Discount]{
		Description: "Take some percent off an order.",
		Mode:        authz.Propose,
		Permission:  "discounts:edit",
		Target:      registry.At(authz.MustPath("/orders"), func(d Discount) string { return d.Order }),
	}, func(context.Context, Discount) (bool, error) { return true, nil })
	track := registry.Define("track_parcel", registry.Spec[Parcel]{
		Description: "Say where the parcel of an order is.",
		Mode:        authz.Read,
		Permission:  "parcels:read",
	}, func(context.Context, Parcel) (string, error) { return "in Utrecht", nil })
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{discount, track}, Source: people(), Ledger: new(ledger.Memory), Keys: keys(),
		Now: func() time.Time { return time.Date(2026, time.March, 1, 9, 30, 0, 0, time.UTC) },
	})
	if err != nil {
		log.Fatal(err)
	}
	ruth, err := authz.NewPersonSession("shop", authz.LoggedIn("ruth"))
	if err != nil {
		log.Fatal(err)
	}

	changes, err := reg.Subscribe(ruth)
	if err != nil {
		log.Fatal(err)
	}
	defer changes.Close()

	ctx := context.Background()
	for _, params := range []string{`{"order": "W42", "percent": 5}`, `{"order": "W43", "percent": 10}`} {
		if _, err := reg.Invoke(ctx, registry.Call{Session: ruth, Action: "give_discount", Params: []byte(params)}); err != nil {
			log.Fatal(err)
		}
	}
	for range 2 {
		change, err := changes.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.At.Format("15:04"), change.Action, change.Targets)
	}
	// Output:
	// 09:30 give_discount [/orders/W42]
	// 09:30 give_discount [/orders/W43]
}

// people are Ruth, who runs the shop, and a model that helps her.
func people() *authz.Memory {
	m := new(authz.Memory)
	err := m.Set("shop", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "ruth", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

// keys are fixed here. In earnest the secret comes from a vault.
func keys() *token.Ring {
	ring, err := token.NewRing("example", token.Key{ID: "k1", Secret: []byte("at least 32 random bytes, never text")})
	if err != nil {
		log.Fatal(err)
	}
	return ring
}
