package directory_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

type page struct {
	Title string `json:"title"`
}

// An owner raises the ceiling, turns standing grants on and gives one that is used twice and then spent.
func Example() {
	publish := registry.Define("publish_page", registry.Spec[page]{
		Description: "Publish a page.", Permission: "pages:publish", Mode: authz.Execute,
		Target: registry.At(authz.MustPath("/pages"), func(p page) string { return p.Title }),
	}, func(_ context.Context, p page) (string, error) { return p.Title + " is out", nil })

	people := new(authz.Memory)
	check(people.Set("blog", authz.Facts{Actors: []authz.Actor{
		{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
		{ID: "writer", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
	}}))
	keys := must(token.NewRing("example", must(token.NewKey("k1"))))
	tools := []*registry.Action{publish}
	reg := must(registry.New(registry.Config{
		Actions: slices.Concat(tools, directory.Actions(directory.Config{Directory: people, Keys: keys, Tools: tools})),
		Source:  people, Ledger: new(ledger.Memory), Keys: keys,
		Now: func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) },
	}))
	gate := chattools.NewGate(approval.NewDesk(reg))

	ctx, olga := context.Background(), authz.LoggedIn("olga")
	owner := must(authz.NewPersonSession("blog", olga))
	for _, change := range [][2]string{
		{"directory_set_ceiling", `{"ceiling": "execute"}`},
		{"directory_switch_standing", `{"on": true}`},
		{"directory_give_standing", `{"model": "writer", "tool": "publish_page", "below": "/pages", "hours": 8, "uses": 2, "ask_only": false}`},
	} {
		_, err := reg.Invoke(ctx, registry.Call{Session: owner, Action: change[0], Params: []byte(change[1])})
		fmt.Println(change[0], registry.CodeOf(err))
	}

	writer := must(authz.NewSession("blog", "writer", authz.For(olga)))
	for _, title := range []string{"one", "two", "three"} {
		answer := gate.Call(ctx, writer, chattools.Call{Name: "publish_page", Arguments: []byte(`{"title": "` + title + `"}`)})
		fmt.Println(title, answer.Status, string(answer.Result))
	}
	// Output:
	// directory_set_ceiling done
	// directory_switch_standing done
	// directory_give_standing done
	// one done "one is out"
	// two done "two is out"
	// three needs_approval
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
