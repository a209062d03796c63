package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// query reads the parameters of an address; the first fault stays.
type query struct {
	values url.Values
	err    error
}

// ask begins to read, and refuses a parameter that is not named: a filter that is misspelt filters nothing.
func ask(r *web.Request, names ...string) *query {
	q := &query{values: r.URL.Query()}
	for name, values := range q.values {
		if !slices.Contains(names, name) || len(values) > 1 && name != "state" {
			q.bad(name)
		}
	}
	return q
}

func (q *query) bad(name string) {
	if q.err == nil {
		q.err = web.NewProblem(web.CodeMalformed, "The parameter {name} is unknown, given twice or without meaning.", strconv.Quote(name))
	}
}

func (q *query) text(name string) string { return q.values.Get(name) }

func (q *query) time(name string) time.Time {
	text := q.values.Get(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.bad(name)
	}
	return t
}

func (q *query) number(name string) int64 {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		q.bad(name)
	}
	return n
}

var states = []ledger.State{
	ledger.StateProposed, ledger.StateExpired, ledger.StateDismissed, ledger.StateExecuted, ledger.StateInterrupted, ledger.StateVerified,
}

// Filter reads a filter of proposals from an address.
func Filter(r *web.Request) (office.Filter, error) {
	q := ask(r, "state", "actor", "principal", "action", "run", "text", "since", "until", "before", "mine")
	f := office.Filter{
		Actor: authz.ID(q.text("actor")), Principal: authz.ID(q.text("principal")), Action: q.text("action"), Run: q.text("run"),
		Text: q.text("text"), Since: q.time("since"), Until: q.time("until"),
	}
	for _, s := range q.values["state"] {
		if !slices.Contains(states, ledger.State(s)) {
			q.bad("state")
		}
		f.States = append(f.States, ledger.State(s))
	}
	switch q.text("mine") {
	case "true":
		f.Mine = true
		if f.States == nil {
			f.States = []ledger.State{ledger.StateProposed}
		}
	case "", "false":
	default:
		q.bad("mine")
	}
	var err error
	if f.Before, err = office.ParseCursor(q.text("before")); err != nil {
		q.bad("before")
	}
	return f, q.err
}

// AuditFilter reads a filter of the audit trail from an address.
func AuditFilter(r *web.Request) (office.AuditFilter, error) {
	q := ask(r, "proposal", "actor", "principal", "operator", "action", "run", "event", "code", "text", "since", "until", "before")
	f := office.AuditFilter{
		Proposal: q.text("proposal"), Actor: authz.ID(q.text("actor")), Principal: authz.ID(q.text("principal")),
		Operator: authz.ID(q.text("operator")), Action: q.text("action"), Run: q.text("run"), Event: ledger.Event(q.text("event")),
		Code: ledger.Code(q.text("code")), Text: q.text("text"), Since: q.time("since"), Until: q.time("until"), Before: q.number("before"),
	}
	return f, q.err
}

// Opened is one proposal.
type Opened struct {
	office.Row
	At        time.Time    `json:"at"`
	Token     string       `json:"token,omitzero"`   // what approving takes; it never goes into an address
	Refusal   *web.Problem `json:"refusal,omitzero"` // why the person may not approve it
	MayRevise bool         `json:"may_revise"`
	Preview   []difference `json:"preview"`
	Last      []office.Row `json:"last"`
	Trail     []record     `json:"trail"`
	Deciders  []authz.ID   `json:"deciders,omitempty"`
}

type difference struct {
	Label  string `json:"label"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func openedOf(o office.Opened) Opened {
	out := Opened{
		Row: o.Row, At: o.At, Token: o.Token.Reveal(), MayRevise: o.MayRevise, Preview: []difference{},
		Last: append([]office.Row{}, o.Last...), Trail: recordsOf(o.Trail), Deciders: o.Deciders,
	}
	if o.Refusal != nil {
		out.Refusal = web.ProblemOf(o.Refusal)
	}
	for _, d := range o.Preview {
		out.Preview = append(out.Preview, difference(d))
	}
	return out
}

// record is a line of the audit trail.
type record struct {
	Seq        int64          `json:"seq"`
	At         time.Time      `json:"at"`
	Event      ledger.Event   `json:"event"`
	Code       ledger.Code    `json:"code"`
	Reason     string         `json:"reason,omitzero"`
	Actor      authz.ID       `json:"actor"`
	Kind       authz.Kind     `json:"kind"`
	Via        []authz.ID     `json:"via,omitempty"`
	Principal  authz.ID       `json:"principal,omitzero"`
	Background bool           `json:"background,omitzero"`
	Operator   authz.ID       `json:"operator,omitzero"`
	Action     string         `json:"action"`
	Targets    []authz.Path   `json:"targets,omitempty"`
	Params     jsontext.Value `json:"params,omitzero"`
	ParamsHash string         `json:"params_hash,omitzero"`
	Proposal   string         `json:"proposal,omitzero"`
	Claim      string         `json:"claim,omitzero"`
	Grant      string         `json:"grant,omitzero"`
	Result     jsontext.Value `json:"result,omitzero"`
	Error      string         `json:"error,omitzero"`
	Count      int            `json:"count,omitzero"`
	Run        string         `json:"run,omitzero"`
	Origin     string         `json:"origin,omitzero"`
	Talk       string         `json:"conversation,omitzero"`
}

func recordOf(r ledger.Record) record {
	s := r.Session
	principal, _ := s.Principal()
	out := record{
		Seq: r.Seq, At: r.At, Event: r.Event, Code: r.Code, Reason: r.Reason, Actor: s.Actor(), Kind: s.Kind(), Via: s.Via(),
		Principal: principal, Background: s.Background(), Operator: r.Operator, Action: r.Action, Targets: r.Targets,
		Proposal: r.Proposal, Claim: r.Claim, Grant: r.Grant, Result: raw(r.Result), Error: r.Error, Count: r.Count,
		Run: s.Run(), Origin: s.Origin(), Talk: s.Conversation(),
	}
	if !r.Params.IsZero() {
		out.Params, out.ParamsHash = jsontext.Value(r.Params.String()), r.Params.Hash().String()
	}
	return out
}

func recordsOf(list []ledger.Record) []record {
	out := make([]record, len(list))
	for i := range list {
		out[i] = recordOf(list[i])
	}
	return out
}

func (a *api) audit(w http.ResponseWriter, r *web.Request) error {
	f, err := AuditFilter(r)
	if err != nil {
		return err
	}
	t, err := r.Visit.Audit(r.Context(), f)
	if err != nil {
		return err
	}
	return answer(w, struct {
		Records []record `json:"records"`
		Next    int64    `json:"next,omitzero"`
		Window  int      `json:"window,omitzero"`
	}{recordsOf(t.Records), t.Next, t.Window})
}

// tally is [ledger.Tally] in JSON.
type tally struct {
	Action      string `json:"action,omitzero"` // absent in the total
	Proposed    int    `json:"proposed"`
	Expired     int    `json:"expired"`
	Dismissed   int    `json:"dismissed"`
	Executed    int    `json:"executed"`
	Interrupted int    `json:"interrupted"`
	Revisions   int    `json:"revisions"`
	Succeeded   int    `json:"succeeded"`
	Failed      int    `json:"failed"`
	Improved    int    `json:"improved"`
	Unchanged   int    `json:"unchanged"`
	Worsened    int    `json:"worsened"`
	Unmeasured  int    `json:"unmeasured"`
	Standing    int    `json:"standing"`
	Waited      []int  `json:"waited"`
}

func tallyOf(t ledger.Tally) tally {
	return tally{
		t.Action, t.Proposed, t.Expired, t.Dismissed, t.Executed, t.Interrupted, t.Revisions, t.Succeeded, t.Failed,
		t.Improved, t.Unchanged, t.Worsened, t.Unmeasured, t.Standing, t.Waited[:],
	}
}

func (a *api) outcomes(w http.ResponseWriter, r *web.Request) error {
	q := ask(r, "since", "until")
	since, until := q.time("since"), q.time("until")
	if q.err != nil {
		return q.err
	}
	o, err := r.Visit.Outcomes(r.Context(), since, until)
	if err != nil {
		return err
	}
	out := struct {
		At          time.Time `json:"at"`
		Window      int       `json:"window"`
		WaitedBelow []float64 `json:"waited_below_seconds"`
		Actions     []tally   `json:"actions"`
		Total       tally     `json:"total"`
	}{o.At, o.Window, nil, []tally{}, tallyOf(o.Total)}
	for _, d := range ledger.WaitedBelow {
		out.WaitedBelow = append(out.WaitedBelow, d.Seconds())
	}
	for _, t := range o.Actions {
		out.Actions = append(out.Actions, tallyOf(t))
	}
	return answer(w, out)
}

// raw is JSON text as it is; none is absent.
func raw(text []byte) jsontext.Value {
	if len(text) == 0 {
		return nil
	}
	return text
}
