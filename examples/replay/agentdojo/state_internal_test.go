package agentdojo

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApply(t *testing.T) {
	const start = `{"a/b": 1, "list": ["x", "y", "z"], "deep": [{"n": null}]}`
	tests := []struct{ name, changes, want string }{
		{"nothing", `[]`, start},
		{"replace, with an escaped name", `[{"op": "replace", "path": "/a~1b", "before": 1, "after": 2}]`, `{"a/b": 2, "list": ["x", "y", "z"], "deep": [{"n": null}]}`},
		{"add a member", `[{"op": "add", "path": "/deep/0/m", "after": [1]}]`, `{"a/b": 1, "list": ["x", "y", "z"], "deep": [{"n": null, "m": [1]}]}`},
		{"insert and append", `[{"op": "add", "path": "/list/1", "after": "w"}, {"op": "add", "path": "/list/4", "after": "!"}]`, `{"a/b": 1, "list": ["x", "w", "y", "z", "!"], "deep": [{"n": null}]}`},
		{"remove from the highest down", `[{"op": "remove", "path": "/list/2", "before": "z"}, {"op": "remove", "path": "/list/0", "before": "x"}]`, `{"a/b": 1, "list": ["y"], "deep": [{"n": null}]}`},
		{"remove a member that is null", `[{"op": "remove", "path": "/deep/0/n", "before": null}]`, `{"a/b": 1, "list": ["x", "y", "z"], "deep": [{}]}`},
		{"replace an item", `[{"op": "replace", "path": "/list/0", "before": "x", "after": "X"}]`, `{"a/b": 1, "list": ["X", "y", "z"], "deep": [{"n": null}]}`},

		{"another value before", `[{"op": "replace", "path": "/list/0", "before": "y", "after": "X"}]`, ""},
		{"another value before, in an object", `[{"op": "remove", "path": "/a~1b", "before": 2}]`, ""},
		{"add what is there", `[{"op": "add", "path": "/a~1b", "after": 2}]`, ""},
		{"replace what is not there", `[{"op": "replace", "path": "/c", "before": null, "after": 2}]`, ""},
		{"beyond the end", `[{"op": "add", "path": "/list/4", "after": "!"}]`, ""},
		{"below nothing", `[{"op": "add", "path": "/c/d", "after": 1}]`, ""},
		{"below an item that is not there", `[{"op": "add", "path": "/deep/1/d", "after": 1}]`, ""},
		{"below a single value", `[{"op": "add", "path": "/a~1b/d", "after": 1}]`, ""},
		{"no place in a list", `[{"op": "add", "path": "/list/-", "after": 1}]`, ""},
		{"an unknown change", `[{"op": "move", "path": "/list/0", "before": "x", "after": 1}]`, ""},
		{"the whole", `[{"op": "replace", "path": "", "after": 1}]`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var state any
			var changes []Change
			require.NoError(t, json.Unmarshal([]byte(start), &state))
			require.NoError(t, json.Unmarshal([]byte(test.changes), &changes))
			got, err := apply(state, changes)
			before, marshalErr := json.Marshal(state)
			require.NoError(t, marshalErr)
			require.JSONEq(t, start, string(before), "the state that was given stays as it is")
			if test.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, test.want, string(text))
		})
	}
}
