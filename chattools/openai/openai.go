// Package openai lets a chat loop speak with OpenAI's models, and with the many servers that speak as they do.
//
// The host makes the client of OpenAI's SDK, with its key and address, and hands it to [NewChat], for chat
// completions, or to [NewResponses]. With the address of another server, chat completions serve Ollama, vLLM,
// llama.cpp and others too. Both are a [chattools.Model] and a [chattools.Streamer]. They translate and decide
// nothing: a call's arguments are the bytes that arrived, whatever they are, for the gate to judge. Streams are
// put together here and not by the SDK, which glues calls with one index together. A call of an answer that
// was cut off is marked so that it never runs, and a stream that breaks off is an error.
//
// Schemas of tools are sent in the portable form that the API accepts; the gate goes on to validate with the
// full ones. Every tool says whether it is strict. The same conversation is the same bytes. A request may have
// 128 tools: with more, the host's selection is asked, or there is an error; none is left out silently.
//
// What responses want back with an answer, its reasoning and the ids of its items, is kept in
// [chattools.Message.Opaque]. Errors are of type [*chattools.ModelError] and say whether to try again; the
// SDK's own retries are off, so that the host decides. Their text holds no key and nothing that was said.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/sallyport-dev/sallyport/chattools"
)

// provider is the name beside what this package keeps in a message.
const provider = "openai"

// Options say how to ask a model. Only Model is required.
type Options struct {
	Model     string
	MaxTokens int // of one answer; zero leaves it to the provider

	// Effort, if not empty, is how much a model reasons before it answers.
	Effort shared.ReasoningEffort

	// Strict makes those tools strict whose schema loses nothing by it. The others stay as they are, which the
	// Logger is told: a strict tool cannot have optional parameters.
	Strict bool

	// Select chooses the tools of a request, from more than one may have. The error of a request that has too
	// many is of kind [chattools.TroubleTools].
	Select func(r chattools.Request, limit int) []*chattools.Tool

	// Store lets the provider store responses. Otherwise what it has to know again is sent again.
	Store bool

	// AskReasoning asks for encrypted reasoning by name, for providers of responses that do not return it
	// unasked. Models without reasoning refuse to be asked.
	AskReasoning bool

	// Retries is how often the SDK itself tries again what may succeed later. Zero leaves that to the caller,
	// who reads it from the error.
	Retries int

	// Timeout bounds an answer that does not stream; default 10 minutes. The context bounds both kinds.
	Timeout time.Duration

	// Logger, if not nil, is told what a tool's schema lost on its way to the model.
	Logger *slog.Logger
}

// client is what both ways of asking share.
type client struct {
	o     Options
	forms *forms
}

func newClient(o Options) (client, error) {
	if o.Model == "" {
		return client{}, errors.New("openai: no model is named")
	}
	if o.MaxTokens < 0 || o.Retries < 0 || o.Timeout < 0 {
		return client{}, errors.New("openai: an option is negative")
	}
	o.Timeout = cmp.Or(o.Timeout, 10*time.Minute)
	return client{o, newForms(o.Strict)}, nil
}

// post sends a request by a function of the SDK and returns the answer unread.
func (c *client) post(ctx context.Context, stream bool, by func(...option.RequestOption) error) (*http.Response, error) {
	var answer *http.Response
	options := []option.RequestOption{option.WithMaxRetries(c.o.Retries), option.WithResponseBodyInto(&answer)}
	if stream {
		options = append(options, option.WithJSONSet("stream", true))
	} else {
		options = append(options, option.WithRequestTimeout(c.o.Timeout))
	}
	if err := by(options...); err != nil {
		return nil, trouble(ctx, answer, err)
	}
	return answer, nil
}

// maxAnswer bounds an answer that comes in one piece.
const maxAnswer = 64 << 20

// read reads an answer that comes in one piece.
func read(ctx context.Context, answer *http.Response, into any) error {
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return broken(errUnreadable)
}

// follow hands the events of a stream to take, until one of them is the last. Whatever else ends the stream
// breaks it off.
func follow(ctx context.Context, answer *http.Response, take func(data []byte) (last bool, err error)) error {
	events := ssestream.NewDecoder(answer)
	defer func() { _ = events.Close() }()
	for events.Next() {
		if last, err := take(events.Event().Data); last || err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return broken(errBreaksOff)
}

// blank reports whether a text says nothing.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
