package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplayAgentDojo(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, []string{"agentdojo"}))
	require.Contains(t, out.String(), "the user's task came out as recorded                                 679")
	require.Contains(t, out.String(), "planted writes that ran                                                  0")
}
