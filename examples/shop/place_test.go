package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// places are where the tests open shops. Servers are skipped unless their variable holds a DSN.
var places = []struct{ name, dsn, env string }{
	{name: "memory", dsn: "memory"},
	{name: "sqlite"},
	{name: "postgresql", env: "SALLYPORT_TEST_POSTGRES"},
	{name: "mariadb", env: "SALLYPORT_TEST_MYSQL"},
}

func everywhere(t *testing.T, test func(t *testing.T, w *world)) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			if p.env != "" {
				if p.dsn = os.Getenv(p.env); p.dsn == "" {
					t.Skipf("%s holds no DSN", p.env)
				}
			}
			place, err := passing(t.Context(), p.dsn)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, place.close()) })
			w, err := newWorld(t.Context(), place)
			require.NoError(t, err)
			test(t, w)
		})
	}
}

// TestReplayOnEveryStore plays every twelfth recorded task, with and without approvals; all of them are played by the
// program itself. Nothing may differ from the recording anywhere.
func TestReplayOnEveryStore(t *testing.T) {
	want := map[bool]map[string]int{}
	everywhere(t, func(t *testing.T, w *world) {
		for _, approve := range []bool{true, false} {
			r := newReplay(w, approve)
			for i, task := range tasks(t) {
				if i%12 == 0 {
					require.NoError(t, r.task(t.Context(), task), task.ID)
					r.pass(registry.DefaultRunLimit)
				}
			}
			require.NoError(t, r.check(t.Context()))
			require.Empty(t, r.unexpected)
			require.Positive(t, r.counts["proposed"])
			if want[approve] == nil {
				want[approve] = r.counts
			}
			require.Equal(t, want[approve], r.counts, "as in memory")
		}
	})
}

// cancelled lets the customer's model ask for an order to be cancelled, and Sam approve it.
func (w *world) cancelled(t *testing.T) (registry.Result, ledger.Proposal, error) {
	session, err := w.session("isabella_lopez_6490", "a test")
	require.NoError(t, err)
	a := w.gate.Call(t.Context(), session, chattools.Call{Name: "cancel_pending_order", Arguments: []byte(`{"order_id":"#W4923227","reason":"no longer needed"}`)})
	require.Equal(t, chattools.NeedsApproval, a.Status, a.Text)
	redemption, err := w.open(t.Context(), a.Proposal, sam)
	require.NoError(t, err)
	res, err := w.desk.Approve(t.Context(), redemption)
	row, e := w.book.Proposal(t.Context(), scope, a.Proposal)
	require.NoError(t, e)
	return res, row, err
}

func (w *world) status(t *testing.T) string {
	shop, err := w.office.now(t.Context())
	require.NoError(t, err)
	order, err := shop.GetOrderDetails(t.Context(), backoffice.GetOrder{OrderID: "#W4923227"})
	require.NoError(t, err)
	return order.Status
}

func TestAnApprovedCallOnEveryStore(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		require.Equal(t, "pending", w.status(t))
		_, row, err := w.cancelled(t)
		require.NoError(t, err)
		require.Equal(t, ledger.Succeeded, row.Outcome)
		require.Equal(t, "cancelled", w.status(t))
		require.NoError(t, w.office.reset(t.Context()))
		require.Equal(t, "pending", w.status(t))
	})
}

// TestNothingIsKeptOfAFailedRun: what a run wrote before it failed is not in the database.
func TestNothingIsKeptOfAFailedRun(t *testing.T) {
	everywhere(t, func(t *testing.T, w *world) {
		if w.office.archive == nil {
			t.Skip("nothing to roll back in memory")
		}
		boom := errors.New("the card reader is gone")
		c := w.config("1")
		c.Actions = append(c.Actions, failing(w, boom))
		require.NoError(t, w.build(c))
		session, err := w.session("isabella_lopez_6490", "another test")
		require.NoError(t, err)
		a := w.gate.Call(t.Context(), session, chattools.Call{Name: "cancel_and_fail", Arguments: []byte(`{"order_id":"#W4923227","reason":"no longer needed"}`)})
		require.Equal(t, chattools.NeedsApproval, a.Status, a.Text)
		redemption, err := w.open(t.Context(), a.Proposal, sam)
		require.NoError(t, err)
		_, err = w.desk.Approve(t.Context(), redemption)
		require.ErrorIs(t, err, boom)
		row, err := w.book.Proposal(t.Context(), scope, a.Proposal)
		require.NoError(t, err)
		require.Equal(t, ledger.Failed, row.Outcome)
		require.Equal(t, "pending", w.status(t))
	})
}

// failing is an action that cancels an order and then fails.
func failing(w *world, with error) *registry.Action {
	return write(w.office, "cancel_and_fail", ofOrder(w.office, registry.Spec[backoffice.CancelOrder]{
		Description: "Cancel, and fail.", Permission: editRefunds, Ask: requestRefunds, Mode: authz.Propose,
	}, func(p backoffice.CancelOrder) string { return p.OrderID }),
		func(s *backoffice.Shop, ctx context.Context, p backoffice.CancelOrder) (backoffice.Order, error) {
			if o, err := s.CancelPendingOrder(ctx, p); err != nil {
				return o, err
			}
			return backoffice.Order{}, with
		})
}

// TestTwoShopsOnOneDatabase: what one process changes the other one reads.
func TestTwoShopsOnOneDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	var worlds []*world
	for range 2 {
		p, err := databaseOf(file).open(t.Context(), "shop_")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.close()) })
		w := &world{place: p}
		worlds = append(worlds, w)
	}
	first, err := newWorld(t.Context(), worlds[0].place)
	require.NoError(t, err)
	require.Equal(t, "pending", worlds[1].status(t))
	_, _, err = first.cancelled(t)
	require.NoError(t, err)
	require.Equal(t, "cancelled", worlds[1].status(t))
	facts, err := worlds[1].people.Facts(t.Context(), scope, nil)
	require.NoError(t, err)
	require.Greater(t, len(facts.Actors), 200)
}

func TestDatabaseOf(t *testing.T) {
	for dsn, driver := range map[string]string{
		"postgres://u@h/db": "pgx", "postgresql://u@h/db": "pgx", "u:p@tcp(h:3306)/db": "mysql", "u@unix(/run/x)/db": "mysql", "shop.db": "sqlite",
	} {
		require.Equal(t, driver, databaseOf(dsn).driver, dsn)
	}
	_, err := passing(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder", "shop.db"))
	require.Error(t, err)
}
