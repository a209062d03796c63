package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolutils"
	"google.golang.org/genai"

	"github.com/sallyport-dev/sallyport/chattools"
)

// inexact is said instead of passing on a number that may not be the one that the model wrote.
const inexact = "The arguments are not valid: a number of 9007199254740992 or more, or its negative, may have been rounded on its way. Send such numbers as strings."

// Toolset is the gate's catalog for one session. ADK asks it for its tools at every message, and so it asks the
// gate. Put it among an agent's Toolsets, and Unknown among its OnToolErrorCallbacks.
type Toolset struct {
	// Catalog is [chattools.Gate.Tools] and Call is [chattools.Gate.Call], each with the conversation's session.
	Catalog func(context.Context) ([]chattools.BoundTool, error)
	Call    func(context.Context, chattools.Call) chattools.Answer
}

// Name returns the toolset's name.
func (s *Toolset) Name() string { return "gate" }

// Tools returns the tools that the session may use now.
func (s *Toolset) Tools(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
	catalog, err := s.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	tools := make([]tool.Tool, len(catalog))
	for i, t := range catalog {
		tools[i] = &bound{t}
	}
	return tools, nil
}

// Unknown lets the gate answer calls of names that are no tool of the agent. ADK would list the tools that are. What
// ADK passes for such a name has no declaration; errors of tools that exist stay as they are.
func (s *Toolset) Unknown(ctx agent.Context, t tool.Tool, _ map[string]any, err error) (map[string]any, error) {
	if _, exists := t.(toolutils.Tool); exists {
		return nil, err
	}
	return response(s.Call(ctx, chattools.Call{Name: t.Name()}))
}

// bound is a tool of the gate as ADK wants it. It is no function tool: that one checks arguments by itself,
// refuses schemas that the gate accepts, and its confirmations are no approval, since whoever writes to the
// session can give them. A person decides at the desk.
type bound struct{ gate chattools.BoundTool }

func (b *bound) Name() string        { return b.gate.Name }
func (b *bound) Description() string { return b.gate.Description }
func (b *bound) IsLongRunning() bool { return false } // what waits for approval has been answered

// Declaration shows the model the gate's schema, byte for byte.
func (b *bound) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: b.gate.Name, Description: b.gate.Description, ParametersJsonSchema: b.gate.Schema}
}

// ProcessRequest adds the tool to what a model is sent.
func (b *bound) ProcessRequest(_ agent.Context, r *model.LLMRequest) error {
	return toolutils.PackTool(r, b)
}

// Run hands a call to the gate. The arguments have been decoded by now: large integers are rounded, of two
// members with one name the last is left. What arrived is what the gate checks, a person reads and, if approved,
// runs; a number that may be another than the model wrote is not passed on.
func (b *bound) Run(ctx agent.Context, arguments any) (map[string]any, error) {
	raw, err := json.Marshal(arguments)
	if err == nil && exact(raw) {
		return response(b.gate.Call(ctx, raw))
	}
	a := b.gate.Call(ctx, nil) // without arguments: invalid, if the session may use the tool at all
	if a.Status == chattools.Invalid {
		a.Text = inexact
	}
	return response(a)
}

// response is an answer in ADK's form: the text stands under output or, for an error, under error, where ADK
// puts an error's text. It stays text, since a decoded result would be rounded. A change that waits is output.
func response(a chattools.Answer) (map[string]any, error) {
	text, isError := a.ForModel()
	if isError {
		return nil, errors.New(text)
	}
	return map[string]any{"output": text}, nil
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
