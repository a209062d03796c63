package canon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

func parse(t testing.TB, src string) canon.Object {
	t.Helper()
	o, err := canon.Parse([]byte(src), canon.Options{})
	require.NoError(t, err)
	return o
}

func TestZeroObjectIsNoDocument(t *testing.T) {
	var zero canon.Object
	require.True(t, zero.IsZero())
	require.Empty(t, zero.String())
	require.Nil(t, zero.Bytes())
	require.True(t, zero.Hash().IsZero())
	require.Empty(t, zero.Display(0))
	require.Empty(t, zero.Display(1))
	require.Empty(t, zero.Suspicions())
	_, err := zero.MarshalJSON()
	require.Equal(t, canon.ReasonEmpty, refusal(t, err).Reason)
	_, err = json.Marshal(struct{ P canon.Object }{})
	require.Error(t, err)

	empty := parse(t, "{}")
	require.False(t, empty.IsZero())
	require.NotEqual(t, zero, empty)
	require.NotEqual(t, zero.Hash(), empty.Hash())
}

func TestObjectIsImmutable(t *testing.T) {
	src := []byte(`{"b":1,"a":2}`)
	o, err := canon.Parse(src, canon.Options{})
	require.NoError(t, err)
	before := o
	copy(src, `{"x":9,"y":8}`)
	o.Bytes()[2] = 'z'
	require.Equal(t, `{"a":2,"b":1}`, o.String())
	require.True(t, o == before)
	require.True(t, o == parse(t, ` {"a":2.0, "\u0062":1e0} `))
}

func TestObjectInsideJSON(t *testing.T) {
	type row struct {
		Params canon.Object `json:"params,omitzero"`
		Hash   canon.Hash   `json:"hash,omitzero"`
	}
	o := parse(t, `{"n":9007199254740993,"a":"\u00e9"}`)
	b, err := json.Marshal(row{o, o.Hash()})
	require.NoError(t, err)
	require.Equal(t, `{"params":{"a":"é","n":9007199254740993},"hash":"`+o.Hash().String()+`"}`, string(b))
	b, err = json.Marshal(row{})
	require.NoError(t, err)
	require.Equal(t, `{}`, string(b))

	var r row
	require.ErrorContains(t, json.Unmarshal([]byte(`{"params":{"a":1}}`), &r), "use Parse or Stored")
	require.True(t, r.Params.IsZero())
}

func TestStoredAcceptsOnlyItself(t *testing.T) {
	for _, text := range []string{`{}`, `{"A":1,"a":2}`, `{"n":1e+21,"s":"\u0001é"}`} {
		o, err := canon.Stored(text)
		require.NoError(t, err)
		require.Equal(t, text, o.String())
	}
	for text, want := range map[string]string{
		``:                 "empty 0",
		` {}`:              "not_canonical 0",
		"{}\n":             "not_canonical 2",
		`{"b":1,"a":1}`:    "not_canonical 2",
		`{"a":1.0}`:        "not_canonical 6",
		`{"a":"\u0041"}`:   "not_canonical 6",
		`{"a":"\/"}`:       "not_canonical 6",
		`{"a":1,"a":1}`:    "duplicate_name 7",
		`{"a":-0}`:         "negative_zero 5",
		"{\"a\":\"\xff\"}": "bad_utf8 6",
		`[]`:               "not_an_object 0",
	} {
		o, err := canon.Stored(text)
		e := refusal(t, err)
		require.NotNil(t, e, text)
		require.Equal(t, want, fmt.Sprint(e.Reason, " ", e.Offset), text)
		require.True(t, o.IsZero())
	}
}

func TestFoldRule(t *testing.T) {
	for _, doc := range []string{
		`{"path":1,"Path":2}`,
		`{"k":1,"b":{},"\u212a":2}`,
		`{"user":1,"uſer":2}`,
		`{"ΣΑΣ":1,"σας":2}`,
		`{"a":[{"É":1,"é":2}]}`,
		`{"ǅ":1,"ǆ":2}`,
	} {
		_, err := canon.Parse([]byte(doc), canon.Options{})
		require.Equal(t, canon.ReasonFoldClash, refusal(t, err).Reason, doc)
		relaxed, err := canon.Parse([]byte(doc), canon.Options{AllowFoldClash: true})
		require.NoError(t, err, doc)
		again, err := canon.Stored(relaxed.String())
		require.NoError(t, err, doc)
		require.Equal(t, relaxed, again)
	}
	// Full case folding would make these equal; simple folding, which decoders
	// use, does not.
	for _, doc := range []string{`{"ß":1,"ss":2}`, `{"Straße":1,"STRASSE":2}`, `{"e\u0301":1,"\u00e9":2}`, `{"I":1,"ı":2}`, `{"A":{"a":1}}`} {
		parse(t, doc)
	}
	// The option relaxes nothing else.
	_, err := canon.Parse([]byte(`{"a":1,"A":2,"a":3}`), canon.Options{AllowFoldClash: true})
	require.Equal(t, canon.ReasonDuplicate, refusal(t, err).Reason)
}

func TestOrderOfNames(t *testing.T) {
	// By UTF-16 code units: an emoji (D83D DE00) comes before U+E000 and U+FFFD.
	o := parse(t, "{\"\ufffd\":1,\"\ue000\":2,\"😀\":3,\"\ud7ff\":4,\"é\":5,\"z\":6,\"\":7,\"𐀀\":8,\"\U0010ffff\":9,\"\\n\":10,\"\\\"\":11,\"zz\":12}")
	require.Equal(t, "{\"\":7,\"\\n\":10,\"\\\"\":11,\"z\":6,\"zz\":12,\"é\":5,\"\ud7ff\":4,\"𐀀\":8,\"😀\":3,\"\U0010ffff\":9,\"\ue000\":2,\"\ufffd\":1}", o.String())
}

func TestHash(t *testing.T) {
	h := parse(t, `{}`).Hash()
	const text = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	require.Equal(t, text, h.String())
	require.Equal(t, text[:16], h.Short())
	require.Equal(t, text, fmt.Sprintf("%v", h))

	parsed, err := canon.ParseHash(text)
	require.NoError(t, err)
	require.Equal(t, h, parsed)
	for _, bad := range []string{"", text[1:], text + "0", strings.ToUpper(text), " " + text[1:], "g" + text[1:], "0x" + text[2:], strings.Repeat("0", 64), text[:63] + "\n"} {
		_, err := canon.ParseHash(bad)
		require.ErrorIs(t, err, canon.ErrHash, bad)
		u := h
		require.ErrorIs(t, u.UnmarshalText([]byte(bad)), canon.ErrHash)
		require.Equal(t, h, u)
	}
	var u canon.Hash
	require.NoError(t, u.UnmarshalText([]byte(text)))
	require.Equal(t, h, u)
	b, err := h.MarshalText()
	require.NoError(t, err)
	require.Equal(t, text, string(b))
	_, err = canon.Hash{}.MarshalText()
	require.ErrorIs(t, err, canon.ErrHash)
}

func TestErrorsSayWhere(t *testing.T) {
	for _, c := range []struct {
		src, reason, pointer string
		offset               int
	}{
		{``, "empty", "", 0},
		{" \t\r\n", "empty", "", 4},
		{` null `, "null", "", 1},
		{`nullx`, "not_an_object", "", 0},
		{` [1]`, "not_an_object", "", 1},
		{`{"a":1} ]`, "trailing_data", "", 8},
		{`{"a":{"b":[1,2,{"c":-0}]}}`, "negative_zero", "/a/b/2/c", 20},
		{`{"a/b":{"m~n":1e999}}`, "number_out_of_range", "/a~1b/m~0n", 14},
		{`{"":{"":0.30000000000000001}}`, "inexact_number", "//", 8},
		{`{"\u0061\"":[1,01]}`, "syntax", `/a"/1`, 16},
		{`{"a":1,"b":{"x":1,"\u0078":2}}`, "duplicate_name", "/b/x", 18},
		{`{"c":1,"a":{},"b":0,"c":2,"c":3}`, "duplicate_name", "/c", 20},
		{`{"x":[{"path":1,"z":{},"PATH":2}]}`, "case_fold_clash", "/x/0/PATH", 23},
		{`{"a":{"b":"x\ud800y"}}`, "lone_surrogate", "/a/b", 12},
		{`{"a":{"\ud800":1}}`, "lone_surrogate", "/a", 7},
		{`{"a":["ok","\ud83d\u0041"]}`, "lone_surrogate", "/a/1", 12},
		{`{"a":"\ud83d\ude0"}`, "syntax", "/a", 17},
		{`{"a":"\ud83d\x"}`, "lone_surrogate", "/a", 6},
		{`{"a":"\x"}`, "syntax", "/a", 7},
		{`{"a":"\u12G4"}`, "syntax", "/a", 10},
		{"{\"a\":[\"\\n\x01\"]}", "syntax", "/a/0", 9},
		{`{"a":truE}`, "syntax", "/a", 5},
		{`{"a":1.}`, "syntax", "/a", 7},
		{`{"a":1e+}`, "syntax", "/a", 8},
		{`{"a":-}`, "syntax", "/a", 6},
		{`{"a":-01}`, "syntax", "/a", 7},
		{`{"a":+1}`, "syntax", "/a", 5},
		{`{"a" 1}`, "syntax", "", 5},
		{`{"a":1 "b":2}`, "syntax", "", 7},
		{`{"a":[1,]}`, "syntax", "/a/1", 8},
		{`{"a":1,}`, "syntax", "", 7},
		{`{,}`, "syntax", "", 1},
		{`{"a":{`, "syntax", "/a", 6},
		{`{"a":` + strings.Repeat("1", 129) + `}`, "number_too_long", "/a", 5},
		{strings.Repeat(`{"d":[`, 33), "too_deep", strings.Repeat("/d/0", 32), 6 * 32},
		{"{\"a\":{\"b\":[0,\"x\xffy\"]}}", "bad_utf8", "/a/b/1", 15},
		{"{\"a\":\xff}", "bad_utf8", "/a", 5},
		{"{\"a\":1,\"b\xff\":2}", "bad_utf8", "", 9},
		{"{\"a\":{\"b\":01},\"c\":\"\xff\"}", "bad_utf8", "", 19}, // not /a/b
		{"{]\xff", "bad_utf8", "", 2},
		{"[\"\xff\"]", "bad_utf8", "", 2},
		{"\xff", "bad_utf8", "", 0},
		{`{"a":"` + strings.Repeat("x", canon.MaxBytes) + `"}`, "too_large", "", 0},
	} {
		_, err := canon.Parse([]byte(c.src), canon.Options{})
		e := refusal(t, err)
		require.NotNil(t, e, c.src)
		require.Equal(t, fmt.Sprintf("%s %q %d", c.reason, c.pointer, c.offset), fmt.Sprintf("%s %q %d", e.Reason, e.Pointer, e.Offset), "%.80s", c.src)
		require.True(t, strings.HasPrefix(err.Error(), "canon: "+c.reason), err)
	}
}

func TestErrorTextIsBoundedAndClean(t *testing.T) {
	_, err := canon.Parse([]byte(`{"card":4111111111111111.25}`), canon.Options{})
	require.EqualError(t, err, `canon: inexact_number at "/card" (byte 8): write fewer digits, or send the number as a string`)

	name := strings.Repeat("é\\u202e\\n", 10_000)
	_, err = canon.Parse([]byte(`{"`+name+`":"secret`), canon.Options{})
	require.Less(t, len(err.Error()), 1_000)
	require.NotContains(t, err.Error(), "secret")
	for _, r := range err.Error() {
		require.False(t, forbidden(r), "%U", r)
	}
	require.Contains(t, err.Error(), `é\u202e\né`)
	require.Contains(t, err.Error(), `"… (byte `)
	require.Len(t, refusal(t, err).Pointer, 1+10_000*len("é\u202e\n"))

	for range 8 { // wherever the cut falls, no character is split
		name = "x" + name
		_, err = canon.Parse([]byte(`{"`+name+`":-0}`), canon.Options{})
		require.NotContains(t, err.Error(), `\x`)
	}
}

func TestReasonText(t *testing.T) {
	seen := map[string]bool{}
	for r := canon.ReasonEmpty; r <= canon.ReasonNotCanonical; r++ {
		code, err := r.MarshalText()
		require.NoError(t, err)
		require.Equal(t, r.String(), string(code))
		require.Regexp(t, `^[a-z0-9_]+$`, r.String())
		require.False(t, seen[r.String()])
		seen[r.String()] = true
		var back canon.Reason
		require.NoError(t, back.UnmarshalText(code))
		require.Equal(t, r, back)
		require.True(t, strings.HasPrefix((&canon.Error{Reason: r}).Error(), "canon: "+r.String()+" (byte 0): "))
	}
	for _, r := range []canon.Reason{0, canon.ReasonNotCanonical + 1, 255} {
		require.Equal(t, "unknown", r.String())
		_, err := r.MarshalText()
		require.Error(t, err)
		require.Equal(t, "canon: unknown (byte 0)", (&canon.Error{Reason: r}).Error())
	}
	r := canon.ReasonSize
	require.Error(t, r.UnmarshalText([]byte("")))
	require.Error(t, r.UnmarshalText([]byte("unknown")))
	require.Equal(t, canon.ReasonSize, r)

	var e *canon.Error
	require.True(t, errors.As(fmt.Errorf("parameters: %w", &canon.Error{Reason: canon.ReasonNull}), &e))
}
