package canon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// nested returns n objects or arrays, one inside the other.
func nested(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func TestNesting(t *testing.T) {
	for n := 2; n <= 70; n++ {
		for _, doc := range []string{
			nested(`{"a":`, "1", "}", n),
			`{"a":` + nested("[", "", "]", n-1) + `}`,
		} {
			_, err := canon.Parse([]byte(doc), canon.Options{})
			if n <= canon.MaxDepth {
				require.NoError(t, err, doc)
			} else {
				require.Equal(t, canon.ReasonDepth, refusal(t, err).Reason, doc)
			}
		}
	}
	for _, bomb := range []string{
		strings.Repeat("[", canon.MaxBytes),
		strings.Repeat(`{"":`, canon.MaxBytes/4),
		strings.Repeat(`[{"":`, canon.MaxBytes/5),
		nested("[", "", "]", canon.MaxBytes/2),
		strings.Repeat("[ ", canon.MaxBytes/2),
	} {
		_, err := anyTop(bomb)
		require.Equal(t, canon.ReasonDepth, refusal(t, err).Reason)
	}
}

func TestSizeAtTheEdge(t *testing.T) {
	const frame = len(`{"a":""}`)
	fits := `{"a":"` + strings.Repeat("x", canon.MaxBytes-frame) + `"}`
	require.Len(t, parse(t, fits).String(), canon.MaxBytes)
	for _, doc := range []string{
		fits + " ",
		" " + fits,
		strings.Replace(fits, "x", "xx", 1),
		strings.Repeat(" ", canon.MaxBytes+1),
		strings.Repeat("\xff", canon.MaxBytes+1), // size comes before everything else
		strings.Repeat("[", 10*canon.MaxBytes),
	} {
		_, err := canon.Parse([]byte(doc), canon.Options{})
		require.Equal(t, canon.ReasonSize, refusal(t, err).Reason)
		_, err = canon.Stored(doc)
		require.Equal(t, canon.ReasonSize, refusal(t, err).Reason)
	}
}

// TestCanonicalTextIsBoundedToo has documents within the limit whose numbers
// grow: 1e20 has 21 digits. Accepting one would make an Object that Parse and
// Stored then refuse.
func TestCanonicalTextIsBoundedToo(t *testing.T) {
	const frame = len(`{"a":[]}`)
	room := canon.MaxBytes - frame + 1 // one element has no comma
	n := room / len("100000000000000000000,")
	rest := room - n*len("100000000000000000000,")
	fill := strings.Repeat(" ", 3) + `"` + strings.Repeat("x", rest-len(`"",`)) + `"`
	grown := `{"a":[` + strings.Repeat("1e20,", n) + fill + `]}`
	require.Len(t, parse(t, grown).String(), canon.MaxBytes)
	for _, doc := range []string{
		strings.Replace(grown, `"x`, `"xx`, 1),
		`{"a":[` + strings.Repeat("1e20,", (canon.MaxBytes-frame)/5-1) + `1]}`,
		// Each of 60 levels is out of order, so that all of it is moved 60 times.
		nested(`{"b":`, "["+strings.Repeat("1e20,", 50_000)+"1]", `,"a":1}`, 60),
	} {
		require.LessOrEqual(t, len(doc), canon.MaxBytes)
		_, err := canon.Parse([]byte(doc), canon.Options{})
		require.Equal(t, canon.ReasonSize, refusal(t, err).Reason)
	}
}

// TestHugeExponents would not end if a power of ten were ever built.
func TestHugeExponents(t *testing.T) {
	nines := strings.Repeat("9", 120)
	for literal, want := range map[string]string{
		"1e" + nines:                              "!number_out_of_range",
		"-1e+" + nines:                            "!number_out_of_range",
		"1e-" + nines:                             "!number_out_of_range",
		"0e" + nines:                              "0",
		"0.000e-" + nines:                         "0",
		"-0e" + nines:                             "!negative_zero",
		"1e9223372036854775808":                   "!number_out_of_range",
		"1e-9223372036854775809":                  "!number_out_of_range",
		"1e18446744073709551616":                  "!number_out_of_range",
		"1e4294967296":                            "!number_out_of_range",
		"1e" + strings.Repeat("0", 120) + "2":     "100",
		"1" + strings.Repeat("0", 120) + "e-120":  "1",
		"0." + strings.Repeat("0", 119) + "1e120": "1",
		"0." + strings.Repeat("0", 119) + "1e140": "100000000000000000000",
		strings.Repeat("9", 128):                  "!inexact_number",
		strings.Repeat("9", 129):                  "!number_too_long",
		"1" + strings.Repeat("0", 127):            "1e+127",
		"1" + strings.Repeat("0", 128):            "!number_too_long",
		"0." + strings.Repeat("0", 127):           "!number_too_long",
		"1e" + strings.Repeat("9", 200_000):       "!number_too_long",
	} {
		text, err := anyTop(literal)
		require.Equal(t, want, outcome(t, text, err), "%.40s", literal)
		require.Equal(t, want, exactNumberOfAnyLength(t, literal), "%.40s", literal)
	}
}

// exactNumberOfAnyLength moves exponents that exist only to be long.
func exactNumberOfAnyLength(t *testing.T, literal string) string {
	t.Helper()
	if digits, exponent, ok := strings.Cut(literal, "e"); ok && len(literal) <= 128 {
		literal = digits + "e" + strings.Replace(exponent, strings.Repeat("0", 120), "", 1)
	}
	return exactNumber(t, literal)
}

// TestTruncations cuts documents after every byte.
func TestTruncations(t *testing.T) {
	for _, doc := range []string{
		`{"amount":125000,"currency":"EUR","id":9007199254740993,"to":"DE02120300000000202051"}`,
		`{ "a\u00e9\ud83d\ude00é😀" : [ -1.5e-3 , true , false , null , { } , [ ] , "\"\\\/\b" ] }`,
		string(toolCall(2_000)),
	} {
		parse(t, doc)
		for n := range len(doc) {
			o, err := canon.Parse([]byte(doc[:n]), canon.Options{})
			e := refusal(t, err)
			require.NotNil(t, e, doc[:n])
			require.LessOrEqual(t, e.Offset, n)
			require.True(t, o.IsZero())
			_, err = canon.Parse([]byte(doc+doc[:n+1]), canon.Options{})
			require.NotNil(t, refusal(t, err), "%d bytes more", n+1)
		}
	}
}

// TestManyMembers has as many names as fit, in the worst orders.
func TestManyMembers(t *testing.T) {
	const n = 20_000
	for name, format := range map[string]string{"in order": `"%05d":1,`, "long common beginning": `"aaaaaa%05d":1`, "capitals": `"A%05d":1`} {
		format = strings.TrimSuffix(format, ",") + ","
		var up, down strings.Builder
		count := min(n, (canon.MaxBytes-2)/len(fmt.Sprintf(format, 0)))
		for i := range count {
			fmt.Fprintf(&up, format, i)
			fmt.Fprintf(&down, format, count-1-i)
		}
		a := parse(t, "{"+strings.TrimSuffix(up.String(), ",")+"}")
		b := parse(t, "{"+strings.TrimSuffix(down.String(), ",")+"}")
		require.Equal(t, a, b, name)
		require.Equal(t, a.String(), "{"+strings.TrimSuffix(up.String(), ",")+"}")
	}
	_, err := canon.Parse([]byte("{"+strings.Repeat(`"a":1,`, 40_000)+`"a":1}`), canon.Options{})
	require.Equal(t, canon.ReasonDuplicate, refusal(t, err).Reason)
	require.Equal(t, 7, refusal(t, err).Offset)
}

// TestPointersStayLinear nests long names as deep as they go: a pointer is as
// long as the names on the way, written once.
func TestPointersStayLinear(t *testing.T) {
	doc := nested(`{"`+strings.Repeat("~", 4_000)+`":`, "-0", "}", 60)
	_, err := canon.Parse([]byte(doc), canon.Options{})
	require.Equal(t, canon.ReasonNegativeZero, refusal(t, err).Reason)
	require.Len(t, refusal(t, err).Pointer, 60*(1+2*4_000))
}

// TestDisplayOfTheWorst bounds what a limit returns, whatever is shown.
func TestDisplayOfTheWorst(t *testing.T) {
	wide := parse(t, `{"a":`+nested("[", "1"+strings.Repeat(",1", 130_000), "]", canon.MaxDepth-1)+"}")
	require.Less(t, len(wide.Display(10_000)), 10_200)
	strange := parse(t, `{"a":"`+strings.Repeat("aа ", 60_000)+`"}`)
	require.Len(t, strange.Suspicions(), 60_000)
	hidden := parse(t, `{"a":"`+strings.Repeat("\u202e", 80_000)+`"}`)
	require.Len(t, hidden.Display(0), len("{\n  \"a\": \"\"\n}")+6*80_000)
}
