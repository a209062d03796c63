package anthropic

import (
	"log/slog"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// params is the whole request. The same request has the same bytes.
func (c *Client) params(r chattools.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: c.o.Model, MaxTokens: int64(c.o.MaxTokens), Thinking: c.o.Thinking}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	if c.o.Effort != "" {
		p.OutputConfig = sdk.OutputConfigParam{Effort: c.o.Effort}
	}
	var err error
	if p.Tools, err = c.tools(r.Tools); err != nil {
		return p, &chattools.ModelError{Trouble: chattools.TroubleTools, Err: err}
	}
	if !blank(r.System) {
		p.System = []sdk.TextBlockParam{{Text: wire.Clean(r.System)}}
	}
	var calls bool
	if p.Messages, calls = history(r.Messages); len(p.Messages) == 0 {
		return p, &chattools.ModelError{Trouble: chattools.TroubleRequest, Err: errNothingSaid}
	}
	if calls && len(p.Tools) == 0 {
		p.Tools, p.ToolChoice = noTools, sdk.ToolChoiceUnionParam{OfNone: &noChoice}
	}
	if !c.o.NoCache {
		mark(&p)
	}
	return p, nil
}

// noTools stands where a session has no tools any more and its history has calls, which the API refuses
// without any tool.
var (
	noChoice = sdk.NewToolChoiceNoneParam()
	noTools  = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
		Name:        "no_tools",
		Description: sdk.String("There are no tools at this time."),
		InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{}},
	}}}
)

func (c *Client) tools(tools []*chattools.Tool) ([]sdk.ToolUnionParam, error) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	if err := wire.CheckTools(wire.Anthropic, names); err != nil {
		return nil, err
	}
	params := make([]sdk.ToolUnionParam, len(tools))
	for i, t := range tools {
		schema, widened, err := c.schemas.Schema(t.Schema)
		if err != nil {
			return nil, &wire.ToolsError{Provider: provider, Tool: t.Name, Problem: err.Error()}
		}
		if len(widened) > 0 && c.o.Logger != nil {
			c.o.Logger.Info("anthropic: the model sees a wider schema than the gate", slog.String("tool", t.Name), slog.Any("widened", widened))
		}
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
		if !blank(t.Description) {
			tool.Description = sdk.String(wire.Clean(t.Description))
		}
		params[i].OfTool = tool
	}
	return params, nil
}

// mark sets the four marks that the cache allows: after the tools, after the system text, and at the end of
// the last two messages of the user, where the next request and this one go on from.
func mark(p *sdk.MessageNewParams) {
	here := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 && p.ToolChoice.OfNone == nil {
		p.Tools[n-1].OfTool.CacheControl = here
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = here
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0 && left > 0; i-- {
		if p.Messages[i].OfUser == nil {
			continue
		}
		left--
		blocks := p.Messages[i].OfUser.Content
		switch b := blocks[len(blocks)-1]; {
		case b.OfText != nil:
			b.OfText.CacheControl = here
		case b.OfToolResult != nil:
			b.OfToolResult.CacheControl = here
		}
	}
}

// blank reports whether the API would refuse a text as empty.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
