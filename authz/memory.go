package authz

import (
	"context"
	"errors"
	"sync"
)

// Memory is a [Directory] in memory, for tests, examples and small programs. Its zero value is empty
// and ready. It is safe for concurrent use.
type Memory struct {
	mu     sync.RWMutex
	scopes map[Scope]*Facts
}

// ErrFacts is the error of [Memory.Edit] and [Memory.Set] for facts that a directory does not keep.
var ErrFacts = errors.New("authz: the facts are not valid")

// Facts returns the latest snapshot of a scope, with all of its actors.
func (m *Memory) Facts(_ context.Context, scope Scope, _ []ID) (*Facts, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if f := m.scopes[scope]; f != nil {
		return f, nil
	}
	return nil, ErrUnknownScope
}

// Set replaces the facts of a scope, with the rules of [Memory.Edit].
func (m *Memory) Set(scope Scope, facts Facts) error {
	return m.Edit(context.Background(), scope, func(f *Facts) error { *f = *facts.Clone(); return nil })
}

// Edit changes the facts of a scope, which it creates if need be: edit gets a copy, and what it leaves is
// published in one step if it is valid. An actor's kind cannot change and an actor cannot go away, since an
// id names one actor for ever: deactivate it instead. The error is [ErrFacts] or edit's own; nothing is
// changed then.
func (m *Memory) Edit(ctx context.Context, scope Scope, edit func(*Facts) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if scope == "" {
		return ErrUnknownScope
	}
	old := m.scopes[scope]
	next := &Facts{}
	if old != nil {
		next = old.Clone()
	}
	if err := edit(next); err != nil {
		return err
	}
	next = next.Clone() // the editor may have kept what it was given
	if err := next.Validate(old); err != nil {
		return err
	}
	if m.scopes == nil {
		m.scopes = map[Scope]*Facts{}
	}
	m.scopes[scope] = next
	return nil
}

var _ Directory = (*Memory)(nil)
