package web

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Every code that a refusal can have explains itself, with a status of its own kind.
func TestEveryCodeIsExplained(t *testing.T) {
	for code, status := range map[ledger.Code]int{
		ledger.NeedsApproval: 409, ledger.Unknown: 404, ledger.Unavailable: 403, ledger.Forbidden: 403, ledger.Invalid: 422, ledger.Limited: 429,
		ledger.BadToken: 403, ledger.Stale: 412, ledger.Tampered: 409, ledger.Spent: 409, ledger.WasDismissed: 409, ledger.WasExpired: 410,
		ledger.RunFailed: 500, ledger.Interrupted: 500, ledger.Unrecorded: 503,
	} {
		p := ProblemOf(fmt.Errorf("wrapped: %w", &registry.Refusal{Code: code, Err: errors.New("a secret cause")}))
		require.Equal(t, status, p.Status, code)
		require.Equal(t, code, p.Code)
		require.Equal(t, "urn:sallyport:"+string(code), p.Type)
		require.NotEmpty(t, p.Title)
		require.NotEmpty(t, p.Detail)
		require.NotContains(t, p.Error(), "secret")
	}
	for code := range said {
		require.GreaterOrEqual(t, NewProblem(code, "").Status, 400, code)
	}
	require.Equal(t, 500, NewProblem("a code of a later version", "").Status)
}

// Only what its author marked as public, and faults of parameters, are passed on from errors.
func TestWhatProblemsSay(t *testing.T) {
	p := ProblemOf(errors.New("a secret cause"))
	require.Equal(t, 500, p.Status)
	require.NotContains(t, p.Error(), "secret")
	require.ErrorContains(t, errors.Unwrap(p), "secret", "for the log")

	p = ProblemOf(&registry.Refusal{Code: ledger.RunFailed, Err: registry.Public(errors.New("the card has expired"))})
	require.Equal(t, "the card has expired", p.Detail)
	_, err := canon.Parse([]byte(`{"a":1,"a":2}`), canon.Options{})
	p = ProblemOf(&registry.Refusal{Code: ledger.Invalid, Err: errors.Join(err, errors.New("a secret cause"))})
	require.Len(t, p.Faults, 1)
	require.Contains(t, p.Faults[0], "duplicate")
	require.Equal(t, 413, ProblemOf(fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 1})).Status)
	given := NewProblem(CodeNotFound, "nothing")
	require.Same(t, given, ProblemOf(fmt.Errorf("wrapped: %w", given)))
}
