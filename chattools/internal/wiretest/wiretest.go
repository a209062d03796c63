// Package wiretest holds tool definitions as real servers publish them, for tests of what providers get.
package wiretest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
)

// Tool is one published tool.
type Tool struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

//go:embed tools.jsonl.gz
var packed []byte

// Tools returns all 253 tools, in the order of their servers.
func Tools() ([]Tool, error) { return decode(packed) }

func decode(packed []byte) ([]Tool, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var tools []Tool
	for d := json.NewDecoder(r); d.More(); {
		var t Tool
		if err := d.Decode(&t); err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, r.Close()
}
