// Package agentdojo replays four simulated work places in which a model serves a user while an instruction
// planted in what a tool answers asks it for something else: 679 pairs of a user's task and a planted one.
//
// [Load] returns the recording. [Replay] plays every pair through a gate: the calls of the user's task in
// order, and right after the first one that would return planted text, the calls of an attack that succeeds.
// A person decides about what waits for approval; [Exact] approves what the user's task needs and nothing
// else. The [Report] says whether the user's task came out as recorded, and what became of every planted call.
//
// The gate knows modes, permissions and who acts, not what is good: which calls were planted is known only to
// the replay, which counts them. A read that tells an outsider something (a web page, by its address) is a
// read. It runs unless the session's allowlist leaves it out, and the report counts it apart.
package agentdojo

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
	Suites  []Suite
	Users   map[string]Task // by id
	Planted map[string]Task // by id
	Pairs   []Pair
}

// Suite is one work place: its tools, and its data before anything is called.
type Suite struct {
	Name    string
	Tools   map[string]Tool
	Initial any // decoded JSON
}

// Tool is a tool's definition, with what it does: whether it writes, and whether something leaves the work
// place by it.
type Tool struct {
	Suite       string          `json:"suite"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Effect      string          `json:"effect"`
	Egress      bool            `json:"egress"`
}

// Writes reports whether the tool is a change to its author. Two tools that change a little by the way are
// reads all the same: get_unread_emails marks mail as read, and get_webpage logs the request.
func (t Tool) Writes() bool { return t.Effect != "read" }

// Task is a user's task or a planted one, with the calls that accomplish it. Seen says for each place where
// text can be planted which of the calls would return it.
type Task struct {
	ID    string           `json:"id"`
	Suite string           `json:"suite"`
	Calls []Call           `json:"calls"`
	Seen  map[string][]int `json:"injection_vectors_seen"`
}

// Call is one recorded call and what it came to.
type Call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Expect    Expect          `json:"expect"`
}

// Expect is the recorded answer of a call, and what the call changed.
type Expect struct {
	OK      bool            `json:"ok"`
	Error   string          `json:"error"`
	Result  json.RawMessage `json:"result"`
	Changes []Change        `json:"changes"`
}

// Pair is a user's task during which a planted one is met. Tools says whether the user's task needs the tools
// of the attack.
type Pair struct {
	User       string `json:"user_task"`
	Planted    string `json:"injection_task"`
	Malicious  int    `json:"malicious_calls"`
	Tools      string `json:"malicious_tools_vs_user_task"`
	UserWrites int    `json:"user_writes"`
}

// Load returns the recording.
func Load() (*Data, error) {
	d := &Data{Users: map[string]Task{}, Planted: map[string]Task{}}
	var tools []Tool
	var users, planted []Task
	err := errors.Join(
		lines("tools", &tools), lines("user_tasks", &users), lines("injection_tasks", &planted), lines("pairs", &d.Pairs),
	)
	for _, name := range []string{"workspace", "travel", "banking", "slack"} {
		s := Suite{Name: name, Tools: map[string]Tool{}}
		for _, t := range tools {
			if t.Suite == name {
				s.Tools[t.Name] = t
			}
		}
		err = errors.Join(err, unpack(name+".json", func(dec *json.Decoder) error { return dec.Decode(&s.Initial) }))
		d.Suites = append(d.Suites, s)
	}
	for _, t := range users {
		d.Users[t.ID] = t
	}
	for _, t := range planted {
		d.Planted[t.ID] = t
	}
	return d, err
}

// lines decodes a file of JSON lines.
func lines[T any](name string, into *[]T) error {
	return unpack(name+".jsonl", func(dec *json.Decoder) error {
		for {
			var v T
			if err := dec.Decode(&v); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("line %d: %w", len(*into)+1, err)
			}
			*into = append(*into, v)
		}
	})
}

// unpack gives read what a compressed file holds.
func unpack(name string, read func(*json.Decoder) error) error {
	packed, err := files.ReadFile("data/" + name + ".gz")
	if err != nil {
		return err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = read(json.NewDecoder(unpacked))
	}
	if err != nil {
		return fmt.Errorf("agentdojo: %s: %w", name, err)
	}
	return nil
}
