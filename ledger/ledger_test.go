package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

func TestState(t *testing.T) {
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	before, after := at.Add(-time.Nanosecond), at.Add(time.Nanosecond)
	open := ledger.Proposal{ExpiresAt: at}
	running := ledger.Proposal{ExpiresAt: at.Add(-time.Hour), Decision: ledger.Claimed, RunBy: at}
	with := func(p ledger.Proposal, change func(*ledger.Proposal)) ledger.Proposal {
		change(&p)
		return p
	}
	for _, c := range []struct {
		name string
		p    ledger.Proposal
		now  time.Time
		want ledger.State
	}{
		{"open before its expiry", open, before, ledger.StateProposed},
		{"open at its expiry", open, at, ledger.StateExpired},
		{"open after its expiry", open, after, ledger.StateExpired},
		{"the zero proposal", ledger.Proposal{}, at, ledger.StateExpired},
		{"dismissed before its expiry", with(open, func(p *ledger.Proposal) { p.Decision = ledger.Dismissed }), before, ledger.StateDismissed},
		{"dismissed after its expiry", with(open, func(p *ledger.Proposal) { p.Decision = ledger.Dismissed }), after, ledger.StateDismissed},
		{"running before the run limit", running, before, ledger.StateExecuted},
		{"running at the run limit", running, at, ledger.StateInterrupted},
		{"running after the run limit", running, after, ledger.StateInterrupted},
		{"claimed without a run limit", with(running, func(p *ledger.Proposal) { p.RunBy = time.Time{} }), before, ledger.StateInterrupted},
		{"succeeded", with(running, func(p *ledger.Proposal) { p.Outcome = ledger.Succeeded }), after, ledger.StateExecuted},
		{"failed", with(running, func(p *ledger.Proposal) { p.Outcome = ledger.Failed }), after, ledger.StateExecuted},
		{"verified", with(running, func(p *ledger.Proposal) { p.Outcome, p.Verdict = ledger.Succeeded, ledger.Improved }), after, ledger.StateVerified},
		{"unmeasured", with(running, func(p *ledger.Proposal) { p.Outcome, p.Verdict = ledger.Failed, ledger.Unmeasured }), after, ledger.StateVerified},
		{"interrupted with a verdict", with(running, func(p *ledger.Proposal) { p.Verdict = ledger.Unmeasured }), at, ledger.StateInterrupted},
		{"an unknown decision, open", with(open, func(p *ledger.Proposal) { p.Decision = "approved" }), before, ledger.StateInterrupted},
		{"an unknown decision, expired", with(open, func(p *ledger.Proposal) { p.Decision = "approved" }), after, ledger.StateInterrupted},
		{"an outcome without a claim", with(open, func(p *ledger.Proposal) { p.Outcome = ledger.Succeeded }), before, ledger.StateProposed},
		{"a verdict without a claim", with(open, func(p *ledger.Proposal) { p.Verdict = ledger.Improved }), at, ledger.StateExpired},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, c.p.State(c.now)) })
	}
}

func TestTime(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	for _, c := range []struct {
		name     string
		in, want time.Time
	}{
		{"zero", time.Time{}, time.Time{}},
		{"zero in a zone", time.Time{}.In(east), time.Time{}},
		{"nanoseconds are cut, not rounded", time.Date(2026, 1, 5, 9, 0, 0, 1999, time.UTC), time.Date(2026, 1, 5, 9, 0, 0, 1000, time.UTC)},
		{"a zone", time.Date(2026, 1, 5, 11, 0, 0, 0, east), time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)},
		{"before 1970", time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC)},
		{"the epoch", time.Unix(0, 0), time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, ledger.Time(c.in))
			require.Equal(t, c.want, ledger.Time(ledger.Time(c.in)))
		})
	}
	now := time.Now() // with a monotonic reading
	require.Equal(t, now.Truncate(time.Microsecond).UTC(), ledger.Time(now))
}

func TestLimitError(t *testing.T) {
	var err error = &ledger.LimitError{Of: "session", Limit: 5}
	require.ErrorIs(t, err, ledger.ErrLimit)
	require.NotErrorIs(t, err, ledger.ErrConflict)
	require.Equal(t, "ledger: 5 open proposals in this session are the limit", err.Error())
	var limit *ledger.LimitError
	require.True(t, errors.As(err, &limit))
}
