package recorddiff_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/internal/recorddiff"
)

func TestCanonical(t *testing.T) {
	for _, test := range []struct {
		name  string
		value any
		text  string
	}{
		{"whole number", 100.0, `100`},
		{"fraction", 71.96000000000001, `71.96000000000001`},
		{"small", 1e-7, `1e-7`},
		{"large", 1e21, `1e+21`},
		{"not yet large", 1e20, `100000000000000000000`},
		{"negative zero", negativeZero(), `0`},
		{"HTML", `<a href="b">&</a>`, `"<a href=\"b\">&</a>"`},
		{"controls", "\b\t\n\f\r\x00\x1f\x7f\\", "\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\\\\\""},
		{"separators", "\u2028é€", "\"\u2028é€\""},
		// In UTF-16 the emoji starts with a surrogate, which is the smaller.
		{"keys", map[string]bool{"\ufb33": true, "\U0001f600": false, "a": true}, "{\"a\":true,\"\U0001f600\":false,\"\ufb33\":true}"},
		{"lists", []any{nil, []int{}, map[string]int{}}, `[null,[],{}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.text, string(recorddiff.Canonical(test.value)))
		})
	}
	require.Panics(t, func() { recorddiff.Canonical(func() {}) })
}

func negativeZero() float64 {
	zero := 0.0
	return -zero
}
