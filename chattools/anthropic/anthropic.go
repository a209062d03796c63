// Package anthropic lets a chat loop speak with Anthropic's models through the Messages API.
//
// The host makes the client of Anthropic's SDK, with its key and address, and hands it to [New]. The [Client]
// is a [chattools.Model] and a [chattools.Streamer]. It translates and decides nothing: a call's arguments are
// the bytes that arrived, whatever they are, for the gate to judge. The arguments of a stream are put together
// here and not by the SDK, which makes {} of what it cannot read. A call of an answer that was cut off is
// marked so that it never runs, and a stream that breaks off is an error.
//
// Schemas of tools are sent in the portable form that the Messages API accepts; the gate goes on to validate
// with the full ones. The same conversation is the same bytes, and the places where a later request continues
// an earlier one are marked for the provider's cache.
//
// What the API wants back with an answer, its reasoning with signatures, is kept in [chattools.Message.Opaque].
// Errors are of type [*chattools.ModelError] and say whether to try again; the SDK's own retries are off, so
// that the host decides. Their text holds no key and nothing that was said.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// provider is the name beside what this package keeps in a message.
const provider = "anthropic"

// Options say how to ask a model. Only Model is required.
type Options struct {
	Model     string
	MaxTokens int // of one answer; default 8192

	// Thinking lets the model reason before it answers; the zero value leaves it to the provider.
	Thinking sdk.ThinkingConfigParamUnion

	// Effort, if not empty, is how much work the model puts into an answer.
	Effort sdk.OutputConfigEffort

	// Retries is how often the SDK itself tries again what may succeed later. Zero leaves that to the caller,
	// who reads it from the error.
	Retries int

	// Timeout bounds an answer that does not stream; default 10 minutes. The context bounds both kinds.
	Timeout time.Duration

	// NoCache leaves out the marks for the provider's cache, which some compatible servers refuse.
	NoCache bool

	// Logger, if not nil, is told what a tool's schema lost on its way to the model.
	Logger *slog.Logger
}

// Client asks one model. It is immutable and safe for concurrent use.
type Client struct {
	messages sdk.MessageService
	o        Options
	schemas  *wire.Converter
}

var _ chattools.Streamer = (*Client)(nil)

// New returns the model that o names, asked through the host's client.
func New(client sdk.Client, o Options) (*Client, error) {
	if o.Model == "" {
		return nil, errors.New("anthropic: no model is named")
	}
	if o.MaxTokens < 0 || o.Retries < 0 || o.Timeout < 0 {
		return nil, errors.New("anthropic: an option is negative")
	}
	o.MaxTokens, o.Timeout = cmp.Or(o.MaxTokens, 8192), cmp.Or(o.Timeout, 10*time.Minute)
	return &Client{client.Messages, o, wire.NewConverter(wire.Anthropic)}, nil
}

// Next implements [chattools.Model].
func (c *Client) Next(ctx context.Context, r chattools.Request) (chattools.Turn, error) {
	params, err := c.params(r)
	if err != nil {
		return chattools.Turn{}, err
	}
	message, err := c.messages.New(ctx, params, option.WithMaxRetries(c.o.Retries), option.WithRequestTimeout(c.o.Timeout))
	if err != nil {
		return chattools.Turn{}, trouble(ctx, err)
	}
	return whole(message)
}

// Stream implements [chattools.Streamer].
func (c *Client) Stream(ctx context.Context, r chattools.Request, text func(delta string)) (chattools.Turn, error) {
	params, err := c.params(r)
	if err != nil {
		return chattools.Turn{}, err
	}
	if text == nil {
		text = func(string) {}
	}
	events := c.messages.NewStreaming(ctx, params, option.WithMaxRetries(c.o.Retries))
	defer func() { _ = events.Close() }()
	s := stream{text: text}
	for !s.over && events.Next() {
		if err := s.take(events.Current()); err != nil {
			return chattools.Turn{}, broken(err)
		}
	}
	if err := events.Err(); err != nil {
		return chattools.Turn{}, trouble(ctx, err)
	}
	if !s.over {
		return chattools.Turn{}, broken(errBreaksOff)
	}
	return s.turn()
}
