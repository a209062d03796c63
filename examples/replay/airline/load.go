package airline

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
)

//go:embed data/*.gz
var files embed.FS

// Load returns the recording. The result is the caller's.
func Load() (*Data, error) {
	d := new(Data)
	err := lines("tasks", func(t recordedTask) error {
		d.Tasks = append(d.Tasks, t.task())
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = lines("transcripts", func(t transcript) error {
		calls, err := t.calls()
		d.Conversations = append(d.Conversations, Conversation{ID: t.ID, TaskID: t.TaskID, UserID: t.UserID, Model: t.Model, Calls: calls})
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// lines decodes a compressed file of JSON lines.
func lines[T any](name string, add func(T) error) error {
	packed, err := files.ReadFile("data/" + name + ".jsonl.gz")
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(unpacked)
	for n := 1; ; n++ {
		var line T
		err := decoder.Decode(&line)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = add(line)
		}
		if err != nil {
			return fmt.Errorf("airline: %s: line %d: %w", name, n, err)
		}
	}
}

// recordedTask is a task as the file has it.
type recordedTask struct {
	ID          string `json:"id"`
	UserID      string `json:"user_id"`
	Instruction string `json:"instruction"`
	Actions     []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Effect    Effect          `json:"effect"`
		Expect    struct {
			OK      bool                      `json:"ok"`
			Result  json.RawMessage           `json:"result"`
			Records []recorddiff.RecordChange `json:"records"`
			Changes []recorddiff.Change       `json:"changes"`
		} `json:"expect"`
	} `json:"actions"`
	Final struct {
		ChangedRecords map[string]struct {
			SHA256 string `json:"sha256"`
		} `json:"changed_records"`
	} `json:"final"`
}

func (t recordedTask) task() Task {
	task := Task{ID: t.ID, UserID: t.UserID, Instruction: t.Instruction, Final: map[string]string{}}
	for _, a := range t.Actions {
		task.Calls = append(task.Calls, Call{Name: a.Name, Arguments: a.Arguments, Effect: a.Effect, Expect: Expect(a.Expect)})
	}
	for id, record := range t.Final.ChangedRecords {
		task.Final[id] = record.SHA256
	}
	return task
}

// transcript is a conversation as the file has it: a call and its result are messages that follow each other.
type transcript struct {
	ID       string    `json:"id"`
	TaskID   string    `json:"task_id"`
	UserID   string    `json:"user_id"`
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
}

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments_raw"`
	} `json:"tool_calls"`
	Effect  Effect                    `json:"effect"`
	OK      bool                      `json:"ok"`
	Records []recorddiff.RecordChange `json:"records"`
	Changes []recorddiff.Change       `json:"changes"`
}

func (t transcript) calls() ([]Call, error) {
	var all []Call
	for i, m := range t.Messages {
		switch {
		case len(m.ToolCalls) == 0:
		case len(m.ToolCalls) > 1, i+1 == len(t.Messages), t.Messages[i+1].ToolCallID != m.ToolCalls[0].ID:
			return nil, fmt.Errorf("%s: message %d is not one call that its result follows", t.ID, i)
		default:
			call, answer := m.ToolCalls[0], t.Messages[i+1]
			all = append(all, Call{
				Name: call.Name, Arguments: []byte(call.Arguments), Effect: answer.Effect,
				Expect: Expect{OK: answer.OK, Result: answer.Content, Records: answer.Records, Changes: answer.Changes},
			})
		}
	}
	return all, nil
}
