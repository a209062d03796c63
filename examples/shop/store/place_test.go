package store

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

func everywhere(t *testing.T, test func(t *testing.T, w *World)) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			if p.env != "" {
				if p.dsn = os.Getenv(p.env); p.dsn == "" {
					t.Skipf("%s holds no DSN", p.env)
				}
			}
			place, err := Passing(t.Context(), p.dsn)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, place.Close()) })
			w, err := New(t.Context(), place)
			require.NoError(t, err)
			test(t, w)
		})
	}
}

// cancelled lets the customer's model ask for an order to be cancelled, and Sam approve it.
func cancelled(t *testing.T, w *World) (registry.Result, ledger.Proposal, error) {
	session, err := w.Session("isabella_lopez_6490", "a test")
	require.NoError(t, err)
	a := w.Gate.Call(t.Context(), session, chattools.Call{Name: "cancel_pending_order", Arguments: []byte(`{"order_id":"#W4923227","reason":"no longer needed"}`)})
	require.Equal(t, chattools.NeedsApproval, a.Status, a.Text)
	redemption, err := w.Open(t.Context(), a.Proposal, Sam)
	require.NoError(t, err)
	res, err := w.Desk.Approve(t.Context(), redemption)
	row, e := w.Book.Proposal(t.Context(), Scope, a.Proposal)
	require.NoError(t, e)
	return res, row, err
}

func status(t *testing.T, w *World) string {
	shop, err := w.Office.Now(t.Context())
	require.NoError(t, err)
	order, err := shop.GetOrderDetails(t.Context(), backoffice.GetOrder{OrderID: "#W4923227"})
	require.NoError(t, err)
	return order.Status
}

func TestAnApprovedCallOnEveryStore(t *testing.T) {
	everywhere(t, func(t *testing.T, w *World) {
		require.Equal(t, "pending", status(t, w))
		_, row, err := cancelled(t, w)
		require.NoError(t, err)
		require.Equal(t, ledger.Succeeded, row.Outcome)
		require.Equal(t, "cancelled", status(t, w))
		require.NoError(t, w.Office.Reset(t.Context()))
		require.Equal(t, "pending", status(t, w))
	})
}

// TestNothingIsKeptOfAFailedRun: what a run wrote before it failed is not in the database.
func TestNothingIsKeptOfAFailedRun(t *testing.T) {
	everywhere(t, func(t *testing.T, w *World) {
		if w.Office.archive == nil {
			t.Skip("nothing to roll back in memory")
		}
		boom := errors.New("the card reader is gone")
		c := w.Config("1")
		c.Actions = append(c.Actions, failing(w, boom))
		require.NoError(t, w.Build(c))
		session, err := w.Session("isabella_lopez_6490", "another test")
		require.NoError(t, err)
		a := w.Gate.Call(t.Context(), session, chattools.Call{Name: "cancel_and_fail", Arguments: []byte(`{"order_id":"#W4923227","reason":"no longer needed"}`)})
		require.Equal(t, chattools.NeedsApproval, a.Status, a.Text)
		redemption, err := w.Open(t.Context(), a.Proposal, Sam)
		require.NoError(t, err)
		_, err = w.Desk.Approve(t.Context(), redemption)
		require.ErrorIs(t, err, boom)
		row, err := w.Book.Proposal(t.Context(), Scope, a.Proposal)
		require.NoError(t, err)
		require.Equal(t, ledger.Failed, row.Outcome)
		require.Equal(t, "pending", status(t, w))
	})
}

// failing is an action that cancels an order and then fails.
func failing(w *World, with error) *registry.Action {
	return Write(w.Office, "cancel_and_fail", OfOrder(w.Office, registry.Spec[backoffice.CancelOrder]{
		Description: "Cancel, and fail.", Permission: EditRefunds, Ask: RequestRefunds, Mode: authz.Propose,
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
	var worlds []*World
	for range 2 {
		p, err := DatabaseOf(file).Open(t.Context(), "shop_")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Close()) })
		w := &World{Place: p}
		worlds = append(worlds, w)
	}
	first, err := New(t.Context(), worlds[0].Place)
	require.NoError(t, err)
	require.Equal(t, "pending", status(t, worlds[1]))
	_, _, err = cancelled(t, first)
	require.NoError(t, err)
	require.Equal(t, "cancelled", status(t, worlds[1]))
	facts, err := worlds[1].People.Facts(t.Context(), Scope, nil)
	require.NoError(t, err)
	require.Greater(t, len(facts.Actors), 200)
}

func TestDatabaseOf(t *testing.T) {
	for dsn, driver := range map[string]string{
		"postgres://u@h/db": "pgx", "postgresql://u@h/db": "pgx", "u:p@tcp(h:3306)/db": "mysql", "u@unix(/run/x)/db": "mysql", "shop.db": "sqlite",
	} {
		require.Equal(t, driver, DatabaseOf(dsn).Driver, dsn)
	}
	_, err := Passing(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder", "shop.db"))
	require.Error(t, err)
}
