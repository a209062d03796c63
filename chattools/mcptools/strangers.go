package mcptools

import (
	"math/bits"
	"sync"
	"time"
)

// strangers counts requests that are not let in, so that a flood of them is not one of the log: within a minute the
// first, second, fourth, eighth and so on have a line.
type strangers struct {
	mu     sync.Mutex
	since  time.Time
	minute uint // how many came since then
	untold int  // how many came since the last line
}

// come returns how many requests the line of the one that came now stands for; zero if it has none.
func (s *strangers) come(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= time.Minute {
		s.since, s.minute = now, 0
	}
	s.minute++
	s.untold++
	if bits.OnesCount(s.minute) != 1 {
		return 0
	}
	count := s.untold
	s.untold = 0
	return count
}
