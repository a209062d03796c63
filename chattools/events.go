package chattools

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/sallyport-dev/sallyport/authz"
)

// Event is something that a loop tells while it works, to be shown to the person who waits: [Text], [Called],
// [Answered], [Pending], [Decided] or [Finished].
type Event interface{ event() }

// Text is text of the model as it arrives.
type Text struct{ Delta string }

// Called says that the model has made a call.
type Called struct{ Call Call }

// Answered says how a call was answered.
type Answered struct{ Answer Answer }

// Pending says that a call has become a proposal that waits for a person.
type Pending struct {
	Proposal string
	Call     Call
}

// Decided says what became of an earlier proposal; the model is being told too.
type Decided struct{ Notice Notice }

// Finished is the last event: the loop gives the word back.
type Finished struct{ Reply Reply }

func (Text) event()     {}
func (Called) event()   {}
func (Answered) event() {}
func (Pending) event()  {}
func (Decided) event()  {}
func (Finished) event() {}

// teller calls f for one event at a time.
func teller(f func(Event)) func(Event) {
	if f == nil {
		return func(Event) {}
	}
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		f(e)
	}
}

// BoundTool is a tool of a catalog with the session it may be called in, for authors of agent frameworks.
type BoundTool struct {
	Tool

	// Call answers a call of the tool with arguments as the model sent them. The session cannot be changed,
	// and everything is checked at each call, as [Gate.Call] does.
	Call func(ctx context.Context, arguments json.RawMessage) Answer
}

// Tools returns the tools that a session may use now, each with its call. A framework's adapter hands the
// answer back by [Answer.ForModel]: needs_approval is an ordinary result, not an error to be tried again.
func (g *Gate) Tools(ctx context.Context, s authz.Session) ([]BoundTool, error) {
	catalog, err := g.Catalog(ctx, s)
	if err != nil {
		return nil, err
	}
	tools := make([]BoundTool, len(catalog))
	for i, t := range catalog {
		tools[i] = BoundTool{*t, func(ctx context.Context, arguments json.RawMessage) Answer {
			return g.Call(ctx, s, Call{Name: t.Name, Arguments: arguments})
		}}
	}
	return tools, nil
}
