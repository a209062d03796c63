package chattools_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
)

// An invalid call is told where the fault is and what was expected, all faults at once, and never a value.
func TestInvalidNamesPlaceAndExpectation(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	for _, test := range []struct {
		name, tool, arguments, want string
	}{
		{"nothing", "find_order", ``, `empty (byte 0): send an object; {} if there are no parameters`},
		{"null", "find_order", `null`, `null (byte 0): send an object; {} if there are no parameters`},
		{"no object", "find_order", `["hunter2"]`, `not_an_object (byte 0): the parameters must be one JSON object`},
		{"broken", "find_order", `{"order":"hunter2"`, `syntax (byte 18): this is not valid JSON`},
		{"more", "find_order", `{"order":"a1"} hunter2`, `trailing_data (byte 15): nothing may follow the object`},
		{"a name twice", "find_order", `{"order":"a1","order":"hunter2"}`, `duplicate_name at "/order" (byte 14): a name may occur once in an object`},
		{"names apart only by case", "find_order", `{"order":"a1","Order":"hunter2"}`, `case_fold_clash at "/Order" (byte 14): names in an object may not differ only by case`},
		{"no UTF-8", "find_order", "{\"order\":\"hunter2\xff\"}", `bad_utf8 at "/order" (byte 17): the text must be valid UTF-8`},
		{"half a character", "find_order", `{"order":"hunter2\ud800"}`, `lone_surrogate at "/order" (byte 17): a \u surrogate needs its other half`},
		{"an inexact number", "refund_order", `{"order":"a1","cents":0.1234567890123456789}`, `inexact_number at "/cents" (byte 22): write fewer digits, or send the number as a string`},
		{"minus zero", "refund_order", `{"order":"a1","cents":-0}`, `negative_zero at "/cents" (byte 22): write 0, or send the number as a string`},
		{"a missing parameter", "refund_order", `{"cents":5}`, `missing "order"`},
		{"another type", "refund_order", `{"order":"a1","cents":"hunter2"}`, `/cents: expected integer, at least 1, at most 100000`},
		{"too long", "find_order", `{"order":"` + strings.Repeat("hunter2", 20) + `"}`, `/order: expected string, at most 32 characters`},
		{"two faults", "refund_order", `{"order":5432,"cents":"hunter2"}`, `/cents: expected integer, at least 1, at most 100000; /order: expected string, at most 32 characters`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := s.call(t, session, test.tool, test.arguments)
			require.Equal(t, chattools.Invalid, a.Status)
			require.Equal(t, "The arguments are not valid: "+test.want+".", a.Text)
			require.NotContains(t, a.Text, "hunter2")
			require.NotContains(t, a.Text, "5432")
		})
	}
	require.Zero(t, s.targets.Load())
	require.Zero(t, s.runs.Load())
}

// However wrong the arguments are, the answer to them is short.
func TestInvalidTextsAreBounded(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	for _, arguments := range []string{
		`{"` + strings.Repeat("x", 100<<10) + `":1}`,
		`{"` + strings.Repeat("a", 1000) + `":{"` + strings.Repeat("b", 1000) + `":-0}}`,
		`{` + strings.Repeat(`"\u202e\u0000x":{`, 60) + strings.Repeat(`}`, 61),
		`{"order":"` + strings.Repeat("x", 400<<10) + `"}`,
	} {
		a := s.call(t, session, "find_order", arguments)
		require.Equal(t, chattools.Invalid, a.Status)
		require.Less(t, len(a.Text), 2000)
		require.NotContains(t, a.Text, "\u202e")
		require.NotContains(t, a.Text, "\x00")
	}
}
