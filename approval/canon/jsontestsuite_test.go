package canon_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

func TestJSONTestSuite(t *testing.T) {
	// Valid JSON that has no exact canonical form.
	refused := map[string]canon.Reason{
		"y_object_duplicated_key":           canon.ReasonDuplicate,
		"y_object_duplicated_key_and_value": canon.ReasonDuplicate,
		"y_number_minus_zero":               canon.ReasonNegativeZero,
		"y_number_negative_zero":            canon.ReasonNegativeZero,
	}
	// Of what a parser may decide, only 10^20 is exact: binary64 holds it.
	const accepted = "i_number_too_big_pos_int"
	files := jsonTestSuite(t, "test_parsing")
	count := map[byte]int{}
	for name, in := range files {
		count[name[0]]++
		text, err := anyTop(string(in))
		e := refusal(t, err)
		want, isRefused := refused[name]
		switch {
		case isRefused:
			require.NotNil(t, e, name)
			require.Equal(t, want, e.Reason, name)
		case name[0] == 'y' || name == accepted:
			require.Nil(t, e, name)
		default:
			require.NotNil(t, e, "%s gives %.50s", name, text)
		}

		// The defaults differ in one thing only: the top must be an object. An
		// invalid character or an excess of bytes is seen before that.
		o, err := canon.Parse(in, canon.Options{})
		strict := refusal(t, err)
		top := bytes.TrimLeft(in, " \t\r\n")
		switch {
		case e != nil && (e.Reason == canon.ReasonUTF8 || e.Reason == canon.ReasonSize || e.Reason == canon.ReasonEmpty):
			require.Equal(t, e.Reason, strict.Reason, name)
		case string(bytes.TrimRight(top, " \t\r\n")) == "null":
			require.Equal(t, canon.ReasonNull, strict.Reason, name)
		case top[0] != '{':
			require.Equal(t, canon.ReasonNotObject, strict.Reason, name)
		case e != nil:
			require.Equal(t, e, strict, name)
		default:
			require.Nil(t, strict, name)
			require.Equal(t, text, o.String(), name)
		}
	}
	require.Equal(t, map[byte]int{'y': 95, 'n': 188, 'i': 35}, count)
}

func TestJSONTestSuiteTransform(t *testing.T) {
	want := map[string]string{
		"number_-9223372036854775808":         "[-9223372036854775808]",
		"number_-9223372036854775809":         "!inexact_number",
		"number_1.0":                          "[1]",
		"number_1.000000000000000005":         "!inexact_number",
		"number_1000000000000000":             "[1000000000000000]",
		"number_10000000000000000999":         "[10000000000000000999]",
		"number_1e-999":                       "!number_out_of_range",
		"number_1e6":                          "[1000000]",
		"number_9223372036854775807":          "[9223372036854775807]",
		"number_9223372036854775808":          "[9223372036854775808]",
		"object_key_nfc_nfd":                  "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}",
		"object_key_nfd_nfc":                  "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}",
		"object_same_key_different_values":    "!duplicate_name",
		"object_same_key_same_value":          "!duplicate_name",
		"object_same_key_unclear_values":      "!negative_zero", // reached before the object ends
		"string_1_escaped_invalid_codepoint":  "!lone_surrogate",
		"string_1_invalid_codepoint":          "!bad_utf8",
		"string_2_escaped_invalid_codepoints": "!lone_surrogate",
		"string_2_invalid_codepoints":         "!bad_utf8",
		"string_3_escaped_invalid_codepoints": "!lone_surrogate",
		"string_3_invalid_codepoints":         "!bad_utf8",
		"string_with_escaped_NULL":            "[\"A\\u0000B\"]",
	}
	got := map[string]string{}
	for name, in := range jsonTestSuite(t, "test_transform") {
		text, err := anyTop(string(in))
		got[name] = outcome(t, text, err)

		o, err := canon.Parse(in, canon.Options{})
		if in[0] == '{' || got[name] == "!bad_utf8" {
			require.Equal(t, got[name], outcome(t, o.String(), err), name)
		} else {
			require.Equal(t, "!not_an_object", outcome(t, o.String(), err), name)
		}
		// As a member the value fares as it does at the top.
		o, err = canon.Parse([]byte(`{"v":`+string(in)+`}`), canon.Options{})
		require.Equal(t, got[name], strings.TrimSuffix(strings.TrimPrefix(outcome(t, o.String(), err), `{"v":`), "}"), name)
	}
	require.Equal(t, want, got)
}
