package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
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

const (
	scope authz.Scope = "shop"
	other authz.Scope = "annex"

	// absent is an id that no proposal has.
	absent = "00000000-0000-7000-8000-000000000000"
)

type refund struct {
	Order string `json:"order" jsonschema:"maxLength=32"`
	Cents int64  `json:"cents" jsonschema:"minimum=1,maximum=100000"`
}

type order struct {
	Order string `json:"order"`
}

// shop is a console with everything behind it. Owner olga may all; sam and sue are staff; ann and bob are
// customers, who ask below /customers/NAME; vera only reads; gus was deactivated.
type shop struct {
	t       testing.TB
	people  *authz.Memory
	book    ledger.Store
	reg     atomic.Pointer[registry.Registry]
	gate    atomic.Pointer[chattools.Gate]
	console *console.Console
	config  console.Config
	keys    *token.Ring
	clock   atomic.Int64 // microseconds
	runs    atomic.Int64
	log     safeBuffer

	run func(context.Context, refund) (any, error) // instead of what a change does
}

// safeBuffer is a log that several goroutines write to.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func facts() authz.Facts {
	human := func(id authz.ID, roles ...string) authz.Actor {
		return authz.Actor{ID: id, Name: "Name of " + string(id), Kind: authz.Human, Active: true, Roles: roles}
	}
	customer := func(id authz.ID) authz.Actor {
		a := human(id)
		a.Overrides = []authz.Override{{
			At: authz.MustPath("/customers/" + string(id)), Effect: authz.Allow, Of: []authz.Permission{"refunds:request", "orders:read"},
		}}
		return a
	}
	gone := human("gus", authz.Owner)
	gone.Active = false
	model := func(id authz.ID, role string) authz.Actor {
		return authz.Actor{ID: id, Name: "Model " + string(id), Kind: authz.Model, Active: true, Roles: []string{role}}
	}
	return authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Execute, Standing: true},
		Actors: []authz.Actor{
			human("olga", authz.Owner), human("sam", "staff"), human("sue", "staff"), human("vera", authz.Viewer),
			customer("ann"), customer("bob"), gone, model("assistant", authz.Editor), model("boss", authz.Owner),
		},
	}
}

func open(t testing.TB, change func(*console.Config)) *shop {
	return openOn(t, new(ledger.Memory), change)
}

// openOn opens a shop on a ledger; change may alter the console's configuration.
func openOn(t testing.TB, book ledger.Store, change func(*console.Config)) *shop {
	t.Helper()
	s := &shop{t: t, people: new(authz.Memory), book: book}
	s.clock.Store(time.Date(2026, 3, 2, 9, 0, 0, 250_000_000, time.UTC).UnixMicro())
	for _, sc := range []authz.Scope{scope, other} {
		require.NoError(t, s.people.Set(sc, facts()))
	}
	var err error
	s.keys, err = token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a ring secret of 32 bytes: 012345")})
	require.NoError(t, err)
	s.swap("1")
	s.config = console.Config{Gate: s.gate.Load, Who: who, Poll: 5 * time.Millisecond, Heartbeat: 20 * time.Millisecond}
	if change != nil {
		change(&s.config)
	}
	s.console, err = console.New(s.config)
	require.NoError(t, err)
	t.Cleanup(s.console.Close)
	return s
}

// swap puts a new registry in place, with another revision of the actions.
func (s *shop) swap(revision string) {
	s.t.Helper()
	tools := s.actions(revision)
	roles := []authz.Role{{Name: "staff", Permissions: []authz.Permission{"orders:read", "refunds:edit", "payments:edit", "labels:edit"}}}
	reg, err := registry.New(registry.Config{
		Actions: slices.Concat(tools, directory.Actions(directory.Config{Directory: s.people, Keys: s.keys, Tools: tools, Roles: roles})),
		Roles:   roles, Source: s.people, Ledger: s.book, Keys: s.keys, ProposeOnly: []authz.Permission{"refunds:edit"},
		Limits: &ledger.Limits{}, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Now: func() time.Time { return time.UnixMicro(s.clock.Load()) },
	})
	require.NoError(s.t, err)
	s.reg.Store(reg)
	s.gate.Store(chattools.NewGate(approval.NewDesk(reg)))
}

func (s *shop) actions(revision string) []*registry.Action {
	owners := map[string]string{"a1": "ann", "a2": "ann", "b1": "bob"}
	at := func(order string) ([]authz.Path, error) {
		owner, ok := owners[order]
		if !ok {
			return nil, registry.ErrNoTarget
		}
		return []authz.Path{authz.MustPath("/customers/" + owner + "/" + order)}, nil
	}
	change := func(name string, mode authz.Mode, permission, ask authz.Permission, fourEyes bool) *registry.Action {
		return registry.Define(name, registry.Spec[refund]{
			Title: "Title of " + name, Description: "Changes an order.", Mode: mode, Permission: permission, Ask: ask, FourEyes: fourEyes,
			Sentence: "Pay {cents} cents for {order}.", Risk: registry.RiskHigh, Reach: "one order", Undo: "none", Revision: revision,
			Target: func(_ context.Context, p refund) ([]authz.Path, error) { return at(p.Order) },
			Preview: func(_ context.Context, p refund) ([]registry.Difference, error) {
				return []registry.Difference{{Label: "Paid", Before: "0", After: fmt.Sprint(p.Cents)}}, nil
			},
		}, func(ctx context.Context, p refund) (any, error) {
			s.runs.Add(1)
			if s.run != nil {
				return s.run(ctx, p)
			}
			return map[string]any{"paid": p.Cents}, nil
		})
	}
	return []*registry.Action{
		registry.Define("find", registry.Spec[order]{
			Description: "Finds an order.", Mode: authz.Read, Permission: "orders:read",
			Target: func(_ context.Context, p order) ([]authz.Path, error) { return at(p.Order) },
		}, func(_ context.Context, p order) (string, error) { return p.Order, nil }),
		change("refund", authz.Propose, "refunds:edit", "refunds:request", false),
		change("pay", authz.Propose, "payments:edit", "", true),
		change("label", authz.Execute, "labels:edit", "", false),
	}
}

// who is the host's login of these tests: a header that nobody else could set.
func who(r *http.Request) (console.Caller, error) {
	if r.Header.Get("X-Broken") != "" {
		return console.Caller{}, errors.New("the session store is down")
	}
	if name, ok := strings.CutPrefix(r.Header.Get("X-Test-User"), "model:"); ok {
		s, err := authz.NewSession(scope, authz.ID(name), authz.For(authz.LoggedIn("ann")))
		return console.Caller{Model: s}, err
	}
	sc, id, ok := strings.Cut(r.Header.Get("X-Test-User"), "/")
	if !ok {
		return console.Caller{}, console.ErrNobody
	}
	return console.Caller{Scope: authz.Scope(sc), Person: authz.LoggedIn(authz.ID(id))}, nil
}

// request makes a request as somebody: a person's id, "scope/id", "model:id", or "" for nobody. A body is JSON
// text, or anything that has a JSON form.
func request(t testing.TB, as, method, path string, body any) *http.Request {
	t.Helper()
	var text io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		text = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(t, err)
		text = bytes.NewReader(raw)
	}
	address := "/api/v1" + path
	if page, ok := strings.CutPrefix(path, "page:"); ok { // one for people
		address = page
	}
	r := httptest.NewRequestWithContext(t.Context(), method, address, text)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if as != "" && !strings.ContainsAny(as, "/:") {
		as = string(scope) + "/" + as
	}
	r.Header.Set("X-Test-User", as)
	return r
}

// serve answers a request, and holds the answer to the OpenAPI document.
func (s *shop) serve(r *http.Request) *httptest.ResponseRecorder {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.console.ServeHTTP(w, r)
	documented(s.t, r, w)
	return w
}

// do makes a request and expects a status; the answer's JSON is put into each of out.
func (s *shop) do(as, method, path string, body any, status int, out ...any) *httptest.ResponseRecorder {
	s.t.Helper()
	w := s.serve(request(s.t, as, method, path, body))
	require.Equal(s.t, status, w.Code, "%s %s as %q: %s", method, path, as, w.Body)
	for _, o := range out {
		require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), o))
	}
	return w
}

// problem is a problem detail as a client sees it.
type problem struct {
	Type, Title, Detail, Code, Reason, Proposal, State string
	Status                                             int
	Faults                                             []string
	DecidedBy                                          string `json:"decided_by"`
}

// refused makes a request and expects a problem.
func (s *shop) refused(as, method, path string, body any, status int, code string) problem {
	s.t.Helper()
	var p problem
	w := s.do(as, method, path, body, status, &p)
	require.Equal(s.t, "application/problem+json", w.Header().Get("Content-Type"))
	require.Equal(s.t, code, p.Code, w.Body)
	require.Equal(s.t, status, p.Status)
	require.NotEmpty(s.t, p.Title)
	require.NotEmpty(s.t, p.Detail, "a problem explains itself")
	return p
}

// propose has the assistant ask for something for ann, through the console's own door for models.
func (s *shop) propose(action, order string, cents int) string {
	s.t.Helper()
	var a struct{ Status, Proposal string }
	s.do("model:assistant", "POST", "/actions/"+action+"/invoke", fmt.Sprintf(`{"order":%q,"cents":%d}`, order, cents), 202, &a)
	require.Equal(s.t, "needs_approval", a.Status)
	return a.Proposal
}

// opened is what a client needs of an opened proposal.
type opened struct {
	ID, State, Token, Sentence, Action string
	ParamsHash                         string `json:"params_hash"`
	Params                             json.RawMessage
	MayApprove                         bool `json:"may_approve"`
	MayDismiss                         bool `json:"may_dismiss"`
	Refusal                            *problem
	Preview                            []struct{ Label, Before, After string }
	Last                               []struct{ ID string }
	Trail                              []struct{ Event, Error string }
	Deciders                           []string
	Error                              string
}

func (o opened) approval() map[string]string {
	return map[string]string{"token": o.Token, "shown": o.ParamsHash}
}

func (s *shop) open(as, id string) (o opened) {
	s.t.Helper()
	s.do(as, "GET", "/proposals/"+id, nil, 200, &o)
	return o
}

func (s *shop) approve(as, id string) {
	s.t.Helper()
	s.do(as, "POST", "/proposals/"+id+"/approve", s.open(as, id).approval(), 200)
}

// latest is the newest record of the scope.
func (s *shop) latest() ledger.Record {
	s.t.Helper()
	list, err := s.book.Audit(context.Background(), ledger.AuditQuery{Scope: scope, Newest: true, Limit: 1})
	require.NoError(s.t, err)
	require.Len(s.t, list, 1)
	return list[0]
}

func (s *shop) pass(d time.Duration) { s.clock.Add(d.Microseconds()) }
