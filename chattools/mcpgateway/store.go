package mcpgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/sallyport-dev/sallyport/authz"
)

// Server is an MCP server and what an owner accepted of it.
type Server struct {
	Name    string `json:"name"`    // the host's, not its own: it begins the names of its tools
	Address string `json:"address"` // what Dial understands

	// Tools are the definitions that were accepted, whole and in canonical form, sorted by the tools' names.
	Tools []json.RawMessage `json:"tools"`
}

// Pins are all servers of a scope. Revision counts the changes; 0 is nothing yet.
type Pins struct {
	Revision int64    `json:"revision"`
	Servers  []Server `json:"servers"`
}

// ErrConflict is what a Store returns for pins that are not the next revision of what it has.
var ErrConflict = errors.New("mcpgateway: the servers of this scope were changed meanwhile")

// Store keeps the pins of scopes. It must be safe for concurrent use, and whoever can write to it decides what
// is accepted.
type Store interface {
	// Load returns the pins of a scope, and the zero Pins if it has none. They are the caller's own.
	Load(ctx context.Context, scope authz.Scope) (Pins, error)

	// Save replaces the pins of a scope by the next revision of them. If it has any other revision than the
	// one before, it changes nothing and returns [ErrConflict].
	Save(ctx context.Context, scope authz.Scope, pins Pins) error
}

// Memory is a Store in memory. The zero Memory is empty and ready.
type Memory struct {
	mu     sync.Mutex
	scopes map[authz.Scope]Pins
}

// Load returns a copy of the pins of a scope.
func (m *Memory) Load(_ context.Context, scope authz.Scope) (Pins, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.scopes[scope].clone(), nil
}

// Save keeps a copy of the pins.
func (m *Memory) Save(_ context.Context, scope authz.Scope, pins Pins) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scopes[scope].Revision != pins.Revision-1 {
		return ErrConflict
	}
	if m.scopes == nil {
		m.scopes = map[authz.Scope]Pins{}
	}
	m.scopes[scope] = pins.clone()
	return nil
}

// has reports whether exactly this is accepted of a server.
func (p Pins) has(s Server) bool {
	return slices.ContainsFunc(p.Servers, func(other Server) bool {
		return other.Name == s.Name && other.Address == s.Address &&
			slices.EqualFunc(other.Tools, s.Tools, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
	})
}

func (p Pins) clone() Pins {
	p.Servers = slices.Clone(p.Servers)
	for i, s := range p.Servers {
		p.Servers[i].Tools = slices.Clone(s.Tools)
		for j, t := range s.Tools {
			p.Servers[i].Tools[j] = slices.Clone(t)
		}
	}
	return p
}
