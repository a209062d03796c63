// Package bfcl replays conversations of several turns, in which tools arrive in mid-session, through a gate:
// 160 tasks with 598 turns and 917 calls over 128 tools in 8 classes. The calls are no model's: they are what
// the authors of the tasks say that serves them.
//
// [Load] returns the recorded data, [Replay] plays it and says what became of it. All tools are registered
// under their own names, which are unique and portable. One model serves every task, each in a session of its
// own whose allowlist has the tools of the task's classes. Reads run at once. Writes are proposed, and an
// operator approves the recorded call and no other. The run functions return what the recording says, so the
// answers show whether calls and results pass the gate unchanged, and in order.
//
// Two members of a task take tools away, read as follows:
//
//   - excluded_functions are left out of the allowlist, for the whole session.
//   - withheld_functions_by_turn, say {"3": ["sort"]}, names functions that are missing until they arrive at
//     the turn with that index, counted from 0. It is a turn of its own, inserted there, in which nothing new
//     is asked for: the recorded turns 0 to 2 come before it and turn 3 after it, so that a session has as
//     many turns as were recorded and one for each key. Until then the functions are withheld by deny grants
//     in the directory, with the allowlist as it always was; the inserted turn begins by removing them.
//
// Mostly the recorded turn just before the inserted one needs the function. Its call is tried when its turn
// comes and refused, and made again when the function is there. Recorded calls depend on those before them,
// so whatever follows a call that has to wait, waits too: all calls are made in the recorded order. In one
// task the turn before that needs a function already, and both wait; in two tasks no call needs any.
package bfcl

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

//go:embed data/*.gz
var files embed.FS

// Data is the recording.
type Data struct {
	Tools []Tool
	Tasks []Task
}

// Tool is a tool's definition, and whether it reads or writes.
type Tool struct {
	Class       string          `json:"class"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Effect      string          `json:"effect"`
}

// Task is one conversation.
type Task struct {
	ID       string           `json:"id"`
	Classes  []string         `json:"classes"`
	Excluded []string         `json:"excluded_functions"`
	Withheld map[int][]string `json:"withheld_functions_by_turn"` // by the inserted turn that brings them
	Turns    []Turn           `json:"turns"`
}

// Turn is what the user says and the calls that it takes.
type Turn struct {
	User  []string `json:"user"`
	Calls []Call   `json:"calls"`
}

// Call is one recorded call and what came of it.
type Call struct {
	Class     string          `json:"class"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Expect    Expect          `json:"expect"`
}

// Expect is what came of a recorded call: a result, or the text of an error.
type Expect struct {
	OK      bool            `json:"ok"`
	Error   string          `json:"error"`
	Result  json.RawMessage `json:"result"`
	Changed bool            `json:"state_changed"`
}

// Load returns the recording.
func Load() (*Data, error) {
	d := new(Data)
	return d, errors.Join(lines("tools", &d.Tools), lines("tasks", &d.Tasks))
}

// lines decodes a compressed file of JSON lines.
func lines[T any](name string, into *[]T) error {
	packed, err := files.ReadFile("data/" + name + ".jsonl.gz")
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(unpacked); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("bfcl: %s: line %d: %w", name, len(*into)+1, err)
		}
		*into = append(*into, v)
	}
}

// step is one turn of a session: a recorded one, or an inserted one that brings functions.
type step struct {
	brings []string
	calls  []Call
}

// steps puts the turns that bring functions between the recorded ones.
func (t Task) steps() ([]step, error) {
	var all []step
	turns, inserted := t.Turns, 0
	for len(turns) > 0 || inserted < len(t.Withheld) {
		if names, ok := t.Withheld[len(all)]; ok {
			all = append(all, step{brings: names})
			inserted++
			continue
		}
		if len(turns) == 0 {
			return nil, fmt.Errorf("bfcl: %s: functions arrive after turn %d, its last: %v", t.ID, len(all)-1, t.Withheld)
		}
		all = append(all, step{calls: turns[0].Calls})
		turns = turns[1:]
	}
	return all, nil
}
