package approval_test

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
)

type Loan struct {
	Book string `json:"book"`
	Days int    `json:"days" jsonschema:"minimum=1,maximum=60"`
}

// newLibrary is a desk in a library: readers may ask to keep a book, librarians may grant it.
func newLibrary() (*approval.Desk, error) {
	extend := registry.Define("extend_loan", registry.Spec[Loan]{
		Description: "Extend the loan of a book.", Mode: authz.Propose, Permission: "loans:edit", Ask: "loans:request",
		Sentence: "Let the reader keep {book} for {days} more days.",
	}, func(_ context.Context, l Loan) (string, error) { return fmt.Sprintf("%d more days", l.Days), nil })

	people := new(authz.Memory)
	err := people.Set("library", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "guide", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: "rita", Kind: authz.Human, Active: true, Roles: []string{"reader"}},
			{ID: "leo", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
		},
	})
	if err != nil {
		return nil, err
	}
	keys, err := token.NewRing("example", token.Key{ID: "k1", Secret: []byte("a secret for this example only..")})
	if err != nil {
		return nil, err
	}
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{extend}, Source: people, Ledger: new(ledger.Memory), Keys: keys,
		Roles: []authz.Role{{Name: "reader", Permissions: []authz.Permission{"loans:request"}}},
		Now:   func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		return nil, err
	}
	return approval.NewDesk(reg), nil
}

// ask proposes, as the guide for Rita, to keep a book for some days.
func ask(desk *approval.Desk, days int) (ledger.Proposal, error) {
	session, err := authz.NewSession("library", "guide", authz.For(authz.LoggedIn("rita")))
	if err != nil {
		return ledger.Proposal{}, err
	}
	p, err := desk.Propose(context.Background(), registry.Call{
		Session: session, Action: "extend_loan", Params: fmt.Appendf(nil, `{"book": "Dune", "days": %d}`, days),
	})
	return p.Proposal, err
}

// A model asks, a librarian opens what it asked for and approves it, once.
func Example() {
	ctx := context.Background()
	desk, err := newLibrary()
	if err != nil {
		log.Fatal(err)
	}
	proposal, err := ask(desk, 14)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(proposal.Session, "wants", proposal.Action, proposal.Params)

	rita, leo := authz.LoggedIn("rita"), authz.LoggedIn("leo") // as your login says
	hers, err := desk.Open(ctx, "library", proposal.ID, rita)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rita may approve it:", hers.Refusal == nil)

	his, err := desk.Open(ctx, "library", proposal.ID, leo)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("leo reads:", his.Card.Sentence)
	result, err := desk.Approve(ctx, his.Redemption())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("approved:", string(result.JSON))
	_, err = desk.Approve(ctx, his.Redemption())
	fmt.Println("a second click:", registry.CodeOf(err))
	// Output:
	// guide for rita in library wants extend_loan {"book":"Dune","days":14}
	// rita may approve it: false
	// leo reads: Let the reader keep "Dune" for 14 more days.
	// approved: "14 more days"
	// a second click: spent
}

// A no comes with a reason that the requester may read, and it is final.
func ExampleDesk_Dismiss() {
	ctx, leo := context.Background(), authz.LoggedIn("leo")
	desk, err := newLibrary()
	if err != nil {
		log.Fatal(err)
	}
	proposal, err := ask(desk, 14)
	if err != nil {
		log.Fatal(err)
	}
	opening, err := desk.Open(ctx, "library", proposal.ID, leo)
	if err != nil {
		log.Fatal(err)
	}
	if err := desk.Dismiss(ctx, "library", proposal.ID, leo, "somebody else waits for it"); err != nil {
		log.Fatal(err)
	}
	_, err = desk.Approve(ctx, opening.Redemption())
	fmt.Println("approved after all:", registry.CodeOf(err))
	// Output:
	// approved after all: dismissed
}

// A person who would agree to something else revises the proposal. The old one and its tokens are worth
// nothing from then on.
func ExampleDesk_Revise() {
	ctx, leo := context.Background(), authz.LoggedIn("leo")
	desk, err := newLibrary()
	if err != nil {
		log.Fatal(err)
	}
	proposal, err := ask(desk, 60)
	if err != nil {
		log.Fatal(err)
	}
	revised, err := desk.Revise(ctx, "library", proposal.ID, leo, []byte(`{"book": "Dune", "days": 7}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("now", revised.Proposal.Params, "revised by", revised.Proposal.RevisedBy)
	result, err := desk.Approve(ctx, registry.Redemption{
		Scope: "library", Proposal: revised.Proposal.ID, Operator: leo,
		Token: revised.Token, Shown: revised.Proposal.Params.Hash(),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("approved:", string(result.JSON))
	old, err := desk.Open(ctx, "library", proposal.ID, leo)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the old one:", old.State)
	// Output:
	// now {"book":"Dune","days":7} revised by [leo]
	// approved: "7 more days"
	// the old one: dismissed
}
