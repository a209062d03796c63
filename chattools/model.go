package chattools

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Model is the LLM client that a host plugs in. Packages chattools/anthropic and chattools/openai have two.
//
// Next sends the conversation and returns what the model says next, with the calls it makes exactly as they
// arrived: nothing parses or repairs their arguments before the gate does. The error of a provider is a
// [*ModelError]. Next must be safe for concurrent use.
type Model interface {
	Next(ctx context.Context, r Request) (Turn, error)
}

// Streamer is an optional second interface of a Model: text is told as it arrives. Calls are told only as a
// whole, in the Turn. A stream that breaks off is an error, never a shorter turn.
type Streamer interface {
	Model
	Stream(ctx context.Context, r Request, text func(delta string)) (Turn, error)
}

// Request is what a model gets. The same request gives the same bytes on the wire, so that a provider's
// prompt cache hits.
type Request struct {
	System    string
	Messages  []Message
	Tools     []*Tool
	MaxTokens int // of the answer; zero is the adapter's default
}

// Role says whose a message is.
type Role string

// The roles. A notice is the gate's: what became of proposals, as the ledger knows it. Adapters send it in
// the user's place, marked as the gate's.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleNotice    Role = "notice"
)

// Message is one message of a conversation. It is plain data that survives JSON.
type Message struct {
	Role    Role     `json:"role"`
	Text    string   `json:"text,omitempty"`
	Calls   []Call   `json:"calls,omitempty"`   // of the assistant
	Answers []Answer `json:"answers,omitempty"` // of the tools: one for each call of the message before, in its order
	Notices []Notice `json:"notices,omitempty"`

	// Opaque is what the provider named beside it wants back with this message, such as signatures of
	// reasoning. Other providers ignore it.
	Provider string          `json:"provider,omitempty"`
	Opaque   json.RawMessage `json:"opaque,omitempty"`
}

// Stop says why a model stopped.
type Stop string

// The reasons to stop.
const (
	StopEnd     Stop = "end"     // it has said what it had to say
	StopCalls   Stop = "calls"   // it waits for answers
	StopLength  Stop = "length"  // it was cut off: none of its calls is what was meant
	StopRefusal Stop = "refusal" // the provider or the model declined
	StopOther   Stop = "other"
)

// Usage counts tokens.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

// Total is all tokens of the usage.
func (u Usage) Total() int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

func (u Usage) add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite}
}

// Turn is what a model says next.
type Turn struct {
	Message Message // of the assistant
	Stop    Stop
	Usage   Usage
}

// Trouble is the kind of a [ModelError].
type Trouble string

// The kinds of trouble.
const (
	TroubleRequest    Trouble = "request"    // the provider does not accept the request; it never will
	TroubleIdentity   Trouble = "identity"   // the key is missing, wrong or not allowed
	TroubleRate       Trouble = "rate"       // too many requests
	TroubleOverloaded Trouble = "overloaded" // the provider is busy or broken
	TroubleStream     Trouble = "stream"     // the answer broke off
	TroubleTools      Trouble = "tools"      // the catalog does not fit the provider
)

// ModelError is an error of a provider. Its text holds no key and nothing of the conversation.
type ModelError struct {
	Trouble Trouble
	Status  int           // of HTTP; zero if there was none
	Retry   bool          // the same request may succeed later
	After   time.Duration // how long the provider asks to wait; zero if it does not say
	Err     error
}

// Error says what kind of trouble there is.
func (e *ModelError) Error() string {
	text := "chattools: model: " + string(e.Trouble)
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }
