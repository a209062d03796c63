package verify_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const week = 7 * 24 * time.Hour

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name          string
		better        registry.Direction
		tolerance     float64
		before, after float64
		want          ledger.Verdict
	}{
		{"higher is better, more", registry.Higher, 0, 10, 11, ledger.Improved},
		{"higher is better, less", registry.Higher, 0, 10, 9, ledger.Worsened},
		{"higher is better, equal", registry.Higher, 0, 10, 10, ledger.Unchanged},
		{"lower is better, more", registry.Lower, 0, 10, 11, ledger.Worsened},
		{"lower is better, less", registry.Lower, 0, 10, 9, ledger.Improved},
		{"lower is better, equal", registry.Lower, 0, 10, 10, ledger.Unchanged},
		{"just tolerated", registry.Higher, 2, 10, 12, ledger.Unchanged},
		{"just tolerated, down", registry.Higher, 2, 10, 8, ledger.Unchanged},
		{"more than tolerated", registry.Higher, 2, 10, math.Nextafter(12, 13), ledger.Improved},
		{"more than tolerated, down", registry.Higher, 2, 10, math.Nextafter(8, 7), ledger.Worsened},
		{"lower, just tolerated", registry.Lower, 2, 10, 8, ledger.Unchanged},
		{"lower, more than tolerated", registry.Lower, 2, 10, math.Nextafter(8, 7), ledger.Improved},
		{"from nothing", registry.Higher, 0, 0, math.SmallestNonzeroFloat64, ledger.Improved},
		{"over zero", registry.Lower, 0, 1, -1, ledger.Improved},
		{"minus zero", registry.Higher, 0, 0, math.Copysign(0, -1), ledger.Unchanged},
		{"from one end to the other", registry.Higher, 0, -math.MaxFloat64, math.MaxFloat64, ledger.Improved},
		{"and back", registry.Lower, 1, -math.MaxFloat64, math.MaxFloat64, ledger.Worsened},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, func(s *shop) { s.spec.Measure.Better, s.spec.Measure.Tolerance = c.better, c.tolerance })
			s.sells(c.before)
			id := s.approve()
			s.sells(c.after)
			s.pass(week)
			row := s.judged(id, c.want, "")
			require.Equal(t, c.before, *row.Baseline)
			require.Equal(t, c.after, *row.Measured)
			require.Equal(t, ledger.StateVerified, row.State(s.reg.Now()))
			s.pass(week)
			s.idle()
		})
	}
}

// Where there is nothing to compare, the verdict is unmeasured, and says why.
func TestUnmeasured(t *testing.T) {
	number := func(n float64) func() (float64, error) { return func() (float64, error) { return n, nil } }
	gone := errors.New("the till is closed")
	text := strings.Repeat("€", 100_000)
	for _, c := range []struct {
		name          string
		before, after func(*shop)
		why           string
	}{
		{"no measure", func(s *shop) { s.spec.Measure = registry.Measure[Price]{} }, nil, "no measure defined"},
		{"the baseline failed", func(s *shop) { s.measures(func() (float64, error) { return 0, gone }) }, func(s *shop) { s.sells(1) },
			"the baseline could not be measured: the till is closed"},
		{"the baseline was no number", func(s *shop) { s.measures(number(math.NaN())) }, func(s *shop) { s.sells(1) }, "the baseline could not be measured: the measure is no finite number"},
		{"the baseline was infinite", func(s *shop) { s.measures(number(math.Inf(-1))) }, func(s *shop) { s.sells(1) }, "no finite number"},
		{"the baseline panicked", func(s *shop) { s.measures(func() (float64, error) { panic("oops") }) }, func(s *shop) { s.sells(1) }, "panic: oops"},
		{"the measure failed", nil, func(s *shop) { s.measures(func() (float64, error) { return 12, gone }) }, "the measure could not be read again: the till is closed"},
		{"the measure was no number", nil, func(s *shop) { s.measures(number(math.NaN())) }, "read again: the measure is no finite number"},
		{"the measure was infinite", nil, func(s *shop) { s.measures(number(math.Inf(1))) }, "no finite number"},
		{"the measure panicked", nil, func(s *shop) { s.measures(func() (float64, error) { panic("oops") }) }, "panic: oops"},
		{"the run failed", func(s *shop) { s.run = func() error { return errRun } }, nil, "the run failed"},
		{"the run panicked", func(s *shop) { s.run = func() error { panic(errRun) } }, nil, "the run failed"},
		{"the definition changed since", nil, func(s *shop) { s.spec.Revision = "2"; s.release() }, "the action's definition changed since"},
		{"the measure went away", nil, func(s *shop) { s.spec.Measure = registry.Measure[Price]{}; s.release() }, "no measure defined"},
		{"the action went away", nil, func(s *shop) { s.spec.Disabled = true; s.release() }, "no measure defined"},
		{"a long error", nil, func(s *shop) { s.measures(func() (float64, error) { return 0, errors.New(text) }) }, "€… (300000 bytes)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			if c.before != nil {
				c.before(s)
				s.release()
			}
			id := s.approve()
			if c.after != nil {
				c.after(s)
			}
			s.pass(week)
			row := s.judged(id, ledger.Unmeasured, c.why)
			require.Nil(t, row.Measured)
			require.Less(t, len(row.Unmeasured), 4300)
			require.True(t, utf8.ValidString(row.Unmeasured))
		})
	}
}

// What was changed behind the ledger's back is not measured.
func TestTamperedRowIsNotMeasured(t *testing.T) {
	s := open(t)
	id := s.approve()
	require.NoError(t, s.memory.Tamper("shop", id, func(p *ledger.Proposal) { p.Version = "x" }))
	measured := false
	s.measures(func() (float64, error) { measured = true; return 99, nil })
	s.pass(week)
	s.judged(id, ledger.Unmeasured, "not what was sealed")
	require.False(t, measured)

	s = open(t)
	id = s.approve()
	require.NoError(t, s.memory.Tamper("shop", id, func(p *ledger.Proposal) { p.Baseline = nil }))
	s.pass(week)
	s.judged(id, ledger.Unmeasured, "there is no baseline")

	s = open(t)
	s.run = func() error { return errRun }
	id = s.approve()
	require.NoError(t, s.memory.Tamper("shop", id, func(p *ledger.Proposal) { p.Unmeasured = "" }))
	s.pass(week)
	s.judged(id, ledger.Unmeasured, "the run failed")
}

// A verdict is due when the action's delay has passed after the run, by default after seven days.
func TestWhenItIsDue(t *testing.T) {
	for _, c := range []struct {
		name        string
		after, want time.Duration
	}{{"by default", 0, week}, {"as declared", time.Hour, time.Hour}} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, func(s *shop) { s.spec.Measure.After = c.after })
			s.run = func() error { s.pass(time.Second); return nil } // counted from the end of the run
			id := s.approve()
			s.pass(c.want - time.Microsecond)
			s.idle()
			row := s.row(id)
			require.Equal(t, ledger.StateExecuted, row.State(s.reg.Now()))
			s.pass(time.Microsecond)
			s.judged(id, ledger.Unchanged, "")
		})
	}
}
