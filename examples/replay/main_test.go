package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, []string{"injections"}))
	require.Contains(t, out.String(), "recorded calls                                               7204")
	for _, args := range [][]string{nil, {"everything"}, {"injections", "twice"}} {
		require.Error(t, run(t.Context(), &out, args))
	}
}
