package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Problem is why a request was not carried out: a problem detail of RFC 9457. It is an error itself.
type Problem struct {
	Type      string       `json:"type"` // "urn:sallyport:" and the code
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail,omitzero"`
	Code      ledger.Code  `json:"code"`
	Reason    string       `json:"reason,omitzero"`   // refines the code
	Faults    []string     `json:"faults,omitempty"`  // of parameters, one for each place
	Proposal  string       `json:"proposal,omitzero"` // that it is about
	State     ledger.State `json:"state,omitzero"`    // of that proposal
	DecidedBy authz.ID     `json:"decided_by,omitzero"`
	DecidedAt time.Time    `json:"decided_at,omitzero"`

	err    error
	text   string // of the detail, where it is the console's own
	values []any  // for its placeholders
}

// Words returns the text of the detail and the values for its placeholders. The text is "" where the detail is what the
// author of an action has to say.
func (p *Problem) Words() (text string, values []any) { return p.text, slices.Clone(p.values) }

// Error is the title and the detail.
func (p *Problem) Error() string { return "console: " + p.Title + ": " + p.Detail }

// Unwrap returns the error that the problem was made of, if there is one.
func (p *Problem) Unwrap() error { return p.err }

// Codes of what goes wrong before a registry is asked.
const (
	CodeNobody     ledger.Code = "unauthenticated"
	CodeCrossSite  ledger.Code = "cross_site"
	CodeModel      ledger.Code = "not_for_models"
	CodeNotFound   ledger.Code = "not_found"
	CodeMethod     ledger.Code = "method_not_allowed"
	CodeMedia      ledger.Code = "unsupported_media_type"
	CodeTooLarge   ledger.Code = "too_large"
	CodeMalformed  ledger.Code = "malformed"
	CodeStreams    ledger.Code = "too_many_streams"
	CodeClosing    ledger.Code = "closing"
	CodeUnstreamed ledger.Code = "not_streamable"
)

// said is what each code means to a person.
var said = map[ledger.Code]struct {
	status        int
	title, detail string
}{
	CodeNobody:     {http.StatusUnauthorized, "Not signed in", "Sign in to the application first; then open this again."},
	CodeCrossSite:  {http.StatusForbidden, "Refused: sent from another site", "Nothing was changed."},
	CodeModel:      {http.StatusForbidden, "Not for models", "A model's credential may invoke actions and nothing else. People decide, signed in as themselves."},
	CodeNotFound:   {http.StatusNotFound, "Not found", "There is nothing at this address."},
	CodeMethod:     {http.StatusMethodNotAllowed, "Method not allowed", "This address does not take requests of this kind."},
	CodeMedia:      {http.StatusUnsupportedMediaType, "Unsupported media type", "Send JSON, with the content type application/json."},
	CodeTooLarge:   {http.StatusRequestEntityTooLarge, "Too large", "The request is larger than this address takes."},
	CodeMalformed:  {http.StatusBadRequest, "Not understood", "The request does not have the form that this address takes."},
	CodeStreams:    {http.StatusTooManyRequests, "Too many streams", "Close another page of the console, or try again later."},
	CodeUnstreamed: {http.StatusNotImplemented, "No streams here", "Something in front of the console keeps responses back until they are complete. Ask again from time to time instead."},
	CodeClosing:    {http.StatusServiceUnavailable, "Closing", "The service is shutting down. Try again in a moment."},

	ledger.NeedsApproval: {http.StatusConflict, "Needs approval", "A person has to approve this."},
	ledger.Unknown:       {http.StatusNotFound, "Not found", "There is no such proposal or action, or it is not yours to see."},
	ledger.Unavailable:   {http.StatusForbidden, "Not available", "This is not available to you, or not at present: it may be switched off, or your account may be inactive."},
	ledger.Forbidden:     {http.StatusForbidden, "Not permitted", "You do not have the right to do this. Nothing was changed."},
	ledger.Invalid:       {http.StatusUnprocessableEntity, "Not valid", "The parameters are not valid. Nothing was changed."},
	ledger.Limited:       {http.StatusTooManyRequests, "Too many open proposals", "Decide about some of those that wait first."},
	ledger.BadToken:      {http.StatusForbidden, "The approval does not fit", "The approval is not yours for exactly this proposal. Open it again and decide about what you see. Nothing was run."},
	ledger.Stale:         {http.StatusPreconditionFailed, "Changed since it was proposed", "What this is about, or the action itself, has changed since. It can be dismissed and asked for anew. Nothing was run."},
	ledger.Tampered:      {http.StatusConflict, "Tampered with", "The stored proposal is not what was recorded. It cannot be approved. Tell whoever runs the service."},
	ledger.Spent:         {http.StatusConflict, "Already approved", "This was approved before, and runs once only."},
	ledger.WasDismissed:  {http.StatusConflict, "Already dismissed", "This was dismissed before. Nothing was run."},
	ledger.WasExpired:    {http.StatusGone, "Expired", "The time to approve this has passed. Nothing was run. It can be asked for anew."},
	ledger.RunFailed:     {http.StatusInternalServerError, "Failed", "It did not succeed. The audit trail says why."},
	ledger.Interrupted:   {http.StatusInternalServerError, "Interrupted", "It may have run: how it ended could not be recorded. Look before anything is tried again."},
	ledger.Unrecorded:    {http.StatusServiceUnavailable, "Not recorded", "The ledger did not take the record, so nothing was run. Try again later."},
}

// NewProblem is the problem of a code, with a detail of its own if one is given: a text, and the values for its
// placeholders.
func NewProblem(code ledger.Code, detail string, values ...any) *Problem {
	s, ok := said[code]
	if !ok {
		s = said[ledger.RunFailed]
	}
	p := &Problem{Type: "urn:sallyport:" + string(code), Title: s.title, Status: s.status, Code: code}
	p.explain(cmp.Or(detail, s.detail), values...)
	return p
}

// explain sets the detail.
func (p *Problem) explain(text string, values ...any) {
	p.text, p.values, p.Detail = text, values, new(texts.Catalog).Say(text, values...)
}

// Texts returns the titles and details of problems that a page can show. In the JSON API they stay English.
func Texts() []string {
	list := slices.Clone(details)
	for _, s := range said {
		list = append(list, s.title, s.detail)
	}
	return list
}

// details are those that are not the detail of a code. A test holds them to the code.
var details = []string{
	"Nothing was changed. The request came from an unnamed origin and was made to {host}. If both are this application, let the proxy pass Host on, or name the origin in TrustedOrigins.",
	"Nothing was changed. The request came from {origin} and was made to {host}. If both are this application, let the proxy pass Host on, or name the origin in TrustedOrigins.",
	"Something went wrong here. Nothing is known to have changed.",
	"This needs a second pair of eyes: whoever is behind the request cannot approve it. Nothing was run.",
	"Who you are could not be found out. Sign in again, or try later.",
}

// Refusal is the refusal of a code of this package, for the record.
func Refusal(code ledger.Code, err error) *registry.Refusal {
	return &registry.Refusal{Code: code, Err: err}
}

// ProblemOf returns the problem that an error is. Texts of errors stay behind, except those that their author
// marked as public and faults of parameters, which echo nothing.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return NewProblem(CodeTooLarge, "")
	}
	r, ok := errors.AsType[*registry.Refusal](err)
	if !ok {
		p := NewProblem(ledger.RunFailed, "Something went wrong here. Nothing is known to have changed.")
		p.err = err
		return p
	}
	p := NewProblem(r.Code, "")
	p.Reason, p.err = r.Reason, err
	if text, ok := registry.PublicText(err); ok {
		p.text, p.values, p.Detail = "", nil, text
	}
	if r.Code == ledger.Unavailable && p.Reason == string(authz.ReasonNoPermission) {
		p.Title = said[ledger.Forbidden].title
		p.explain(said[ledger.Forbidden].detail)
	}
	if p.Reason == string(authz.ReasonSamePerson) {
		p.explain("This needs a second pair of eyes: whoever is behind the request cannot approve it. Nothing was run.")
	}
	if p.Reason == "params_changed" {
		p.Status = http.StatusPreconditionFailed
	}
	p.Faults = faults(nil, r.Err)
	if r.Proposal != nil {
		p.Proposal, p.DecidedBy, p.DecidedAt = r.Proposal.ID, r.Proposal.DecidedBy, r.Proposal.DecidedAt
		switch r.Code {
		case ledger.Spent:
			p.State = ledger.StateExecuted
			if r.Reason != "" {
				p.State = ledger.State(r.Reason)
			}
		case ledger.WasDismissed:
			p.State = ledger.StateDismissed
		case ledger.WasExpired:
			p.State = ledger.StateExpired
		}
	}
	return p
}

// faults lists what is wrong with parameters: where, and what was expected.
func faults(list []string, err error) []string {
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, err := range many.Unwrap() {
			list = faults(list, err)
		}
		return list
	}
	if e, ok := errors.AsType[*canon.Error](err); ok {
		return append(list, e.Error())
	}
	if e, ok := errors.AsType[*registry.ParamError](err); ok {
		return append(list, e.Error())
	}
	return list
}
