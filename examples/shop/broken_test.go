package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/registry"
)

// swapped is a replay in whose shop one action was replaced.
func swapped(t *testing.T, approveAll bool, make func(*store.Office) *registry.Action) *replay {
	t.Helper()
	r := newTestReplay(t, approveAll)
	c, action := r.Config("1"), make(r.Office)
	i := slices.IndexFunc(c.Actions, func(a *registry.Action) bool { return a.Name == action.Name })
	c.Actions[i] = action
	require.NoError(t, r.Build(c))
	return r
}

// A comparison that cannot fail proves nothing. Each of these shops is broken in one place, and the replay
// reports it.
func TestTheReplayNoticesABrokenShop(t *testing.T) {
	for _, test := range []struct {
		name       string
		approveAll bool
		make       func(*store.Office) *registry.Action
		want       string
	}{
		{"a read that answers something else", true, func(o *store.Office) *registry.Action {
			return store.Read(o, "get_product_details", "Broken.", store.ReadProducts, nil,
				func(s *backoffice.Shop, ctx context.Context, p backoffice.GetProduct) (backoffice.Product, error) {
					product, err := s.GetProductDetails(ctx, p)
					product.Name += "!"
					return product, err
				})
		}, "get_product_details: answered done"},
		{"a write that changes a record more", true, func(o *store.Office) *registry.Action {
			return store.Write(o, "cancel_pending_order", registry.Spec[backoffice.CancelOrder]{
				Description: "Broken.", Permission: store.EditRefunds, Ask: store.RequestRefunds, Mode: authz.Propose,
				Target: func(_ context.Context, p backoffice.CancelOrder) ([]authz.Path, error) {
					owner, ok := o.Shop.Load().OrderOwner(p.OrderID)
					if !ok {
						return nil, registry.ErrNoTarget
					}
					return store.Below(owner, "orders", p.OrderID)
				},
			}, func(s *backoffice.Shop, ctx context.Context, p backoffice.CancelOrder) (backoffice.Order, error) {
				owner, _ := s.OrderOwner(p.OrderID)
				user, err := s.GetUserDetails(ctx, backoffice.GetUser{UserID: owner})
				if err != nil {
					return backoffice.Order{}, err
				}
				user.Address.Zip = "00000"
				if _, err := s.ModifyUserAddress(ctx, backoffice.UserAddress{UserID: owner, Address: user.Address}); err != nil {
					return backoffice.Order{}, err
				}
				return s.CancelPendingOrder(ctx, p)
			})
		}, "cancel_pending_order: changed records"},
		{"a write that does nothing", true, func(o *store.Office) *registry.Action {
			return store.Write(o, "modify_user_address", registry.Spec[backoffice.UserAddress]{
				Description: "Broken.", Permission: store.EditCustomers, Ask: store.RequestCustomers, Mode: authz.Execute,
				Target: func(_ context.Context, p backoffice.UserAddress) ([]authz.Path, error) {
					return store.Below(p.UserID, "profile")
				},
			}, func(s *backoffice.Shop, ctx context.Context, p backoffice.UserAddress) (backoffice.User, error) {
				return s.GetUserDetails(ctx, backoffice.GetUser{UserID: p.UserID})
			})
		}, "modify_user_address: changed records []"},
		{"a write that passes for a read", false, func(o *store.Office) *registry.Action {
			return store.Read(o, "cancel_pending_order", "Broken.", store.UseAssistant, nil, (*backoffice.Shop).CancelPendingOrder)
		}, "cancel_pending_order: answered done"},
		{"a read of one's own that is refused", true, func(o *store.Office) *registry.Action {
			return store.Read(o, "get_user_details", "Broken.", store.ReadCustomers, nil, (*backoffice.Shop).GetUserDetails)
		}, "get_user_details: forbidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := swapped(t, test.approveAll, test.make)
			found := func() bool {
				return slices.ContainsFunc(r.unexpected, func(line string) bool { return strings.Contains(line, test.want) })
			}
			for _, task := range tasks(t) {
				require.NoError(t, r.task(t.Context(), task))
				if found() {
					break
				}
			}
			require.True(t, found(), "%q", r.unexpected)
			var out bytes.Buffer
			r.report(&out)
			require.Contains(t, out.String(), r.unexpected[0])
		})
	}
}

// The check of the ledger notices an approver and a decision that are not the replay's.
func TestTheReplayNoticesAnotherDecision(t *testing.T) {
	r := newTestReplay(t, false)
	task, err := taskOf(story)
	require.NoError(t, err)
	require.NoError(t, r.task(t.Context(), task))
	require.Len(t, r.proposals, 1)
	redemption, err := r.Open(t.Context(), r.proposals[0], store.Sue)
	require.NoError(t, err)
	_, err = r.Desk.Approve(t.Context(), redemption)
	require.NoError(t, err)
	require.NoError(t, r.check(t.Context()))
	require.Len(t, r.unexpected, 3)
	require.Contains(t, r.unexpected[0], "does not name approver and claim")
	require.Contains(t, r.unexpected[2], "its records are")
}
