package params_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

type (
	node struct {
		Value int8    `json:"value"`
		Left  *node   `json:"left,omitempty"`
		Kids  []node  `json:"kids,omitempty"`
		More  []*node `json:"more,omitempty"`
	}
	outer struct {
		Tree node `json:"tree"`
	}
	filter         struct{ Field string }
	box[T any]     struct{ Value T }
	pair[A, B any] struct {
		First  A
		Second B
	}
	color  string
	tags   []string
	labels map[string]string
	loop   []loop
	mapped map[string]mapped
	upper  struct{ S string }
	chosen string
	odd    int
	silent struct{}
	raging struct{}
	alias  struct{}
	base   struct {
		ID string `json:"id"`
	}
	left          struct{ ID string }
	right         struct{ ID string }
	selfEmbedding struct {
		*selfEmbedding
		A string
	}
	leaky struct{}
)

func (upper) MarshalText() ([]byte, error) { return nil, nil }
func (chosen) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"a", "b"}}
}
func (*odd) JSONSchema() *jsonschema.Schema          { return &jsonschema.Schema{Type: "integer", Minimum: "1"} }
func (silent) JSONSchema() *jsonschema.Schema        { return nil }
func (raging) JSONSchema() *jsonschema.Schema        { panic("no schema today") }
func (leaky) JSONSchema() *jsonschema.Schema         { return jsonschema.Reflect(filter{}) }
func (alias) JSONSchemaAlias() any                   { return "" }
func (color) JSONSchemaExtend(s *jsonschema.Schema)  { s.Enum = []any{"red", "green"} }
func (f filter) JSONSchemaExtend(*jsonschema.Schema) {}

func generate(t *testing.T, of any) string {
	t.Helper()
	raw, err := params.Generate(reflect.TypeOf(of))
	require.NoError(t, err)
	again, err := params.Generate(reflect.TypeOf(of))
	require.NoError(t, err)
	require.Equal(t, string(raw), string(again), "the same bytes every time")
	require.NotContains(t, string(raw), "sallyport-dev", "no package path")
	require.NotContains(t, string(raw), "$id")
	return string(raw)
}

// property returns the schema of one property as compact JSON.
func property(t *testing.T, schema, name string) string {
	t.Helper()
	var doc struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	require.NoError(t, json.Unmarshal([]byte(schema), &doc))
	return string(doc.Properties[name])
}

func TestGenerateDescribes(t *testing.T) {
	tests := []struct {
		name string
		of   any
		want string
	}{
		{"an empty struct", struct{}{}, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"no tag option means required, for pointers too", struct {
			A string
			B *string `json:"b"`
		}{}, `{"type":"object","additionalProperties":false,"properties":{"A":{"type":"string"},"b":{"type":"string"}},"required":["A","b"]}`},
		{"omitempty and omitzero mean optional", struct {
			A string    `json:"a,omitempty"`
			B time.Time `json:"b,omitzero"`
		}{}, `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"},"b":{"type":"string","format":"date-time"}}}`},
		{"a tag may require what may be omitted", struct {
			A string `json:"a,omitempty" jsonschema:"required"`
		}{}, `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"ignored fields", struct {
			A string `json:"-"`
			b string
			C bool
		}{}, `{"type":"object","additionalProperties":false,"properties":{"C":{"type":"boolean"}},"required":["C"]}`},
		{"an embedded struct is flattened", struct {
			base
			*Shared
			Name string `json:"name"`
		}{}, `{"type":"object","additionalProperties":false,"properties":{"id":{"type":"string"},"second":{"type":"string"},"name":{"type":"string"}},"required":["id","second","name"]}`},
		{"two levels of anonymous structs", struct {
			A struct {
				B []struct {
					C uint8 `json:"c"`
				} `json:"b"`
			} `json:"a"`
		}{}, `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"object","additionalProperties":false,"required":["b"],
			"properties":{"b":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["c"],"properties":{"c":{"type":"integer","minimum":0,"maximum":255}}}}}}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(generate(t, tt.of)), &got))
			require.Equal(t, "https://json-schema.org/draft/2020-12/schema", got["$schema"])
			delete(got, "$schema")
			rest, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(rest))
		})
	}
}

type Shared struct {
	Second string `json:"second"`
}

func TestGenerateTypes(t *testing.T) {
	type all struct {
		Int8      int8              `json:"int8"`
		Int64     int64             `json:"int64"`
		Uint8     uint8             `json:"uint8"`
		Uint64    uint64            `json:"uint64"`
		Tight     uint16            `json:"tight" jsonschema:"minimum=5,maximum=70000"`
		Wide      int8              `json:"wide" jsonschema:"minimum=-500"`
		Exclusive int               `json:"exclusive" jsonschema:"exclusiveMinimum=0,multipleOf=5"`
		Enum      int               `json:"enum" jsonschema:"enum=1,enum=2"`
		Text      int64             `json:"text,string"`
		Natural   uint32            `json:"natural,string"`
		Float     float64           `json:"float" jsonschema:"minimum=0.5"`
		Any       any               `json:"any"`
		Raw       json.RawMessage   `json:"raw"`
		Time      time.Time         `json:"time"`
		Bytes     []byte            `json:"bytes"`
		Hash      [4]byte           `json:"hash"`
		Fixed     [3]bool           `json:"fixed"`
		Open      map[string]any    `json:"open"`
		Closed    map[string]uint8  `json:"closed"`
		Tags      tags              `json:"tags" jsonschema:"minItems=1,uniqueItems=true,enum=a,enum=b"`
		Labels    labels            `json:"labels"`
		Color     color             `json:"color"`
		Chosen    chosen            `json:"chosen"`
		Odd       odd               `json:"odd"`
		Null      *int8             `json:"null" jsonschema:"nullable"`
		NullEnum  *string           `json:"null_enum" jsonschema:"nullable,enum=x"`
		NullRef   *filter           `json:"null_ref" jsonschema:"nullable,description=why"`
		NullAny   any               `json:"null_any" jsonschema:"nullable"`
		NullMap   map[string]string `json:"null_map" jsonschema:"nullable"`
		Described string            `json:"described" jsonschema:"description=one\\, two" jsonschema_extras:"x-order=1"`
		Long      string            `json:"long" jsonschema_description:"one, <two> & three"`
		Default   int               `json:"default,omitempty" jsonschema:"default=7"`
		Pattern   string            `json:"pattern" jsonschema:"pattern=^a{1\\,3}$"`
	}
	want := map[string]string{
		"int8":      `{"type":"integer","minimum":-128,"maximum":127}`,
		"int64":     `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`,
		"uint8":     `{"type":"integer","minimum":0,"maximum":255}`,
		"uint64":    `{"type":"integer","minimum":0,"maximum":18446744073709551615}`,
		"tight":     `{"type":"integer","minimum":5,"maximum":65535}`,
		"wide":      `{"type":"integer","minimum":-128,"maximum":127}`,
		"exclusive": `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807,"exclusiveMinimum":0,"multipleOf":5}`,
		"enum":      `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807,"enum":[1,2]}`,
		"text":      `{"type":"string","pattern":"^(0|-?[1-9][0-9]*)$"}`,
		"natural":   `{"type":"string","pattern":"^(0|[1-9][0-9]*)$"}`,
		"float":     `{"type":"number","minimum":0.5}`,
		"any":       `{}`,
		"raw":       `{}`,
		"time":      `{"type":"string","format":"date-time"}`,
		"bytes":     `{"type":"string","contentEncoding":"base64"}`,
		"hash":      `{"type":"string","contentEncoding":"base64","minLength":8,"maxLength":8}`,
		"fixed":     `{"type":"array","items":{"type":"boolean"},"minItems":3,"maxItems":3}`,
		"open":      `{"type":"object"}`,
		"closed":    `{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":255}}`,
		"tags":      `{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"uniqueItems":true}`,
		"labels":    `{"type":"object","additionalProperties":{"type":"string"}}`,
		"color":     `{"type":"string","enum":["red","green"]}`,
		"chosen":    `{"type":"string","enum":["a","b"]}`,
		"odd":       `{"type":"integer","minimum":1}`,
		"null":      `{"type":["integer","null"],"minimum":-128,"maximum":127}`,
		"null_enum": `{"type":["string","null"],"enum":["x",null]}`,
		"null_ref":  `{"anyOf":[{"$ref":"#/$defs/filter"},{"type":"null"}],"description":"why"}`,
		"null_any":  `{}`,
		"null_map":  `{"type":["object","null"],"additionalProperties":{"type":"string"}}`,
		"described": `{"type":"string","description":"one, two","x-order":"1"}`,
		"long":      `{"type":"string","description":"one, <two> & three"}`,
		"default":   `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807,"default":7}`,
		"pattern":   `{"type":"string","pattern":"^a{1,3}$"}`,
	}
	schema := generate(t, all{})
	require.Contains(t, schema, `9223372036854775807`, "integers keep every digit")
	require.Contains(t, schema, `"one, <two> & three"`, "nothing is escaped for HTML")
	require.Equal(t, reflect.TypeFor[all]().NumField(), len(want))
	for name, wanted := range want {
		t.Run(name, func(t *testing.T) {
			require.JSONEq(t, wanted, property(t, schema, name))
		})
	}
}

func TestGenerateReferences(t *testing.T) {
	t.Run("a recursive root is at the root and among the definitions", func(t *testing.T) {
		schema := generate(t, node{})
		require.JSONEq(t, `{"$ref":"#/$defs/node"}`, property(t, schema, "left"))
		require.JSONEq(t, `{"type":"array","items":{"$ref":"#/$defs/node"}}`, property(t, schema, "more"))
		s := compile(t, schema)
		_, err := s.Parse([]byte(`{"value":1,"kids":[{"value":2,"left":{"value":3}}]}`), canon.Options{})
		require.NoError(t, err)
		_, err = s.Parse([]byte(`{"value":1,"kids":[{"value":2,"left":{"value":300}}]}`), canon.Options{})
		require.EqualError(t, err, "params: /kids/0/left/value: expected integer, at least -128, at most 127")
	})
	t.Run("a recursive member", func(t *testing.T) {
		require.JSONEq(t, `{"$ref":"#/$defs/node"}`, property(t, generate(t, outer{}), "tree"))
	})
	t.Run("generic types have portable names", func(t *testing.T) {
		schema := generate(t, struct {
			A box[filter]                   `json:"a"`
			B box[int]                      `json:"b"`
			C pair[box[filter], *time.Time] `json:"c"`
			D box[[]node]                   `json:"d"`
		}{})
		require.JSONEq(t, `{"$ref":"#/$defs/box_filter"}`, property(t, schema, "a"))
		require.JSONEq(t, `{"$ref":"#/$defs/box_int"}`, property(t, schema, "b"))
		require.Regexp(t, `^\{"\$ref":"#/\$defs/[A-Za-z0-9_]+"\}$`, property(t, schema, "c"))
		require.Regexp(t, `^\{"\$ref":"#/\$defs/[A-Za-z0-9_]+"\}$`, property(t, schema, "d"))
	})
	t.Run("a type used twice is defined once", func(t *testing.T) {
		schema := generate(t, struct{ A, B filter }{})
		require.Equal(t, 1, strings.Count(schema, `"filter":`))
	})
}

func compile(t testing.TB, schema string) *params.Schema {
	t.Helper()
	s, err := params.Compile(json.RawMessage(schema))
	require.NoError(t, err)
	return s
}
