package verify_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/verify"
)

// A model asks to lower a price, Ruth approves, and a week later the shop looks whether more was sold.
func Example() {
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	sold := 40.0 // pots of tea in a week
	lower := registry.Define("set_price", registry.Spec[Price]{
		Description: "Change the price of an article.",
		Mode:        authz.Propose,
		Permission:  "prices:edit",
		Measure: registry.Measure[Price]{
			Read:      func(context.Context, Price) (float64, error) { return sold, nil },
			Better:    registry.Higher,
			Tolerance: 5,
			Unit:      "sold per week",
		},
	}, func(context.Context, Price) (string, error) { return "the label says 2.50", nil })

	people := new(authz.Memory)
	err := people.Set("shop", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "ruth", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	keys, err := token.NewRing("example", token.Key{ID: "k1", Secret: []byte("at least 32 random bytes, never text")})
	if err != nil {
		log.Fatal(err)
	}
	book := new(ledger.Memory)
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{lower}, Source: people, Ledger: book, Keys: keys, Now: func() time.Time { return now },
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, desk, ruth := context.Background(), approval.NewDesk(reg), authz.LoggedIn("ruth")
	session, err := authz.NewSession("shop", "assistant", authz.For(ruth))
	if err != nil {
		log.Fatal(err)
	}
	asked, err := desk.Propose(ctx, registry.Call{Session: session, Action: "set_price", Params: []byte(`{"article": "tea", "cents": 250}`)})
	if err != nil {
		log.Fatal(err)
	}
	opened, err := desk.Open(ctx, "shop", asked.Proposal.ID, ruth)
	if err != nil {
		log.Fatal(err)
	}
	done, err := desk.Approve(ctx, opened.Redemption())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Value)

	// Whatever runs things on time calls RunDue.
	verifier := verify.New(reg)
	for _, week := range []float64{40, 55} {
		now, sold = now.Add(registry.DefaultVerifyAfter/2), week
		summary, err := verifier.RunDue(ctx, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(now.Format("2 January:"), summary.Verdicts)
	}
	p, err := book.Proposal(ctx, "shop", asked.Proposal.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: from %v to %v sold per week\n", p.Verdict, *p.Baseline, *p.Measured)
	// Output:
	// the label says 2.50
	// 5 March: map[]
	// 9 March: map[improved:1]
	// improved: from 40 to 55 sold per week
}
