// Package pages is the console as a person sees it in a browser: pages rendered on the server that work without a
// script, and a small script on top.
//
// It renders what package office shows and hands it what a form says. It decides nothing. GET changes nothing. Text
// that a model, a customer or another program may have written is shown with every character visible, in a marked
// place, and never becomes a link or markup.
package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/ledger"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/*
var assets embed.FS

// Options are what a host may choose.
type Options struct {
	Title       string       // of the application
	Environment string       // shown on every page; may be empty
	Home        string       // address of the application; may be empty
	Leave       string       // address where people sign out; may be empty
	Enter       string       // address where people sign in; may be empty
	CSS         template.CSS // after the console's own
	Reasons     []string     // to dismiss a proposal; none are the console's own
	Texts       *texts.Catalog
}

// pages renders. It is immutable and safe for concurrent use.
type pages struct {
	words
	options Options
	screens map[string]*template.Template
	script  string            // the texts of the script that are not English, as JSON
	names   map[string]string // of assets, to those with a digest in them
	files   map[string][]byte // by the name with the digest
}

// Surface returns the pages.
func Surface(o Options) web.Surface {
	p := &pages{words: words{o.Texts}, options: o, names: map[string]string{}, files: map[string][]byte{}}
	if len(o.Reasons) == 0 {
		for _, reason := range dismissals {
			p.options.Reasons = append(p.options.Reasons, p.Say(reason))
		}
	}
	p.screens, p.script = p.parse(), p.scripted()
	list, _ := assets.ReadDir("assets")
	for _, f := range list {
		text, _ := assets.ReadFile("assets/" + f.Name())
		sum := sha256.Sum256(text)
		ext := path.Ext(f.Name())
		name := strings.TrimSuffix(f.Name(), ext) + "-" + hex.EncodeToString(sum[:6]) + ext
		p.names[f.Name()], p.files[name] = name, text
	}
	return web.Surface{Prefix: "/", Fail: p.fail, Routes: []web.Route{
		{Pattern: "GET /{$}", Handle: p.inbox},
		{Pattern: "GET /proposals/{id}", Handle: p.proposal},
		{Pattern: "POST /proposals/{id}/approve", Handle: p.approve},
		{Pattern: "POST /proposals/{id}/dismiss", Handle: p.dismiss},
		{Pattern: "POST /proposals/{id}/revise", Body: maxDraft, Handle: p.revise},
		{Pattern: "POST /dismiss", Handle: p.dismissSeveral},
		{Pattern: "GET /ledger", Handle: p.ledger},
		{Pattern: "GET /tools", Handle: p.tools},
		{Pattern: "GET /tools/{tool}", Handle: p.tool},
		{Pattern: "GET /models", Handle: p.models},
		{Pattern: "GET /settings", Handle: p.settings},
		{Pattern: "GET /audit", Handle: p.audit},
		{Pattern: "GET /outcomes", Handle: p.outcomes},
		{Pattern: "GET /servers", Handle: p.servers},
		{Pattern: "POST /servers/review", Handle: p.review},
		{Pattern: "POST /change", Handle: p.change},
		{Pattern: "GET /assets/{file}", Open: true, Handle: p.asset},
	}}
}

// base is the console's path with a slash at its end.
func base(r *web.Request) string { return r.Base + "/" }

// see sends the browser on after a form did what it should.
func see(w http.ResponseWriter, r *web.Request, address string) error {
	http.Redirect(w, r.Request, address, http.StatusSeeOther)
	return nil
}

// form reads the form that was sent, whole or not at all: half of one would be another.
func form(r *web.Request) (url.Values, error) {
	err := r.ParseForm()
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, web.NewProblem(web.CodeMalformed, "")
	}
	return r.PostForm, nil
}

// asset serves a style sheet, script or picture.
func (p *pages) asset(w http.ResponseWriter, r *web.Request) error {
	name := r.PathValue("file")
	text, ok := p.files[name]
	if !ok {
		return web.NewProblem(web.CodeNotFound, "")
	}
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
	w.Header().Set("Content-Type", kinds[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(text) // whoever left needs no style
	return nil
}

// frame is what every page has.
type frame struct {
	Options Options
	Lang    string
	Dir     string
	Script  string
	Base    string
	Nonce   string
	Person  string
	Scope   string
	Page    string // name of the screen
	Self    string // its address, where it is not the one that was asked for
	CSS     string // names of assets
	JS      string
	Icon    string
	Servers bool // there are external servers
	Waiting int  // proposals that the person may decide now; -1 if that is not known
	More    bool // more proposals wait than were looked at, so that Waiting may be too few
	Live    bool // it hears of what happens after the place After in the audit trail
	After   int64
	Notice  string
	Alert   string
	Data    any
}

func (p *pages) frame(r *web.Request, page string, data any) *frame {
	f := &frame{
		Options: p.options, Lang: p.Lang(), Dir: p.Dir(), Script: p.script, Base: base(r), Nonce: r.Nonce, Page: page, Waiting: -1, Data: data,
		CSS: p.names["console.css"], JS: p.names["console.js"], Icon: p.names["icon.svg"],
	}
	if r.Visit != nil {
		f.Scope, f.Person, f.Servers = string(r.Visit.Scope()), string(r.Visit.Person().ID()), hasServers(r)
	}
	return f
}

// render writes a page, whole or not at all.
func (p *pages) render(w http.ResponseWriter, status int, f *frame) error {
	var b bytes.Buffer
	if err := p.screens[f.Page].ExecuteTemplate(&b, "layout.html", f); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // whoever left reads nothing
	return nil
}

// show renders a screen for somebody who was let in, with the count of what waits for them.
func (p *pages) show(w http.ResponseWriter, r *web.Request, status int, f *frame) error {
	if done := r.URL.Query().Get("done"); f.Notice == "" {
		f.Notice = p.Say(notices[f.Page][done])
	}
	if f.Waiting < 0 {
		if in, err := r.Visit.Inbox(r.Context(), office.Filter{Mine: true}); err == nil {
			f.Waiting, f.More = in.Mine, in.More
		}
	}
	return p.render(w, status, f)
}

const changed = "This is how it is now. It holds from the next call on."

// notices are what a screen says after a form did what it should. An address only names one, and anybody can write an
// address: they hold whether or not there was a form. What a proposal's page says depends on the proposal; see told.
var notices = map[string]map[string]string{
	"inbox":    {"several": "What you dismissed no longer waits. Each of the requesters can read the reason."},
	"settings": {"changed": changed}, "tools": {"changed": changed}, "models": {"changed": changed}, "servers": {"changed": changed},
}

// told is what a proposal's page says after a form did what it should, if the proposal bears it out.
func (w words) told(done string, row office.Row) string {
	switch {
	case done == "approved" && row.Outcome == ledger.Succeeded:
		return w.Say("Approved, and it ran. How it ended is below.")
	case done == "dismissed" && row.State == ledger.StateDismissed:
		return w.Say("Dismissed. The requester can read the reason.")
	case done == "revised" && row.Supersedes != "":
		return w.Say("This is the revised proposal. The one before it was dismissed.")
	}
	return ""
}

// fail renders a problem as a page that explains itself.
func (p *pages) fail(w http.ResponseWriter, r *web.Request, problem *web.Problem) {
	f := p.frame(r, "error", problem)
	if err := p.render(w, problem.Status, f); err != nil {
		http.Error(w, p.title(problem), problem.Status)
	}
}
