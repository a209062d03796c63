package backoffice

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCents(t *testing.T) {
	require.Equal(t, 2.67, cents(2.675)) // the double is below 2.675
	require.Equal(t, 0.12, cents(0.125)) // an exact half goes to even
	require.Equal(t, 0.38, cents(0.375))
	require.Equal(t, -17.99, cents(135.24-153.23))
}
