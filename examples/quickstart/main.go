// Quickstart: a model looks up an order by itself and asks for a refund; a person approves, once.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type Order struct {
	ID string `json:"order_id" jsonschema_description:"The order's number"`
}

type Refund struct {
	ID    string `json:"order_id" jsonschema_description:"The order to refund"`
	Cents int64  `json:"cents" jsonschema:"minimum=1"`
}

type Note struct {
	ID   string `json:"order_id" jsonschema_description:"The order to annotate"`
	Text string `json:"text" jsonschema:"maxLength=500"`
}

var paid = map[string]int64{"1042": 5000}

func main() {
	orders := authz.MustPath("/orders")
	find := registry.Define("find_order", registry.Spec[Order]{
		Description: "Say what an order cost, in cents.", Mode: authz.Read, Permission: "orders:read",
		Target: registry.At(orders, func(p Order) string { return p.ID }),
	}, func(_ context.Context, p Order) (int64, error) { return paid[p.ID], nil })
	refund := registry.Define("refund_order", registry.Spec[Refund]{
		Description: "Refund part of an order to the customer's card.", Mode: authz.Propose, Permission: "refunds:edit",
		Target:   registry.At(orders, func(p Refund) string { return p.ID }),
		Sentence: "Refund {cents} cents of order {order_id}.", Risk: registry.RiskMedium,
	}, func(_ context.Context, p Refund) (int64, error) { paid[p.ID] -= p.Cents; return paid[p.ID], nil })
	note := registry.Define("add_note", registry.Spec[Note]{
		Description: "Leave a note on an order.", Mode: authz.Execute, Permission: "notes:edit",
		Target: registry.At(orders, func(p Note) string { return p.ID }),
	}, func(_ context.Context, p Note) (bool, error) { return true, nil })

	people := new(authz.Memory) // or a Source over your own tables
	check(people.Set("shop", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		},
	}))
	key := must(token.NewKey("k1"))
	reg := must(registry.New(registry.Config{
		Actions:     []*registry.Action{find, refund, note},
		ProposeOnly: []authz.Permission{"refunds:edit"},
		Source:      people, Ledger: new(ledger.Memory), Keys: must(token.NewRing("quickstart", key)),
	}))
	desk := approval.NewDesk(reg)
	gate := chattools.NewGate(desk)

	ctx, olga := context.Background(), authz.LoggedIn("olga") // as your login says
	session := must(authz.NewSession("shop", "assistant", authz.For(olga)))
	for _, tool := range must(gate.Catalog(ctx, session)) { // add_note is above the ceiling: not there
		fmt.Println("the model sees", tool.Name)
	}
	read := gate.Call(ctx, session, chattools.Call{Name: "find_order", Arguments: []byte(`{"order_id": "1042"}`)})
	fmt.Println("read:", read.Status, string(read.Result))
	ask := gate.Call(ctx, session, chattools.Call{Name: "refund_order", Arguments: []byte(`{"order_id": "1042", "cents": 500}`)})
	fmt.Println("change:", ask.Status, "and the order still cost", paid["1042"])

	card := must(desk.Open(ctx, "shop", ask.Proposal, olga))
	fmt.Println("olga reads:", card.Card.Sentence)
	done := must(desk.Approve(ctx, card.Redemption()))
	fmt.Println("approved:", string(done.JSON), "cents are left")
	_, err := desk.Approve(ctx, card.Redemption())
	fmt.Println("again:", registry.CodeOf(err))
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
