package params

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// Whatever the quick rules accept, the full validator accepts too.
func TestQuickRulesAcceptNothingElse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	numbers := []string{"0", "1", "-1", "2", "0.5", "0.1", "-0.1", "1e300", "9007199254740992", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "1.5e-7", "5e-324"}
	var schema func(depth int) string
	schema = func(depth int) string {
		kind := random.IntN(9)
		if depth <= 0 {
			kind = random.IntN(6)
		}
		switch kind {
		case 0:
			return `{"type":"` + pick("string", "integer", "number", "boolean", "null") + `"}`
		case 1:
			return `{"type":"` + pick("integer", "number") + `","` + pick("minimum", "exclusiveMinimum") + `":` + pick(numbers...) + `}`
		case 2:
			return `{"` + pick("maximum", "exclusiveMaximum") + `":` + pick(numbers...) + `,"minimum":` + pick(numbers...) + `}`
		case 3:
			return `{"type":["string","null"],"minLength":` + pick("0", "1", "2") + `,"maxLength":2}`
		case 4:
			return `{"enum":["a",1,` + pick("1.0", "null", "true", "2") + `]}`
		case 5:
			return pick(`{}`, `true`, `{"pattern":"^a"}`, `{"format":"date-time"}`, `{"$ref":"#/$defs/d"}`, `{"$ref":"#/$defs/d","maximum":1}`)
		case 6:
			return `{"type":"array","items":` + schema(depth-1) + `,"` + pick("minItems", "maxItems") + `":1}`
		case 7:
			return `{"type":"object","properties":{"a":` + schema(depth-1) + `},"` + pick("minProperties", "maxProperties") + `":1,"additionalProperties":` + pick("false", "true", schema(depth-1)) + `}`
		}
		return `{"type":"object","properties":{"a":` + schema(depth-1) + `,"b":` + schema(depth-1) + `},"required":["` + pick("a", "b", "c") + `"]}`
	}
	var value func(depth int) string
	value = func(depth int) string {
		kind := random.IntN(6)
		if depth <= 0 {
			kind = random.IntN(4)
		}
		switch kind {
		case 0, 1:
			return pick(numbers...)
		case 2:
			return pick(`"a"`, `""`, `"abc"`, `"2006-01-02T15:04:05Z"`, `"é"`)
		case 3:
			return pick("null", "true", "false")
		case 4:
			return `[` + value(depth-1) + pick("", `,`+value(depth-1)) + `]`
		}
		return `{"` + pick("a", "b", "d") + `":` + value(depth-1) + pick("", `,"c":`+value(depth-1)) + `}`
	}
	accepted, refused := 0, 0
	for range 1_500 {
		raw := `{"type":"object","$defs":{"d":` + schema(0) + `},"properties":{"v":` + schema(3) + `}}`
		s, err := Compile(json.RawMessage(raw))
		if err != nil || s.quick == nil {
			continue
		}
		for range 20 {
			o, err := canon.Parse([]byte(`{"v":`+value(3)+`}`), canon.Options{})
			if err != nil {
				continue
			}
			d, err := readCanonical(o.String())
			require.NoError(t, err)
			full := s.run(s.compiled, d.root)
			if s.quick.accepts(d.root, 0) {
				accepted++
				require.NoError(t, full, "%s\n%s", raw, o)
			} else if full != nil {
				refused++
			}
		}
	}
	require.Greater(t, accepted, 1_000, strconv.Itoa(refused)+" refused by both")
	require.Greater(t, refused, 1_000)
}

// Schemas that Go types yield are within what the quick rules express.
func TestQuickRulesCoverWhatIsGenerated(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"type":"object","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},
		"properties":{"n":{"$ref":"#/$defs/n"},"i":{"type":"integer","minimum":0,"maximum":255},"s":{"type":"string","pattern":"^a"}},"additionalProperties":false}`))
	require.NoError(t, err)
	require.NotNil(t, s.quick)
	d, err := readCanonical(`{"i":255,"n":{"next":{"next":{}}},"s":"ab"}`)
	require.NoError(t, err)
	require.True(t, s.quick.accepts(d.root, 0))
}

// A reader of canonical text gives back what was written.
func TestReadCanonical(t *testing.T) {
	const text = `{"a":[],"b":{},"c":"x\"\\\n\u0000é","d":[1,-2.5,1e+300,true,false,null],"\"\\":{"e":[[{}]]}}`
	o, err := canon.Parse([]byte(text), canon.Options{})
	require.NoError(t, err)
	d, err := readCanonical(o.String())
	require.NoError(t, err)
	again, err := canon.Parse(appendJSON(nil, d.root), canon.Options{})
	require.NoError(t, err)
	require.Equal(t, o, again)
	require.Equal(t, "x\"\\\n\x00é", d.root["c"])
	require.Equal(t, 15, d.values)
	require.Equal(t, d.root, clone(d.root))
}
