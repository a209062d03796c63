package sqlledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// A cashier pays refunds over a ledger. What it pays is a line in a file, which outlives the process: its proposal and
// its claim. Sam and Tina may approve, Olga asks through a model, and Eve may nothing. The model has a standing grant
// for three notes.
type cashier struct {
	reg   *registry.Registry
	desk  *approval.Desk
	model authz.Session
	paid  string // the file
	clock *atomic.Int64
	step  func() // around the effect; where a process may die

	effect func(context.Context, registry.Current) error
}

var tina, olga, eve = authz.LoggedIn("tina"), authz.LoggedIn("olga"), authz.LoggedIn("eve")

type refund struct {
	Order string `json:"order"`
	Cents int64  `json:"cents"`
	Why   string `json:"why,omitempty"`
}

// newCashier needs no test, so that a child process has one too. All cashiers have the same keys, people and clock.
func newCashier(book ledger.Store, paid string) (*cashier, error) {
	cashier := &cashier{paid: paid, clock: new(atomic.Int64), step: func() {}}
	cashier.effect = func(_ context.Context, call registry.Current) error {
		return appendLine(paid, call.Proposal+" "+call.Claim)
	}
	cashier.clock.Store(ledgertest.At(0).UnixMicro())
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a secret of at least 32 bytes....")})
	if err != nil {
		return nil, err
	}
	define := func(name string, mode authz.Mode, of authz.Permission) *registry.Action {
		return registry.Define(name, registry.Spec[refund]{
			Description: "Changes an order.", Mode: mode, Permission: of, Ask: of + ":ask",
			Target: func(_ context.Context, p refund) ([]authz.Path, error) {
				path, err := authz.Root().Join("orders", p.Order)
				return []authz.Path{path}, err
			},
		}, func(ctx context.Context, p refund) (string, error) {
			call, ok := registry.CallFrom(ctx)
			if !ok {
				return "", errors.New("no call")
			}
			cashier.step()
			err := cashier.effect(ctx, call)
			cashier.step()
			return "done", err
		})
	}
	pay, note := define("pay_refund", authz.Propose, "refunds"), define("add_note", authz.Execute, "notes")
	standing := &authz.Standing{
		ID: "grant-1", By: "sam", Since: ledgertest.At(0), Until: ledgertest.At(time.Hour), Uses: 3, Below: authz.Root(),
		Definition: note.Definition, AskOnly: true,
	}
	if err := authz.SealStanding(keys, "shop", "assistant", "add_note", standing); err != nil {
		return nil, err
	}
	asks := []authz.Override{{At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{"refunds:ask", "notes:ask"}}}
	people := new(authz.Memory)
	for _, scope := range []authz.Scope{"shop", "depot"} {
		err := people.Set(scope, authz.Facts{
			Settings: authz.Settings{Ceiling: authz.Execute, Standing: true},
			Actors: []authz.Actor{
				{ID: "sam", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
				{ID: "tina", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
				{ID: "olga", Kind: authz.Human, Active: true, Overrides: asks},
				{ID: "eve", Kind: authz.Human, Active: true},
				{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{
					{Tool: "add_note", Effect: authz.Allow, Standing: standing},
				}},
			},
		})
		if err != nil {
			return nil, err
		}
	}
	cashier.reg, err = registry.New(registry.Config{
		Actions: []*registry.Action{pay, note}, Source: people, Ledger: book, Keys: keys, ProposeOnly: []authz.Permission{"refunds"},
		Now: func() time.Time { return time.UnixMicro(cashier.clock.Load()).UTC() }, Limits: new(ledger.Limits),
	})
	if err != nil {
		return nil, err
	}
	cashier.desk = approval.NewDesk(cashier.reg)
	cashier.model, err = authz.NewSession("shop", "assistant", authz.For(olga))
	return cashier, err
}

// appendLine writes as one write, which processes do not mix up.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// cashier opens a cashier over the store.
func (s *store) cashier(t *testing.T, book ledger.Store) *cashier {
	t.Helper()
	cashier, err := newCashier(book, filepath.Join(t.TempDir(), "paid"))
	require.NoError(t, err)
	return cashier
}

// propose asks for the nth refund.
func (l *cashier) propose(ctx context.Context, n int) (ledger.Proposal, error) {
	p, err := l.desk.Propose(ctx, registry.Call{Session: l.model, Action: "pay_refund", Params: fmt.Appendf(nil, `{"order":"W42","cents":%d}`, n)})
	return p.Proposal, err
}

// approve opens and approves.
func (l *cashier) approve(ctx context.Context, id string, person authz.Person) error {
	o, err := l.desk.Open(ctx, "shop", id, person)
	if err != nil {
		return err
	}
	_, err = l.desk.Approve(ctx, o.Redemption())
	return err
}

// runs returns the claims by which each proposal ran.
func (l *cashier) runs(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(l.paid)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	runs := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		id, claim, _ := strings.Cut(line, " ")
		runs[id] = append(runs[id], claim)
	}
	return runs
}

// agree makes sure that every row of a scope has the records of its changes and no other, that every record of a
// change is about a row, and that what ran was claimed before. It returns the rows.
func (s *store) agree(t *testing.T, scope authz.Scope, runs map[string][]string) map[string]ledger.Proposal {
	t.Helper()
	list, err := s.Proposals(t.Context(), ledger.Query{Scope: scope, Limit: 100_000})
	require.NoError(t, err)
	trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Limit: 100_000})
	require.NoError(t, err)
	recorded := map[string]map[ledger.Event]int{}
	started := map[string]string{}
	for _, r := range trail {
		switch r.Event {
		case ledger.EventProposed, ledger.EventStarted, ledger.EventDismissed, ledger.EventFinished, ledger.EventVerified:
			if recorded[r.Proposal] == nil {
				recorded[r.Proposal] = map[ledger.Event]int{}
			}
			recorded[r.Proposal][r.Event]++
		}
		if r.Event == ledger.EventStarted {
			started[r.Proposal] = r.Claim
		}
	}
	rows := map[string]ledger.Proposal{}
	for _, p := range list {
		rows[p.ID] = p
		want := map[ledger.Event]int{ledger.EventProposed: 1}
		for event, is := range map[ledger.Event]bool{
			ledger.EventStarted: p.Decision == ledger.Claimed, ledger.EventDismissed: p.Decision == ledger.Dismissed,
			ledger.EventFinished: p.Outcome != ledger.Running, ledger.EventVerified: p.Verdict != ledger.Unverified,
		} {
			if is {
				want[event] = 1
			}
		}
		require.Equal(t, want, recorded[p.ID], "a record for each change of a row, and a change for each record")
		delete(recorded, p.ID)
	}
	require.Empty(t, recorded, "records of changes of no row")
	for id, claims := range runs {
		require.Len(t, claims, 1, "a proposal ran twice")
		require.Equal(t, claims[0], started[id], "what ran has its started record")
		require.Equal(t, claims[0], rows[id].Claim, "what ran had claimed")
	}
	return rows
}

// code is that of a refusal, and "" for no error.
func code(t *testing.T, err error) ledger.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	refusal, ok := errors.AsType[*registry.Refusal](err)
	require.True(t, ok, "%v", err)
	return refusal.Code
}

// TestCashier pays once on every engine, and knows of what it paid.
func TestCashier(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		p, err := cashier.propose(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, ledger.Unknown, code(t, cashier.approve(t.Context(), p.ID, eve)))
		require.NoError(t, cashier.approve(t.Context(), p.ID, sam))
		require.Equal(t, ledger.Spent, code(t, cashier.approve(t.Context(), p.ID, sam)))
		rows := s.agree(t, "shop", cashier.runs(t))
		require.Len(t, cashier.runs(t), 1)
		require.Equal(t, ledger.Succeeded, rows[p.ID].Outcome)
	})
}
