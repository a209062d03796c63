package agentdojo

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Change is one recorded change of a work place's data. Path is a JSON pointer.
type Change struct {
	Op     string `json:"op"` // add, replace or remove
	Path   string `json:"path"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// apply returns the state after some changes, in order. The state it is given stays as it is, so every pair
// can start from the same one. A change that does not fit is an error, and nothing is applied.
func apply(state any, changes []Change) (any, error) {
	for _, c := range changes {
		path := strings.Split(c.Path, "/")
		if path[0] != "" || len(path) < 2 {
			return nil, fmt.Errorf("agentdojo: %q leads nowhere", c.Path)
		}
		next, err := c.in(state, path[1:])
		if err != nil {
			return nil, fmt.Errorf("agentdojo: %s %s: %w", c.Op, c.Path, err)
		}
		state = next
	}
	return state, nil
}

// in returns a copy of node in which the change at path is made.
func (c Change) in(node any, path []string) (any, error) {
	switch node := node.(type) {
	case map[string]any:
		return c.inObject(node, unescape.Replace(path[0]), path[1:])
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 {
			return nil, fmt.Errorf("%q is no place in a list", path[0])
		}
		return c.inList(node, i, path[1:])
	}
	return nil, fmt.Errorf("%q is below a single value", path[0])
}

func (c Change) inObject(node map[string]any, name string, below []string) (any, error) {
	old, ok := node[name]
	node = maps.Clone(node)
	switch {
	case len(below) == 0 && c.Op == "add" && !ok:
		node[name] = c.After
	case !ok || len(below) == 0 && !c.fits(old):
		return nil, fmt.Errorf("%q is not what was recorded", name)
	case len(below) > 0:
		inner, err := c.in(old, below)
		node[name] = inner
		return node, err
	case c.Op == "replace":
		node[name] = c.After
	default:
		delete(node, name)
	}
	return node, nil
}

func (c Change) inList(node []any, i int, below []string) (any, error) {
	if len(below) == 0 && c.Op == "add" && i <= len(node) {
		return slices.Insert(slices.Clone(node), i, c.After), nil
	}
	if i >= len(node) || len(below) == 0 && !c.fits(node[i]) {
		return nil, fmt.Errorf("item %d is not what was recorded", i)
	}
	node = slices.Clone(node)
	switch {
	case len(below) > 0:
		inner, err := c.in(node[i], below)
		node[i] = inner
		return node, err
	case c.Op == "replace":
		node[i] = c.After
		return node, nil
	}
	return slices.Delete(node, i, i+1), nil
}

// fits reports whether a value is the one that was recorded before the change.
func (c Change) fits(old any) bool {
	return (c.Op == "replace" || c.Op == "remove") && reflect.DeepEqual(old, c.Before)
}

// same reports whether two JSON texts hold the same value: objects without regard to the order of their
// members, numbers as doubles.
func same(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
