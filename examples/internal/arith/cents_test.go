package arith_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/internal/arith"
)

func TestCents(t *testing.T) {
	require.Equal(t, 2.67, arith.Cents(2.675)) // the double is below 2.675
	require.Equal(t, 0.12, arith.Cents(0.125)) // an exact half goes to even
	require.Equal(t, 0.38, arith.Cents(0.375))
	require.Equal(t, -17.99, arith.Cents(135.24-153.23))
}
