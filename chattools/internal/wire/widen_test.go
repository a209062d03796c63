package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("nothing is loaded") }

// compile makes a validator as the registry does.
func compile(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource("https://params.invalid/schema", doc); err != nil {
		return nil, err
	}
	return c.Compile("https://params.invalid/schema")
}

// maker makes schemas that use every keyword, and values that often satisfy them.
type maker struct {
	*rand.Rand
	draft string
}

var drafts = []string{
	"", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#",
}

func pick[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

func (m *maker) value(depth int) any {
	switch n := m.IntN(9); {
	case depth > 0 && n < 4:
		o := map[string]any{}
		for range m.IntN(4) {
			o[pick(m, "a", "b", "c", "$d")] = m.value(depth - 1)
		}
		return o
	case depth > 0 && n < 6:
		l := []any{}
		for range m.IntN(4) {
			l = append(l, m.value(depth-1))
		}
		return l
	}
	return pick[any](m, nil, true, false, 0, 1, 2, 3.5, json.Number("9007199254740993"), "", "x", "xy", "2026-01-02")
}

func (m *maker) schema(depth int) any {
	if m.IntN(12) == 0 && m.draft != drafts[5] {
		return m.IntN(3) > 0
	}
	s := map[string]any{}
	for range m.IntN(4) {
		m.keyword(s, depth)
	}
	return s
}

func (m *maker) schemas(depth int) []any {
	l := []any{}
	for range 1 + m.IntN(3) {
		l = append(l, m.schema(depth))
	}
	return l
}

func (m *maker) named(depth int) map[string]any {
	o := map[string]any{}
	for range 1 + m.IntN(3) {
		o[pick(m, "a", "b", "c", "$d")] = m.schema(depth)
	}
	return o
}

func (m *maker) keyword(s map[string]any, depth int) {
	names := []any{pick(m, "a", "b", "c", "$d")}
	if depth == 0 || m.IntN(3) == 0 {
		switch m.IntN(16) {
		case 0, 1, 2:
			s["type"] = pick[any](m, "object", "array", "string", "integer", "number", []any{"object", "null"}, []any{"array", "string"})
		case 3:
			s["enum"] = []any{m.value(1), "enum"}
		case 4:
			s["const"] = m.value(1)
		case 5:
			s["minimum"], s["maximum"] = 1, 3
		case 6:
			if m.draft == drafts[5] {
				s["minimum"], s["exclusiveMinimum"] = 1, pick(m, true, false)
			} else {
				s["exclusiveMaximum"] = json.Number("9007199254740993")
			}
		case 7:
			s["maxLength"], s["pattern"] = 1, "^x"
		case 8:
			s["minItems"], s["uniqueItems"] = 1, true
		case 9:
			s["maxProperties"] = 2
		case 10, 11:
			s["required"] = names
		case 12:
			s["dependentRequired"] = map[string]any{"a": names}
		case 13:
			s["format"], s["default"] = "date", 1
		case 14:
			s["$comment"], s["examples"], s["nullable"], s["title"] = "c", []any{1}, true, "T"
		case 15:
			s["$ref"] = pick(m, "#", "#/$defs/a", "#/$defs/b", "#/$defs/c", "#/properties/a", "#here")
		}
		return
	}
	depth--
	switch m.IntN(22) {
	case 0, 1, 2:
		s["properties"] = m.named(depth)
	case 3:
		s["additionalProperties"] = m.schema(depth)
	case 4:
		s["patternProperties"] = map[string]any{"^[ab]": m.schema(depth)}
	case 5:
		s["propertyNames"] = m.schema(0)
	case 6, 7:
		if m.IntN(2) == 0 && m.draft != "" && m.draft != drafts[1] {
			s["items"], s["additionalItems"] = m.schemas(depth), m.schema(depth)
		} else {
			s["items"] = m.schema(depth)
		}
	case 8:
		s["prefixItems"] = m.schemas(depth)
	case 9:
		s["contains"], s["maxContains"], s["minContains"] = m.schema(depth), 1+m.IntN(2), m.IntN(2)
	case 10, 11:
		s["anyOf"] = m.schemas(depth)
	case 12, 13:
		s["oneOf"] = m.schemas(depth)
	case 14:
		s["allOf"] = m.schemas(depth)
	case 15, 16:
		s["not"] = m.schema(depth)
	case 17:
		s["if"], s["then"], s["else"] = m.schema(depth), m.schema(depth), m.schema(depth)
	case 18:
		s["dependencies"] = map[string]any{"a": m.schema(depth), "b": []any{"c"}}
	case 19:
		s["dependentSchemas"] = m.named(depth)
	case 20:
		s[pick(m, "unevaluatedProperties", "unevaluatedItems")] = m.schema(0)
	case 21:
		s["$ref"] = pick(m, "#", "#/$defs/a", "#/$defs/b", "#/$defs/c", "#/properties/a", "#here")
	}
}

func (m *maker) root() map[string]any {
	s := map[string]any{}
	for range 1 + m.IntN(5) {
		m.keyword(s, 3)
	}
	s["type"] = pick[any](m, "object", []any{"object"})
	defs := map[string]any{}
	for _, name := range []string{"a", "b", "c"} {
		defs[name] = m.schema(2)
	}
	if here, ok := defs["a"].(map[string]any); ok {
		here["$anchor"] = "here"
	}
	s["$defs"] = defs
	if m.draft != "" {
		s["$schema"] = m.draft
	}
	return s
}

// Whatever a schema allows, its portable form allows; doing it twice changes nothing; it reads as draft 2020-12.
func TestPortableIsOnlyWider(t *testing.T) {
	const schemas, values = 600, 40
	compiled, allowed, refused := 0, 0, 0
	for _, p := range []wire.Profile{wire.Anthropic, wire.OpenAI} {
		for i := range schemas {
			m := &maker{Rand: rand.New(rand.NewPCG(uint64(i), 7))}
			m.draft = drafts[i%len(drafts)]
			raw, err := json.Marshal(m.root())
			require.NoError(t, err)
			full, err := compile(raw)
			if err != nil {
				continue // not a schema that the registry takes
			}
			compiled++
			out, _, err := wire.Schema(raw, p)
			require.NoError(t, err, "%s", raw)
			again, widened, err := wire.Schema(out, p)
			require.NoError(t, err)
			require.Equal(t, string(out), string(again), "%s", raw)
			require.Empty(t, widened, "%s", raw)
			portable, err := compile(out)
			require.NoError(t, err, "%s\nfrom %s", out, raw)
			for range values {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(must(json.Marshal(m.value(3)))))
				require.NoError(t, err)
				if _, isObject := value.(map[string]any); !isObject || full.Validate(value) != nil {
					refused++
					continue
				}
				allowed++
				require.NoError(t, portable.Validate(value), "schema %s\nportable %s\nvalue %v", raw, out, value)
			}
		}
	}
	t.Logf("%d schemas, %d values allowed, %d refused", compiled, allowed, refused)
	require.Greater(t, compiled, schemas)
	require.Greater(t, allowed, 20*schemas/10)
	require.Greater(t, refused, schemas)
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

func TestSchemaIsStable(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(1, 1))}
	raw, err := json.Marshal(m.root())
	require.NoError(t, err)
	first, notes, err := wire.Schema(raw, wire.Anthropic)
	require.NoError(t, err)
	for range 1000 {
		again, same, err := wire.Schema(raw, wire.Anthropic)
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
		require.Equal(t, notes, same)
	}
}
