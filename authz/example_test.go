package authz_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sallyport-dev/sallyport/authz"
)

// An assistant works in a shop for Olga, a customer. Sam is staff.
func Example() {
	// The facts: who there is, and what each may do where.
	var people authz.Memory
	err := people.Set("shop", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			{ID: "sam", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
			{ID: "olga", Kind: authz.Human, Active: true, Overrides: []authz.Override{{
				At: authz.MustPath("/users/olga"), Effect: authz.Allow, Of: []authz.Permission{"orders:read", "refunds:request"},
			}}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	// The policy: what the tools need. A tool is known by its number.
	const find, refund, archive = 0, 1, 2
	policy, err := authz.NewPolicy(&people, []authz.Tool{
		find:    {Name: "find_order", Mode: authz.Read, Permission: "orders:read"},
		refund:  {Name: "refund_order", Mode: authz.Propose, Permission: "refunds:edit", Ask: "refunds:request"},
		archive: {Name: "archive_order", Mode: authz.Execute, Permission: "orders:archive"},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	// The view: one snapshot of the facts about everybody on whom the session depends.
	olga, sam := authz.LoggedIn("olga"), authz.LoggedIn("sam")
	session, err := authz.NewSession("shop", "assistant", authz.For(olga))
	if err != nil {
		log.Fatal(err)
	}
	view, err := policy.View(context.Background(), session.Scope(), append(session.Actors(), sam.ID())...)
	if err != nil {
		log.Fatal(err)
	}

	// The decisions, each with the layer that decided.
	hers, another := []authz.Path{authz.MustPath("/users/olga/orders/W42")}, []authz.Path{authz.MustPath("/users/ivan/orders/W43")}
	show := func(what string, d authz.Decision) {
		fmt.Printf("%-34s %-5v  %s: %s\n", what, d.Allowed, d.Who, d.Reason)
	}
	fmt.Println("in the catalog:", view.AppendTools(nil, session))
	show("find her order", view.Check(session, find, hers, authz.ToPerform))
	show("find another's order", view.Check(session, find, another, authz.ToPerform))
	show("ask for her refund", view.Check(session, refund, hers, authz.ToAsk))
	show("ask to archive her order", view.Check(session, archive, hers, authz.ToAsk))
	show("may Olga approve the refund?", view.Person(olga, refund, hers, authz.ToPerform))
	show("may Sam approve the refund?", view.Person(sam, refund, hers, authz.ToPerform))
	show("may the assistant approve it?", view.Person(authz.LoggedIn("assistant"), refund, hers, authz.ToPerform))

	// Output:
	// in the catalog: [0 1]
	// find her order                     true   assistant: role
	// find another's order               false  olga: no_permission
	// ask for her refund                 true   assistant: role
	// ask to archive her order           false  assistant: above_ceiling
	// may Olga approve the refund?       false  olga: no_permission
	// may Sam approve the refund?        true   sam: role
	// may the assistant approve it?      false  assistant: wrong_kind
}

// A segment that came from elsewhere names one child or nothing.
func ExamplePath() {
	users := authz.MustPath("/users")
	for _, id := range []string{"u1", "../admins", "u1/orders", "u1%2Forders", "u1\u200b", ""} {
		p, err := users.Join(id)
		fmt.Printf("%q: %q, %v\n", id, p, errors.Is(err, authz.ErrPath))
	}
	order := authz.MustPath("/users/u1/orders/W42")
	fmt.Println(authz.MustPath("/users/u1").Contains(order), authz.MustPath("/users/u").Contains(order))

	// Output:
	// "u1": "/users/u1", false
	// "../admins": "", true
	// "u1/orders": "", true
	// "u1%2Forders": "", true
	// "u1\u200b": "", true
	// "": "", true
	// true false
}

// A session comes from the host's own login, and can only lose authority on its way.
func ExampleSession() {
	olga := authz.LoggedIn("olga") // where the host's login has just been checked
	session, err := authz.NewSession("shop", "assistant", authz.For(olga))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session)

	narrow := session.WithTools(authz.Only("find_order", "refund_order"))
	narrow = narrow.WithTools(authz.Only("find_order", "archive_order")) // not wider again
	fmt.Println(narrow.Tools().Names())

	helper, err := narrow.Delegate("helper")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(helper)
	fmt.Println(helper.Actors(), helper.Within(session), session.Within(helper))

	night, err := authz.NewSession("shop", "stocktaker", authz.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(night)

	_, err = authz.NewSession("shop", "assistant", authz.For(authz.Person{}))
	fmt.Println(errors.Is(err, authz.ErrSession), authz.Session{})

	// Output:
	// assistant for olga in shop
	// [find_order] true
	// helper via assistant for olga in shop
	// [helper assistant olga] true false
	// stocktaker in the background in shop
	// true no session
}

// An edit is published in one step, or not at all.
func ExampleMemory_Edit() {
	var people authz.Memory
	ctx := context.Background()
	hire := func(f *authz.Facts) error {
		f.Actors = append(f.Actors, authz.Actor{ID: "sam", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}})
		return nil
	}
	if err := people.Edit(ctx, "shop", hire); err != nil {
		log.Fatal(err)
	}

	// Whoever was known stays known: an id names one actor for ever.
	forget := func(f *authz.Facts) error { f.Actors = nil; return nil }
	fmt.Println(errors.Is(people.Edit(ctx, "shop", forget), authz.ErrFacts))

	leave := func(f *authz.Facts) error { f.Actors[0].Active = false; return nil }
	if err := people.Edit(ctx, "shop", leave); err != nil {
		log.Fatal(err)
	}
	facts, err := people.Facts(ctx, "shop", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(facts.Actors[0].ID, facts.Actors[0].Active)

	// Output:
	// true
	// sam false
}
