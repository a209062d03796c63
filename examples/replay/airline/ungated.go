package airline

import (
	"context"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
)

// Ungated makes the calls of every conversation directly: every write runs.
func Ungated(ctx context.Context, data *Data, truth *Truths) (*Report, error) {
	r := new(Report)
	for _, c := range data.Conversations {
		a, err := office.Open()
		if err != nil {
			return nil, err
		}
		left := slices.Clone(truth.writes[c.TaskID])
		for i, call := range c.Calls {
			got, err := direct(ctx, a, call.Name, call.Arguments)
			if err != nil {
				return nil, fmt.Errorf("airline: %s: call %d: %w", c.ID, i, err)
			}
			differences := call.differences(got)
			for _, difference := range differences {
				r.differ("%s: call %d %s: %s", c.ID, i, call.Name, difference)
			}
			r.Calls++
			switch {
			case call.Effect == Write:
				r.Writes++
				r.Entered++
				r.ran(call.Expect, got)
				left = without(left, step(call.Name, call.Arguments))
			case len(differences) == 0:
				r.Others++
				r.Answered++
			default:
				r.Others++
			}
		}
		r.Missing += len(left)
		r.finish(c, truth, a.Snapshot())
	}
	return r, nil
}

// finish counts a conversation by what it leaves.
func (r *Report) finish(c Conversation, truth *Truths, left office.Snapshot) {
	r.Conversations++
	if same(left, truth.finals[c.TaskID]) {
		r.Reached++
	}
	if same(left, truth.initial) {
		r.Unchanged++
	}
}

// same reports whether two snapshots hold the same records, each with the same bytes in canonical form.
func same(a, b office.Snapshot) bool {
	records, _ := office.Diff(a, b)
	return len(records) == 0
}

// without takes a step out of the steps, once.
func without(steps []Step, s Step) []Step {
	if i := slices.Index(steps, s); i >= 0 {
		return slices.Delete(steps, i, i+1)
	}
	return steps
}
