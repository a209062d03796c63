package params_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

const ticketSchema = `{
	"type": "object",
	"additionalProperties": false,
	"required": ["order_id", "cents"],
	"$defs": {"item": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}},
	"properties": {
		"order_id": {"type": "string", "pattern": "^[A-Z][0-9]+$"},
		"cents": {"type": "integer", "minimum": 1, "maximum": 500},
		"state": {"enum": ["open", "closed"]},
		"kind": {"const": "refund"},
		"when": {"type": "string", "format": "date-time"},
		"note": {"type": "string", "minLength": 2, "maxLength": 4},
		"ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25},
		"items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1, "maxItems": 2},
		"set": {"type": "array", "uniqueItems": true},
		"target": {"anyOf": [{"type": "string"}, {"type": "null"}]},
		"shape": {"oneOf": [
			{"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
			{"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}]},
		"both": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
		"not": {"not": {"type": "string"}},
		"never": false,
		"open": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1, "dependentRequired": {"a": ["b"]}},
		"has": {"type": "array", "contains": {"type": "integer"}},
		"pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
		"blob": {"type": "string", "contentEncoding": "base64", "minLength": 1},
		"many": {"enum": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, {"a": 1}]},
		"mixed": {"enum": [{"a": 1}, [2], null, true, 1.5]}
	}
}`

func TestProblems(t *testing.T) {
	s := compile(t, ticketSchema)
	with := func(member string) string { return `{"order_id":"W1","cents":5,` + member + `}` }
	tests := []struct {
		name, source, want string
	}{
		{"missing", `{}`, `params: missing "cents", "order_id"`},
		{"one missing", `{"cents":1}`, `params: missing "order_id"`},
		{"too small", `{"order_id":"W1","cents":0}`, `params: /cents: expected integer, at least 1, at most 500`},
		{"too large", `{"order_id":"W1","cents":501}`, `params: /cents: expected integer, at least 1, at most 500`},
		{"another type", `{"order_id":"W1","cents":"5"}`, `params: /cents: expected integer, at least 1, at most 500`},
		{"a fraction", `{"order_id":"W1","cents":1.5}`, `params: /cents: expected integer, at least 1, at most 500`},
		{"null", `{"order_id":null,"cents":1}`, `params: /order_id: expected string, matching "^[A-Z][0-9]+$"`},
		{"a pattern", `{"order_id":"secret-value","cents":1}`, `params: /order_id: expected string, matching "^[A-Z][0-9]+$"`},
		{"a choice", with(`"state":"lost"`), `params: /state: expected one of "open", "closed"`},
		{"a constant", with(`"kind":"gift"`), `params: /kind: expected "refund"`},
		{"a format", with(`"when":"tomorrow"`), `params: /when: expected string, in the format date-time (such as 2006-01-02T15:04:05Z)`},
		{"a length", with(`"note":"x"`), `params: /note: expected string, at least 2 characters, at most 4 characters`},
		{"a multiple", with(`"ratio":0.3`), `params: /ratio: expected number, more than 0, less than 1, a multiple of 0.25`},
		{"too few items", with(`"items":[]`), `params: /items: expected array, at least 1 items, at most 2 items`},
		{"inside an item", with(`"items":[{"sku":"a"},{"sku":1}]`), `params: /items/1/sku: expected string`},
		{"missing in an item", with(`"items":[{}]`), `params: /items/0: missing "sku"`},
		{"equal items", with(`"set":[1,2,1]`), `params: /set: items 0 and 2 are equal, but all have to differ`},
		{"a choice of types", with(`"target":1`), `params: /target: expected string, or null`},
		{"the form that was meant", with(`"shape":{"kind":"circle","radius":"x"}`), `params: /shape/radius: expected number`},
		{"no form", with(`"shape":{"kind":"star"}`), `params: /shape: expected object, or object`},
		{"two forms", with(`"both":1`), `params: /both: expected exactly one of the allowed forms, but more than one fits`},
		{"excluded", with(`"not":"x"`), `params: /not: this value is excluded by the schema`},
		{"never", with(`"never":1`), `params: /never: nothing is allowed here`},
		{"a member name", with(`"open":{"A1":1}`), `params: /open: the member name "A1" is not allowed`},
		{"no members", with(`"open":{}`), `params: /open: expected object, at least 1 members`},
		{"a dependency", with(`"open":{"a":1}`), `params: /open: missing "b", needed beside "a"`},
		{"contains", with(`"has":["x"]`), `params: /has: expected array with other items`},
		{"one item too many", with(`"pair":["x",1]`), `params: /pair/1: nothing is allowed here`},
		{"an encoding", with(`"blob":""`), `params: /blob: expected string, at least 1 characters, encoded as base64`},
		{"a long list of choices", with(`"many":99`), `params: /many: expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 3 more`},
		{"choices of all kinds", with(`"mixed":99`), `params: /mixed: expected one of a fixed object, a fixed array, null, true, 1.5`},
		{"two faults, by pointer", `{"order_id":1,"cents":0}`, `params: /cents: expected integer, at least 1, at most 500; /order_id: expected string, matching "^[A-Z][0-9]+$"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 { // the validator visits members in random order
				o, err := s.Parse([]byte(tt.source), canon.Options{})
				require.EqualError(t, err, tt.want)
				require.True(t, o.IsZero())
				require.NotEmpty(t, params.Faults(err))
				var one *params.Error
				require.ErrorAs(t, err, &one)
				require.Equal(t, params.Faults(err)[0], one)
			}
		})
	}
	t.Run("unknown members", func(t *testing.T) {
		_, err := s.Parse([]byte(with(`"Cents":5,"zebra":1`)), canon.Options{AllowFoldClash: true})
		require.ErrorContains(t, err, `params: unknown "Cents", "zebra"; allowed: "blob", "both", "cents"`)
		require.ErrorContains(t, err, "and 8 more")
	})
	t.Run("validating again", func(t *testing.T) {
		o, err := canon.Parse([]byte(`{"cents":1}`), canon.Options{})
		require.NoError(t, err)
		require.EqualError(t, s.Validate(o), `params: missing "order_id"`)
		require.ErrorContains(t, s.Validate(canon.Object{}), "no parameter document")
	})
	t.Run("strict reading comes first", func(t *testing.T) {
		_, err := s.Parse([]byte(`{"cents":1,"cents":2}`), canon.Options{})
		var refused *canon.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, canon.ReasonDuplicate, refused.Reason)
		require.Nil(t, params.Faults(err))
	})
}

func TestProblemsInEarlierDrafts(t *testing.T) {
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
		"properties":{"t":{"items":[{}],"additionalItems":false}},"dependencies":{"a":["b"]}}`)
	_, err := s.Parse([]byte(`{"t":[1,2,3],"a":1}`), canon.Options{})
	require.EqualError(t, err, `params: missing "b", needed beside "a"; /t: the last 2 items are not allowed`)
}

func TestProblemsAreBounded(t *testing.T) {
	const secret = "hunter2-hunter2"
	members := make([]string, 0, 500)
	for i := range 500 {
		members = append(members, `"`+strings.Repeat("n", 80)+string(rune('a'+i%26))+strings.Repeat("x", i)+`":"`+secret+`"`)
	}
	source := []byte(`{` + strings.Join(members, ",") + `}`)
	t.Run("one fault with many names", func(t *testing.T) {
		_, err := compile(t, `{"type":"object","additionalProperties":false}`).Parse(source, canon.Options{})
		require.Less(t, len(err.Error()), 600)
		require.NotContains(t, err.Error(), secret)
	})
	t.Run("many faults", func(t *testing.T) {
		s := compile(t, `{"type":"object","additionalProperties":{"type":"integer"}}`)
		_, err := s.Parse(source, canon.Options{})
		require.Len(t, params.Faults(err), 8)
		require.True(t, strings.HasSuffix(err.Error(), "; and more"))
		require.NotContains(t, err.Error(), secret)
		require.Less(t, len(err.Error()), 2_000)
		_, again := s.Parse(source, canon.Options{})
		require.EqualError(t, again, err.Error())
		var unwrapped interface{ Unwrap() []error }
		require.True(t, errors.As(err, &unwrapped))
		require.Len(t, unwrapped.Unwrap(), 8)
	})
	t.Run("names that could mislead a reader", func(t *testing.T) {
		s := compile(t, `{"type":"object","additionalProperties":{"type":"integer"}}`)
		_, err := s.Parse([]byte(`{"a\n\u202eb c":"x"}`), canon.Options{})
		require.EqualError(t, err, `params: "/a\n\u202eb c": expected integer`)
	})
	t.Run("many alternatives", func(t *testing.T) {
		s := compile(t, object(`"a":{"anyOf":[{"type":"string"},{"type":"null"},{"type":"array"},{"type":"boolean"},{"type":"object"},{"enum":[1]},{"enum":[2]}]}`))
		_, err := s.Parse([]byte(`{"a":7}`), canon.Options{})
		require.EqualError(t, err, `params: /a: expected one of 7 forms that the schema describes`)
	})
}

func TestHasProperty(t *testing.T) {
	s := compile(t, `{"type":"object","$defs":{"address":{"type":"object","properties":{"city":{},"a/b":{}}}},
		"properties":{"order_id":{},"yes":true,"address":{"$ref":"#/$defs/address"},"labels":{"additionalProperties":{"properties":{"x":{}}}}},
		"allOf":[{"properties":{"extra":{"anyOf":[{"properties":{"deep":{}}}]}}}, true]}`)
	for _, path := range [][]string{{"order_id"}, {"yes"}, {"address", "city"}, {"address", "a/b"}, {"extra", "deep"}} {
		require.True(t, s.HasProperty(path...), "%v", path)
	}
	for _, path := range [][]string{nil, {""}, {"Order_id"}, {"address", "street"}, {"order_id", "x"}, {"yes", "x"}, {"labels", "a", "x"}, {"deep"}} {
		require.False(t, s.HasProperty(path...), "%v", path)
	}
}
