package params_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

func object(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}

func nest(depth int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, depth) + `{}` + strings.Repeat(`}}`, depth)
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct {
		name, schema, want string
	}{
		{"nothing", ``, "not valid JSON"},
		{"no JSON", `{"type":`, "not valid JSON"},
		{"a boolean root", `true`, `root must be an object with "type": "object"`},
		{"a null root", `null`, "root must be an object"},
		{"an array root", `[]`, "root must be an object"},
		{"a string schema", `{"type":"string"}`, `must have "type": "object"`},
		{"a schema without a type", `{"properties":{}}`, `must have "type": "object"`},
		{"an object or null", `{"type":["object","null"]}`, `must have "type": "object"`},
		{"trailing data", `{"type":"object"}{}`, "something follows"},
		{"a name twice", `{"type":"object","type":"object"}`, "a name twice"},
		{"invalid UTF-8", "{\"type\":\"object\",\"title\":\"\xff\"}", "not valid JSON"},
		{"too large", `{"type":"object","title":"` + strings.Repeat("x", 256<<10) + `"}`, "at most 262144 bytes"},
		{"too many values", object(`"a":{"enum":[` + strings.Repeat("1,", 13_000) + `1]}`), "at most 12000 values"},
		{"too deep", nest(40), "at most 64 levels"},
		{"unclosed and deep", strings.Repeat("[", 100_000), "at most 64 levels"},
		{"a limit that overflows", object(`"a":{"maximum":1e2000000}`), "1e2000000 in a schema is out of range"},
		{"a limit that underflows", object(`"a":{"multipleOf":1e-2000000}`), "out of range"},
		{"a zero with a great exponent", object(`"a":{"minimum":0e99999999}`), "out of range"},
		{"a long number", object(`"a":{"minimum":` + strings.Repeat("9", 129) + `}`), "at most 128 characters"},
		{"a count that overflows", object(`"a":{"maxLength":99999999999999999999}`), "maxLength is at most 2147483647"},
		{"a division by zero", object(`"a":{"multipleOf":0}`), "not valid"},
		{"a schema that is none", object(`"a":{"type":"strange"}`), "not valid"},
		{"properties that are none", `{"type":"object","properties":7}`, "not valid"},
		{"a dangling reference", object(`"a":{"$ref":"#/$defs/b"}`), "not valid"},
		{"a remote reference", object(`"a":{"$ref":"https://example.org/x.json"}`), `refers to "https://example.org/x.json": nothing outside the schema is read`},
		{"a relative reference", object(`"a":{"$ref":"other.json#/a"}`), `refers to "other.json": nothing outside`},
		{"an absolute path", object(`"a":{"$ref":"/etc/hostname"}`), "nothing outside"},
		{"a dynamic reference", object(`"a":{"$dynamicRef":"https://example.org/x.json"}`), "nothing outside"},
		{"an unknown draft", `{"$schema":"https://example.org/draft","type":"object"}`, "nothing outside"},
		{"an identity elsewhere", `{"$id":"https://example.org/s","type":"object","properties":{"a":{"$ref":"t"}}}`, `"https://example.org/t": nothing outside`},
		{"look-ahead", object(`"a":{"pattern":"^(?=x)y"}`), `the pattern "^(?=x)y" cannot be used: only RE2 syntax is supported`},
		{"a back reference", object(`"a":{"pattern":"(a)\\1"}`), "cannot be used"},
		{"a long pattern", object(`"a":{"pattern":"` + strings.Repeat("a", 5_000) + `"}`), "too large"},
		{"a large pattern", object(`"a":{"pattern":"` + strings.Repeat("(a?b?c?){1000}", 20) + `"}`), "too large"},
		{"many large patterns", object(`"a":{"allOf":[` + strings.Repeat(`{"pattern":"(a?b?c?){999}"},`, 500) + `{}]}`), "all patterns together are too large"},
		{"a bad pattern property", `{"type":"object","patternProperties":{"(?!a)":{}}}`, "cannot be used"},
		{"a default of another type", object(`"a":{"type":"integer","default":"x"}`), "the default at /properties/a is not allowed by its own schema (expected integer)"},
		{"a default without an exact form", object(`"a":{"default":0.10000000000000000001}`), "has no exact form"},
		{"a nested invalid default", object(`"a":{"type":"array","items":{"properties":{"b":{"maximum":3,"default":4}}}}`), "/properties/a/items/properties/b"},
		{"a default that lacks a member", object(`"a":{"type":"object","required":["b"],"default":{}}`), `missing "b"`},
		{"defaults without end", `{"type":"object","$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n","default":{}}}}},"properties":{"n":{"$ref":"#/$defs/n"}}}`, "without end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := params.Compile(json.RawMessage(tt.schema))
			require.Nil(t, s)
			require.ErrorContains(t, err, tt.want)
			require.True(t, strings.HasPrefix(err.Error(), "params: "), err.Error())
			require.Less(t, len(err.Error()), 700)
			require.NotContains(t, err.Error(), "params.invalid")
		})
	}
}

func TestCompileReadsNoFile(t *testing.T) {
	const secret = "the-content-of-a-file"
	path := filepath.Join(t.TempDir(), "secret.json")
	require.NoError(t, os.WriteFile(path, []byte(secret), 0o600))
	for _, ref := range []string{"file://" + path, path, "file://" + path + "#/a"} {
		for _, keyword := range []string{"$ref", "$dynamicRef", "$schema"} {
			schema := object(fmt.Sprintf(`"a":{%q:%q}`, keyword, ref))
			if keyword == "$schema" {
				schema = fmt.Sprintf(`{"type":"object","$schema":%q}`, ref)
			}
			_, err := params.Compile(json.RawMessage(schema))
			require.ErrorContains(t, err, "nothing outside the schema is read")
			require.NotContains(t, err.Error(), secret[:7])
		}
	}
}

func TestCompileAccepts(t *testing.T) {
	tests := []struct {
		name, schema, good, bad string
	}{
		{"an open object", `{"type":"object"}`, `{"a":1}`, ``},
		{"a list with one type", `{"type":["object"],"required":["a"]}`, `{"a":1}`, `{}`},
		{"draft-07 with definitions", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/n"}}}`, `{"a":1}`, `{"a":"x"}`},
		{"draft-07 tuples", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`, `{"a":["x"]}`, `{"a":["x",1]}`},
		{"draft-04 exclusive limits", `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, `{"a":2}`, `{"a":1}`},
		{"definitions without a draft", `{"type":"object","definitions":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/n"}}}`, `{"a":1}`, `{"a":"x"}`},
		{"its own identity", `{"$id":"https://example.org/s","type":"object","$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"s#/$defs/n"}}}`, `{"a":1}`, `{"a":"x"}`},
		{"an anchor", `{"type":"object","$defs":{"n":{"$anchor":"here","type":"integer"}},"properties":{"a":{"$ref":"#here"}}}`, `{"a":1}`, `{"a":"x"}`},
		{"a format is asserted", object(`"a":{"format":"date-time"}`), `{"a":"2006-01-02T15:04:05Z"}`, `{"a":"yesterday"}`},
		{"an unknown format passes", object(`"a":{"format":"phone"}`), `{"a":"anything"}`, ``},
		{"a list of types", object(`"a":{"type":["integer","null"]}`), `{"a":null}`, `{"a":"x"}`},
		{"a boolean subschema", object(`"a":true,"b":false`), `{"a":[]}`, `{"b":1}`},
		{"a limit beyond binary64", object(`"a":{"maximum":9007199254740992}`), `{"a":9007199254740992}`, `{"a":9007199254740993}`},
		{"a limit beyond int64", object(`"a":{"minimum":9223372036854775808}`), `{"a":9223372036854775808}`, `{"a":9223372036854775807}`},
		{"a whole number in another spelling", object(`"a":{"type":"integer"}`), `{"a":1.0}`, `{"a":1.5}`},
		{"a large whole number", object(`"a":{"type":"integer"}`), `{"a":1e300}`, ``},
		{"fractions compare exactly", object(`"a":{"maximum":0.1}`), `{"a":0.1}`, `{"a":0.10000000000000002}`},
		{"numeric choices", object(`"a":{"enum":[1.0,2]}`), `{"a":1}`, `{"a":3}`},
		{"a property called default", object(`"default":{"type":"string"}`), `{"default":"x"}`, `{"default":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, tt.schema)
			require.Equal(t, tt.schema, string(s.JSON()))
			_, err := s.Parse([]byte(tt.good), canon.Options{})
			require.NoError(t, err)
			if tt.bad != "" {
				_, err = s.Parse([]byte(tt.bad), canon.Options{})
				require.NotEmpty(t, params.Faults(err))
			}
		})
	}
}

func TestSchemaIsNotShared(t *testing.T) {
	raw := json.RawMessage(`{"type":"object"}`)
	s, err := params.Compile(raw)
	require.NoError(t, err)
	raw[0] = 'x'
	s.JSON()[1] = 'x'
	require.Equal(t, `{"type":"object"}`, string(s.JSON()))
}

// A hostile schema and a hostile document together must not cost more than a
// bounded amount of work.
func TestCostIsBounded(t *testing.T) {
	chain := func(keyword string) string {
		var b strings.Builder
		b.WriteString(`{"type":"object","$defs":{`)
		for i := range 30 {
			fmt.Fprintf(&b, `"n%d":{%q:[{"$ref":"#/$defs/n%d"},{"$ref":"#/$defs/n%d"}]},`, i, keyword, i+1, i+1)
		}
		b.WriteString(`"n30":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/n0"}}}`)
		return b.String()
	}
	deep := `{"a":` + strings.Repeat(`{"x":`, 60) + `1` + strings.Repeat(`}`, 61)
	unequal := make([]string, 0, 3_000)
	for i := range 3_000 {
		unequal = append(unequal, fmt.Sprintf(`{"a":%d}`, i))
	}
	tests := []struct {
		name, schema, document string
		want                   string
	}{
		{"doubling at one value, all of", chain("allOf"), `{"a":"x"}`, "too costly"},
		{"doubling at one value, any of", chain("anyOf"), `{"a":1}`, "too costly"},
		{"doubling at each level", `{"type":"object","$defs":{"n":{"anyOf":[{"properties":{"x":{"$ref":"#/$defs/n"}},"required":["y"]},{"properties":{"x":{"$ref":"#/$defs/n"}},"required":["z"]}]}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, deep, "too costly"},
		{"doubling beside a reference", `{"type":"object","$defs":{"m":{"properties":{"x":{"$ref":"#/$defs/n"}}},"n":{"$ref":"#/$defs/m","properties":{"x":{"$ref":"#/$defs/n"}}}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, deep, "too costly"},
		{"doubling beside a reference, less deep", `{"type":"object","$defs":{"m":{"properties":{"x":{"$ref":"#/$defs/n"}}},"n":{"$ref":"#/$defs/m","properties":{"x":{"$ref":"#/$defs/n"}}}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":` + strings.Repeat(`{"x":`, 35) + `1` + strings.Repeat(`}`, 36), "too costly"},
		{"doubling where only a verdict is wanted", `{"type":"object","$defs":{"n":{"properties":{"x":{"$ref":"#/$defs/n"}},"patternProperties":{"x":{"$ref":"#/$defs/n"}},"required":["y"]}},"properties":{"a":{"not":{"$ref":"#/$defs/n"}}}}`, deep, ""},
		{"many unique items", object(`"a":{"uniqueItems":true}`), `{"a":[` + strings.Join(unequal, ",") + `]}`, "too many items have to be unique"},
		{"a long text for many patterns", object(`"a":{"allOf":[` + strings.Repeat(`{"pattern":"(x?y?z?){300}$"},`, 20) + `{}]}`), `{"a":"` + strings.Repeat("x", 200_000) + `"}`, "too costly"},
		{"a reference to itself", object(`"a":{"$ref":"#/properties/a"}`), `{"a":1}`, "refers to itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, tt.schema)
			start := time.Now()
			_, err := s.Parse([]byte(tt.document), canon.Options{})
			t.Log(time.Since(start))
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
	t.Run("patterns in documents do not add up", func(t *testing.T) {
		s := compile(t, object(`"a":{"format":"regex"}`))
		for range 100 {
			_, err := s.Parse([]byte(`{"a":"(a?b?c?){999}"}`), canon.Options{})
			require.NoError(t, err)
		}
	})
	t.Run("looking for a property", func(t *testing.T) {
		s := compile(t, `{"type":"object","anyOf":[{"$ref":"#"},{"$ref":"#"}]}`)
		require.False(t, s.HasProperty("a", "b"))
	})
	t.Run("a recursive schema within reason", func(t *testing.T) {
		s := compile(t, `{"type":"object","$defs":{"e":{"anyOf":[{"type":"string"},{"type":"object","properties":{"not":{"$ref":"#/$defs/e"}},"required":["not"]}]}},"properties":{"a":{"$ref":"#/$defs/e"}}}`)
		_, err := s.Parse([]byte(`{"a":{"not":{"not":"x"}}}`), canon.Options{})
		require.NoError(t, err)
		_, err = s.Parse([]byte(`{"a":{"not":{"not":1}}}`), canon.Options{})
		require.Error(t, err)
	})
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	s := compile(t, `{"type":"object","$defs":{"e":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/e"}}]}},
		"properties":{"a":{"$ref":"#/$defs/e"},"b":{"default":3},"c":{"format":"regex"}},"required":["b"]}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				o, err := s.Parse([]byte(`{"a":[["x"],"y"],"c":"^a$"}`), canon.Options{})
				if err != nil || o.String() != `{"a":[["x"],"y"],"b":3,"c":"^a$"}` || s.Validate(o) != nil {
					t.Error(o, err)
				}
				if _, err := s.Parse([]byte(`{"a":[["x"],1]}`), canon.Options{}); err == nil {
					t.Error("accepted")
				}
			}
		})
	}
	wg.Wait()
}
