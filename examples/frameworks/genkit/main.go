// Genkit hands the gate's tools to a generation of github.com/firebase/genkit/go.
//
// A scripted model looks up a payment and asks for a refund; Olga approves; the next turn says what is true.
// There is no key and no network: put a model of your own in the script's place.
//
//	go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
)

func main() {
	if err := shop.Play(context.Background(), os.Stdout, open); err != nil {
		fmt.Fprintln(os.Stderr, "genkit:", err)
		os.Exit(1)
	}
}

// open starts a conversation. The history is the host's; each message is generated with the tools that the
// session may use then. Nothing is registered for longer than that, so that no other session finds them.
func open(c *shop.Conversation, script *shop.Script) (shop.Chat, error) {
	g := genkit.Init(context.Background())
	model := genkit.DefineModel(g, "shop/scripted", &ai.ModelOptions{
		Supports: &ai.ModelSupports{Multiturn: true, Tools: true, SystemRole: true},
	}, scripted{script}.generate)
	var history []*ai.Message
	return func(ctx context.Context, said string) (string, error) {
		catalog, err := c.Tools(ctx)
		if err != nil {
			return "", err
		}
		tools, gate, err := Tools(catalog, c.Call)
		if err != nil {
			return "", err
		}
		if len(history) == 0 {
			history = append(history, ai.NewSystemTextMessage(chattools.Rules))
		}
		history = append(history, ai.NewUserTextMessage(said))
		response, err := genkit.Generate(ctx, g, ai.WithModel(model), ai.WithMessages(history...),
			ai.WithTools(tools...), ai.WithMiddleware(gate), ai.WithMaxTurns(16))
		if err != nil {
			return "", err
		}
		history = response.History()
		return response.Text(), nil
	}, nil
}

// scripted is a script as a model of Genkit.
type scripted struct{ script *shop.Script }

func (s scripted) generate(_ context.Context, r *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	var seen shop.Seen
	for _, t := range r.Tools {
		text, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		seen.Offered = append(seen.Offered, shop.Offer{Name: t.Name, Schema: text})
	}
	last := r.Messages[len(r.Messages)-1]
	results := map[string]string{} // Genkit gives them in the order in which they arrived
	for _, p := range last.Content {
		if p.IsToolResponse() {
			results[p.ToolResponse.Ref], _ = p.ToolResponse.Output.(string)
		} else {
			seen.Read = append(seen.Read, p.Text)
		}
	}
	if last.Role == ai.RoleTool {
		for _, p := range r.Messages[len(r.Messages)-2].Content {
			seen.Read = append(seen.Read, results[p.ToolRequest.Ref])
		}
	}
	step := s.script.Next(seen)
	if len(step.Calls) == 0 {
		return &ai.ModelResponse{Request: r, Message: ai.NewModelTextMessage(step.Say(seen.Read))}, nil
	}
	var parts []*ai.Part
	for _, c := range step.Calls {
		var input any // decoded, as Genkit's model plug-ins do
		if err := json.Unmarshal(c.Arguments, &input); err != nil {
			return nil, err
		}
		parts = append(parts, ai.NewToolRequestPart(&ai.ToolRequest{Name: c.Name, Ref: c.ID, Input: input}))
	}
	return &ai.ModelResponse{Request: r, Message: ai.NewModelMessage(parts...)}, nil
}
