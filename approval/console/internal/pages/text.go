package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// functions are what templates can call.
var functions = template.FuncMap{
	"visible": visible[string], "id": visible[authz.ID], "time": stamp, "iso": iso, "left": left, "state": state, "tone": tone,
	"risk": risk, "why": why, "lines": lines, "bytes": size, "plain": func(s any) string { return visible(fmt.Sprint(s)) },
	"join": joined[authz.ID], "words": joined[string], "paths": paths, "percent": percent, "add": func(a, b int) int { return a + b }, "proposalAt": proposalAt,
	"brief": brief, "query": url.QueryEscape, "sum": sum, "sub": func(a, b int) int { return max(0, a-b) }, "short": short,
	"after": func(b bar) string { return fmt.Sprintf("%.1f", b.End+6) },
	"person": func(base string, recent int, a office.Actor) any {
		return struct {
			Base   string
			Recent int // in how many records its last activity was looked for
			A      office.Actor
		}{base, recent, a}
	},
}

// visible returns text in which every character can be seen: what is invisible, or moves or merges with others, is
// escaped as in the display form of parameters. A line break is kept as ⏎, so that nothing can draw lines of its own.
func visible[T ~string](s T) string {
	q := canon.Quote(string(s))
	q = q[1 : len(q)-1]
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, " ⏎ ").Replace(q)
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = visible(s)
	}
	return strings.Join(texts, ", ")
}

func paths(list []authz.Path) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, visible(p.String()))
	}
	return texts
}

// stamp shows an instant with its zone; iso is for the datetime attribute.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// left says how long something still waits.
func left(until, now time.Time) string {
	d := until.Sub(now)
	switch {
	case d <= 0:
		return "expired"
	case d < time.Minute:
		return fmt.Sprintf("%d s left", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s left", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min left", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days left", int(d.Hours())/24)
}

// state says in words where a proposal stands; tone is the class of its mark.
func state(r office.Row) string {
	switch r.State {
	case ledger.StateProposed:
		return "Waiting"
	case ledger.StateExpired:
		return "Expired"
	case ledger.StateDismissed:
		return "Dismissed"
	case ledger.StateInterrupted:
		return "Interrupted"
	case ledger.StateVerified:
		if r.Outcome == ledger.Failed {
			return "Failed"
		}
		return "Done, " + string(r.Verdict)
	}
	switch r.Outcome {
	case ledger.Succeeded:
		return "Done"
	case ledger.Failed:
		return "Failed"
	}
	return "Running"
}

func tone(r office.Row) string {
	switch text := state(r); {
	case text == "Waiting":
		return "info"
	case text == "Failed" || text == "Interrupted" || r.Verdict == ledger.Worsened:
		return "bad"
	case strings.HasPrefix(text, "Done"):
		return "ok"
	}
	return "quiet"
}

func risk(r registry.Risk) string {
	switch r {
	case registry.RiskHigh:
		return "High risk"
	case registry.RiskMedium:
		return "Medium risk"
	case registry.RiskLow:
		return "Low risk"
	}
	return "Risk not declared"
}

func lines(text string) int { return strings.Count(text, "\n") + 1 }

func size(n int) string {
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

func percent(part, whole int) string {
	if whole == 0 {
		return "—"
	}
	return fmt.Sprintf("%d %%", (100*part+whole/2)/whole)
}

// proposalAt is the address of a proposal.
func proposalAt(base, id string) string { return base + "proposals/" + url.PathEscape(id) }

func sum(list ...int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

// most is how many characters of a sentence a list or a heading has room for.
const most = 300

// brief keeps a sentence from pushing everything else away. What is left out is said, and is whole on the proposal's page.
func brief(s string) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "… (" + size(len(s)) + " in all)"
	}
	return s
}

// short cuts a label of a chart; the table beside it has it whole.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

// reasons are the words for why a layer of authority said what it said, or why something was refused.
var reasons = map[string]string{
	string(authz.ReasonSamePerson):    "Four eyes: somebody behind the request may not approve it.",
	string(authz.ReasonNoPermission):  "Nothing gives this permission.",
	string(authz.ReasonNotOnTarget):   "The permission is there, but not for this record.",
	string(authz.ReasonDenyOverride):  "A rule denies it here.",
	string(authz.ReasonAllowOverride): "A rule allows it here.",
	string(authz.ReasonDenyBelow):     "A rule denies it somewhere below.",
	string(authz.ReasonRole):          "A role has the permission.",
	string(authz.ReasonInactive):      "The account is not active.",
	string(authz.ReasonUnknownActor):  "The account is not known in this scope.",
	string(authz.ReasonWrongKind):     "Only a person may do this.",
	string(authz.ReasonDisabled):      "The tool is disabled.",
	string(authz.ReasonAboveCeiling):  "The tool is above the ceiling for models.",
	string(authz.ReasonDenyGrant):     "A grant denies the model this tool.",
	string(authz.ReasonGrantMissing):  "The tool is administrative, and the model has no grant of it.",
	string(authz.ReasonNoTarget):      "The record it is about is gone.",
	string(authz.ReasonNotListed):     "The session’s list does not have the tool.",
	"unknown_scope":                   "There is no such scope.",
	"unknown_proposal":                "",

	// What became of what was approved: the page says so by itself, but for what is not known.
	string(ledger.StateExecuted):    "",
	string(ledger.StateVerified):    "",
	string(ledger.StateInterrupted): "Whether it ran is not known: look before it is asked for anew.",
}

// why puts a reason into words; one without words is shown as it is.
func why(reason any) string {
	if text, ok := reasons[fmt.Sprint(reason)]; ok {
		return text
	}
	return visible(fmt.Sprint(reason))
}
