package arith_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/internal/arith"
)

func TestEvaluate(t *testing.T) {
	for _, test := range []struct {
		expression, answer, refusal string
	}{
		{"2 + 2", "4.0", ""},
		{"155.33 - 147.05 + 268.77 - 235.13", "41.92", ""},
		{"2 + 3 * 4", "14.0", ""},
		{"(2 + 3) * 4", "20.0", ""},
		{"10 - 4 - 3", "3.0", ""},
		{"8 / 4 / 2", "1.0", ""},
		{"1 / 3", "0.33", ""},
		{"2.675 * 1", "2.67", ""}, // the double is below 2.675
		{"0.125", "0.12", ""},     // an exact half goes to even
		{" -( +2 - --5 ) ", "3.0", ""},
		{".5 + 1.", "1.5", ""},
		{"12345678901234567890", "1.2345678901234567e+19", ""},

		{"2 ^ 3", "", "invalid characters in expression"},
		{"1e3", "", "invalid characters in expression"},
		{"", "", "invalid syntax"},
		{"2 +", "", "invalid syntax"},
		{"* 2", "", "invalid syntax"},
		{"2 2", "", "invalid syntax"},
		{"1.2.3", "", "invalid syntax"},
		{".", "", "invalid syntax"},
		{"(2", "", "invalid syntax"},
		{"2)", "", "invalid syntax"},
		{"()", "", "invalid syntax"},
		{"2 * )", "", "invalid syntax"},
		{"1 / (2 - 2)", "", "division by zero"},
		{"9" + strings.Repeat("0", 400), "", "result out of range"},
		{strings.Repeat("(", 1_000_000), "", "too many nested parentheses"},
	} {
		t.Run(test.expression[:min(len(test.expression), 40)], func(t *testing.T) {
			answer, err := arith.Evaluate(test.expression)
			if test.refusal != "" {
				require.EqualError(t, err, test.refusal)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.answer, answer)
		})
	}
}
