package pages

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// listing is what the inbox and the ledger show.
type listing struct {
	Base    string
	At      time.Time
	Rows    []office.Row
	Filter  url.Values // as it is in the address
	States  []ledger.State
	Next    string // address of the next page
	Window  int
	Mine    int
	More    bool
	Bounded int // how many open proposals were looked at, if there are more
	Reasons []string
}

var states = []ledger.State{
	ledger.StateProposed, ledger.StateExecuted, ledger.StateVerified, ledger.StateDismissed, ledger.StateExpired, ledger.StateInterrupted,
}

// filterOf reads a list's filter from its address. What is not understood is refused, never ignored.
func filterOf(v url.Values) (f office.Filter, err error) {
	f = office.Filter{
		Actor: authz.ID(v.Get("model")), Principal: authz.ID(v.Get("for")), Action: v.Get("tool"), Run: v.Get("run"),
		Text: v.Get("text"), Mine: v.Get("mine") == "1",
	}
	for _, s := range v["state"] {
		if s == "" {
			continue
		}
		if !slices.Contains(states, ledger.State(s)) {
			return f, errFilter
		}
		f.States = append(f.States, ledger.State(s))
	}
	if f.Since, err = dayOf(v.Get("since"), 0); err != nil {
		return f, err
	}
	if f.Until, err = dayOf(v.Get("until"), 1); err != nil {
		return f, err
	}
	f.Before, err = office.ParseCursor(v.Get("before"))
	return f, err
}

var errFilter = &registry.Refusal{Code: ledger.Invalid, Reason: "filter"}

// dayOf reads a day, in UTC, and adds whole days to it.
func dayOf(text string, days int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, errFilter
	}
	return t.AddDate(0, 0, days), nil
}

// nextPage is the address of the page that follows, with the same filter.
func nextPage(r *web.Request, base, cursor string) string {
	if cursor == "" {
		return ""
	}
	v := r.URL.Query()
	v.Set("before", cursor)
	v.Del("done")
	return base + "?" + v.Encode()
}

func (p *pages) inbox(w http.ResponseWriter, r *web.Request) error {
	f, err := filterOf(r.URL.Query())
	if err != nil {
		return errFilter
	}
	place, err := r.Visit.Head(r.Context()) // first, so that nothing is missed between the page and its stream
	if err != nil {
		return err
	}
	in, err := r.Visit.Inbox(r.Context(), f)
	if err != nil {
		return err
	}
	slices.SortStableFunc(in.Rows, func(a, b office.Row) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	l := &listing{
		Base: base(r), At: in.At, Rows: in.Rows, Filter: r.URL.Query(), Next: nextPage(r, base(r), in.Next), Mine: in.Mine, More: in.More,
		Bounded: office.LookSize, Reasons: p.options.Reasons,
	}
	fr := p.frame(r, "inbox", l)
	fr.Live, fr.After = true, place
	v := r.URL.Query()
	v.Del("mine")
	v.Del("done")
	if len(v) == 0 { // nothing else narrows it, so that it need not be counted once more
		fr.Waiting, fr.More = in.Mine, in.More
	}
	return p.show(w, r, http.StatusOK, fr)
}

func (p *pages) ledger(w http.ResponseWriter, r *web.Request) error {
	f, err := filterOf(r.URL.Query())
	if err != nil {
		return errFilter
	}
	page, err := r.Visit.Proposals(r.Context(), f)
	if err != nil {
		return err
	}
	l := &listing{
		Base: base(r), At: page.At, Rows: page.Rows, Filter: r.URL.Query(), States: states, Next: nextPage(r, base(r)+"ledger", page.Next), Window: page.Window,
	}
	return p.show(w, r, http.StatusOK, p.frame(r, "ledger", l))
}

// long is from how many bytes of parameters on the form asks whether they were read to the end.
const long = 4096

// opened is what the page of a proposal shows.
type opened struct {
	office.Opened
	Base    string
	Display string // of the parameters, whole
	Long    bool
	Hints   []canon.Suspicion
	Why     *web.Problem // why the person may not approve it
	Token   string
	Reasons []string
	Draft   string // of a revision
	Revised bool   // it is one that was refused
}

// dismissals are the reasons that the form offers if the host has none of its own; the requester reads the one that is
// chosen.
var dismissals = []string{"Not now", "Wrong details", "Not needed", "Against our rules", "Already done"}

func (p *pages) proposal(w http.ResponseWriter, r *web.Request) error {
	return p.open(w, r, http.StatusOK, "", "")
}

// open shows a proposal, and above it what became of the form that was sent, if that was refused.
func (p *pages) open(w http.ResponseWriter, r *web.Request, status int, alert, draft string) error {
	place, err := r.Visit.Head(r.Context())
	if err != nil {
		return err
	}
	o, err := r.Visit.Open(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	params := o.Proposal.Params
	d := &opened{
		Opened: o, Base: base(r), Display: params.Display(0), Hints: params.Suspicions(), Token: o.Token.Reveal(), Reasons: p.options.Reasons,
		Draft: draft, Revised: draft != "",
	}
	if !d.Revised {
		d.Draft = editable(d.Display)
	}
	d.Long = len(d.Display) > long
	if o.Refusal != nil {
		d.Why = web.ProblemOf(o.Refusal)
	}
	f := p.frame(r, "proposal", d)
	f.Live, f.After = true, place
	f.Self, f.Notice = proposalAt(base(r), o.ID), p.told(r.URL.Query().Get("done"), o.Row)
	if f.Alert = alert; alert != "" && o.DecidedBy != "" {
		f.Alert += " " + p.Say("It was {who}, at {time}.", visible(o.DecidedBy), stamp(o.DecidedAt))
	}
	return p.show(w, r, status, f)
}

// refused shows the proposal again with the reason why the form was refused.
func (p *pages) refused(w http.ResponseWriter, r *web.Request, err error, draft string) error {
	problem := web.ProblemOf(err)
	if problem.Code == ledger.Unknown || problem.Code == ledger.Tampered {
		return err
	}
	return p.open(w, r, problem.Status, p.says(problem), draft)
}

func (p *pages) approve(w http.ResponseWriter, r *web.Request) error {
	id := r.PathValue("id")
	v, err := form(r)
	if err != nil {
		return err
	}
	t, err := token.Parse(v.Get("token"))
	if err != nil {
		err = &registry.Refusal{Code: ledger.BadToken, Reason: string(token.ReasonMalformed), Err: err}
		return p.refused(w, r, r.Visit.Refuse(r.Context(), "approve", err), "")
	}
	shown, err := canon.ParseHash(v.Get("shown"))
	if err != nil {
		err = &registry.Refusal{Code: ledger.BadToken, Reason: "shown", Err: err}
		return p.refused(w, r, r.Visit.Refuse(r.Context(), "approve", err), "")
	}
	if v.Get("must_read") == "1" && v.Get("read") != "1" || v.Get("must_know") == "1" && v.Get("know") != "1" {
		return p.open(w, r, http.StatusUnprocessableEntity, p.Say("Not approved. Tick what the form asks for first. Nothing ran."), "")
	}
	if _, err := r.Visit.Approve(r.Context(), id, t, shown); err != nil {
		return p.refused(w, r, err, "")
	}
	return see(w, r, proposalAt(base(r), id)+"?done=approved")
}

// reasonOf puts the chosen reason and the free text together.
func (p *pages) reasonOf(v url.Values) string {
	reason, text := v.Get("reason"), strings.TrimSpace(v.Get("text"))
	if !slices.Contains(p.options.Reasons, reason) {
		return text
	}
	if text == "" {
		return reason
	}
	return reason + ": " + text
}

func (p *pages) dismiss(w http.ResponseWriter, r *web.Request) error {
	v, err := form(r)
	if err != nil {
		return err
	}
	id, reason := r.PathValue("id"), p.reasonOf(v)
	if reason == "" {
		return p.open(w, r, http.StatusUnprocessableEntity, p.Say("Not dismissed. Give a reason: whoever asked reads it."), "")
	}
	if err := r.Visit.Dismiss(r.Context(), id, reason); err != nil {
		return p.refused(w, r, err, "")
	}
	return see(w, r, proposalAt(base(r), id)+"?done=dismissed")
}

// maxSeveral is how many proposals one form can dismiss.
const maxSeveral = 20

func (p *pages) dismissSeveral(w http.ResponseWriter, r *web.Request) error {
	v, err := form(r)
	if err != nil {
		return err
	}
	ids, reason := v["id"], p.reasonOf(v)
	if len(ids) == 0 || len(ids) > maxSeveral || reason == "" {
		return web.NewProblem(ledger.Invalid, "Nothing was dismissed. Choose between one and twenty proposals, and a reason that their requesters can read.")
	}
	d := &several{Base: base(r), All: len(ids)}
	for _, id := range ids { // each by itself: one that somebody else decided meanwhile keeps nobody from the others
		err := r.Visit.Dismiss(r.Context(), id, reason)
		switch {
		case err == nil:
			d.Dismissed++
		case len(ids) == 1:
			return err
		default:
			d.Left = append(d.Left, leftOver{ID: id, Problem: web.ProblemOf(err), Sentence: sentenceOf(r, err)})
		}
	}
	if d.Left == nil {
		return see(w, r, base(r)+"?done=several")
	}
	return p.show(w, r, d.Left[0].Problem.Status, p.frame(r, "several", d))
}

// several is what became of proposals that were to be dismissed together.
type several struct {
	Base           string
	Dismissed, All int
	Left           []leftOver
}

// leftOver is one that was not dismissed, and why.
type leftOver struct {
	ID, Sentence string
	Problem      *web.Problem
}

// sentenceOf is what the proposal of a refusal would do, or "" if the person may not know.
func sentenceOf(r *web.Request, err error) string {
	refusal, ok := errors.AsType[*registry.Refusal](err)
	if !ok || refusal.Proposal == nil {
		return ""
	}
	seen, err := r.Visit.Registry().Glances(r.Context(), r.Visit.Scope(), r.Visit.Person(), []ledger.Proposal{*refusal.Proposal})
	if err != nil || len(seen) == 0 {
		return ""
	}
	return seen[0].Card.Sentence
}

func (p *pages) revise(w http.ResponseWriter, r *web.Request) error {
	v, err := form(r)
	if err != nil {
		return err
	}
	draft := v.Get("params")
	next, err := r.Visit.Revise(r.Context(), r.PathValue("id"), respelled(draft))
	if err != nil {
		return p.refused(w, r, err, draft)
	}
	return see(w, r, proposalAt(base(r), next.Proposal.ID)+"?done=revised")
}
