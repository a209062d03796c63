package canon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCollisions has pairs that other canonical forms confuse. Different
// values never share a text; equal values always do.
func TestCollisions(t *testing.T) {
	const (
		same          = "same"
		different     = "different"
		firstRefused  = "first refused"
		secondRefused = "second refused"
		bothRefused   = "both refused"
	)
	for _, c := range []struct{ a, b, want string }{
		{`9007199254740992`, `9007199254740993`, different},
		{`9007199254740992`, `9007199254740993.0`, different},
		{`9007199254740993`, `9007199254740993.0`, same},
		{`1234567890123456789`, `1234567890123456800`, different},
		{`9223372036854775807`, `9223372036854775808`, different},
		{`18446744073709551615`, `18446744073709551616`, secondRefused},
		{`1e400`, `1.7976931348623157e308`, firstRefused},
		{`1e400`, `1e401`, bothRefused},
		{`-1e400`, `-1e999`, bothRefused},
		{`1e-400`, `0`, firstRefused},
		{`5e-324`, `3e-324`, secondRefused},
		{`-0`, `0`, firstRefused},
		{`-0.0`, `0`, firstRefused},
		{`-0`, `-0.0`, bothRefused},
		{`0.1`, `0.1000000000000000055511151231257827`, secondRefused},
		{`333333333.33333329`, `333333333.3333333`, firstRefused},
		{`1.0`, `1`, same},
		{`10e-1`, `1`, same},
		{`1e2`, `100`, same},
		{`0.10`, `0.1`, same},
		{`1e21`, `1000000000000000000000`, same},
		{`1e23`, `100000000000000000000000`, same},
		{`{"a":1,"a":2}`, `{"a":2}`, firstRefused},
		{`{"a":2,"\u0061":1}`, `{"a":1}`, firstRefused},
		{`{"x":{"a":1,"a":2}}`, `{"x":{"a":2}}`, firstRefused},
		{`{"a":1,"A":2}`, `{"A":2,"a":1}`, same}, // if the action allows it
		{`{"a":1}`, `{"A":1}`, different},
		{`"\ud800"`, `"\ufffd"`, firstRefused},
		{`"\ud800"`, `"\udbff"`, bothRefused},
		{`"\ud83d\u0041"`, `"\ufffdA"`, firstRefused},
		{"\"\xff\"", `"\ufffd"`, firstRefused},
		{"\"\xff\"", "\"\xfe\"", bothRefused},
		{"\"\xed\xa0\x80\"", "\"\ufffd\ufffd\ufffd\"", firstRefused},
		{"\"\xc0\xaf\"", `"/"`, firstRefused},
		{`"\u002f"`, `"\/"`, same},
		{`"<"`, `"\u003c"`, same},
		{"\"\u2028\"", `"\u2028"`, same},
		{"\"e\u0301\"", "\"\u00e9\"", different},
		{`"1"`, `1`, different},
		{`null`, `{}`, different},
		{`null`, ``, secondRefused},
		{`{}`, `{"a":null}`, different},
		{`{} `, `{}`, same},
		{`{}x`, `{}`, firstRefused},
		{`{}{}`, `{}`, firstRefused},
		{"\xef\xbb\xbf{}", `{}`, firstRefused},
		{`[1,2]`, `[2,1]`, different},
		{`[[1],2]`, `[1,[2]]`, different},
	} {
		t.Run(c.a+" and "+c.b, func(t *testing.T) {
			a, errA := anyTop(c.a)
			b, errB := anyTop(c.b)
			got := different
			switch {
			case errA != nil && errB != nil:
				got = bothRefused
			case errA != nil:
				got = firstRefused
			case errB != nil:
				got = secondRefused
			case a == b:
				got = same
			}
			require.Equal(t, c.want, got)
		})
	}
}
