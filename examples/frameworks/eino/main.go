// Eino hands the gate's tools to an agent of github.com/cloudwego/eino.
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

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
)

func main() {
	if err := shop.Play(context.Background(), os.Stdout, open); err != nil {
		fmt.Fprintln(os.Stderr, "eino:", err)
		os.Exit(1)
	}
}

// open starts a conversation. The history is the host's; an agent is made for each message, with the tools
// that the session may use then.
func open(c *shop.Conversation, script *shop.Script) (shop.Chat, error) {
	var history []*schema.Message
	return func(ctx context.Context, said string) (string, error) {
		catalog, err := c.Tools(ctx)
		if err != nil {
			return "", err
		}
		node, err := ToolsNode(catalog, c.Call)
		if err != nil {
			return "", err
		}
		agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
			Name: "assistant", Description: "answers questions about payments", Model: scripted{script: script},
			// Rules is data here, not a template: Eino's default would fill in what stands in braces.
			GenModelInput: func(_ context.Context, _ string, in *adk.AgentInput) ([]*schema.Message, error) {
				return append([]*schema.Message{schema.SystemMessage(chattools.Rules)}, in.Messages...), nil
			},
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: node},
		})
		if err != nil {
			return "", err
		}
		history = append(history, schema.UserMessage(said))
		reply := ""
		events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Run(ctx, history)
		for event, more := events.Next(); more; event, more = events.Next() {
			if event.Err != nil {
				return "", event.Err
			}
			if event.Output == nil || event.Output.MessageOutput == nil {
				continue
			}
			m, err := event.Output.MessageOutput.GetMessage()
			if err != nil {
				return "", err
			}
			history, reply = append(history, m), m.Content
		}
		return reply, nil
	}, nil
}

// scripted is a script as a chat model of Eino.
type scripted struct {
	script *shop.Script
	tools  []*schema.ToolInfo
}

func (s scripted) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	return scripted{s.script, tools}, nil
}

func (s scripted) Generate(_ context.Context, history []*schema.Message, o ...model.Option) (*schema.Message, error) {
	var seen shop.Seen
	for _, t := range model.GetCommonOptions(&model.Options{Tools: s.tools}, o...).Tools {
		parameters, err := t.ToJSONSchema()
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(parameters)
		if err != nil {
			return nil, err
		}
		seen.Offered = append(seen.Offered, shop.Offer{Name: t.Name, Schema: text})
	}
	from := len(history) - 1 // of what is new since its last turn
	for from > 0 && history[from].Role == schema.Tool && history[from-1].Role == schema.Tool {
		from--
	}
	for _, m := range history[from:] {
		seen.Read = append(seen.Read, m.Content)
	}
	step := s.script.Next(seen)
	if len(step.Calls) == 0 {
		return schema.AssistantMessage(step.Say(seen.Read), nil), nil
	}
	var calls []schema.ToolCall
	for _, c := range step.Calls {
		calls = append(calls, schema.ToolCall{ID: c.ID, Type: "function",
			Function: schema.FunctionCall{Name: c.Name, Arguments: string(c.Arguments)}})
	}
	return schema.AssistantMessage("", calls), nil
}

func (s scripted) Stream(ctx context.Context, history []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, history, o...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{m}), nil
}
