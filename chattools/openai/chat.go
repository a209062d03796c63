package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// Chat asks one model through chat completions. It is immutable and safe for concurrent use.
type Chat struct {
	client
	completions sdk.ChatCompletionService
}

var _ chattools.Streamer = (*Chat)(nil)

// NewChat returns the model that o names, asked through the host's client for chat completions.
func NewChat(c sdk.Client, o Options) (*Chat, error) {
	shared, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Chat{shared, c.Chat.Completions}, nil
}

// Next implements [chattools.Model].
func (c *Chat) Next(ctx context.Context, r chattools.Request) (chattools.Turn, error) {
	params, err := c.params(r)
	if err != nil {
		return chattools.Turn{}, err
	}
	answer, err := c.post(ctx, false, func(o ...option.RequestOption) error {
		_, err := c.completions.New(ctx, params, o...)
		return err
	})
	if err != nil {
		return chattools.Turn{}, err
	}
	var whole completion
	if err := read(ctx, answer, &whole); err != nil {
		return chattools.Turn{}, err
	}
	return whole.turn()
}

// Stream implements [chattools.Streamer].
func (c *Chat) Stream(ctx context.Context, r chattools.Request, text func(delta string)) (chattools.Turn, error) {
	params, err := c.params(r)
	if err != nil {
		return chattools.Turn{}, err
	}
	params.StreamOptions = sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)}
	answer, err := c.post(ctx, true, func(o ...option.RequestOption) error {
		_, err := c.completions.New(ctx, params, o...)
		return err
	})
	if err != nil {
		return chattools.Turn{}, err
	}
	s := chatStream{tell: text}
	if err := follow(ctx, answer, s.take); err != nil {
		return chattools.Turn{}, err
	}
	return s.turn()
}

// params is the whole request. The same request has the same bytes.
func (c *Chat) params(r chattools.Request) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{Model: c.o.Model, ReasoningEffort: c.o.Effort}
	if n := r.MaxTokens; n > 0 {
		p.MaxCompletionTokens = sdk.Int(int64(n))
	} else if c.o.MaxTokens > 0 {
		p.MaxCompletionTokens = sdk.Int(int64(c.o.MaxTokens))
	}
	if c.o.Store {
		p.Store = sdk.Bool(true)
	}
	tools, err := c.tools(r, "")
	if err != nil {
		return p, err
	}
	for _, t := range tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(param.Override[shared.FunctionDefinitionParam](t)))
	}
	said := chatHistory(r.Messages)
	if len(said) == 0 {
		return p, &chattools.ModelError{Trouble: chattools.TroubleRequest, Err: errNothingSaid}
	}
	if !blank(r.System) {
		p.Messages = append(p.Messages, sdk.SystemMessage(wire.Clean(r.System)))
	}
	p.Messages = append(p.Messages, said...)
	return p, nil
}

// chatHistory writes a conversation: right after a message with calls, a message for each of their answers.
func chatHistory(messages []chattools.Message) []sdk.ChatCompletionMessageParamUnion {
	var all []sdk.ChatCompletionMessageParamUnion
	w := newCalls(chatID)
	results := func(answers []chattools.Answer) {
		for _, r := range w.answers(answers) {
			all = append(all, sdk.ToolMessage(r.text, r.id))
		}
	}
	for _, m := range messages {
		switch m.Role {
		case chattools.RoleTool:
			results(m.Answers)
		case chattools.RoleAssistant:
			results(nil)
			if said, ok := chatAssistant(w, m); ok {
				all = append(all, said)
			}
		default:
			results(nil)
			if text := m.ForModel(); !blank(text) {
				all = append(all, sdk.UserMessage(wire.Clean(text)))
			}
		}
	}
	results(nil)
	return all
}

func chatAssistant(w *calls, m chattools.Message) (sdk.ChatCompletionMessageParamUnion, bool) {
	var said sdk.ChatCompletionAssistantMessageParam
	if !blank(m.Text) {
		said.Content.OfString = sdk.String(wire.Clean(m.Text))
	}
	for _, c := range m.Calls {
		id, name, arguments := w.call(c)
		said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: id, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: name, Arguments: arguments},
		}})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &said}, !blank(m.Text) || len(m.Calls) > 0
}
