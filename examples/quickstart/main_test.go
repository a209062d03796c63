package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func Example() {
	paid["1042"] = 5000 // also when it is run again
	main()
	// Output:
	// the model sees find_order
	// the model sees refund_order
	// read: done 5000
	// change: needs_approval and the order still cost 5000
	// olga reads: Refund 500 cents of order "1042".
	// approved: 4500 cents are left
	// again: spent
}

// README.md shows this program as it is. Between its markers stands one fence, and in the fence main.go, byte
// for byte.
func TestReadmeShowsThisProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err, "the repository needs a README.md that shows the quickstart")

	const begin, end = "<!-- quickstart -->", "<!-- /quickstart -->"
	text := string(readme)
	require.Equal(t, 1, strings.Count(text, begin), "README.md has the marker %s once", begin)
	require.Equal(t, 1, strings.Count(text, end), "README.md has the marker %s once", end)
	_, rest, _ := strings.Cut(text, begin)
	block, _, found := strings.Cut(rest, end)
	require.True(t, found, "%s comes after %s", end, begin)
	block, fenced := strings.CutPrefix(strings.TrimSpace(block), "```go\n")
	require.True(t, fenced, "between the markers stands one ```go fence")
	block, fenced = strings.CutSuffix(block, "```")
	require.True(t, fenced, "between the markers stands one ```go fence")
	require.Equal(t, string(program), block)
}
