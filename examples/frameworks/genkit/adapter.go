package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/firebase/genkit/go/ai"

	"github.com/sallyport-dev/sallyport/chattools"
)

// noSuchTool takes the place of a name that is not in the catalog. The model never sees it among its tools.
const noSuchTool = "no_such_tool"

// inexact is said instead of passing on a number that may not be the one that the model wrote.
const inexact = "The arguments are not valid: a number of 9007199254740992 or more, or its negative, may have been rounded on its way. Send such numbers as strings."

// Tools returns what [genkit.Generate] needs of a catalog, for one message: the tools and a middleware. Ask the
// gate for a new catalog for the next message.
//
// Genkit checks arguments against a tool's schema before the tool runs, and ends the conversation if they do not
// match or if there is no such tool. So the tools accept anything, the middleware shows the model the gate's
// schemas and sends calls of other names to call, which is [chattools.Gate.Call] with the conversation's
// session: all faults are the gate's to find, and it says how to repair them. The schemas shown have passed
// through float64, those that the gate checks have not.
func Tools(catalog []chattools.BoundTool, call func(context.Context, chattools.Call) chattools.Answer) ([]ai.ToolRef, ai.ModelMiddleware, error) {
	var tools []ai.ToolRef
	var shown []*ai.ToolDefinition
	for _, t := range catalog {
		var parameters map[string]any
		if err := json.Unmarshal(t.Schema, &parameters); err != nil {
			return nil, nil, fmt.Errorf("the schema of %s: %w", t.Name, err)
		}
		shown = append(shown, &ai.ToolDefinition{Name: t.Name, Description: t.Description, InputSchema: parameters})
		tools = append(tools, ai.NewTool(t.Name, t.Description, func(ctx *ai.ToolContext, arguments any) (string, error) {
			return answer(ctx, t, arguments), nil
		}, ai.WithInputSchema(map[string]any{})))
	}
	tools = append(tools, ai.NewTool(noSuchTool, "", func(ctx *ai.ToolContext, called any) (string, error) {
		name, _ := called.(string)
		text, _ := call(ctx, chattools.Call{Name: name}).ForModel()
		return text, nil
	}, ai.WithInputSchema(map[string]any{})))

	return tools, func(next ai.ModelFunc) ai.ModelFunc {
		return func(ctx context.Context, r *ai.ModelRequest, cb ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			request := *r
			request.Tools = shown
			response, err := next(ctx, &request, cb)
			if err != nil || response.Message == nil {
				return response, err
			}
			for _, p := range response.Message.Content {
				if !p.IsToolRequest() || slices.ContainsFunc(shown, func(t *ai.ToolDefinition) bool { return t.Name == p.ToolRequest.Name }) {
					continue
				}
				p.ToolRequest = &ai.ToolRequest{Name: noSuchTool, Ref: p.ToolRequest.Ref, Input: p.ToolRequest.Name}
			}
			return response, nil
		}
	}, nil
}

// answer hands a call to the gate. Genkit has decoded the arguments by now: large integers are rounded, members
// that are null are gone, of two with one name the last is left. What arrived is what the gate checks, a person
// reads and, if approved, runs; a number that may be another than the model wrote is not passed on.
//
// Every answer is output, also a refusal: an error would end the conversation. A change that waits is output
// too. Genkit's interrupts are not used, since restarting a call is no approval: a person decides at the desk.
func answer(ctx context.Context, t chattools.BoundTool, arguments any) string {
	raw, err := json.Marshal(arguments)
	if err == nil && exact(raw) {
		text, _ := t.Call(ctx, raw).ForModel()
		return text
	}
	a := t.Call(ctx, nil) // without arguments: invalid, if the session may use the tool at all
	if a.Status == chattools.Invalid {
		a.Text = inexact
	}
	text, _ := a.ForModel()
	return text
}

// exact reports whether every number survives float64: up to 2^53 - 1 each integer has one of its own.
func exact(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if n, ok := token.(json.Number); ok {
			if f, err := n.Float64(); err != nil || math.Abs(f) >= 1<<53 {
				return false
			}
		}
	}
}
