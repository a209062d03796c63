// Package api is the console's JSON API: the views and decisions of package office over HTTP.
//
// Every answer is JSON, errors are problem details (RFC 9457), and what is said here of a route is said in
// openapi.json, which the tests hold to the truth. A person is whoever the host's login says; a model's
// credential may use one route, to invoke, which is the gate's: it decides nothing.
package api

import (
	"cmp"
	_ "embed"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console/internal/changes"
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Prefix is where the API's paths begin.
const Prefix = "/api/v1/"

//go:embed openapi.json
var document []byte

type api struct {
	gate func() *chattools.Gate
	hub  *changes.Hub
}

// Surface returns the API. The gate answers models.
func Surface(gate func() *chattools.Gate, hub *changes.Hub) web.Surface {
	a := &api{gate, hub}
	return web.Surface{Prefix: Prefix, Fail: Fail, Routes: []web.Route{
		{Pattern: "GET /api/v1/openapi.json", Open: true, Handle: a.document},
		{Pattern: "GET /api/v1/actions", Handle: a.actions},
		{Pattern: "POST /api/v1/actions/{action}/invoke", Models: true, Handle: a.invoke},
		{Pattern: "GET /api/v1/proposals", Handle: a.proposals},
		{Pattern: "GET /api/v1/proposals/{id}", Handle: a.proposal},
		{Pattern: "POST /api/v1/proposals/{id}/approve", Handle: a.approve},
		{Pattern: "POST /api/v1/proposals/{id}/dismiss", Handle: a.dismiss},
		{Pattern: "POST /api/v1/proposals/{id}/revise", Handle: a.revise},
		{Pattern: "GET /api/v1/audit", Handle: a.audit},
		{Pattern: "GET /api/v1/audit.csv", Handle: a.auditCSV},
		{Pattern: "GET /api/v1/audit.ndjson", Handle: a.auditNDJSON},
		{Pattern: "GET /api/v1/settings", Handle: a.settings},
		{Pattern: "GET /api/v1/grants", Handle: a.grants},
		{Pattern: "GET /api/v1/models", Handle: a.models},
		{Pattern: "GET /api/v1/outcomes", Handle: a.outcomes},
		{Pattern: "GET /api/v1/changes", Handle: a.changes},
	}}
}

// Fail writes a problem detail.
func Fail(w http.ResponseWriter, _ *web.Request, p *web.Problem) {
	write(w, p.Status, "application/problem+json", p)
}

// asJSON is how answers and exports are written. A name that a host took from elsewhere need not be UTF-8, and one
// such row must not hide all others: what has no form in JSON becomes U+FFFD.
var asJSON = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))

// write writes JSON. A client that has gone gets nothing, and nobody is left to tell.
func write(w http.ResponseWriter, status int, media string, v any) {
	text, err := jsonv2.Marshal(v, asJSON)
	if err != nil {
		status, media = http.StatusInternalServerError, "application/problem+json"
		text, _ = jsonv2.Marshal(web.NewProblem(ledger.RunFailed, "The answer has no JSON form."))
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func answer(w http.ResponseWriter, v any) error {
	write(w, http.StatusOK, "application/json", v)
	return nil
}

// body reads a request's JSON text.
func body(r *web.Request) ([]byte, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, web.NewProblem(web.CodeMedia, "")
	}
	return io.ReadAll(r.Body)
}

// into reads a request's JSON into v: nothing unknown, nothing twice, nothing after it.
func into(r *web.Request, v any) error {
	text, err := body(r)
	if err != nil {
		return err
	}
	if err := jsonv2.Unmarshal(text, v, jsonv2.RejectUnknownMembers(true)); err != nil {
		return web.NewProblem(web.CodeMalformed, "")
	}
	return nil
}

func (a *api) document(w http.ResponseWriter, _ *web.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(document)
	return nil
}

// Action is one that the person may use by themselves or ask for.
type Action struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Mode        authz.Mode     `json:"mode"`
	Schema      jsontext.Value `json:"schema"`
	Risk        string         `json:"risk,omitzero"`
	Reach       string         `json:"reach,omitzero"`
	Undo        string         `json:"undo,omitzero"`
	FourEyes    bool           `json:"four_eyes,omitzero"`
	Destructive bool           `json:"destructive,omitzero"`
	Idempotent  bool           `json:"idempotent,omitzero"`
}

func (a *api) actions(w http.ResponseWriter, r *web.Request) error {
	list, err := r.Visit.Actions(r.Context())
	if err != nil {
		return err
	}
	out := struct {
		Actions []Action `json:"actions"`
	}{[]Action{}}
	for _, x := range list {
		out.Actions = append(out.Actions, Action{
			x.Name, x.Title, x.Description, x.Mode, jsontext.Value(x.Schema), string(x.Risk), x.Reach, x.Undo, x.FourEyes, x.Destructive, x.Idempotent,
		})
	}
	return answer(w, out)
}

// Invoked is the answer to an invocation.
type Invoked struct {
	Status   chattools.Status `json:"status"`
	Text     string           `json:"text,omitzero"`
	Result   jsontext.Value   `json:"result,omitzero"`
	Proposal string           `json:"proposal,omitzero"`
}

func (a *api) invoke(w http.ResponseWriter, r *web.Request) error {
	params, err := body(r)
	if err != nil {
		return err
	}
	name := r.PathValue("action")
	if !r.Model.IsZero() {
		return gated(w, a.gate().Call(r.Context(), r.Model, chattools.Call{Name: name, Arguments: params}))
	}
	res, err := r.Visit.Invoke(r.Context(), name, params)
	if err != nil {
		return err
	}
	return answer(w, Invoked{Status: chattools.Done, Result: raw(res.JSON)})
}

// gated writes the gate's answer to a model, and adds nothing to it.
func gated(w http.ResponseWriter, a chattools.Answer) error {
	out := Invoked{a.Status, a.Text, raw(a.Result), a.Proposal}
	status, ok := map[chattools.Status]int{
		chattools.Done: http.StatusOK, chattools.NeedsApproval: http.StatusAccepted, chattools.Forbidden: http.StatusForbidden,
		chattools.Invalid: http.StatusUnprocessableEntity, chattools.Unknown: http.StatusNotFound, chattools.Limited: http.StatusTooManyRequests,
	}[a.Status]
	if !ok {
		status = http.StatusInternalServerError
	}
	if status < http.StatusBadRequest {
		write(w, status, "application/json", out)
		return nil
	}
	p := &web.Problem{
		Type: "urn:sallyport:" + string(a.Status), Title: http.StatusText(status), Status: status, Detail: a.Text,
		Code: ledger.Code(a.Status), Proposal: a.Proposal,
	}
	Fail(w, nil, p)
	return nil
}

func (a *api) proposals(w http.ResponseWriter, r *web.Request) error {
	f, err := Filter(r)
	if err != nil {
		return err
	}
	page, err := r.Visit.Proposals(r.Context(), f)
	if err != nil {
		return err
	}
	return answer(w, page)
}

func (a *api) proposal(w http.ResponseWriter, r *web.Request) error {
	o, err := r.Visit.Open(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return answer(w, openedOf(o))
}

func (a *api) approve(w http.ResponseWriter, r *web.Request) error {
	var in struct {
		Token string     `json:"token"`
		Shown canon.Hash `json:"shown"`
	}
	if err := into(r, &in); err != nil {
		return err
	}
	t, err := token.Parse(in.Token)
	if err != nil {
		t = token.Token{} // refused as any other that does not verify, and on record
	}
	res, err := r.Visit.Approve(r.Context(), r.PathValue("id"), t, in.Shown)
	if err != nil {
		return err
	}
	return answer(w, Invoked{Status: chattools.Done, Result: raw(res.JSON), Proposal: res.Proposal})
}

func (a *api) dismiss(w http.ResponseWriter, r *web.Request) error {
	var in struct {
		Reason string `json:"reason"`
	}
	if err := into(r, &in); err != nil {
		return err
	}
	if err := r.Visit.Dismiss(r.Context(), r.PathValue("id"), in.Reason); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) revise(w http.ResponseWriter, r *web.Request) error {
	var in struct {
		Params jsontext.Value `json:"params"`
	}
	if err := into(r, &in); err != nil {
		return err
	}
	p, err := r.Visit.Revise(r.Context(), r.PathValue("id"), in.Params)
	if err != nil {
		return err
	}
	write(w, http.StatusCreated, "application/json", struct {
		Proposal   string    `json:"proposal"`
		ParamsHash string    `json:"params_hash"`
		ExpiresAt  time.Time `json:"expires_at"`
		Token      string    `json:"token,omitzero"`
	}{p.Proposal.ID, p.Proposal.Params.Hash().String(), p.Proposal.ExpiresAt, p.Token.Reveal()})
	return nil
}

func (a *api) settings(w http.ResponseWriter, r *web.Request) error {
	s, err := r.Visit.Settings(r.Context())
	if err != nil {
		return err
	}
	return answer(w, s)
}

func (a *api) grants(w http.ResponseWriter, r *web.Request) error {
	m, err := r.Visit.Matrix(r.Context())
	if err != nil {
		return err
	}
	return answer(w, m)
}

func (a *api) models(w http.ResponseWriter, r *web.Request) error {
	p, err := r.Visit.People(r.Context())
	if err != nil {
		return err
	}
	models := []office.Actor{}
	for _, x := range p.Actors {
		if x.Kind == authz.Model.String() {
			models = append(models, x)
		}
	}
	return answer(w, struct {
		Models []office.Actor `json:"models"`
		Roles  []string       `json:"roles"`
		Recent int            `json:"activity_records"`
	}{models, p.Roles, p.Recent})
}

func (a *api) changes(w http.ResponseWriter, r *web.Request) error {
	if r.Method != http.MethodGet { // a HEAD would stay open and say nothing
		return web.NewProblem(web.CodeMethod, "")
	}
	place := int64(changes.Now)
	// A browser that begins anew can put its place into the address only. When it comes back by itself, the address is
	// still the same, and the header is right.
	if last := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")); last != "" {
		var err error
		if place, err = strconv.ParseInt(last, 10, 64); err != nil || place < 0 {
			return web.NewProblem(web.CodeMalformed, "The place to go on from is not one that a stream gave.")
		}
	}
	s, err := a.hub.Open(r.Context(), r.Visit)
	switch {
	case errors.Is(err, changes.ErrFull):
		return r.Visit.Refuse(r.Context(), "changes", web.Refusal(web.CodeStreams, err))
	case errors.Is(err, changes.ErrClosed):
		return web.NewProblem(web.CodeClosing, "")
	case err != nil:
		return err
	}
	defer s.Close()
	if err := s.Serve(w, r.Request, r.Visit, place); err != nil {
		return web.NewProblem(web.CodeUnstreamed, "")
	}
	return nil
}
