package chattools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// yard is an application in which a model moves containers, with a standing grant or without one. Its run
// functions count by themselves, apart from everything that the ledger says.
type yard struct {
	people *authz.Memory
	book   *trapped
	keys   *token.Ring
	reg    *registry.Registry
	desk   *approval.Desk
	gate   *chattools.Gate
	clock  atomic.Int64 // microseconds since yardOpens
	runs   atomic.Int64
	level  atomic.Int64 // what the measure reads

	mu     sync.Mutex
	places map[string]string // of containers, when they are not at /yard/<id>
	moved  map[string]int
	inside func(context.Context) // called by the run functions of peek and drive
}

var yardOpens = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// trapped is a store whose steps can be preceded and followed by something that happens elsewhere.
type trapped struct {
	ledger.Store
	proposed, claiming, claimed func()
}

func (s *trapped) Propose(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
	p, err := s.Store.Propose(ctx, e)
	spring(&s.proposed)
	return p, err
}

func (s *trapped) Claim(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
	spring(&s.claiming)
	p, err := s.Store.Claim(ctx, c)
	spring(&s.claimed)
	return p, err
}

// spring calls a trap once. Traps are set and sprung by one goroutine.
func spring(trap *func()) {
	if f := *trap; f != nil {
		*trap = nil
		f()
	}
}

// container is what the actions of a yard take. How says how the run ends.
type container struct {
	ID  string `json:"id"`
	How string `json:"how,omitempty"`
}

func openYard(t *testing.T) *yard {
	t.Helper()
	key, err := token.NewKey("k1")
	require.NoError(t, err)
	keys, err := token.NewRing("test", key)
	require.NoError(t, err)
	y := &yard{
		people: new(authz.Memory), book: &trapped{Store: new(ledger.Memory)}, keys: keys,
		places: map[string]string{}, moved: map[string]int{},
	}
	for _, scope := range []authz.Scope{"port", "harbour"} {
		require.NoError(t, y.people.Set(scope, authz.Facts{
			Settings: authz.Settings{Ceiling: authz.Execute, Standing: true},
			Actors: []authz.Actor{
				{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
				{ID: "otto", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
				{ID: "ben", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
				{ID: "asta", Kind: authz.Human, Active: true, Roles: []string{"asker"}},
				{ID: "mira", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
				{ID: "sub", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
			},
		}))
	}
	y.rebuild(t, "1")
	return y
}

// rebuild makes the registry of a revision of the actions, over the same people, keys and ledger.
func (y *yard) rebuild(t *testing.T, revision string) {
	t.Helper()
	change := func(name string, s registry.Spec[container], run func(context.Context, container) (string, error)) *registry.Action {
		s.Description, s.Target, s.Revision = "Change something in the yard.", y.locate, revision
		return registry.Define(name, s, run)
	}
	look := func(ctx context.Context, _ container) (string, error) { y.inside(ctx); return "seen", nil }
	var err error
	y.reg, err = registry.New(registry.Config{
		Actions: []*registry.Action{
			change("move", registry.Spec[container]{
				Permission: "yard:move", Ask: "yard:ask", Mode: authz.Execute,
				Measure: registry.Measure[container]{Better: registry.Higher, Read: func(context.Context, container) (float64, error) {
					return float64(y.level.Load()), nil
				}},
			}, y.move),
			change("lift", registry.Spec[container]{Permission: "yard:lift", Mode: authz.Execute}, y.move),
			change("sell", registry.Spec[container]{Permission: "yard:sell", Mode: authz.Propose}, y.move),
			change("seal", registry.Spec[container]{Permission: "yard:seal", Mode: authz.Execute, FourEyes: true}, y.move),
			change("drive", registry.Spec[container]{Permission: "yard:drive", Mode: authz.Propose}, look),
			change("peek", registry.Spec[container]{Permission: "yard:peek", Mode: authz.Read}, look),
		},
		Roles:  []authz.Role{{Name: "asker", Permissions: []authz.Permission{"yard:ask", "yard:peek"}}},
		Source: y.people, Ledger: y.book, Keys: y.keys, Limits: &ledger.Limits{},
		Now: func() time.Time { return yardOpens.Add(time.Duration(y.clock.Load()) * time.Microsecond) },
	})
	require.NoError(t, err)
	y.desk = approval.NewDesk(y.reg)
	y.gate = chattools.NewGate(y.desk)
}

// locate is the Target of all actions: where the yard's own records say that a container is.
func (y *yard) locate(_ context.Context, c container) ([]authz.Path, error) {
	y.mu.Lock()
	place, known := y.places[c.ID]
	y.mu.Unlock()
	switch {
	case c.ID == "nowhere":
		return nil, nil
	case c.ID == "unknown":
		return nil, registry.ErrNoTarget
	case c.ID == "zero":
		return []authz.Path{{}}, nil
	case known:
		path, err := authz.ParsePath(place)
		return []authz.Path{path}, err
	}
	path, err := authz.MustPath("/yard").Join(c.ID)
	return []authz.Path{path}, err
}

func (y *yard) move(_ context.Context, c container) (string, error) {
	y.runs.Add(1)
	y.mu.Lock()
	y.moved[c.ID]++
	y.mu.Unlock()
	switch c.How {
	case "fail":
		return "", errors.New("the crane is stuck")
	case "panic":
		panic("the crane fell over")
	case "exit":
		runtime.Goexit()
	}
	return c.ID + " moved", nil
}

func (y *yard) place(id, path string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.places[id] = path
}

// give seals a standing grant of olga's to mira for a tool below /yard for an hour and puts it into the
// facts. Change may alter it before it is sealed.
func (y *yard) give(t *testing.T, tool, id string, change func(*authz.Standing)) *authz.Standing {
	t.Helper()
	s := &authz.Standing{
		ID: id, By: "olga", Since: yardOpens, Until: yardOpens.Add(time.Hour), Below: authz.MustPath("/yard"),
		Definition: y.reg.Lookup(tool).Definition,
	}
	if change != nil {
		change(s)
	}
	require.NoError(t, authz.SealStanding(y.keys, "port", "mira", tool, s))
	y.grant(t, "port", "mira", tool, s)
	return s
}

// grant puts a standing grant into the facts as it is.
func (y *yard) grant(t *testing.T, scope authz.Scope, model authz.ID, tool string, s *authz.Standing) {
	t.Helper()
	y.editIn(t, scope, model, func(_ *authz.Facts, a *authz.Actor) {
		a.Grants = append(a.Grants, authz.Grant{Tool: tool, Effect: authz.Allow, Standing: s})
	})
}

func (y *yard) edit(t *testing.T, id authz.ID, change func(*authz.Facts, *authz.Actor)) {
	t.Helper()
	y.editIn(t, "port", id, change)
}

func (y *yard) editIn(t *testing.T, scope authz.Scope, id authz.ID, change func(*authz.Facts, *authz.Actor)) {
	t.Helper()
	require.NoError(t, y.people.Edit(context.Background(), scope, func(f *authz.Facts) error {
		for i := range f.Actors {
			if f.Actors[i].ID == id {
				change(f, &f.Actors[i])
			}
		}
		return nil
	}))
}

func (y *yard) revoke(t *testing.T) {
	t.Helper()
	y.edit(t, "mira", func(_ *authz.Facts, a *authz.Actor) { a.Grants = nil })
}

// mira is the session of the model for a person, or in the background for nobody.
func (y *yard) mira(t *testing.T, person authz.ID) authz.Session {
	t.Helper()
	behalf := authz.Background()
	if person != "" {
		behalf = authz.For(authz.LoggedIn(person))
	}
	s, err := authz.NewSession("port", "mira", behalf)
	require.NoError(t, err)
	return s
}

func (y *yard) call(ctx context.Context, s authz.Session, tool, id, how string) chattools.Answer {
	args, _ := json.Marshal(container{ID: id, How: how})
	return y.gate.Call(ctx, s, chattools.Call{Name: tool, Arguments: args})
}

func (y *yard) row(t *testing.T, proposal string) ledger.Proposal {
	t.Helper()
	p, err := y.book.Proposal(t.Context(), "port", proposal)
	require.NoError(t, err)
	return p
}

// rows returns all proposals of the scope.
func (y *yard) rows(t *testing.T) []ledger.Proposal {
	t.Helper()
	rows, err := y.book.Proposals(t.Context(), ledger.Query{Scope: "port", Limit: 1 << 20})
	require.NoError(t, err)
	return rows
}

func (y *yard) audit(t *testing.T, q ledger.AuditQuery) []ledger.Record {
	t.Helper()
	q.Scope, q.Limit = "port", 1<<20
	trail, err := y.book.Audit(t.Context(), q)
	require.NoError(t, err)
	return trail
}

// approve lets a person approve a proposal.
func (y *yard) approve(t *testing.T, proposal string, person authz.ID) error {
	t.Helper()
	o, err := y.desk.Open(t.Context(), "port", proposal, authz.LoggedIn(person))
	if err != nil {
		return err
	}
	if o.Refusal != nil {
		return o.Refusal
	}
	_, err = y.desk.Approve(t.Context(), o.Redemption())
	return err
}

// used counts the claims of every standing grant, as the ledger has them.
func (y *yard) used(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, p := range y.rows(t) {
		if p.Grant != "" {
			n[p.Grant]++
		}
	}
	return n
}

// reasons lists event, code and reason of every record about the proposals of an action.
func (y *yard) reasons(t *testing.T, action string) []string {
	t.Helper()
	var list []string
	for _, r := range y.audit(t, ledger.AuditQuery{Action: action}) {
		list = append(list, fmt.Sprintf("%s %s %s", r.Event, r.Code, r.Reason))
	}
	return list
}
