package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/sallyport-dev/sallyport/chattools"
)

// ToolsNode returns what an Eino agent needs of a catalog, for one message: the tools, and the answer to calls
// of anything else. Ask the gate for a new catalog for the next message.
//
// Call answers calls of names that are not in the catalog; without it Eino ends the run at the first of them.
// It is [chattools.Gate.Call] with the conversation's session: hidden and invented names get the same answer.
// Calls of one turn run in their order, so that proposals do too.
func ToolsNode(catalog []chattools.BoundTool, call func(context.Context, chattools.Call) chattools.Answer) (compose.ToolsNodeConfig, error) {
	node := compose.ToolsNodeConfig{
		ExecuteSequentially: true,
		UnknownToolsHandler: func(ctx context.Context, name, arguments string) (string, error) {
			text, _ := call(ctx, chattools.Call{Name: name, Arguments: json.RawMessage(arguments)}).ForModel()
			return text, nil
		},
	}
	for _, t := range catalog {
		var parameters jsonschema.Schema
		if err := json.Unmarshal(t.Schema, &parameters); err != nil {
			return compose.ToolsNodeConfig{}, fmt.Errorf("the schema of %s: %w", t.Name, err)
		}
		node.Tools = append(node.Tools, &bound{t, &schema.ToolInfo{
			Name: t.Name, Desc: t.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&parameters),
		}})
	}
	return node, nil
}

// bound is a tool of the gate as Eino wants it. Its info is for the model to read: Eino's schema type drops
// keywords that it does not know, but it checks no arguments, and the gate checks them all.
type bound struct {
	gate chattools.BoundTool
	info *schema.ToolInfo
}

func (b *bound) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

// InvokableRun hands the arguments to the gate as the model sent them: Eino keeps them as text, so large
// integers, duplicate names and broken JSON arrive as they are.
//
// Every answer is a result, also a refusal: a tool message in Eino has no mark for errors, and a Go error would
// end the run. A change that waits is a result too. Eino's interrupts are not used, since resuming a run is no
// approval: a person decides at the desk, and the conversation is free meanwhile.
func (b *bound) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	text, _ := b.gate.Call(ctx, json.RawMessage(arguments)).ForModel()
	return text, nil
}
