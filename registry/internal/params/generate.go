package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"
)

// Generate makes the JSON Schema (draft 2020-12) of a parameter type, which
// has to be a struct. Every text that the schema allows can be decoded into
// the type, or is refused by [Decode] because it has no exact place there.
//
// Members are named and left out as JSON version 2 does it. A member is
// required unless its tag says omitempty or omitzero; null is not allowed
// unless the tag says jsonschema:"nullable"; names that the type does not have
// are refused. Integers are bounded by their Go kind, or tighter by a tag.
// Keywords come from the jsonschema tag; one that would have no effect is a
// fault, since it looks like a limit and is none.
//
// A type with a JSONSchema method describes itself. Otherwise Generate refuses
// what it cannot describe truly: types that encode themselves (but for
// time.Time and json.RawMessage), time.Duration, json.Number, functions,
// channels, interfaces with methods, maps with keys that are not strings, two
// fields with one name, and two types with one name. The error joins every
// fault found, each with the path of its field.
//
// The same type yields the same bytes every time.
func Generate(t reflect.Type) (raw json.RawMessage, err error) {
	if t == nil {
		return nil, errors.New("params: there is no type to describe")
	}
	defer func() {
		if r := recover(); r != nil {
			raw, err = nil, fmt.Errorf("params: %s: its schema cannot be generated: %v", typeName(t), r)
		}
	}()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("params: %s: parameters must be a struct, not %s", typeName(t), kindName(t))
	}
	in := inspector{seen: map[reflect.Type]bool{}, open: map[reflect.Type]bool{}, owner: map[string]reflect.Type{}}
	in.inspect(t, typeName(t))
	if len(in.faults) > 0 {
		return nil, errors.Join(in.faults...)
	}
	g := generator{definitions: jsonschema.Definitions{}, kinds: map[*jsonschema.Schema]reflect.Kind{}}
	root := g.root(t)
	if len(g.faults) > 0 {
		return nil, errors.Join(g.faults...)
	}
	if raw, err = encodeSchema(root); err != nil {
		return nil, fmt.Errorf("params: %s: %w", typeName(t), err)
	}
	if _, err := Compile(raw); err != nil {
		return nil, fmt.Errorf("params: %s: the generated schema cannot be used: %w", typeName(t), err)
	}
	return raw, nil
}

// generator describes one struct at a time and refers from one to another, so
// that recursion and repetition need no care.
type generator struct {
	definitions jsonschema.Definitions
	queue       []reflect.Type
	kinds       map[*jsonschema.Schema]reflect.Kind // integers, whose bounds a tag may have changed
	faults      []error
}

func (g *generator) root(t reflect.Type) *jsonschema.Schema {
	var root *jsonschema.Schema
	if own := ownSchema(t); own != nil {
		root = own
	} else {
		root = g.object(t)
	}
	for len(g.queue) > 0 {
		next := g.queue[0]
		g.queue = g.queue[1:]
		g.definitions[portableName(next)] = g.object(next)
	}
	root.Version = jsonschema.Version
	if len(g.definitions) > 0 {
		root.Definitions = g.definitions
	}
	return root
}

// object describes a struct: the reflector reads its fields and tags, and asks
// schemaOf for the type of each.
func (g *generator) object(t reflect.Type) *jsonschema.Schema {
	first := true
	reflector := jsonschema.Reflector{
		Anonymous:      true,
		ExpandedStruct: true,
		DoNotReference: true,
		Mapper: func(u reflect.Type) *jsonschema.Schema {
			if first && u == t {
				first = false
				return nil
			}
			return g.schemaOf(u)
		},
	}
	s := reflector.ReflectFromType(t)
	s.Version = ""
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		property, nullable := unwrapNullable(pair.Value)
		for part := property; part != nil; part = part.Items {
			if kind, ok := g.kinds[part]; ok {
				if err := settleInteger(part, kind); err != nil {
					g.faults = append(g.faults, fmt.Errorf("params: %s: member %q: %w", typeName(t), pair.Key, err))
				}
			}
		}
		if nullable {
			property = allowNull(property)
		}
		s.Properties.Set(pair.Key, property)
	}
	return s
}

// schemaOf describes a type where it is used.
func (g *generator) schemaOf(t reflect.Type) *jsonschema.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if own := ownSchema(t); own != nil {
		return own
	}
	s := g.plainSchema(t)
	if extender, ok := reflect.New(t).Interface().(interface{ JSONSchemaExtend(*jsonschema.Schema) }); ok && t.Kind() != reflect.Struct {
		extender.JSONSchemaExtend(s)
	}
	return s
}

func (g *generator) plainSchema(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == timeType:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case isAnything(t):
		return anything()
	case isBytes(t):
		return bytesSchema(t)
	}
	switch kind := t.Kind(); kind {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Slice, reflect.Array:
		s := &jsonschema.Schema{Type: "array", Items: g.schemaOf(t.Elem())}
		if kind == reflect.Array {
			length := uint64(t.Len())
			s.MinItems, s.MaxItems = &length, &length
		}
		return s
	case reflect.Map:
		s := &jsonschema.Schema{Type: "object"}
		if !isAnything(t.Elem()) {
			s.AdditionalProperties = g.schemaOf(t.Elem())
		}
		return s
	case reflect.Struct:
		name := portableName(t)
		if name == "" {
			return g.object(t)
		}
		if _, ok := g.definitions[name]; !ok {
			g.definitions[name] = nil // it is in the queue
			g.queue = append(g.queue, t)
		}
		return &jsonschema.Schema{Ref: "#/$defs/" + name}
	default:
		s := integerSchema(kind)
		g.kinds[s] = kind
		return s
	}
}

// encodeSchema writes the schema and undoes the escapes that encoding/json
// adds for HTML, which would only cost a model tokens.
func encodeSchema(s *jsonschema.Schema) (json.RawMessage, error) {
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(encoded)
	if err := value.Format(jsontext.PreserveRawStrings(false)); err != nil {
		return nil, err
	}
	return json.RawMessage(value), nil
}

// portableName returns the name of a type as a definition can have it: letters,
// digits and underscores, without packages. Box[example.org/a.Filter] becomes
// Box_Filter.
func portableName(t reflect.Type) string {
	var name strings.Builder
	word := 0 // where the current type name starts
	text := t.Name()
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '.' || c == '/' || c == '-' || c == '~':
			kept := name.String()[:word]
			name.Reset()
			name.WriteString(kept)
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
			name.WriteByte(c)
		case c >= 0x80:
			name.WriteByte('x')
		default:
			if name.Len() > word || word == 0 {
				name.WriteByte('_')
			}
			word = name.Len()
		}
	}
	return strings.TrimRight(name.String(), "_")
}

func typeName(t reflect.Type) string {
	if name := portableName(t); name != "" {
		return name
	}
	return t.String()
}
