package chattools_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// panicking is a store that panics in every method that the gate can reach.
type panicking struct{ ledger.Store }

func (panicking) Append(context.Context, ledger.Record) error { panic(errPrivate) }

func (panicking) Propose(context.Context, ledger.Entry) (ledger.Proposal, error) { panic(errPrivate) }

func (panicking) Proposal(context.Context, authz.Scope, string) (ledger.Proposal, error) {
	panic(errPrivate)
}

// Whatever of the host's fails or panics, there is exactly one answer, and it says nothing of why.
func TestOneAnswerWhateverBreaks(t *testing.T) {
	source := func(f authz.SourceFunc) func(*registry.Config) {
		return func(c *registry.Config) { c.Source = f }
	}
	store := func(s ledger.Store) func(*registry.Config) {
		return func(c *registry.Config) { c.Ledger = s }
	}
	faulty := func(method string, after bool) func(*registry.Config) {
		f := ledgertest.NewFaulty(new(ledger.Memory))
		f.Inject(ledgertest.Fault{Method: method, After: after, Err: errPrivate})
		return store(f)
	}
	const find, ask = `find_order {"order":"a1"}`, `refund_order {"order":"a1","cents":5}`
	for _, test := range []struct {
		name   string
		call   string
		change func(*registry.Config)
		hook   func(*shop)
	}{
		{"a run fails", find, nil, func(s *shop) { s.find = func(context.Context, orderID) (any, error) { return nil, errPrivate } }},
		{"a run panics", find, nil, func(s *shop) { s.find = func(context.Context, orderID) (any, error) { panic(errPrivate) } }},
		{"a run panics with nil", find, nil, func(s *shop) { s.find = func(context.Context, orderID) (any, error) { panic(nil) } }},
		{"a result has no JSON form", find, nil, func(s *shop) { s.find = func(context.Context, orderID) (any, error) { return make(chan int), nil } }},
		{"a target fails, read", find, nil, func(s *shop) { s.target = func(string) ([]authz.Path, error) { return nil, errPrivate } }},
		{"a target panics, read", find, nil, func(s *shop) { s.target = func(string) ([]authz.Path, error) { panic(errPrivate) } }},
		{"a target fails, change", ask, nil, func(s *shop) { s.target = func(string) ([]authz.Path, error) { return nil, errPrivate } }},
		{"a target panics, change", ask, nil, func(s *shop) { s.target = func(string) ([]authz.Path, error) { panic(errPrivate) } }},
		{"a version fails", ask, nil, func(s *shop) { s.version = func() (string, error) { return "", errPrivate } }},
		{"a version panics", ask, nil, func(s *shop) { s.version = func() (string, error) { panic(errPrivate) } }},
		{"the source fails, read", find, source(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { return nil, errPrivate }), nil},
		{"the source panics, read", find, source(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { panic(errPrivate) }), nil},
		{"the source panics, change", ask, source(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { panic(errPrivate) }), nil},
		{"the source panics, unknown tool", "nothing {}", source(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { panic(errPrivate) }), nil},
		{"facts contradict themselves", find, source(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) {
			return &authz.Facts{Settings: authz.Settings{Ceiling: 99}}, nil
		}), nil},
		{"a read cannot be recorded", find, faulty("Append", false), nil},
		{"the answer to a read's record is lost", find, faulty("Append", true), nil},
		{"a proposal cannot be recorded", ask, faulty("Propose", false), nil},
		{"the answer to a proposal is lost", ask, faulty("Propose", true), nil},
		{"the store panics, read", find, store(panicking{}), nil},
		{"the store panics, change", ask, store(panicking{}), nil},
		{"randomness ends", ask, func(c *registry.Config) { c.Random = bytes.NewReader(nil) }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openShop(t, test.change)
			if test.hook != nil {
				test.hook(s)
			}
			var name, arguments string
			_, err := fmt.Sscan(test.call, &name, &arguments)
			require.NoError(t, err)
			a := s.gate.Call(t.Context(), sessionOf(t, "assistant", olga), chattools.Call{ID: "7", Name: name, Arguments: []byte(arguments)})
			require.Equal(t, chattools.Answer{CallID: "7", Status: chattools.Failed, Text: "The call failed."}, a)
		})
	}
}

// A refusal that cannot be recorded is still a refusal: not a panic, and not a yes.
func TestARefusalWithoutARecord(t *testing.T) {
	s := openShop(t, func(c *registry.Config) { c.Ledger = panicking{} })
	a := s.call(t, sessionOf(t, "assistant", nell), "find_order", `{"order":"a1"}`)
	require.Equal(t, "The call failed.", a.Text)
}

// A gate's panic reaches the operators' log, with its cause and its place.
func TestAPanicIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := openShop(t, func(c *registry.Config) {
		c.Ledger, c.Log = panicking{}, slog.New(slog.NewTextHandler(&log, nil))
	})
	s.call(t, sessionOf(t, "assistant", olga), "find_order", `{"order":"a1"}`)
	require.Contains(t, log.String(), "a source or a store panicked")
	require.Contains(t, log.String(), "hunter2")
	require.Contains(t, log.String(), "panic_test.go")
}

// The caller has gone: nothing is proposed.
func TestACancelledCall(t *testing.T) {
	s := openShop(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := s.gate.Call(ctx, sessionOf(t, "assistant", ann), chattools.Call{Name: "refund_order", Arguments: []byte(`{"order":"a1","cents":5}`)})
	require.Equal(t, chattools.Failed, a.Status)
	open, err := s.desk.Pending(t.Context(), scope, olga, ledger.Cursor{})
	require.NoError(t, err)
	require.Empty(t, open)
}
