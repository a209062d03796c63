package airline

import (
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/chattools"
)

// Report says what became of the conversations: without a gate, or with one.
type Report struct {
	Gated         bool
	Conversations int
	Reached       int // conversations whose final database is the ground truth's
	Unchanged     int // conversations that left every byte as it was
	Explained     int // conversations whose final database is the initial one with what was approved, and nothing else (with a gate)

	Calls    int
	Invalid  int // calls whose arguments did not parse or validate (with a gate)
	Others   int // calls that do not write
	Answered int // of these, answered as recorded

	Writes    int // calls that write; the next six only with a gate
	Refused   int // answered by the gate without a proposal: nothing there that the customer may ask for
	Same      int // answered with a proposal that was waiting already
	Proposed  int
	Approved  int
	Dismissed int
	Expired   int

	Ran       int // succeeded
	RanAlike  int // of these, with the recorded result and changes
	RanOther  int // with others, since an earlier write is missing: the airline itself comes to the same without it
	RanFailed int // ran, and the airline refused it
	Entered   int // run functions of writes that were entered, whatever the gate answered

	StoppedRan     int // writes that did not run and had succeeded in the recording
	StoppedRefused int // writes that did not run, and that the airline had refused in the recording
	Missing        int // writes of the ground truth that the model never asked for

	Differences []string // that nothing above explains
}

// Stopped returns how many writes did not run.
func (r *Report) Stopped() int { return r.StoppedRan + r.StoppedRefused }

func (r *Report) differ(format string, args ...any) {
	r.Differences = append(r.Differences, fmt.Sprintf(format, args...))
}

// invalid counts an answer that says that the arguments were not understood.
func (r *Report) invalid(a chattools.Answer) {
	if a.Status == chattools.Invalid {
		r.Invalid++
	}
}

// ran counts a write that ran.
func (r *Report) ran(want, got Expect) {
	switch alike := len(want.differences(got)) == 0; {
	case !got.OK:
		r.RanFailed++
	case alike:
		r.Ran++
		r.RanAlike++
	default:
		r.Ran++
		r.RanOther++
	}
}

// stopped counts a write that did not run.
func (r *Report) stopped(want Expect) {
	if want.OK {
		r.StoppedRan++
	} else {
		r.StoppedRefused++
	}
}

// Column is a report under a title.
type Column struct {
	Title string
	*Report
}

// Print writes reports as a table, side by side.
func Print(out io.Writer, columns ...Column) {
	fmt.Fprintf(out, "%-62s", "")
	for _, c := range columns {
		fmt.Fprintf(out, " %16s", c.Title)
	}
	fmt.Fprintln(out)
	line := func(what string, gated bool, n func(*Report) int) {
		fmt.Fprintf(out, "%-62s", what)
		for _, c := range columns {
			if gated && !c.Gated {
				fmt.Fprintf(out, " %16s", "-")
			} else {
				fmt.Fprintf(out, " %16d", n(c.Report))
			}
		}
		fmt.Fprintln(out)
	}
	row := func(what string, n func(*Report) int) { line(what, false, n) }
	gate := func(what string, n func(*Report) int) { line(what, true, n) }
	row("conversations", func(r *Report) int { return r.Conversations })
	row("  the final database is the ground truth's", func(r *Report) int { return r.Reached })
	row("  the final database is the initial one, byte for byte", func(r *Report) int { return r.Unchanged })
	gate("  the final database holds approved changes and no others", func(r *Report) int { return r.Explained })
	row("recorded calls", func(r *Report) int { return r.Calls })
	gate("  arguments that did not parse or validate", func(r *Report) int { return r.Invalid })
	row("calls that do not write", func(r *Report) int { return r.Others })
	row("  answered as recorded", func(r *Report) int { return r.Answered })
	row("calls that write", func(r *Report) int { return r.Writes })
	gate("  refused by the gate without a proposal", func(r *Report) int { return r.Refused })
	gate("  answered with a proposal that was waiting already", func(r *Report) int { return r.Same })
	gate("  proposed", func(r *Report) int { return r.Proposed })
	gate("    approved", func(r *Report) int { return r.Approved })
	gate("    dismissed with a reason", func(r *Report) int { return r.Dismissed })
	gate("    expired", func(r *Report) int { return r.Expired })
	row("  ran and succeeded", func(r *Report) int { return r.Ran })
	row("    with the recorded result", func(r *Report) int { return r.RanAlike })
	row("    with another, since an earlier write is missing", func(r *Report) int { return r.RanOther })
	row("  ran and were refused by the airline", func(r *Report) int { return r.RanFailed })
	row("  did not run", func(r *Report) int { return r.Stopped() })
	row("    had run in the recording", func(r *Report) int { return r.StoppedRan })
	row("    had been refused by the airline in the recording", func(r *Report) int { return r.StoppedRefused })
	row("writes of the ground truth that the model never asked for", func(r *Report) int { return r.Missing })
	row("differences from the recording", func(r *Report) int { return len(r.Differences) })
	for _, c := range columns {
		for _, line := range c.Differences {
			fmt.Fprintf(out, "  %s: %s\n", c.Title, line)
		}
	}
}
