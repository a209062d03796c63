package office_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/replay/airline"
)

// The proof that this is the airline that was recorded: every answer, every changed record and value of every
// task and of every conversation is as it was.
func TestReplay(t *testing.T) {
	data, err := airline.Load()
	require.NoError(t, err)
	truth, err := airline.Truth(t.Context(), data)
	require.NoError(t, err)
	require.Empty(t, truth.Differences)
	r, err := airline.Ungated(t.Context(), data, truth)
	require.NoError(t, err)
	require.Empty(t, r.Differences)
	require.Equal(t, 141, truth.Calls)
	require.Equal(t, 1060, r.Calls)
}
