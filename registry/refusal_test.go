package registry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func TestRefusalText(t *testing.T) {
	cause := errors.New("sam on /orders")
	for want, r := range map[string]*registry.Refusal{
		"registry: spent":                                {Code: ledger.Spent},
		"registry: forbidden (no_permission)":            {Code: ledger.Forbidden, Reason: "no_permission"},
		"registry: forbidden (inactive): sam on /orders": {Code: ledger.Forbidden, Reason: "inactive", Err: cause},
		"registry: unrecorded: sam on /orders":           {Code: ledger.Unrecorded, Err: cause},
	} {
		require.EqualError(t, r, want)
		require.Equal(t, r.Err, errors.Unwrap(r))
		require.Equal(t, r.Code, registry.CodeOf(fmt.Errorf("outer: %w", r)))
	}
	require.Equal(t, ledger.Done, registry.CodeOf(nil))
	require.Equal(t, ledger.RunFailed, registry.CodeOf(cause))
}

func TestPublic(t *testing.T) {
	require.NoError(t, registry.Public(nil))
	cause := errors.New("card expired")
	err := fmt.Errorf("payment 7: %w", registry.Public(cause))
	require.EqualError(t, err, "payment 7: card expired")
	require.ErrorIs(t, err, cause)
	text, ok := registry.PublicText(err)
	require.True(t, ok)
	require.Equal(t, "card expired", text, "what stands around it is not public")
	_, ok = registry.PublicText(cause)
	require.False(t, ok)
	_, ok = registry.PublicText(nil)
	require.False(t, ok)
}

func TestAt(t *testing.T) {
	at := registry.At(authz.MustPath("/orders"), func(o Order) string { return o.ID })
	paths, err := at(t.Context(), Order{"W1"})
	require.NoError(t, err)
	require.Equal(t, []authz.Path{authz.MustPath("/orders/W1")}, paths)
	for _, id := range []string{"", ".", "..", "../users", "a/b", "a\\b", "a%2fb", "a\x00", " a", "a\u202e"} {
		paths, err := at(t.Context(), Order{id})
		require.ErrorIs(t, err, authz.ErrPath, "%q", id)
		require.Nil(t, paths)
	}
}

// The measure of a proposal is read for what was sealed, by the definition under which it ran, or not at all.
func TestMeasure(t *testing.T) {
	a := newAttempt(t)
	row := a.row(a.with.Proposal)
	n, info, err := a.reg.Measure(t.Context(), &row)
	require.NoError(t, err)
	require.Equal(t, 1.0, n)
	require.Equal(t, registry.MeasureInfo{Better: registry.Higher, After: registry.DefaultVerifyAfter}, *info)
	info.Tolerance = 99
	require.Zero(t, a.reg.Lookup("refund_order").Measure.Tolerance, "what is handed out is a copy")

	away := errors.New("meter is away")
	a.read = func() (float64, error) { return 7, away }
	n, _, err = a.reg.Measure(t.Context(), &row)
	require.ErrorIs(t, err, away)
	require.Zero(t, n)
	bad := row
	bad.Version = "x"
	_, _, err = a.reg.Measure(t.Context(), &bad)
	require.ErrorIs(t, err, ledger.ErrTampered)
	a.release(func() { a.revised = true })
	_, _, err = a.approver.Measure(t.Context(), &row)
	require.EqualError(t, err, "the action's definition changed since")
	a.release(func() { a.removed = true })
	_, _, err = a.approver.Measure(t.Context(), &row)
	require.EqualError(t, err, "no measure defined")
}

// What cannot be returned is logged: a stack where a run panicked, and nothing that a caller would read.
func TestLog(t *testing.T) {
	var text strings.Builder
	s := open(t, func(_ *shop, p *plan) { p.Log = slog.New(slog.NewTextHandler(&text, nil)) })
	s.run = func(context.Context, Refund) (any, error) { panic("index out of range") }
	_, err := s.desk.Approve(t.Context(), s.opened(sam))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "goroutine")
	require.Contains(t, text.String(), "refund_order")
	require.Contains(t, text.String(), "TestLog")
	s.reg.Log().Info("mine")
	require.Contains(t, text.String(), "mine")
}
