package ledger

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// endsWhenLocked is a context that ends as soon as the ledger is locked.
type endsWhenLocked struct {
	context.Context
	m *Memory
}

func (c endsWhenLocked) Err() error {
	if c.m.mu.TryLock() {
		c.m.mu.Unlock()
		return nil
	}
	return context.Canceled
}

// A change that waits for its turn has not begun: a context that ends meanwhile prevents it.
func TestMemoryContextEndsWhileWaiting(t *testing.T) {
	var m Memory
	require.ErrorIs(t, m.Append(endsWhenLocked{t.Context(), &m}, Record{}), context.Canceled)
	require.Empty(t, m.audit)
	require.NoError(t, m.Append(t.Context(), Record{}), "the lock was given back")
}
