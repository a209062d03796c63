package bfcl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report says what became of the recording.
type Report struct {
	Tools int // registered
	Tasks int // one session each
	Turns int // recorded ones

	Inserted int // turns that bring functions
	Catalogs int // that were exactly the tools they should be, one for each turn of either kind

	Refused map[string]int // calls answered as a name that never existed, by why the tool is not there
	Early   int            // withheld functions whose first recorded call was tried early
	Passed  int            // of those, how many times the same call passed after the function arrived
	Unused  int            // withheld functions that no recorded call of their task needs

	Calls    int      // recorded ones that were made
	Reads    int      // answered at once, as recorded
	Writes   int      // proposed, approved and answered as recorded
	Changed  int      // of the writes, those that changed something when they were recorded
	Invalid  []string // calls that break their tool's own schema, with the answer
	Large    int      // integers of 2^53 or more in the results
	Runs     int      // run functions entered
	Executed int      // proposals that the ledger has as run to their end by the operator's approval

	Differences []string // from the recording, or from what a session may see
}

// String is the report as a table, with every difference below it.
func (r *Report) String() string {
	var b strings.Builder
	row := func(what string, n int) { fmt.Fprintf(&b, "%-58s %6d\n", what, n) }
	row("tools", r.Tools)
	row("tasks, each a session", r.Tasks)
	row("recorded turns", r.Turns)
	row("inserted turns, which bring functions", r.Inserted)
	row("catalogs that were exactly the computed set", r.Catalogs)
	for _, why := range slices.Sorted(maps.Keys(r.Refused)) {
		row("refused as a name that never existed: "+why, r.Refused[why])
	}
	row("withheld functions whose recorded call was tried early", r.Early)
	row("  and passed after they arrived", r.Passed)
	row("withheld functions that no recorded call needs", r.Unused)
	row("recorded calls that were made", r.Calls)
	row("  reads, answered as recorded", r.Reads)
	row("  writes, approved and answered as recorded", r.Writes)
	row("    of them changed something when recorded", r.Changed)
	row("  refused by their tool's own schema", len(r.Invalid))
	row("integers of 2^53 or more in the results", r.Large)
	row("run functions entered", r.Runs)
	row("proposals executed by the operator's approval", r.Executed)
	row("differences", len(r.Differences))
	for _, lines := range [][]string{r.Invalid, r.Differences} {
		for _, line := range lines {
			fmt.Fprintln(&b, "  "+line)
		}
	}
	return b.String()
}
