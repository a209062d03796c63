package airline

import (
	"context"
	"fmt"
	"maps"

	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
)

// Truths is the ground truth: what the database holds once a task is settled, by task.
type Truths struct {
	Calls       int
	Differences []string // from the recording

	initial office.Snapshot // before anything
	finals  map[string]office.Snapshot
	writes  map[string][]Step
}

// Step is a write: a tool and its arguments as canonical JSON, so that equal arguments are equal strings.
type Step struct {
	Tool, Arguments string
}

// Truth makes the calls of every task directly.
func Truth(ctx context.Context, data *Data) (*Truths, error) {
	t := &Truths{finals: map[string]office.Snapshot{}, writes: map[string][]Step{}}
	fresh, err := office.Open()
	if err != nil {
		return nil, err
	}
	t.initial = fresh.Snapshot()
	for _, task := range data.Tasks {
		a, err := office.Open()
		if err != nil {
			return nil, err
		}
		changed := map[string]string{}
		for i, call := range task.Calls {
			got, err := direct(ctx, a, call.Name, call.Arguments)
			if err != nil {
				return nil, fmt.Errorf("airline: %s: call %d: %w", task.ID, i, err)
			}
			t.Calls++
			for _, difference := range call.differences(got) {
				t.Differences = append(t.Differences, fmt.Sprintf("%s: call %d %s: %s", task.ID, i, call.Name, difference))
			}
			for _, record := range got.Records {
				changed[record.Collection+"/"+record.ID] = record.AfterSHA256
			}
			if call.Effect == Write {
				t.writes[task.ID] = append(t.writes[task.ID], step(call.Name, call.Arguments))
			}
		}
		if !maps.Equal(changed, task.Final) {
			t.Differences = append(t.Differences, fmt.Sprintf("%s: changed in the end %v, recorded %v", task.ID, changed, task.Final))
		}
		t.finals[task.ID] = a.Snapshot()
	}
	return t, nil
}
