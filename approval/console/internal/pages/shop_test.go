package pages_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

type payment struct {
	Order string `json:"order"`
	Cents int64  `json:"cents"`
}

// shop is a small application with the console in front of it. Olga owns it, Sam is staff, Vera only reads.
type shop struct {
	t       *testing.T
	people  *authz.Memory
	book    *ledger.Memory
	desk    *approval.Desk
	gate    *chattools.Gate
	handler http.Handler
	clock   atomic.Int64
	runs    atomic.Int64
	fails   error
}

func open(t *testing.T, more ...*registry.Action) *shop {
	return openAs(t, func(*console.Config) {}, more...)
}

// openAs opens a shop whose console has another configuration.
func openAs(t *testing.T, change func(*console.Config), more ...*registry.Action) *shop {
	s := &shop{t: t, people: new(authz.Memory), book: new(ledger.Memory)}
	s.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).UnixMicro())
	human := func(id authz.ID, role string) authz.Actor {
		return authz.Actor{ID: id, Name: "Name of " + string(id), Kind: authz.Human, Active: true, Roles: []string{role}}
	}
	require.NoError(t, s.people.Set("shop", authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute, Standing: true}, Actors: []authz.Actor{
		human("olga", authz.Owner), human("sam", authz.Editor), human("vera", authz.Viewer),
		{ID: "bot", Name: "The bot", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
	}}))
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a ring secret of 32 bytes: 012345")})
	require.NoError(t, err)
	tools := []*registry.Action{
		registry.Define("pay", registry.Spec[payment]{
			Title: "Pay", Description: "Pay an order back.", Permission: "payments:make", Mode: authz.Execute, Risk: registry.RiskHigh,
			Sentence: "Pay {cents} cents for order {order}.", Reach: "one customer", Undo: "by asking for it back",
			Preview: func(context.Context, payment) ([]registry.Difference, error) {
				return []registry.Difference{{Label: "balance", Before: "100", After: "50"}}, nil
			},
			Measure: registry.Measure[payment]{Read: func(context.Context, payment) (float64, error) { return 1, nil }, Better: registry.Higher},
		}, func(context.Context, payment) (string, error) {
			if s.fails != nil {
				return "", s.fails
			}
			s.runs.Add(1)
			return "paid " + hostile, nil
		}),
		registry.Define("look", registry.Spec[payment]{Description: "Look.", Permission: "payments:see", Mode: authz.Read},
			func(context.Context, payment) (string, error) { return "seen", nil }),
	}
	reg, err := registry.New(registry.Config{
		Actions: slices.Concat(tools, more, directory.Actions(directory.Config{Directory: s.people, Keys: keys, Tools: tools})),
		Source:  s.people, Ledger: s.book, Keys: keys, Now: func() time.Time { return time.UnixMicro(s.clock.Load()) },
	})
	require.NoError(t, err)
	s.desk = approval.NewDesk(reg)
	s.gate = chattools.NewGate(s.desk)
	config := console.Config{
		Gate: func() *chattools.Gate { return s.gate }, Title: "Test & shop", Environment: "testing", Home: "/home", SignIn: "/in", SignOut: "/out",
		Reasons: []string{"Not now", "Not needed", "Wrong details", "Ask Olga <b>first</b>"},
		Who: func(r *http.Request) (console.Caller, error) {
			if r.Header.Get("Person") == "" {
				return console.Caller{}, console.ErrNobody
			}
			return console.Caller{Scope: "shop", Person: authz.LoggedIn(authz.ID(r.Header.Get("Person")))}, nil
		},
	}
	change(&config)
	k, err := console.New(config)
	require.NoError(t, err)
	t.Cleanup(k.Close)
	s.handler = http.StripPrefix("/ops", k)
	return s
}

// get asks for a page, as a person.
func (s *shop) get(person, path string) (int, string) {
	return s.send(person, httptest.NewRequest(http.MethodGet, "/ops/"+path, nil))
}

func (s *shop) post(person, path string, form url.Values) (int, string) {
	r := httptest.NewRequest(http.MethodPost, "/ops/"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.send(person, r)
}

func (s *shop) send(person string, r *http.Request) (int, string) {
	s.t.Helper()
	r.Header.Set("Person", person)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	require.NoError(s.t, err)
	if to := w.Header().Get("Location"); to != "" {
		require.True(s.t, strings.HasPrefix(to, "/ops/"), "%s keeps the prefix", to)
		return w.Code, to
	}
	return w.Code, string(body)
}

// says returns the text of a page without its tags.
func says(page string) string {
	page = regexp.MustCompile(`</?bdi[^>]*>`).ReplaceAllString(page, "") // which stand within words
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " "))), " ")
}

// session is the bot's, for Olga.
func (s *shop) session() authz.Session {
	s.t.Helper()
	session, err := authz.NewSession("shop", "bot", authz.For(authz.LoggedIn("olga")))
	require.NoError(s.t, err)
	return session
}

// ask lets the bot propose a payment for Olga.
func (s *shop) ask(order string, cents int) string {
	s.t.Helper()
	session := s.session().WithRun("run " + hostile).WithConversation("talk " + hostile).WithOrigin("chat " + hostile)
	raw := fmt.Sprintf(`{"order":%s,"cents":%d}`, quote(order), cents)
	a := s.gate.Call(s.t.Context(), session, chattools.Call{Name: "pay", Arguments: []byte(raw)})
	require.Equal(s.t, chattools.NeedsApproval, a.Status, a.Text)
	return a.Proposal
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < 0x20 || r == '"' || r == '\\' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// form returns the hidden fields of a page's form for approving.
func (s *shop) form(person, id string) url.Values {
	s.t.Helper()
	code, page := s.get(person, "proposals/"+id)
	require.Equal(s.t, http.StatusOK, code)
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(token|shown|must_read|must_know)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}
