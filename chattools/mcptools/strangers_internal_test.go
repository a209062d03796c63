package mcptools

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStrangers(t *testing.T) {
	t.Parallel()
	var s strangers
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var lines []int
	come := func(n int) {
		for range n {
			if count := s.come(now); count > 0 {
				lines = append(lines, count)
			}
		}
	}
	come(1000)
	require.Equal(t, []int{1, 1, 2, 4, 8, 16, 32, 64, 128, 256}, lines)
	now = now.Add(time.Minute)
	come(3)
	require.Equal(t, []int{1000 - 512 + 1, 1}, lines[10:], "none is left out")
	now = now.Add(time.Hour)
	come(1)
	require.Equal(t, 2, lines[12])
}
