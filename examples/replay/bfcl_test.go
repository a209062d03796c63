package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplayBFCL(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, []string{"bfcl"}))
	require.Contains(t, out.String(), "recorded calls that were made                                 917\n")
	require.Contains(t, out.String(), "differences                                                     0\n")
}
