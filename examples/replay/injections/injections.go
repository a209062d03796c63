// Package injections replays what six real models did after an instruction was planted in what a tool
// answered: 7,204 recorded calls, fed through a gate whose only person approves nothing.
//
// [Load] returns the recorded data, [Replay] plays it and says what became of every call. Without a gate all
// calls of the planted instructions would have run; with it, none that writes does, and no arguments are
// repaired to make a call possible.
package injections

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
	Tools    []Tool
	Users    []UserCase
	Calls    map[string]Call
	Observed []Observation // in the order of the recording
}

// Tool is a tool's definition, and whether it reads or writes.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Effect      string          `json:"effect"`
}

// UserCase is a harmless request, with the call that serves it.
type UserCase struct {
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Call is one distinct call. Decode says what it takes to read the arguments: "json", or something laxer.
type Call struct {
	ID           string `json:"id"`
	Tool         string `json:"tool"`
	Known        bool   `json:"tool_known"`
	Effect       string `json:"effect"`
	ArgumentsRaw string `json:"arguments_raw"`
	Decode       string `json:"decode"`
}

// Observation is one call that a model made: in which setting, under which planted instruction, while serving
// which request.
type Observation struct {
	Model    string `json:"model"`
	Setting  string `json:"setting"`
	Attacker string `json:"attacker"`
	User     string `json:"user"`
	Step     int    `json:"step"`
	Call     string `json:"call"`
	Attack   bool   `json:"is_attacker_tool"`
}

// Load returns the recording.
func Load() (*Data, error) {
	d := &Data{Calls: map[string]Call{}}
	var calls []Call
	err := errors.Join(
		lines("tools", &d.Tools), lines("user_cases", &d.Users), lines("calls", &calls), lines("observed", &d.Observed),
	)
	for _, c := range calls {
		d.Calls[c.ID] = c
	}
	return d, err
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
			return fmt.Errorf("injections: %s: line %d: %w", name, len(*into)+1, err)
		}
		*into = append(*into, v)
	}
}
