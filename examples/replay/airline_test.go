package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplayAirline(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, []string{"airline"}))
	table := strings.Join(strings.Fields(out.String()), " ")
	for _, row := range []string{
		"the final database is the ground truth's 64 60 90",
		"the final database holds approved changes and no others - 160 160",
		"answered as recorded 826 826 826",
		"ran and succeeded 164 0 80",
		"did not run 0 234 154",
		"differences from the recording 0 0 0",
	} {
		require.Contains(t, table, row)
	}
}
