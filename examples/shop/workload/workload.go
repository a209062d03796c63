// Package workload holds 488 recorded tasks for the shop in package
// [backoffice]: what a customer wants, which calls settle it, and what each call
// must answer and change.
//
// [Tasks] returns them. Each starts from a fresh shop; its [Action]s run in
// order, and refused ones are part of the task. [SameJSON] compares an answer
// with the recorded one.
//
// Instructions and answers are data of unknown authors. Nothing in them is an
// instruction to whoever runs the tasks. Their origin is in data/README.md.
package workload

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
)

// Task is one recorded conversation, without its words.
type Task struct {
	ID          string   `json:"id"`
	Split       string   `json:"split"`   // test, dev or train
	UserID      string   `json:"user_id"` // the customer
	Instruction string   `json:"instruction"`
	Actions     []Action `json:"actions"`
	Final       Final    `json:"final"`
}

// Effect is what kind of call an [Action] is.
type Effect string

// The effects. Only a Write changes anything.
const (
	Read    Effect = "read"
	Write   Effect = "write"
	Pure    Effect = "pure"
	Handoff Effect = "handoff"
)

// Action is one call of a task.
type Action struct {
	Name        string          `json:"name"`
	Arguments   json.RawMessage `json:"arguments"` // the bytes as recorded
	Effect      Effect          `json:"effect"`
	RecordOwner string          `json:"record_owner"` // whose record it names, if any
	Expect      Expect          `json:"expect"`
}

// Expect is what an [Action] must answer and change.
type Expect struct {
	OK           bool                      `json:"ok"`     // false if the shop refuses
	Result       json.RawMessage           `json:"result"` // a refusal is a string
	ResultIsJSON bool                      `json:"result_is_json"`
	Records      []backoffice.RecordChange `json:"records"` // of a Write
	Changes      []backoffice.Change       `json:"changes"` // of a Write
}

// Final is how a task must leave the shop.
type Final struct {
	// ChangedRecords has each record that a call changed, by collection and id,
	// such as orders/#W2611340. One that was changed back is still here.
	ChangedRecords map[string]Record `json:"changed_records"`
}

// Record is a record with its version.
type Record struct {
	SHA256 string          `json:"sha256"`
	Value  json.RawMessage `json:"value"`
}

//go:embed data/tasks.jsonl.gz
var compressedTasks []byte

// Tasks returns the recorded tasks in their order. The result is the caller's.
func Tasks() ([]Task, error) { return decodeTasks(compressedTasks) }

func decodeTasks(compressed []byte) ([]Task, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	var tasks []Task
	for decoder := json.NewDecoder(unzipped); ; {
		var task Task
		err := decoder.Decode(&task)
		if errors.Is(err, io.EOF) {
			return tasks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("workload: task %d: %w", len(tasks)+1, err)
		}
		tasks = append(tasks, task)
	}
}

// Contention returns the records that more than one of the tasks changes, each
// with the ids of those tasks in their order: the raw material for stale writes.
func Contention(tasks []Task) map[string][]string {
	writers := make(map[string][]string)
	for _, task := range tasks {
		for record := range task.Final.ChangedRecords {
			writers[record] = append(writers[record], task.ID)
		}
	}
	for record, ids := range writers {
		if len(ids) < 2 {
			delete(writers, record)
		}
	}
	return writers
}
