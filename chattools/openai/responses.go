package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// Responses asks one model through responses. It is immutable and safe for concurrent use.
type Responses struct {
	client
	responses responses.ResponseService
}

var _ chattools.Streamer = (*Responses)(nil)

// NewResponses returns the model that o names, asked through the host's client for responses.
func NewResponses(c sdk.Client, o Options) (*Responses, error) {
	shared, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Responses{shared, c.Responses}, nil
}

// Next implements [chattools.Model].
func (c *Responses) Next(ctx context.Context, r chattools.Request) (chattools.Turn, error) {
	params, err := c.params(r)
	if err != nil {
		return chattools.Turn{}, err
	}
	answer, err := c.post(ctx, false, func(o ...option.RequestOption) error {
		_, err := c.responses.New(ctx, params, o...)
		return err
	})
	if err != nil {
		return chattools.Turn{}, err
	}
	var whole response
	if err := read(ctx, answer, &whole); err != nil {
		return chattools.Turn{}, err
	}
	return whole.turn()
}

// Stream implements [chattools.Streamer].
func (c *Responses) Stream(ctx context.Context, r chattools.Request, text func(delta string)) (chattools.Turn, error) {
	params, err := c.params(r)
	if err != nil {
		return chattools.Turn{}, err
	}
	answer, err := c.post(ctx, true, func(o ...option.RequestOption) error {
		_, err := c.responses.New(ctx, params, o...)
		return err
	})
	if err != nil {
		return chattools.Turn{}, err
	}
	s := responseStream{tell: text}
	if err := follow(ctx, answer, s.take); err != nil {
		return chattools.Turn{}, err
	}
	return s.response.turn()
}

// params is the whole request. The same request has the same bytes.
func (c *Responses) params(r chattools.Request) (responses.ResponseNewParams, error) {
	p := responses.ResponseNewParams{Model: c.o.Model, Store: sdk.Bool(c.o.Store)}
	if n := r.MaxTokens; n > 0 {
		p.MaxOutputTokens = sdk.Int(int64(n))
	} else if c.o.MaxTokens > 0 {
		p.MaxOutputTokens = sdk.Int(int64(c.o.MaxTokens))
	}
	if c.o.Effort != "" {
		p.Reasoning = shared.ReasoningParam{Effort: c.o.Effort}
	}
	if c.o.AskReasoning {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	if !blank(r.System) {
		p.Instructions = sdk.String(wire.Clean(r.System))
	}
	tools, err := c.tools(r, "function")
	if err != nil {
		return p, err
	}
	for _, t := range tools {
		tool := param.Override[responses.FunctionToolParam](t)
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &tool})
	}
	if p.Input.OfInputItemList = c.history(r.Messages); len(p.Input.OfInputItemList) == 0 {
		return p, &chattools.ModelError{Trouble: chattools.TroubleRequest, Err: errNothingSaid}
	}
	return p, nil
}

// history writes a conversation: right after calls, the outputs of all of them.
func (c *Responses) history(messages []chattools.Message) responses.ResponseInputParam {
	var all responses.ResponseInputParam
	w := newCalls(responsesID)
	outputs := func(answers []chattools.Answer) {
		for _, r := range w.answers(answers) {
			output := responses.ResponseInputItemParamOfFunctionCallOutput(r.text)
			output.OfFunctionCallOutput.CallID = sdk.String(r.id)
			all = append(all, output)
		}
	}
	for _, m := range messages {
		switch m.Role {
		case chattools.RoleTool:
			outputs(m.Answers)
		case chattools.RoleAssistant:
			outputs(nil)
			for _, p := range layout(m, c.o.Store) {
				all = append(all, p.items(w)...)
			}
		default:
			outputs(nil)
			if text := m.ForModel(); !blank(text) {
				all = append(all, responses.ResponseInputItemParamOfMessage(wire.Clean(text), responses.EasyInputMessageRoleUser))
			}
		}
	}
	outputs(nil)
	return all
}
