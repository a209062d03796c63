package pages

import (
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// words are what the console says, in the words of the host.
type words struct{ *texts.Catalog }

// functions are what templates can call.
func (w words) functions() template.FuncMap {
	return template.FuncMap{
		"visible": visible[string], "id": visible[authz.ID], "time": stamp, "iso": iso, "lines": lines, "tone": tone,
		"plain": func(s any) string { return visible(fmt.Sprint(s)) }, "short": short,
		"wordless": wordless, "join": joined[authz.ID], "words": joined[string], "paths": paths, "proposalAt": proposalAt, "query": url.QueryEscape,
		"add": func(a, b int) int { return a + b }, "sum": sum, "sub": func(a, b int) int { return max(0, a-b) },
		"after": func(b bar) string { return fmt.Sprintf("%.1f", b.End+6) },
		"person": func(base string, recent int, a office.Actor) any {
			return struct {
				Base   string
				Recent int // in how many records its last activity was looked for
				A      office.Actor
			}{base, recent, a}
		},
		"left": w.left, "state": w.state, "risk": w.risk, "why": w.why, "bytes": w.size, "percent": w.percent, "brief": w.brief,
		"word": w.word, "title": w.title, "detail": w.detail, "hint": w.hint,
	}
}

// word says a name of the library's own, such as that of a state, in the words of the host. Other names are shown as they
// are.
func (w words) word(name any) string { return w.Say(visible(fmt.Sprint(name))) }

// left says how long something still waits.
func (w words) left(until, now time.Time) string {
	d := until.Sub(now)
	two := func(n int) string { return fmt.Sprintf("%02d", n) }
	switch {
	case d <= 0:
		return w.Say("expired")
	case d < time.Minute:
		return w.Say("{seconds} s left", int(d.Seconds()))
	case d < time.Hour:
		return w.Say("{minutes} min {seconds} s left", int(d.Minutes()), two(int(d.Seconds())%60))
	case d < 48*time.Hour:
		return w.Say("{hours} h {minutes} min left", int(d.Hours()), two(int(d.Minutes())%60))
	}
	return w.Say("{days} days left", int(d.Hours())/24)
}

// Where a proposal stands.
const (
	waiting     = "Waiting"
	expired     = "Expired"
	dismissed   = "Dismissed"
	interrupted = "Interrupted"
	running     = "Running"
	failed      = "Failed"
	done        = "Done"
)

// measured are the words for what is done, with its verdict.
var measured = map[ledger.Verdict]string{
	ledger.Improved: "Done, improved", ledger.Unchanged: "Done, unchanged", ledger.Worsened: "Done, worsened", ledger.Unmeasured: "Done, unmeasured",
}

// standing says where a proposal stands.
func standing(r office.Row) string {
	switch r.State {
	case ledger.StateProposed:
		return waiting
	case ledger.StateExpired:
		return expired
	case ledger.StateDismissed:
		return dismissed
	case ledger.StateInterrupted:
		return interrupted
	case ledger.StateVerified:
		if r.Outcome == ledger.Failed {
			return failed
		}
		if text, ok := measured[r.Verdict]; ok {
			return text
		}
		return done
	}
	switch r.Outcome {
	case ledger.Succeeded:
		return done
	case ledger.Failed:
		return failed
	}
	return running
}

func (w words) state(r office.Row) string { return w.Say(standing(r)) }

// tone is the class of the mark of where a proposal stands.
func tone(r office.Row) string {
	switch text := standing(r); {
	case text == waiting:
		return "info"
	case text == failed || text == interrupted || r.Verdict == ledger.Worsened:
		return "bad"
	case strings.HasPrefix(text, done):
		return "ok"
	}
	return "quiet"
}

// risks are the words for how much an action may do harm; none is declared by "".
var risks = map[registry.Risk]string{
	registry.RiskHigh: "High risk", registry.RiskMedium: "Medium risk", registry.RiskLow: "Low risk", "": "Risk not declared",
}

func (w words) risk(r registry.Risk) string {
	if text, ok := risks[r]; ok {
		return w.Say(text)
	}
	return w.Say(risks[""])
}

func (w words) size(n int) string {
	if n < 10_000 {
		return w.Say("{number} bytes", n)
	}
	return w.Say("{number} KiB", n>>10)
}

func (w words) percent(part, whole int) string {
	if whole == 0 {
		return "—"
	}
	return w.Say("{number} %", (100*part+whole/2)/whole)
}

// most is how many characters of a sentence a list or a heading has room for.
const most = 300

// brief keeps a sentence from pushing everything else away. What is left out is said, and is whole on the proposal's page.
func (w words) brief(s string) string {
	if r := []rune(s); len(r) > most {
		return w.Say("{beginning}… ({size} in all)", string(r[:most]), w.size(len(s)))
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
func (w words) why(reason any) string {
	if text, ok := reasons[fmt.Sprint(reason)]; ok {
		return w.Say(text)
	}
	return visible(fmt.Sprint(reason))
}

// wordless reports whether a reason has no words.
func wordless(reason any) bool {
	_, ok := reasons[fmt.Sprint(reason)]
	return !ok
}

// title is the title of a problem.
func (w words) title(p *web.Problem) string { return w.Say(p.Title) }

// detail explains a problem: in the words of the host, unless they are those of an action.
func (w words) detail(p *web.Problem) string {
	text, values := p.Words()
	if text == "" {
		return visible(p.Detail)
	}
	for i := range values {
		values[i] = visible(fmt.Sprint(values[i]))
	}
	return w.Say(text, values...)
}

// says puts a problem into sentences.
func (w words) says(p *web.Problem) string {
	text := w.title(p) + ". " + w.detail(p)
	for _, fault := range p.Faults {
		text += " " + visible(fault) + "."
	}
	return text
}

// hint says what to look at closely in parameters.
func (w words) hint(s canon.Suspicion) string {
	letters := make([]string, len(s.Odd))
	for i, r := range s.Odd {
		letters[i] = fmt.Sprintf("%U", r)
	}
	odd := strings.Join(letters, ", ")
	if len(s.Scripts) == 1 {
		return w.Say("Look closely: line {line}: {word} is {script} that looks like Latin ({letters}).", s.Line, canon.Quote(s.Word), s.Scripts[0], odd)
	}
	scripts := strings.Join(s.Scripts, " "+w.Say("and")+" ")
	return w.Say("Look closely: line {line}: {word} mixes {scripts} ({letters}).", s.Line, canon.Quote(s.Word), scripts, odd)
}

// names are those of the library that pages show, in English words.
var names = slices.Concat(
	plain(events), plain(states), effects, unmeasured,
	plain([]authz.Mode{authz.Read, authz.Propose, authz.Execute}),
	plain(slices.Collect(maps.Keys(measured))),
	plain([]authz.Layer{
		authz.LayerActor, authz.LayerTarget, authz.LayerDisabled, authz.LayerCeiling, authz.LayerList, authz.LayerGrant, authz.LayerDeny,
		authz.LayerAllow, authz.LayerRole, authz.LayerDefault,
	}),
)

// unmeasured are the library's own reasons why there is no verdict; a run can have others.
var unmeasured = []string{"no measure defined", "the run failed", "the run was interrupted", "there is no baseline"}

// effects are what can be assigned to a model for one tool.
var effects = []string{"none", authz.Allow.String(), authz.Deny.String()}

func plain[T any](list []T) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = fmt.Sprint(list[i])
	}
	return out
}
