package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

func object(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}

func TestSchema(t *testing.T) {
	tests := []struct {
		name, schema, want string
		widened            []string
	}{
		{"nothing to do", object(`"a":{"type":"string","maxLength":5}`), object(`"a":{"type":"string","maxLength":5}`), nil},
		{"properties even if there are none", `{"type":"object"}`, object(``), nil},
		{"a root without a type", `{"properties":{"a":{}}}`, object(`"a":{}`), nil},
		{"a list with one type", `{"type":["object"]}`, object(``), nil},
		{"what is said about the schema", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.org/a","$comment":"c","title":"T","type":"object","examples":[{}],"x-mine":1}`,
			`{"title":"T","type":"object","properties":{}}`, nil},
		{"numbers keep their digits", object(`"a":{"type":"integer","maximum":9007199254740993,"default":1.0,"multipleOf":1e0}`),
			object(`"a":{"type":"integer","maximum":9007199254740993,"default":1.0,"multipleOf":1e0}`), nil},
		{"names of properties that are keywords", object(`"allOf":{"type":"string"},"examples":{"$comment":"c"}`), object(`"allOf":{"type":"string"},"examples":{}`), nil},
		{"data is not a schema", object(`"a":{"const":{"$ref":"#/a","examples":true},"default":{"$comment":1},"enum":[{"$id":"x"}]}`),
			object(`"a":{"const":{"$ref":"#/a","examples":true},"default":{"$comment":1},"enum":[{"$id":"x"}]}`), nil},
		{"boolean schemas", object(`"a":true,"b":{"type":"array","items":true},"c":{"additionalProperties":false}`),
			object(`"a":{},"b":{"type":"array","items":{}},"c":{"additionalProperties":false}`), nil},
		{"a schema that allows nothing", object(`"a":false`), object(`"a":{}`), []string{"/properties/a: false, which allows nothing, is {} now"}},
		{"an array without items", object(`"a":{"type":["array","null"]}`), object(`"a":{"type":["array","null"],"items":{}}`), nil},

		{"a reference", `{"type":"object","$defs":{"n":{"type":"integer","description":"any"}},"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n","description":"this"}}}`,
			object(`"a":{"type":"integer","description":"any"},"b":{"type":"integer","description":"this"}`), nil},
		{"a reference with more beside it", `{"type":"object","$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n","minimum":1,"allOf":[{"maximum":5}]}}}`,
			object(`"a":{"minimum":1,"allOf":[{"maximum":5},{"type":"integer"}]}`), nil},
		{"an anchor", `{"type":"object","$defs":{"n":{"$anchor":"here","type":"integer"}},"properties":{"a":{"$ref":"#here"}}}`, object(`"a":{"type":"integer"}`), nil},
		{"an escaped pointer", `{"type":"object","$defs":{"a/b~c %":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/a~1b~0c%20%25"}}}`, object(`"a":{"type":"integer"}`), nil},
		{"a reference to the root by its identity", `{"$id":"https://example.org/s","type":"object","$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"s#/$defs/n"}}}`, object(`"a":{"type":"integer"}`), nil},
		{"a root that is a reference", `{"type":"object","$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["a"],"properties":{"a":{}}}}}`,
			`{"type":"object","required":["a"],"properties":{"a":{}}}`, nil},
		{"a cycle", `{"type":"object","properties":{"v":{},"next":{"$ref":"#","description":"the rest"}}}`,
			`{"type":"object","properties":{"v":{},"next":{"type":"object","description":"the rest"}}}`, []string{"/properties/next: a schema within itself is open from here on"}},
		{"a cycle that may be no object", `{"type":"object","$defs":{"n":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/n"}}]}},"properties":{"a":{"$ref":"#/$defs/n"}}}`,
			object(`"a":{"anyOf":[{"type":"string"},{"type":"array","items":{}}]}`), []string{"/properties/a/anyOf/1/items: a schema within itself is open from here on"}},
		{"a cycle of references only", `{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"a":{"$ref":"#/$defs/a"}}}`,
			object(`"a":{}`), []string{"/properties/a: a schema within itself is open from here on"}},
		{"a reference to elsewhere", object(`"a":{"type":"string","$ref":"https://example.org/x"}`), object(`"a":{"type":"string"}`), []string{"/properties/a: $ref cannot be followed here and is left out"}},
		{"a reference to nothing", object(`"a":{"$ref":"#/$defs/x/0"},"b":{"$ref":"#/properties/a/$ref/c"},"c":{"$ref":"#x"}`), object(`"a":{},"b":{},"c":{}`),
			[]string{"/properties/a: $ref cannot be followed here and is left out", "/properties/b: $ref cannot be followed here and is left out", "/properties/c: $ref cannot be followed here and is left out"}},
		{"within another identity", `{"type":"object","properties":{"a":{"$id":"https://example.org/a","properties":{"b":{"$ref":"#/c"}},"c":{"type":"string"}}}}`,
			object(`"a":{"properties":{"b":{}}}`), []string{"/properties/a/properties/b: $ref cannot be followed here and is left out"}},
		{"a dynamic reference", object(`"a":{"type":"object","$dynamicRef":"#n"}`), object(`"a":{"type":"object"}`), []string{"/properties/a: $dynamicRef is left out"}},

		{"anyOf at the root", `{"type":"object","description":"D","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","description":"D\n\nAll arguments together also have to match this JSON Schema: {\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}","properties":{"a":{},"b":{}}}`,
			[]string{"/: anyOf at the root is in the description only"}},
		{"allOf at the root that means the same there", `{"type":"object","properties":{"a":{}},"required":["a"],"allOf":[{"properties":{"b":{"type":"string"}},"required":["b","a"]},{"type":"object","minProperties":1}]}`,
			`{"type":"object","properties":{"a":{},"b":{"type":"string"}},"required":["a","b"],"minProperties":1}`, nil},
		{"allOf at the root beside a closed object", `{"type":"object","properties":{"a":{}},"additionalProperties":false,"allOf":[{"properties":{"a":{"type":"string"}}}]}`,
			`{"type":"object","properties":{"a":{}},"additionalProperties":false,"description":"All arguments together also have to match this JSON Schema: {\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}}}]}"}`,
			[]string{"/: allOf at the root is in the description only"}},

		{"a property that may not be named so", `{"type":"object","required":["$top"],"properties":{"$top":{"type":"integer"},"a":{}},"additionalProperties":false}`,
			`{"type":"object","required":["$top"],"properties":{"a":{}},"description":"There are also these properties, by name and JSON Schema: {\"$top\":{\"type\":\"integer\"}}"}`,
			[]string{`/: the property "$top" is in the description only, since the provider refuses its name`}},

		{"draft-04 limits", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false,"const":3}}}`,
			object(`"a":{"exclusiveMinimum":1,"maximum":5}`), nil},
		{"draft-04 identities", `{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://example.org/s","type":"object","definitions":{"n":{"id":"#n","type":"integer"}},"properties":{"a":{"$ref":"#n"}}}`,
			object(`"a":{"type":"integer"}`), nil},
		{"draft-07 tuples", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}],"additionalItems":{"type":"integer"},"prefixItems":[false]}}}`,
			object(`"a":{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`), nil},
		{"draft-07 references stand alone", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/n","type":"string","title":"T"}}}`,
			object(`"a":{"type":"integer","title":"T"}`), nil},
		{"draft-07 dependencies", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"dependencies":{"b":["c"],"d":{"required":["e"]}}}}}`,
			object(`"a":{"dependentRequired":{"b":["c"]},"dependentSchemas":{"d":{"required":["e"]}}}`), nil},
		{"2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{"a":{"items":[true],"$recursiveRef":"#","minContains":2,"contains":{"const":1}}}}`,
			object(`"a":{"prefixItems":[{}],"contains":{"const":1},"minContains":2}`), []string{"/properties/a: $recursiveRef is left out"}},
		{"another draft within", object(`"a":{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://example.org/a","type":"string"}`), object(`"a":{}`), []string{"/properties/a: a schema of another draft is open now"}},
		{"dependencies beside their successors", object(`"a":{"dependencies":{"b":["c"]},"dependentRequired":{"d":["e"]}}`), object(`"a":{"dependentRequired":{"d":["e"]}}`),
			[]string{"/properties/a: dependencies is left out beside those that took its place"}},

		{"exactly one of exact branches", object(`"a":{"oneOf":[{"type":"string"},{"type":"null"}]}`), object(`"a":{"oneOf":[{"type":"string"},{"type":"null"}]}`), nil},
		{"exactly one of wider branches", object(`"a":{"oneOf":[{"type":"string"},false]}`), object(`"a":{"anyOf":[{"type":"string"},{}]}`),
			[]string{"/properties/a/oneOf/1: false, which allows nothing, is {} now", "/properties/a: oneOf is anyOf now, since its branches are wider"}},
		{"exactly one beside any", object(`"a":{"anyOf":[{"minimum":1}],"oneOf":[false]}`), object(`"a":{"anyOf":[{"minimum":1}]}`),
			[]string{"/properties/a/oneOf/0: false, which allows nothing, is {} now", "/properties/a: oneOf is left out, since its branches are wider and there is an anyOf"}},
		{"not", object(`"a":{"not":{"type":"string"}},"b":{"not":{"items":false}}`), object(`"a":{"not":{"type":"string"}},"b":{}`), []string{"/properties/b: not is left out, since it cannot be written exactly"}},
		{"if", object(`"a":{"if":{"type":"string"},"then":{"const":"x"},"else":false}`), object(`"a":{"if":{"type":"string"},"then":{"const":"x"},"else":{}}`), []string{"/properties/a/else: false, which allows nothing, is {} now"}},
		{"an if that is not exact", object(`"a":{"if":{"properties":{"b":false}},"then":{"const":1}}`), object(`"a":{}`), []string{"/properties/a: if is left out, since it cannot be written exactly"}},
		{"then without if", object(`"a":{"then":{"const":1}}`), object(`"a":{}`), nil},
		{"at most so many", object(`"a":{"contains":{"items":false},"maxContains":2},"b":{"contains":{"const":1},"maxContains":2},"c":{"maxContains":1}`),
			object(`"a":{"contains":{"items":{}}},"b":{"contains":{"const":1},"maxContains":2},"c":{}`),
			[]string{"/properties/a/contains/items: false, which allows nothing, is {} now", "/properties/a: maxContains is left out, since contains is wider"}},
		{"what no other keyword has looked at", object(`"a":{"unevaluatedProperties":false,"unevaluatedItems":false}`), object(`"a":{}`),
			[]string{"/properties/a: unevaluatedProperties is left out", "/properties/a: unevaluatedItems is left out"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, widened, err := wire.Schema(json.RawMessage(tt.schema), wire.Anthropic)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
			require.Equal(t, tt.widened, widened)
			again, widened, err := wire.Schema(got, wire.Anthropic)
			require.NoError(t, err)
			require.Equal(t, string(got), string(again), "not the same when done twice")
			require.Empty(t, widened)
		})
	}
}

func TestSchemaForOpenAI(t *testing.T) {
	got, widened, err := wire.Schema(json.RawMessage(`{"type":"object","properties":{"$top":{}},"not":{"required":["b"]},"enum":[{}],"const":{}}`), wire.OpenAI)
	require.NoError(t, err)
	require.Equal(t, `{"type":"object","properties":{"$top":{}},"description":"All arguments together also have to match this JSON Schema: {\"not\":{\"required\":[\"b\"]},\"enum\":[{}],\"const\":{}}"}`, string(got))
	require.Len(t, widened, 3)
}

func TestSchemaRefuses(t *testing.T) {
	for schema, want := range map[string]string{
		``:                                       "not valid JSON",
		`{"type":`:                               "not valid JSON",
		`{"type":"object","a":["b",`:             "not valid JSON",
		`{"type":"object","type":"object"}`:      "not valid JSON",
		`{"type":"object","title":"\ud800"}`:     "not valid JSON",
		`{"type":"object"} {}`:                   "something follows",
		`true`:                                   "not an object",
		`{"type":"string"}`:                      "not an object",
		`{"type":"object","properties":[]}`:      "schemas by name are expected here",
		`{"type":"object","properties":{"a":1}}`: "a schema is expected here",
		`{"type":"object","anyOf":{}}`:           "a list of schemas is expected here",
		`{"type":"object","dependencies":[]}`:    "dependencies by name are expected here",
	} {
		_, _, err := wire.Schema(json.RawMessage(schema), wire.Anthropic)
		require.ErrorContains(t, err, want, schema)
		require.True(t, strings.HasPrefix(err.Error(), "wire: "), err)
	}
}

// References that double at every step would make a schema of 2^40 parts.
func TestReferencesThatDouble(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		next := "#/$defs/d" + string(json.RawMessage(jsonInt(i+1)))
		b.WriteString(`"d` + jsonInt(i) + `":{"properties":{"l":{"$ref":"` + next + `"},"r":{"$ref":"` + next + `"}}},`)
	}
	b.WriteString(`"d40":{}}}`)
	got, widened, err := wire.Schema(json.RawMessage(b.String()), wire.Anthropic)
	require.NoError(t, err)
	require.Less(t, len(got), 1<<20)
	require.Contains(t, widened[0], "references make the schema too large")
}

func jsonInt(i int) string {
	raw, _ := json.Marshal(i)
	return string(raw)
}
