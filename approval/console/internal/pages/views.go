package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// trail is what the audit screen shows.
type trail struct {
	Base    string
	Records []ledger.Record
	Filter  url.Values
	Events  []ledger.Event
	Next    string
	CSV     string // addresses of the exports, with the same filter
	NDJSON  string
	Window  int
}

var events = []ledger.Event{
	ledger.EventProposed, ledger.EventDismissed, ledger.EventStarted, ledger.EventFinished, ledger.EventRead, ledger.EventRefused, ledger.EventVerified, ledger.EventPurged,
}

func (p *pages) audit(w http.ResponseWriter, r *web.Request) error {
	v := r.URL.Query()
	f := office.AuditFilter{
		Proposal: v.Get("proposal"), Action: v.Get("tool"), Run: v.Get("run"), Text: v.Get("text"),
		Actor: authz.ID(v.Get("actor")), Principal: authz.ID(v.Get("for")), Operator: authz.ID(v.Get("operator")),
		Event: ledger.Event(v.Get("event")), Code: ledger.Code(v.Get("code")),
	}
	var err error
	if f.Since, err = dayOf(v.Get("since"), 0); err == nil {
		f.Until, err = dayOf(v.Get("until"), 1)
	}
	if before := v.Get("before"); err == nil && before != "" {
		if f.Before, err = strconv.ParseInt(before, 10, 64); err != nil || f.Before <= 0 {
			err = errFilter
		}
	}
	if err != nil || f.Event != "" && !slices.Contains(events, f.Event) {
		return errFilter
	}
	page, err := r.Visit.Audit(r.Context(), f)
	if err != nil {
		return err
	}
	t := &trail{Base: base(r), Records: page.Records, Filter: v, Events: events, Window: page.Window}
	query, api := exported(f), base(r)+"api/v1/audit"
	t.CSV, t.NDJSON = api+".csv"+query, api+".ndjson"+query
	if page.Next != 0 {
		t.Next = nextPage(r, base(r)+"audit", strconv.FormatInt(page.Next, 10))
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "audit", t))
}

// exported is the query of an export that has a screen's filter: the API has other names for some of it, and takes
// instants where a screen takes days.
func exported(f office.AuditFilter) string {
	v := url.Values{}
	for name, text := range map[string]string{
		"proposal": f.Proposal, "action": f.Action, "run": f.Run, "text": f.Text, "actor": string(f.Actor), "principal": string(f.Principal),
		"operator": string(f.Operator), "event": string(f.Event), "code": string(f.Code),
	} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for name, t := range map[string]time.Time{"since": f.Since, "until": f.Until} {
		if !t.IsZero() {
			v.Set(name, t.Format(time.RFC3339))
		}
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// matrix is what the screen of tools shows.
type matrix struct {
	office.Matrix
	Base    string
	Tool    *office.Tool // the one that is looked at closely
	Effects []string     // that a grant of it can have
}

func (p *pages) tools(w http.ResponseWriter, r *web.Request) error {
	m, err := r.Visit.Matrix(r.Context())
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "tools", &matrix{Matrix: m, Base: base(r)}))
}

func (p *pages) tool(w http.ResponseWriter, r *web.Request) error {
	m, err := r.Visit.Matrix(r.Context())
	if err != nil {
		return err
	}
	name := r.PathValue("tool")
	i := slices.IndexFunc(m.Tools, func(t office.Tool) bool { return t.Name == name })
	if i < 0 {
		return web.NewProblem(web.CodeNotFound, "There is no such tool: The registry has none of this name.")
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "tool", &matrix{Matrix: m, Base: base(r), Tool: &m.Tools[i], Effects: effects}))
}

// people is what the screen of models shows.
type people struct {
	office.People
	Base           string
	Models, Humans []office.Actor
	Who            string // what is looked for among people
	More           int    // people that match and are not shown
}

// maxPeople is how many people one page shows.
const maxPeople = 100

func (p *pages) models(w http.ResponseWriter, r *web.Request) error {
	all, err := r.Visit.People(r.Context())
	if err != nil {
		return err
	}
	d := &people{People: all, Base: base(r), Who: r.URL.Query().Get("who")}
	who := strings.ToLower(d.Who)
	for _, a := range all.Actors {
		switch {
		case a.Kind == authz.Model.String():
			d.Models = append(d.Models, a)
		case !strings.Contains(strings.ToLower(a.ID+"\n"+a.Name), who):
		case len(d.Humans) == maxPeople:
			d.More++
		default:
			d.Humans = append(d.Humans, a)
		}
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "models", d))
}

// settings is what the screen of settings shows.
type settings struct {
	office.Settings
	Base     string
	Ceilings []ceiling
	Tools    []*registry.Action
}

type ceiling struct{ Name, Words string }

var ceilings = []ceiling{
	{"read", "Models may only look things up."},
	{"propose", "Models may also propose what always needs a person’s click."},
	{"execute", "Models may propose everything that their rights allow."},
}

func (p *pages) settings(w http.ResponseWriter, r *web.Request) error {
	s, err := r.Visit.Settings(r.Context())
	if err != nil {
		return err
	}
	d := &settings{Settings: s, Base: base(r), Ceilings: ceilings, Tools: r.Visit.Registry().Actions()}
	return p.show(w, r, http.StatusOK, p.frame(r, "settings", d))
}

// outcomes is what the screen of outcomes shows.
type outcomes struct {
	office.Outcomes
	Base   string
	Days   string
	Charts []chart
}

func (p *pages) outcomes(w http.ResponseWriter, r *web.Request) error {
	days, now := r.URL.Query().Get("days"), r.Visit.Registry().Now()
	var since time.Time
	switch days {
	case "":
	case "1", "7", "30":
		n, _ := strconv.Atoi(days)
		since = now.AddDate(0, 0, -n)
	default:
		return errFilter
	}
	o, err := r.Visit.Outcomes(r.Context(), since, time.Time{})
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "outcomes", &outcomes{Outcomes: o, Base: base(r), Days: days, Charts: p.charts(o)}))
}
