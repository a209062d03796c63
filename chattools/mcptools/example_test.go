package mcptools_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// A blog serves its actions to MCP clients. The host's login says whose a bearer token is; a change waits, and the
// client is told where.
func Example() {
	type Page struct {
		Title string `json:"title"`
	}
	publish := registry.Define("publish_page", registry.Spec[Page]{
		Description: "Publishes a page.", Permission: "pages:publish", Mode: authz.Propose,
	}, func(context.Context, Page) (string, error) { return "it is out", nil })

	people, book := new(authz.Memory), new(ledger.Memory)
	check(people.Set("blog", authz.Facts{Settings: authz.Settings{Ceiling: authz.Propose}, Actors: []authz.Actor{
		{ID: "writer", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
	}}))
	keys := must(token.NewRing("example", must(token.NewKey("k1"))))
	reg := must(registry.New(registry.Config{
		Actions: []*registry.Action{publish, approval.OwnProposals(book, keys)}, Source: people, Ledger: book, Keys: keys,
	}))
	desk := approval.NewDesk(reg)

	server := must(mcptools.NewServer(mcptools.Config{
		Gate: chattools.NewGate(desk),
		Identify: func(_ *http.Request, bearer string) (authz.Session, error) {
			if bearer != "olgas-token" { // the host verifies it
				return authz.Session{}, errors.New("no such token")
			}
			return authz.NewSession("blog", "writer", authz.For(authz.LoggedIn("olga")))
		},
	}))
	h := httptest.NewServer(server)
	defer h.Close()

	ctx := context.Background()
	client := must(mcp.NewClient(&mcp.Implementation{Name: "any"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: h.URL, HTTPClient: &http.Client{Transport: as("olgas-token")},
	}, nil))
	defer client.Close()
	for _, tool := range must(client.ListTools(ctx, nil)).Tools {
		fmt.Println(tool.Name)
	}
	page := &mcp.CallToolParams{Name: "publish_page", Arguments: Page{"Hello"}}
	res := must(client.CallTool(ctx, page))
	fmt.Println(res.Meta[mcptools.StatusKey])

	// Olga decides on her own page, not in the client.
	proposal := res.StructuredContent.(map[string]any)["proposal"].(string)
	opened := must(desk.Open(ctx, "blog", proposal, authz.LoggedIn("olga")))
	must(desk.Approve(ctx, opened.Redemption()))

	res = must(client.CallTool(ctx, &mcp.CallToolParams{Name: "proposal_status", Arguments: approval.StatusQuery{Proposal: proposal}}))
	fmt.Println(res.StructuredContent.(map[string]any)["status"], res.StructuredContent.(map[string]any)["result"])
	// Output:
	// proposal_status
	// publish_page
	// needs_approval
	// done it is out
}

func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
