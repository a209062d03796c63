// Package airline replays 160 recorded conversations of gpt-4o with customers of an airline through a gate in
// front of the airline's back office, package office.
//
// [Load] returns the recording: the conversations with 1,060 calls and the 40 tasks that they are about, with
// the calls that settle each task, its ground truth. Everything starts from a fresh copy of the data:
//
//   - [Truth] makes the calls of every task, as the airline's own staff would, and keeps what they leave.
//   - [Ungated] makes the calls of every conversation the same way. This is the airline without a gate: what
//     the model asks for happens.
//   - [Replay] makes the calls as the model, with the bytes that it emitted as arguments, in a session for the
//     customer of the conversation. An [Operator] decides about every write.
//
// All three hold what they get against the recording, and list as differences what it cannot explain.
//
// # Who may do what
//
// The model is a user with the role of an editor, bounded by the customer whom it serves. A customer may
// look at flights, and below /customers/ID, which is where their profile and their reservations are, they may
// read and ask for every change. Changes are staff's to make. Those that move money have permissions which
// are propose-only for every model: bookings, changes of flights and bags, refunds, certificates. A change of
// passengers may be executed on a standing approval, of which there is none here.
//
// A record of another customer and one that does not exist are answered alike: forbidden. In this recording
// every call that reads names a record of the conversation's own customer that nobody has to book first, so
// reads have targets below their owner as writes have, and no answer of theirs changes. Three writes are
// refused for this rule: they name a reservation that was booked earlier in the conversation when it was
// recorded, and was not booked here.
package airline

import (
	"encoding/json"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
)

// Data is the recording.
type Data struct {
	Tasks         []Task
	Conversations []Conversation
}

// Task is what a customer wants and the calls that settle it.
type Task struct {
	ID          string
	UserID      string
	Instruction string
	Calls       []Call
	Final       map[string]string // versions of the records that the calls change, by collection/id
}

// Conversation is one attempt of a model at a task.
type Conversation struct {
	ID     string
	TaskID string
	UserID string
	Model  string
	Calls  []Call
}

// Effect is what kind of call a [Call] is.
type Effect string

// The effects. Only a Write changes anything.
const (
	Read    Effect = "read"
	Write   Effect = "write"
	Pure    Effect = "pure"
	Handoff Effect = "handoff"
)

// Call is a call of a tool, and what came of it when it was recorded.
type Call struct {
	Name      string
	Arguments []byte // exactly as they were emitted
	Effect    Effect
	Expect
}

// Expect is what came of a call: a result, or the airline's refusal as a string, and what it changed.
type Expect struct {
	OK      bool
	Result  json.RawMessage
	Records []recorddiff.RecordChange
	Changes []recorddiff.Change
}
