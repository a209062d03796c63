package pages

import (
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
)

// chart is stacked bars, with the same numbers for a table.
type chart struct {
	ID, Title, Text string // Text says it all to somebody who does not see the bars
	Parts           []string
	Bars            []bar
	Height          int
}

type bar struct {
	Label             string
	LabelY, Y, TotalY int
	Total             int
	End               float64 // where its segments end
	Values            []int
	Segments          []segment
}

type segment struct {
	X, Width float64
	Class    int
	Title    string
}

const (
	barWidth  = 350.0
	barHeight = 48 // with the line above it
)

// newChart draws one bar for each row; every bar is as long as its total is to the largest.
func (w words) newChart(id, title string, parts []string, rows []bar) chart {
	c := chart{ID: id, Title: title, Height: len(rows)*barHeight + 6}
	for _, part := range parts {
		c.Parts = append(c.Parts, w.Say(part))
	}
	largest := 0
	for i := range rows {
		for _, n := range rows[i].Values {
			rows[i].Total += n
		}
		largest = max(largest, rows[i].Total)
	}
	for i := range rows {
		b := &rows[i]
		b.LabelY, b.Y, b.TotalY = i*barHeight+15, i*barHeight+21, i*barHeight+36
		x := 0.0
		for k, n := range b.Values {
			if n == 0 {
				continue
			}
			width := barWidth * float64(n) / float64(largest)
			b.Segments = append(b.Segments, segment{x, width, k + 1, w.Say("{label}: {number} {part}", b.Label, n, c.Parts[k])})
			x += width
		}
		b.End = x
		c.Text += w.Say("{label}: {number}.", b.Label, b.Total) + " "
	}
	c.Bars = rows
	return c
}

// What the bars of the charts count.
var (
	waits    = []string{"under 2 s", "2 to 10 s", "10 s to 1 min", "1 to 5 min", "5 min to 1 h", "longer"} // see [ledger.WaitedBelow]
	fates    = []string{"approved", "dismissed", "expired", "waiting or revised"}
	counted  = []string{"decisions"}
	verdicts = []string{"improved", "unchanged", "worsened", "unmeasured"}
)

// charts says what became of proposals, how long people took, and whether it helped.
func (w words) charts(o office.Outcomes) []chart {
	var decided, helped []bar
	for _, t := range o.Actions {
		name := visible(t.Action)
		revised := min(t.Revisions, t.Dismissed) // what a revision took the place of may be older than what is counted
		decided = append(decided, bar{Label: name, Values: []int{t.Executed + t.Interrupted, t.Dismissed - revised, t.Expired, t.Proposed + revised}})
		if n := t.Improved + t.Unchanged + t.Worsened + t.Unmeasured; n > 0 {
			helped = append(helped, bar{Label: name, Values: []int{t.Improved, t.Unchanged, t.Worsened, t.Unmeasured}})
		}
	}
	var waited []bar
	for i, n := range o.Total.Waited {
		waited = append(waited, bar{Label: w.Say(waits[i]), Values: []int{n}})
	}
	list := []chart{
		w.newChart("decided", w.Say("What became of proposals"), fates, decided),
		w.newChart("waited", w.Say("How long people took to decide"), counted, waited),
	}
	if len(helped) > 0 {
		list = append(list, w.newChart("helped", w.Say("Whether it helped"), verdicts, helped))
	}
	return list
}
