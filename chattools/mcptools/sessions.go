package mcptools

import (
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxSessions is how many sessions of one user are kept at once.
const maxSessions = 64

// sessions are those that are kept, by user, oldest first.
type sessions struct {
	mu sync.Mutex
	of map[string][]*mcp.ServerSession
}

// keep adds a session, until end is called. Where the user has too many the oldest gives way: its client may have gone
// without a word.
func (k *sessions) keep(user string, s *mcp.ServerSession) (end func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string][]*mcp.ServerSession{}
	}
	k.of[user] = append(k.of[user], s)
	if len(k.of[user]) > maxSessions {
		oldest := k.of[user][0]
		k.drop(user, oldest)
		go func() { _ = oldest.Close() }() // which may wait for a call of its own
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.drop(user, s)
	}
}

// drop takes a session out. The lock is held.
func (k *sessions) drop(user string, s *mcp.ServerSession) {
	k.of[user] = slices.DeleteFunc(k.of[user], func(other *mcp.ServerSession) bool { return other == s })
	if len(k.of[user]) == 0 {
		delete(k.of, user)
	}
}
