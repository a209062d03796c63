// Package params is the way from the bytes that a model sent to the Go struct
// that an action runs with.
//
// [Generate] makes a JSON Schema from a parameter type, [Compile] makes any
// schema usable, [Schema.Parse] is the door that raw bytes pass, and [Decode]
// makes the struct. In between lies one [canon.Object]: the text that is
// validated, hashed, stored, shown to a person and decoded.
//
// The package refuses what it cannot carry exactly. Generate refuses a type
// whose schema and encoding would disagree. Compile refuses a schema that
// refers to anything outside itself; it never reads a file or a URL. Parse
// refuses parameters that the schema does not allow. Decode refuses a value
// that does not encode to the very bytes it was decoded from.
//
// Schemas and parameters may both come from an adversary: the work that either
// can cause is bounded, no call panics, and no error repeats a value.
package params

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// Schema is a compiled schema of an action's parameters. It is immutable and
// safe for concurrent use; [Compile] makes one.
type Schema struct {
	raw      json.RawMessage
	doc      map[string]any // raw, decoded; numbers are json.Number
	size     census
	patterns int // instructions of all patterns together
	compiled *jsonschema.Schema
	quick    *rule // nil if the schema needs compiled for every verdict
	defaults *filler

	guardOnce sync.Once
	guard     *guarded
	guardErr  error
}

// JSON returns the schema as it was given to [Compile], in a slice that the
// caller owns.
func (s *Schema) JSON() json.RawMessage { return slices.Clone(s.raw) }

// Parse is the door. It reads src by the strict rules of [canon.Parse], fills
// in the members that are missing and have a default in the schema, and
// validates the result. Nothing changes a byte afterwards: giving a default
// explicitly or leaving it out yields the same Object.
//
// Defaults are found through the properties of objects that are present,
// through array items, map values and references within the schema. A member
// that is present keeps its value, null included.
//
// The error is a [*canon.Error], or one or more [*Error] (see [Faults]).
func (s *Schema) Parse(src []byte, o canon.Options) (canon.Object, error) {
	object, err := canon.Parse(src, o)
	if err != nil {
		return canon.Object{}, err
	}
	read, err := readCanonical(object.String())
	if err != nil {
		return canon.Object{}, err
	}
	if s.defaults != nil {
		changed, err := s.defaults.fill(read.root)
		if err != nil {
			return canon.Object{}, err
		}
		if changed {
			if object, err = canon.Parse(appendJSON(nil, read.root), o); err != nil {
				return canon.Object{}, err
			}
			if read, err = readCanonical(object.String()); err != nil {
				return canon.Object{}, err
			}
		}
	}
	if err := s.check(read); err != nil {
		return canon.Object{}, err
	}
	return object, nil
}

// Validate reports whether o satisfies the schema. It fills in no defaults, so
// that it may judge again, later, what [Schema.Parse] returned. The error is
// one or more [*Error] (see [Faults]).
func (s *Schema) Validate(o canon.Object) error {
	read, err := readCanonical(o.String())
	if err != nil {
		return err
	}
	return s.check(read)
}

// HasProperty reports whether the schema names the property that path leads
// to from the top: HasProperty("address", "city"). It looks through
// references within the schema and through allOf, anyOf and oneOf. A member
// that only a map's values describe has no name and is not found; nor is the
// empty path.
func (s *Schema) HasProperty(path ...string) bool {
	steps := 0
	return len(path) > 0 && s.hasProperty(s.doc, path, &steps)
}

func (s *Schema) hasProperty(node map[string]any, path []string, steps *int) bool {
	if *steps++; *steps > maxSchemaValues {
		return false
	}
	properties, _ := node["properties"].(map[string]any)
	if next, ok := properties[path[0]]; ok {
		child, _ := next.(map[string]any)
		if len(path) == 1 || s.hasProperty(child, path[1:], steps) {
			return true
		}
	}
	if target := s.target(node); target != nil && s.hasProperty(target, path, steps) {
		return true
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		branches, _ := node[keyword].([]any)
		for _, branch := range branches {
			if child, ok := branch.(map[string]any); ok && s.hasProperty(child, path, steps) {
				return true
			}
		}
	}
	return false
}
