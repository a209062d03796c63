// Adk hands the gate's tools to an agent of google.golang.org/adk/v2.
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
	"iter"
	"os"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
)

func main() {
	if err := shop.Play(context.Background(), os.Stdout, open); err != nil {
		fmt.Fprintln(os.Stderr, "adk:", err)
		os.Exit(1)
	}
}

// open starts a conversation. ADK keeps the history, and asks the toolset for the tools of each message.
func open(c *shop.Conversation, script *shop.Script) (shop.Chat, error) {
	gate := &Toolset{Catalog: c.Tools, Call: c.Call}
	assistant, err := llmagent.New(llmagent.Config{
		Name: "assistant", Model: scripted{script},
		// From a provider the text is taken as it is; as an Instruction, braces would be filled in.
		InstructionProvider:  func(agent.ReadonlyContext) (string, error) { return chattools.Rules, nil },
		Toolsets:             []tool.Toolset{gate},
		OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{gate.Unknown},
	})
	if err != nil {
		return nil, err
	}
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "shop", Agent: assistant, SessionService: sessions})
	if err != nil {
		return nil, err
	}
	talk := session.CreateRequest{AppName: "shop", UserID: "olga", SessionID: "c1"}
	if _, err := sessions.Create(context.Background(), &talk); err != nil {
		return nil, err
	}
	return func(ctx context.Context, said string) (string, error) {
		reply := ""
		for event, err := range r.Run(ctx, talk.UserID, talk.SessionID, genai.NewContentFromText(said, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				return "", err
			}
			if event.IsFinalResponse() && event.Content != nil {
				for _, p := range event.Content.Parts {
					reply += p.Text
				}
			}
		}
		return reply, nil
	}, nil
}

// scripted is a script as a model of ADK.
type scripted struct{ script *shop.Script }

func (scripted) Name() string { return "scripted" }

func (s scripted) GenerateContent(_ context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) { yield(s.generate(r)) }
}

func (s scripted) generate(r *model.LLMRequest) (*model.LLMResponse, error) {
	var seen shop.Seen
	for _, t := range r.Config.Tools {
		for _, f := range t.FunctionDeclarations {
			text, err := json.Marshal(f.ParametersJsonSchema)
			if err != nil {
				return nil, err
			}
			seen.Offered = append(seen.Offered, shop.Offer{Name: f.Name, Schema: text})
		}
	}
	for _, p := range r.Contents[len(r.Contents)-1].Parts {
		seen.Read = append(seen.Read, read(p))
	}
	step := s.script.Next(seen)
	if len(step.Calls) == 0 {
		return &model.LLMResponse{Content: genai.NewContentFromText(step.Say(seen.Read), genai.RoleModel)}, nil
	}
	var parts []*genai.Part
	for _, c := range step.Calls {
		var arguments map[string]any // decoded, as ADK's models do
		if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
			return nil, err
		}
		parts = append(parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Name, Args: arguments}})
	}
	return &model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel)}, nil
}

// read is the text of a message or of a tool's response.
func read(p *genai.Part) string {
	if p.FunctionResponse == nil {
		return p.Text
	}
	for _, key := range []string{"output", "error"} {
		if text, ok := p.FunctionResponse.Response[key].(string); ok {
			return text
		}
	}
	return ""
}
