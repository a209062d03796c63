// Package console is where people see what models asked for and decide about it: a JSON API and its pages, as
// one handler that a host mounts in its own server.
//
// [New] needs the gate behind which the application's actions are, and [Config.Who], by which the host's own
// login says who makes a request. There is no anonymous default, and nothing about the caller is ever read
// from a form, a body or an address. A person does here what their rights allow; a model's credential may
// invoke actions, through the gate, and is refused on every other route.
//
// A GET changes nothing. Requests that a browser sends for another site are refused, whatever cookies they
// carry. A decision names the proposal, a token that was made for this person, and the hash of what they saw;
// the token is never in an address. Pages work without scripts.
//
// Call [Console.Close] when the server shuts down, or register it: server.RegisterOnShutdown(c.Close).
package console

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/console/internal/api"
	"github.com/sallyport-dev/sallyport/approval/console/internal/changes"
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/console/internal/pages"
	"github.com/sallyport-dev/sallyport/approval/console/internal/texts"
	"github.com/sallyport-dev/sallyport/approval/console/internal/web"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// Defaults of a Config.
const (
	DefaultHeartbeat  = 15 * time.Second
	DefaultStreamLife = 5 * time.Minute
	DefaultStreams    = 1000
	DefaultPoll       = 500 * time.Millisecond
)

// maxEach is how many streams one person may have open in one scope.
const maxEach = 16

// maxBody is the most bytes of a request's body, unless its route says otherwise: parameters of the largest size in
// canonical form, each byte escaped.
const maxBody = 1 << 20

// ErrNobody is what a [Config.Who] returns for a request that nobody is signed in for.
var ErrNobody = errors.New("console: nobody is signed in")

// Caller is who makes a request, as the host has authenticated it: a person in a scope, or else a model by a
// credential of its own.
type Caller struct {
	Scope  authz.Scope
	Person authz.Person
	Model  authz.Session // of a model, and then it stands alone
}

// Config is what a console is built from. Gate and Who are required; every other field's zero value means the
// documented default.
type Config struct {
	// Gate returns the gate in front of the present registry. It is called once for each request, so that a
	// host may swap the registry while the console runs.
	Gate func() *chattools.Gate

	// Who says who makes a request: [ErrNobody] if nobody is signed in. Any other error refuses the request
	// as one whose caller could not be found out. It is called for every request, streams included.
	Who func(*http.Request) (Caller, error)

	// Title names the application on every page; default "Sallyport". Environment, such as "production", stands
	// beside it. Home, SignIn and SignOut are addresses of the application that pages link to, and CSS comes
	// after the console's own style sheet; all of these may be empty.
	Title, Environment    string
	Home, SignIn, SignOut string
	CSS                   template.CSS

	// Lang is the language of the pages, as a BCP 47 tag; default "en". Pages in a language or a script that is written
	// from right to left, such as "he" or "az-Arab", are laid out so.
	Lang string

	// Texts are the host's words for the console's own, by the English ones; [Texts] lists those that there are. What is
	// in braces in a text is a placeholder: its replacement has the same ones, in any order. A replacement is text, never
	// markup. What is missing stays English, as do the JSON API, the codes in the audit trail, and what other packages
	// say: the rule of an explanation, the fault of a parameter, the error of a run.
	Texts map[string]string

	// Reasons are the reasons to dismiss a proposal that pages offer, in the words of the host; without any they are
	// the console's own. Whoever asked reads the one that is chosen, and what else the person writes.
	Reasons []string

	// BasePath is the path under which browsers see the console, such as "/console", where a proxy strips it.
	// Otherwise leave it empty: behind [http.StripPrefix] the console finds out by itself.
	BasePath string

	// TrustedOrigins are other origins, such as "https://ops.example", whose pages may send requests. A proxy
	// that does not pass the Host header on needs its own public origin here.
	TrustedOrigins []string

	Poll       time.Duration // how soon open pages hear of a change; default DefaultPoll
	Heartbeat  time.Duration // of a stream; default DefaultHeartbeat
	StreamLife time.Duration // after which a page comes back and is identified anew; default DefaultStreamLife
	Streams    int           // open at once; default DefaultStreams
}

// Console is the handler. It is safe for concurrent use.
type Console struct {
	who      func(*http.Request) (Caller, error)
	gate     func() *chattools.Gate
	office   *office.Office
	hub      *changes.Hub
	base     string
	cross    *http.CrossOriginProtection
	mux      *http.ServeMux
	surfaces []web.Surface
}

// New returns the console of a configuration.
func New(c Config) (*Console, error) {
	k := &Console{who: c.Who, gate: c.Gate, base: strings.TrimSuffix(c.BasePath, "/"), cross: http.NewCrossOriginProtection(), mux: http.NewServeMux()}
	switch {
	case c.Gate == nil || c.Who == nil:
		return nil, errors.New("console: Gate and Who are required")
	case k.base != "" && (!strings.HasPrefix(k.base, "/") || strings.HasPrefix(k.base, "//") || (&url.URL{Path: k.base}).EscapedPath() != k.base):
		return nil, fmt.Errorf("console: the base path %q is not an absolute path in its escaped form", c.BasePath)
	case min(c.Poll, c.Heartbeat, c.StreamLife) < 0 || c.Streams < 0:
		return nil, errors.New("console: times and numbers of streams are not negative")
	}
	for _, origin := range c.TrustedOrigins {
		if err := k.cross.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("console: trusted origin: %w", err)
		}
	}
	catalog, err := texts.New(or(c.Lang, "en"), c.Texts, Texts())
	if err != nil {
		return nil, fmt.Errorf("console: texts: %w", err)
	}
	k.office = office.New(c.Gate)
	k.hub = changes.New(k.office, changes.Options{
		Poll: or(c.Poll, DefaultPoll), Heartbeat: or(c.Heartbeat, DefaultHeartbeat), Life: or(c.StreamLife, DefaultStreamLife),
		Streams: or(c.Streams, DefaultStreams), Each: maxEach,
	})
	k.mount(api.Surface(c.Gate, k.hub))
	k.mount(pages.Surface(pages.Options{
		Title: or(c.Title, "Sallyport"), Environment: c.Environment, Home: c.Home, Leave: c.SignOut, Enter: c.SignIn, CSS: c.CSS, Reasons: slices.Clone(c.Reasons),
		Texts: catalog,
	}))
	return k, nil
}

// Texts returns every text of the console that [Config.Texts] can replace, sorted: all that it says by itself on pages and
// in its script. A host can make a file to translate from it, and its tests can see what is missing after an update.
func Texts() []string { return pages.Texts() }

// Close ends the open streams and waits for them to stop reading. It may be called twice.
func (k *Console) Close() { k.hub.Close() }

func or[T comparable](a, b T) T {
	var none T
	if a != none {
		return a
	}
	return b
}
