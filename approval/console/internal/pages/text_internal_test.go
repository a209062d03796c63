package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// english are the console's own words.
var english = words{new(texts.Catalog)}

func TestLeft(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "expired", 0: "expired", time.Second: "1 s left", 59 * time.Second: "59 s left", 61 * time.Second: "1 min 01 s left",
		time.Hour: "1 h 00 min left", 47*time.Hour + 59*time.Minute: "47 h 59 min left", 72 * time.Hour: "3 days left",
	} {
		require.Equal(t, want, english.left(now.Add(d), now), d)
	}
	require.Equal(t, "—", stamp(time.Time{}))
	require.Equal(t, "2026-03-02 09:00:00 UTC", stamp(now.In(time.FixedZone("east", 3600))))
}

func TestState(t *testing.T) {
	for _, c := range []struct {
		row        office.Row
		text, tone string
	}{
		{office.Row{State: ledger.StateProposed}, "Waiting", "info"},
		{office.Row{State: ledger.StateExpired}, "Expired", "quiet"},
		{office.Row{State: ledger.StateDismissed}, "Dismissed", "quiet"},
		{office.Row{State: ledger.StateInterrupted}, "Interrupted", "bad"},
		{office.Row{State: ledger.StateExecuted}, "Running", "quiet"},
		{office.Row{State: ledger.StateExecuted, Outcome: ledger.Succeeded}, "Done", "ok"},
		{office.Row{State: ledger.StateExecuted, Outcome: ledger.Failed}, "Failed", "bad"},
		{office.Row{State: ledger.StateVerified, Outcome: ledger.Failed, Verdict: ledger.Unmeasured}, "Failed", "bad"},
		{office.Row{State: ledger.StateVerified, Outcome: ledger.Succeeded, Verdict: ledger.Improved}, "Done, improved", "ok"},
		{office.Row{State: ledger.StateVerified, Outcome: ledger.Succeeded, Verdict: ledger.Worsened}, "Done, worsened", "bad"},
	} {
		require.Equal(t, c.text, english.state(c.row))
		require.Equal(t, c.tone, tone(c.row), c.text)
	}
}

func TestWords(t *testing.T) {
	require.Equal(t, "High risk", english.risk(registry.RiskHigh))
	require.Equal(t, "Medium risk", english.risk(registry.RiskMedium))
	require.Equal(t, "Low risk", english.risk(registry.RiskLow))
	require.Equal(t, "Risk not declared", english.risk(""))
	require.Equal(t, "9999 bytes", english.size(9999))
	require.Equal(t, "256 KiB", english.size(256<<10))
	require.Equal(t, "—", english.percent(0, 0))
	require.Equal(t, "33 %", english.percent(1, 3))
	require.Equal(t, "67 %", english.percent(2, 3))
	require.Equal(t, "a ⏎ b\\u202e", visible("a\nb\u202e"))
	require.Equal(t, strings.Repeat("a", 39)+"…", short(strings.Repeat("a", 41)))
	require.Equal(t, "short", short("short"))
	require.Equal(t, "A role has the permission.", english.why("role"))
	require.Equal(t, "some_reason", english.why("some_reason"))
}

// TestCharts: no bar is longer than what it counts, also where a revision is counted and what it took the place of is not.
func TestCharts(t *testing.T) {
	list := english.charts(office.Outcomes{Actions: []ledger.Tally{
		{Action: "a", Proposed: 1, Revisions: 1}, {Action: "b", Executed: 2, Interrupted: 1, Dismissed: 3, Revisions: 1, Expired: 1},
	}})
	require.Equal(t, []int{0, 0, 0, 1}, list[0].Bars[0].Values)
	require.Equal(t, []int{3, 2, 1, 1}, list[0].Bars[1].Values)
	for _, c := range list {
		for _, b := range c.Bars {
			for _, s := range b.Segments {
				require.Positive(t, s.Width)
			}
			require.LessOrEqual(t, b.End, barWidth)
		}
	}
}

func TestList(t *testing.T) {
	require.Equal(t, []string{"viewer", "night shift", "x"}, list("viewer, night shift ,,\r\nx,"))
	require.Equal(t, []string{}, list(" "))
}
