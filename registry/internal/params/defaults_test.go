package params_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

func TestDefaults(t *testing.T) {
	tests := []struct {
		name, schema   string
		source, filled string
	}{
		{"a missing member", object(`"a":{"default":5}`), `{}`, `{"a":5}`},
		{"a present member stays", object(`"a":{"default":5}`), `{"a":6}`, `{"a":6}`},
		{"a null stays", object(`"a":{"default":5}`), `{"a":null}`, `{"a":null}`},
		{"a default of null", object(`"a":{"default":null}`), `{}`, `{"a":null}`},
		{"false and the empty text", object(`"a":{"default":false},"b":{"default":""}`), `{}`, `{"a":false,"b":""}`},
		{"a required member", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer","default":5}}}`, `{}`, `{"a":5}`},
		{"in its canonical form", object(`"a":{"default":{"z":1.0,"b":1e2}}`), `{}`, `{"a":{"b":100,"z":1}}`},
		{"every digit", object(`"a":{"default":9007199254740993}`), `{}`, `{"a":9007199254740993}`},
		{"order is canonical", object(`"b":{},"a":{"default":"x"},"c":{"default":"\u00e9\"<"}`), `{"b":1}`, `{"a":"x","b":1,"c":"é\"<"}`},
		{"in an object that is present", object(`"a":{"properties":{"b":{"default":1}}}`), `{"a":{}}`, `{"a":{"b":1}}`},
		{"not in one that is absent", object(`"a":{"properties":{"b":{"default":1}}}`), `{}`, `{}`},
		{"in a default", object(`"a":{"default":{},"properties":{"b":{"default":1}}}`), `{}`, `{"a":{"b":1}}`},
		{"in array items", object(`"a":{"items":{"properties":{"b":{"default":1}}}}`), `{"a":[{},{"b":2},3,null]}`, `{"a":[{"b":1},{"b":2},3,null]}`},
		{"in tuples", object(`"a":{"prefixItems":[{},{"properties":{"b":{"default":1}}}],"items":{"properties":{"c":{"default":2}}}}`), `{"a":[{},{},{}]}`, `{"a":[{},{"b":1},{"c":2}]}`},
		{"in map values", object(`"a":{"properties":{"x":{}},"additionalProperties":{"properties":{"b":{"default":1}}}}`), `{"a":{"x":{},"y":{}}}`, `{"a":{"x":{},"y":{"b":1}}}`},
		{"behind a reference", `{"type":"object","$defs":{"n":{"properties":{"b":{"default":1}}}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":{}}`, `{"a":{"b":1}}`},
		{"of what is referred to", `{"type":"object","$defs":{"n":{"default":7}},"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n","default":8}}}`, `{}`, `{"a":7,"b":8}`},
		{"beside a reference", `{"type":"object","$defs":{"n":{"properties":{"b":{"default":1}}}},"properties":{"a":{"$ref":"#/$defs/n","properties":{"c":{"default":2}}}}}`, `{"a":{}}`, `{"a":{"b":1,"c":2}}`},
		{"beside a reference in draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/n","default":1}}}`, `{}`, `{}`},
		{"in a recursive schema", `{"type":"object","properties":{"v":{"default":1},"next":{"$ref":"#"}}}`, `{"next":{"next":{}}}`, `{"next":{"next":{"v":1},"v":1},"v":1}`},
		{"under a strange name", object(`"a/b~c d%":{"default":1}`), `{}`, `{"a/b~c d%":1}`},
		{"a property called default", object(`"default":{"type":"string"}`), `{}`, `{}`},
		{"a reference to itself", object(`"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"},"c":{"default":1}`), `{}`, `{"c":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, tt.schema)
			for range 3 {
				o, err := s.Parse([]byte(tt.source), canon.Options{})
				require.NoError(t, err)
				require.Equal(t, tt.filled, o.String())
				explicit, err := s.Parse([]byte(tt.filled), canon.Options{})
				require.NoError(t, err)
				require.Equal(t, explicit.Hash(), o.Hash(), "given or left out, the hash is the same")
				require.NoError(t, s.Validate(o))
			}
		})
	}
}

func TestDefaultsFromTags(t *testing.T) {
	type query struct {
		Limit  int      `json:"limit,omitempty" jsonschema:"default=10,maximum=50"`
		Sort   string   `json:"sort" jsonschema:"default=name,enum=name,enum=age"`
		Fields []string `json:"fields,omitempty" jsonschema:"default=id,default=name"`
		All    bool     `json:"all,omitempty" jsonschema:"default=true"`
	}
	s := generated[query](t)
	o, err := s.Parse([]byte(`{}`), canon.Options{})
	require.NoError(t, err)
	require.Equal(t, `{"all":true,"fields":["id","name"],"limit":10,"sort":"name"}`, o.String())
	p, err := params.Decode[query](o)
	require.NoError(t, err)
	require.Equal(t, query{10, "name", []string{"id", "name"}, true}, p)

	o, err = s.Parse([]byte(`{"all":false,"limit":0,"fields":[]}`), canon.Options{})
	require.NoError(t, err)
	require.Equal(t, `{"all":false,"fields":[],"limit":0,"sort":"name"}`, o.String(), "what is given explicitly stays")
	p, err = params.Decode[query](o)
	require.NoError(t, err)
	require.Equal(t, query{Sort: "name", Fields: []string{}}, p)
}

func TestDefaultsAreBounded(t *testing.T) {
	t.Run("a clash with what was given", func(t *testing.T) {
		_, err := compile(t, object(`"ab":{"default":1}`)).Parse([]byte(`{"AB":2}`), canon.Options{})
		var refused *canon.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, canon.ReasonFoldClash, refused.Reason)
	})
	t.Run("too many", func(t *testing.T) {
		s := compile(t, object(`"a":{"items":{"properties":{"b":{"default":1}}}}`))
		_, err := s.Parse([]byte(`{"a":[`+strings.Repeat(`{},`, 20_000)+`{}]}`), canon.Options{})
		require.EqualError(t, err, "params: expected smaller parameters: too many defaults belong to these")
	})
	t.Run("too much text", func(t *testing.T) {
		s := compile(t, object(fmt.Sprintf(`"a":{"items":{"properties":{"b":{"default":%q}}}}`, strings.Repeat("x", 1_000))))
		_, err := s.Parse([]byte(`{"a":[`+strings.Repeat(`{},`, 500)+`{}]}`), canon.Options{})
		var refused *canon.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, canon.ReasonSize, refused.Reason)
	})
	t.Run("doubling at each level", func(t *testing.T) {
		s := compile(t, `{"type":"object","$defs":{"m":{"properties":{"x":{"$ref":"#/$defs/n"},"d":{"default":1}}},
			"n":{"$ref":"#/$defs/m","properties":{"x":{"$ref":"#/$defs/n"}}}},"properties":{"a":{"$ref":"#/$defs/n"}}}`)
		_, err := s.Parse([]byte(`{"a":`+strings.Repeat(`{"x":`, 60)+`1`+strings.Repeat(`}`, 61)), canon.Options{})
		require.ErrorContains(t, err, "too many defaults")
	})
}
