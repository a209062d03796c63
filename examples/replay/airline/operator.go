package airline

import (
	"encoding/json"
	"slices"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
)

// Operator decides about a write that the model proposes. They know the writes of the task's ground truth
// that they have not approved yet. With a nil Operator nobody decides, and proposals expire.
type Operator func(proposed Step, left []Step) bool

// Exactly approves the ground truth: the same tool with equal arguments, each write as often as it is there.
func Exactly(proposed Step, left []Step) bool { return slices.Contains(left, proposed) }

// Everything approves whatever the model asks for.
func Everything(Step, []Step) bool { return true }

// step returns a write in the form in which writes are compared. Arguments that are not JSON are like nothing
// but themselves.
func step(tool string, arguments []byte) Step {
	if !json.Valid(arguments) {
		return Step{tool, string(arguments)}
	}
	return Step{tool, string(recorddiff.Canonical(json.RawMessage(arguments)))}
}
