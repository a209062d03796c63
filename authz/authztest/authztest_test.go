package authztest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

func TestMemory(t *testing.T) {
	TestDirectory(t, func(*testing.T) authz.Directory { return new(authz.Memory) })
}

// recorder is a tb that notes a failure and ends the clause.
type recorder struct {
	ctx    context.Context
	mu     sync.Mutex
	failed []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}
func (r *recorder) FailNow()                 { runtime.Goexit() }
func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }

func failures(ctx context.Context, check func(tb, authz.Directory), d authz.Directory) []string {
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(r, d)
	}()
	<-done
	return r.failed
}

// broken is a directory with one flaw.
type broken struct {
	*authz.Memory
	facts func(m *authz.Memory, ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error)
	edit  func(m *authz.Memory, ctx context.Context, scope authz.Scope, edit func(*authz.Facts) error) error
}

func (b *broken) Facts(ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
	if b.facts != nil {
		return b.facts(b.Memory, ctx, scope, ids)
	}
	return b.Memory.Facts(ctx, scope, ids)
}

func (b *broken) Edit(ctx context.Context, scope authz.Scope, edit func(*authz.Facts) error) error {
	if b.edit != nil {
		return b.edit(b.Memory, ctx, scope, edit)
	}
	return b.Memory.Edit(ctx, scope, edit)
}

// naive is a directory that keeps what it is given, checks nothing and locks only the map.
type naive struct {
	mu     sync.Mutex
	scopes map[authz.Scope]*authz.Facts
}

func (n *naive) Facts(_ context.Context, scope authz.Scope, _ []authz.ID) (*authz.Facts, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if f := n.scopes[scope]; f != nil {
		return f, nil
	}
	return &authz.Facts{}, nil
}

func (n *naive) Edit(_ context.Context, scope authz.Scope, edit func(*authz.Facts) error) error {
	n.mu.Lock()
	f := n.scopes[scope]
	if f == nil {
		f = &authz.Facts{}
	}
	n.mu.Unlock()
	next := *f
	err := edit(&next)
	time.Sleep(time.Millisecond)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.scopes == nil {
		n.scopes = map[authz.Scope]*authz.Facts{}
	}
	n.scopes[scope] = &next
	return err
}

// Every clause fails for a directory that is broken in its way.
func TestSuiteCatchesBrokenDirectories(t *testing.T) {
	mixed := func(m *authz.Memory, ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
		var all authz.Facts
		for _, id := range ids { // one look-up for each actor: not one snapshot
			f, err := m.Facts(ctx, scope, nil)
			if err != nil {
				return nil, err
			}
			all.Settings, all.Roles = f.Settings, f.Roles
			if a := actor(f, id); a != nil {
				all.Actors = append(all.Actors, *a)
			}
			time.Sleep(10 * time.Microsecond)
		}
		return &all, nil
	}
	forgets := func(m *authz.Memory, ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
		f, err := m.Facts(ctx, scope, ids)
		if err != nil {
			return nil, err
		}
		c := *f
		c.Settings.Disabled = nil
		return &c, nil
	}
	asked := func(m *authz.Memory, ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
		f, err := m.Facts(ctx, scope, ids)
		if err != nil {
			return nil, err
		}
		c := *f
		c.Actors = nil
		for _, id := range ids {
			if a := actor(f, id); a != nil {
				c.Actors = append(c.Actors, *a)
			}
		}
		return &c, nil
	}
	one := func(m *authz.Memory, ctx context.Context, _ authz.Scope, ids []authz.ID) (*authz.Facts, error) {
		return m.Facts(ctx, here, ids)
	}
	deaf := func(m *authz.Memory, ctx context.Context, scope authz.Scope, edit func(*authz.Facts) error) error {
		return m.Edit(context.WithoutCancel(ctx), scope, edit)
	}
	same := func() authz.Directory {
		var shared authz.Facts
		return &broken{Memory: new(authz.Memory), facts: func(m *authz.Memory, ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
			f, err := m.Facts(ctx, scope, ids)
			if err == nil {
				shared = *f
			}
			return &shared, err
		}}
	}
	flaws := map[string]func() authz.Directory{
		"an unknown scope is an error":                     func() authz.Directory { return new(naive) },
		"every field is kept":                              func() authz.Directory { return &broken{Memory: new(authz.Memory), facts: forgets} },
		"asked for nobody it returns everybody":            func() authz.Directory { return &broken{Memory: new(authz.Memory), facts: asked} },
		"Edit gets what is there":                          func() authz.Directory { return &broken{Memory: new(authz.Memory), edit: blank} },
		"an error of edit changes nothing":                 func() authz.Directory { return new(naive) },
		"facts that are not valid change nothing":          func() authz.Directory { return new(naive) },
		"an actor keeps its kind and stays":                func() authz.Directory { return new(naive) },
		"a snapshot never changes":                         func() authz.Directory { return new(naive) },
		"the same pointer means the same facts":            same,
		"scopes are apart":                                 func() authz.Directory { return &broken{Memory: new(authz.Memory), facts: one} },
		"actors that are asked for come from one snapshot": func() authz.Directory { return &broken{Memory: new(authz.Memory), facts: mixed} },
		"edits come one after another":                     func() authz.Directory { return new(naive) },
		"a context that has ended prevents the edit":       func() authz.Directory { return &broken{Memory: new(authz.Memory), edit: deaf} },
	}
	for _, c := range clauses {
		require.Contains(t, flaws, c.name)
		require.NotEmpty(t, failures(t.Context(), c.check, flaws[c.name]()), "the clause %q passes for a broken directory", c.name)
		require.Empty(t, failures(t.Context(), c.check, new(authz.Memory)), "a sound directory passes")
	}
}

// blank hands out empty facts to be edited.
func blank(m *authz.Memory, ctx context.Context, scope authz.Scope, edit func(*authz.Facts) error) error {
	return m.Edit(ctx, scope, func(f *authz.Facts) error {
		if len(f.Actors) == 0 {
			return edit(f)
		}
		return edit(&authz.Facts{})
	})
}

func ExampleTestDirectory() {
	// In a test of your own: authztest.TestDirectory(t, func(t *testing.T) authz.Directory { return openDirectory(t) })
	d := authz.Directory(new(authz.Memory))
	err := d.Edit(context.Background(), "here", func(f *authz.Facts) error { *f = Full(); return nil })
	fmt.Println(err)
	// Output: <nil>
}
