package sqlledger

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

func TestFaultOf(t *testing.T) {
	for _, err := range []error{ledger.ErrConflict, ledger.ErrNotFound, &ledger.LimitError{}, ledger.ErrGrantSpent} {
		f, ok := faultOf(fmt.Errorf("wrapped: %w", err))
		require.True(t, ok)
		require.Equal(t, sqlkit.Refused, f, err)
	}
	f, ok := faultOf(fmt.Errorf("wrapped: %w", ledger.ErrTampered))
	require.True(t, ok, "asking again does not help against a row that cannot be restored")
	require.Equal(t, sqlkit.Final, f)
	_, ok = faultOf(io.ErrUnexpectedEOF)
	require.False(t, ok)
}
