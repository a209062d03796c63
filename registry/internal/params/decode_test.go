package params_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

type value[T any] struct {
	V T `json:"v"`
}

type optional[T any] struct {
	V T `json:"v,omitempty"`
}

type zeroable[T any] struct {
	V T `json:"v,omitzero"`
}

type texted[T any] struct {
	V T `json:"v,string"`
}

// door decodes {"v": source} into P; "" means that the door refused.
func door[P any](t *testing.T, source string) (p P, accepted bool) {
	t.Helper()
	return through[P](t, `{"v":`+source+`}`)
}

func through[P any](t *testing.T, source string) (p P, accepted bool) {
	t.Helper()
	s := generated[P](t)
	o, err := s.Parse([]byte(source), canon.Options{AllowFoldClash: true})
	if err != nil {
		return p, false
	}
	p, err = params.Decode[P](o)
	if err != nil {
		require.NotEmpty(t, params.Faults(err), "%v", err)
		require.Equal(t, *new(P), p, "nothing comes with an error")
		return p, false
	}
	return p, true
}

// exact expects a value to arrive as it is, refused expects it not to arrive.
func exact[P any](want P, source string) func(*testing.T) {
	return func(t *testing.T) {
		got, ok := through[P](t, source)
		require.True(t, ok, "refused: %s", source)
		require.Equal(t, want, got)
	}
}

func refused[P any](sources ...string) func(*testing.T) {
	return func(t *testing.T) {
		for _, source := range sources {
			got, ok := door[P](t, source)
			require.False(t, ok, "%s became %v", source, got)
		}
	}
}

func TestDecodeIsExactOrRefused(t *testing.T) {
	text := "x"
	long := time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC)
	tests := map[string]func(*testing.T){
		"int64 at 2^53+1":             exact(value[int64]{1<<53 + 1}, `{"v":9007199254740993}`),
		"int64 at -2^53-1":            exact(value[int64]{-1<<53 - 1}, `{"v":-9007199254740993}`),
		"int64 at 2^63-1":             exact(value[int64]{math.MaxInt64}, `{"v":9223372036854775807}`),
		"int64 at -2^63":              exact(value[int64]{math.MinInt64}, `{"v":-9223372036854775808}`),
		"int64 in another spelling":   exact(value[int64]{100}, `{"v":1.00e2}`),
		"int64 beyond":                refused[value[int64]](`9223372036854775808`, `-9223372036854775809`, `1e19`, `1e300`, `0.5`, `"1"`, `null`, `-0`, `true`),
		"int8 beyond":                 refused[value[int8]](`128`, `-129`, `1e3`),
		"uint64 at 2^64-1":            exact(value[uint64]{math.MaxUint64}, `{"v":18446744073709551615}`),
		"uint64 at 2^63":              exact(value[uint64]{1 << 63}, `{"v":9223372036854775808}`),
		"uint64 beyond":               refused[value[uint64]](`18446744073709551616`, `-1`),
		"int64 as text":               exact(texted[int64]{math.MaxInt64}, `{"v":"9223372036854775807"}`),
		"int64 as text, negative":     exact(texted[int64]{-7}, `{"v":"-7"}`),
		"int64 as text, other texts":  refused[texted[int64]](`"01"`, `"1.0"`, `"1e2"`, `"-0"`, `"+1"`, `" 1"`, `""`, `"9223372036854775808"`, `1`),
		"uint32 as text":              refused[texted[uint32]](`"-1"`, `"4294967296"`),
		"float64 as text":             exact(texted[float64]{0.25}, `{"v":"0.25"}`),
		"float64 as text, others":     refused[texted[float64]](`"0.250"`, `"1e-400"`, `"NaN"`, `"9007199254740993"`),
		"float64":                     exact(value[float64]{0.1}, `{"v":0.1}`),
		"float64 at 2^53":             exact(value[float64]{1 << 53}, `{"v":9007199254740992}`),
		"float64 huge":                exact(value[float64]{1e300}, `{"v":1e300}`),
		"float64 that would round":    refused[value[float64]](`9007199254740993`, `-9007199254740993`, `9223372036854775807`, `18446744073709551615`, `0.10000000000000000001`, `1e400`, `1e-400`, `-0.0`),
		"float32 exact":               exact(value[float32]{0.5}, `{"v":0.5}`),
		"float32 shortest":            exact(value[float32]{0.1}, `{"v":0.1}`),
		"float32 at 2^24":             exact(value[float32]{1 << 24}, `{"v":16777216}`),
		"float32 that would round":    refused[value[float32]](`16777217`, `0.12345678901`, `1e39`, `1e-60`),
		"decimal as text":             exact(value[string]{"0.10000000000000000001"}, `{"v":"0.10000000000000000001"}`),
		"bool":                        exact(value[bool]{true}, `{"v":true}`),
		"text":                        exact(value[string]{"é\u2028<&>\U0001F600\x00"}, `{"v":"\u00e9\u2028<&>😀\u0000"}`),
		"text that is none":           refused[value[string]]("\"\xff\"", `"\ud800"`, `1`, `null`),
		"enum":                        exact(value[color]{"red"}, `{"v":"red"}`),
		"enum, another":               refused[value[color]](`"Red"`, `"blue"`),
		"self-describing":             exact(value[chosen]{"a"}, `{"v":"a"}`),
		"time":                        exact(value[time.Time]{long}, `{"v":"2024-02-29T23:59:59.123456789Z"}`),
		"time in other spellings":     refused[value[time.Time]](`"2024-02-29T23:59:59.10Z"`, `"2024-02-29T23:59:59+00:00"`, `"2024-02-29t23:59:59z"`, `"2024-02-29T23:59:59,5Z"`, `"2023-02-29T00:00:00Z"`, `"2024-02-29"`, `1`),
		"pointer":                     exact(value[*string]{&text}, `{"v":"x"}`),
		"pointer, null":               refused[value[*string]](`null`),
		"pointer to pointer":          exact(value[*string]{&text}, `{"v":"x"}`),
		"optional pointer, absent":    exact(optional[*string]{}, `{}`),
		"optional number, absent":     exact(optional[int]{}, `{}`),
		"optional number, zero":       exact(optional[int]{}, `{"v":0}`),
		"optional bool, false":        exact(optional[bool]{}, `{"v":false}`),
		"optional text, empty":        exact(optional[string]{}, `{"v":""}`),
		"optional slice, empty":       exact(optional[[]int]{[]int{}}, `{"v":[]}`),
		"optional map, empty":         exact(optional[map[string]int]{map[string]int{}}, `{"v":{}}`),
		"optional struct, absent":     exact(optional[base]{}, `{}`),
		"optional struct, given":      exact(optional[base]{base{"x"}}, `{"v":{"id":"x"}}`),
		"optional struct, zero":       exact(optional[base]{}, `{"v":{"id":""}}`),
		"zeroable struct, zero":       exact(zeroable[base]{}, `{"v":{"id":""}}`),
		"zeroable time, absent":       exact(zeroable[time.Time]{}, `{}`),
		"zeroable time, zero":         exact(zeroable[time.Time]{}, `{"v":"0001-01-01T00:00:00Z"}`),
		"zeroable in zeroable, zero":  exact(zeroable[zeroable[int]]{}, `{"v":{"v":0}}`),
		"zeroable in zeroable, empty": exact(zeroable[zeroable[int]]{}, `{"v":{}}`),
		"zeroable in slices":          exact(value[[]zeroable[int]]{[]zeroable[int]{{0}, {1}, {}}}, `{"v":[{"v":0},{"v":1},{}]}`),
		"zeroable in maps":            exact(value[map[string]*optional[string]]{map[string]*optional[string]{"a": {}, "b": {"x"}}}, `{"v":{"a":{"v":""},"b":{"v":"x"}}}`),
		"slice":                       exact(value[[]int8]{[]int8{-1, 0, 127}}, `{"v":[-1,0,127]}`),
		"slice, empty":                exact(value[[]int8]{[]int8{}}, `{"v":[]}`),
		"slice, null":                 refused[value[[]int8]](`null`),
		"array":                       exact(value[[2]int]{[2]int{1, 2}}, `{"v":[1,2]}`),
		"array of another length":     refused[value[[2]int]](`[1]`, `[1,2,3]`, `[]`),
		"bytes":                       exact(value[[]byte]{[]byte("a")}, `{"v":"YQ=="}`),
		"bytes, empty":                exact(value[[]byte]{[]byte{}}, `{"v":""}`),
		"bytes in other spellings":    refused[value[[]byte]](`"YR=="`, `"YQ"`, `"Y Q=="`, `"YQ==\n"`, `"-_=="`, `[97]`, `null`),
		"byte array":                  exact(value[[3]byte]{[3]byte{'a', 'b', 'c'}}, `{"v":"YWJj"}`),
		"byte array, too long":        refused[value[[3]byte]](`"YWJjYQ=="`, `"YWI="`),
		"map":                         exact(value[map[string]bool]{map[string]bool{"b": true, "A": false}}, `{"v":{"b":true,"A":false}}`),
		"raw":                         exact(value[json.RawMessage]{json.RawMessage(`{"a":[1,9007199254740993]}`)}, `{"v":{"a":[1,9007199254740993.0]}}`),
		"raw value":                   exact(value[jsontext.Value]{jsontext.Value(`[1]`)}, `{"v":[1]}`),
		"any":                         exact(value[any]{map[string]any{"a": []any{1.5, "x", nil, true}}}, `{"v":{"a":[1.5,"x",null,true]}}`),
		"any, null":                   exact(value[any]{}, `{"v":null}`),
		"any that would round":        refused[value[any]](`9007199254740993`, `{"a":[9007199254740993]}`),
		"recursive":                   exact(node{Value: 1, Kids: []node{{Value: 2, Left: &node{Value: 3}}}}, `{"kids":[{"left":{"value":3},"value":2}],"value":1}`),
		"embedded":                    exact(embedding{base{"a"}, &Shared{"b"}, 1}, `{"id":"a","second":"b","n":1}`),
		"embedded, unknown":           refused[embedding](`1`),
		"generic":                     exact(value[box[filter]]{box[filter]{filter{"x"}}}, `{"v":{"Value":{"Field":"x"}}}`),
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}

type embedding struct {
	base
	*Shared
	N int `json:"n"`
}

func TestDecodeNull(t *testing.T) {
	type nullable struct {
		Text *string        `json:"text" jsonschema:"nullable"`
		List []int          `json:"list" jsonschema:"nullable"`
		Map  map[string]int `json:"map" jsonschema:"nullable"`
		Data []byte         `json:"data" jsonschema:"nullable"`
		More *base          `json:"more,omitempty" jsonschema:"nullable"`
	}
	t.Run("null", exact(nullable{}, `{"text":null,"list":null,"map":null,"data":null,"more":null}`))
	t.Run("empty is something else", exact(nullable{new(string), []int{}, map[string]int{}, []byte{}, nil},
		`{"text":"","list":[],"map":{},"data":""}`))
}

// The hazards of decoding by the older rules of encoding/json.
func TestHazards(t *testing.T) {
	type target struct {
		Path  string            `json:"path,omitempty"`
		User  string            `json:"user,omitempty"`
		Token string            `json:"token,omitempty"`
		Count int64             `json:"count,omitempty"`
		Pair  [2]int            `json:"pair,omitempty"`
		Data  []byte            `json:"data,omitempty"`
		Map   map[string]string `json:"map,omitempty"`
		Any   any               `json:"any,omitempty"`
		F32   float32           `json:"f32,omitempty"`
		Ratio float64           `json:"ratio,omitempty"`
	}
	for name, source := range map[string]string{
		"names that differ by case":   `{"path":"/safe","Path":"/etc"}`,
		"one name, another case":      `{"Path":"/etc"}`,
		"a name twice":                `{"path":"/safe","path":"/etc"}`,
		"a long s":                    `{"user":"alice","uſer":"mallory"}`,
		"a Kelvin sign":               `{"token":"a","to` + "\u212a" + `en":"b"}`,
		"null for a text":             `{"path":null}`,
		"an integer in any":           `{"any":9007199254740993}`,
		"a float32 that rounds":       `{"f32":16777217}`,
		"a float64 that vanishes":     `{"ratio":1e-400}`,
		"invalid UTF-8":               "{\"path\":\"a\xffb\"}",
		"a lone surrogate":            `{"path":"\ud800"}`,
		"one item too many":           `{"pair":[1,2,3]}`,
		"one item too few":            `{"pair":[1]}`,
		"base64 with other last bits": `{"data":"YR=="}`,
		"a second document":           `{"path":"a"}{"path":"b"}`,
		"trailing text":               `{"path":"a"} x`,
		"an unknown name":             `{"path":"a","extra":1}`,
		"a document of null":          `null`,
		"a list":                      `[]`,
		"nothing":                     ``,
		"a number as text":            `{"count":"1"}`,
		"a text as number":            `{"path":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []canon.Options{{}, {AllowFoldClash: true}} {
				object, err := generated[target](t).Parse([]byte(source), o)
				if err == nil {
					_, err = params.Decode[target](object)
				}
				require.Error(t, err)
			}
		})
	}
	t.Run("a whole number in another spelling is that number", func(t *testing.T) {
		got, ok := through[target](t, `{"count":1.0}`)
		require.True(t, ok)
		require.EqualValues(t, 1, got.Count)
	})
	t.Run("each call has its own value", func(t *testing.T) {
		s := generated[target](t)
		first, err := s.Parse([]byte(`{"map":{"old":"1"}}`), canon.Options{})
		require.NoError(t, err)
		second, err := s.Parse([]byte(`{"map":{"new":"2"}}`), canon.Options{})
		require.NoError(t, err)
		a, err := params.Decode[target](first)
		require.NoError(t, err)
		a.Map["old"] = "changed"
		b, err := params.Decode[target](second)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"new": "2"}, b.Map)
		again, err := params.Decode[target](first)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"old": "1"}, again.Map)
	})
}

func TestDecodeRaw(t *testing.T) {
	o := parsed(t, `{"b":1.0,"a":"x"}`)
	raw, err := params.Decode[json.RawMessage](o)
	require.NoError(t, err)
	require.Equal(t, `{"a":"x","b":1}`, string(raw))
	raw[0] = 'x'
	require.Equal(t, `{"a":"x","b":1}`, o.String())
	_, err = params.Decode[json.RawMessage](canon.Object{})
	require.ErrorContains(t, err, "no parameter document")
}

// Types whose own methods do not keep what they are given.
type (
	forgetful struct{ kept string }
	panicking struct{}
	shouting  string
	inventive struct{ A, B int }
	mute      struct{}
)

func (f *forgetful) UnmarshalJSON([]byte) error   { return nil }
func (f forgetful) MarshalJSON() ([]byte, error)  { return []byte(`{}`), nil }
func (panicking) UnmarshalJSON([]byte) error      { panic("no") }
func (s shouting) MarshalText() ([]byte, error)   { return []byte(strings.ToUpper(string(s))), nil }
func (s *shouting) UnmarshalText(b []byte) error  { *s = shouting(b); return nil }
func (i *inventive) UnmarshalJSON(b []byte) error { i.A, i.B = 1, 2; return nil }
func (i inventive) MarshalJSON() ([]byte, error)  { return []byte(`{"a":1,"b":2}`), nil }
func (mute) MarshalJSON() ([]byte, error)         { return nil, json.Unmarshal([]byte("{"), new(any)) }

func TestDecodeDoubtsMethods(t *testing.T) {
	tests := []struct {
		name, source, want string
		decode             func(canon.Object) error
	}{
		{"a root that forgets", `{"a":1}`, "params: expected a value that object holds exactly", into[forgetful]},
		{"a member that forgets", `{"v":{"a":1}}`, "params: /v: expected a value that object holds exactly", into[value[forgetful]]},
		{"a method that panics", `{"v":1}`, "panicked", into[value[panicking]]},
		{"a text that changes", `{"v":"abc"}`, "params: /v: expected a value that string holds exactly", into[value[shouting]]},
		{"in a map", `{"v":{"k":"abc"}}`, "params: /v/k: ", into[value[map[string]shouting]]},
		{"in a list", `{"v":["ABC","abc"]}`, "params: /v/1: ", into[value[[]shouting]]},
		{"a key that changes", `{"v":{"abc":1}}`, "params: /v/abc: this member is not kept", into[value[map[shouting]int]]},
		{"members that were not given", `{"a":1}`, "expected a value", into[inventive]},
		{"what cannot be encoded", `{"v":{}}`, "cannot be encoded again", into[value[mute]]},
		{"a missing member", `{}`, `params: missing "v"`, into[value[int]]},
		{"a nested missing member", `{"v":[{}]}`, `params: /v/0: missing "v"`, into[value[[]value[int]]]},
		{"an unknown member", `{"v":1,"w":2}`, `params: unknown "w"`, into[value[int]]},
		{"a nested unknown member", `{"v":{"a/b":2}}`, `params: /v: unknown "a/b"`, into[value[base]]},
		{"another type", `{"v":"secret"}`, `params: /v: expected a value that fits int8`, into[value[int8]]},
		{"an object for a list", `{"v":{}}`, `params: /v: expected a value that fits array`, into[value[[]int]]},
		{"base64 that is none", `{"v":"!"}`, `params: /v: expected a value that fits base64`, into[value[[]byte]]},
		{"a time that is none", `{"v":"noon"}`, `params: /v: expected a value that fits an RFC 3339 time`, into[value[time.Time]]},
		{"a scalar root", `{"v":1}`, `params: expected a value that fits int`, into[int]},
		{"null in a list of numbers", `{"v":[1,null]}`, `params: /v/1: expected a value that int holds exactly`, into[value[[]int]]},
		{"no document", ``, "no parameter document", into[value[int]]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := canon.Object{}
			if tt.source != "" {
				o = parsed(t, tt.source)
			}
			err := tt.decode(o)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func into[P any](o canon.Object) error {
	_, err := params.Decode[P](o)
	return err
}

func parsed(t testing.TB, source string) canon.Object {
	t.Helper()
	o, err := canon.Parse([]byte(source), canon.Options{})
	require.NoError(t, err)
	return o
}

// A map or raw member may carry what no schema names.
func TestDecodeOpenTypes(t *testing.T) {
	m, err := params.Decode[map[string]any](parsed(t, `{"a":1,"b":[null]}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": 1.0, "b": []any{nil}}, m)
	require.Error(t, into[map[string]any](parsed(t, `{"a":9007199254740993}`)))
	type rest struct {
		A int            `json:"a"`
		X map[string]any `json:",embed"`
	}
	r, err := params.Decode[rest](parsed(t, `{"a":1,"b":2}`))
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(rest{1, map[string]any{"b": 2.0}}, r))
}
