package registry_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// What a registry hands out can be written to without changing the registry.
func TestActionsAreCopies(t *testing.T) {
	s := open(t)
	want := s.reg.Lookup("refund_order").Schema
	for _, a := range append(s.reg.Actions(), s.reg.Lookup("refund_order")) {
		a.Mode, a.Permission, a.Name, a.FourEyes = authz.Read, "anything", "renamed", false
		for i := range a.Schema {
			a.Schema[i] = ' '
		}
	}
	require.Equal(t, authz.Propose, s.reg.Mode("refund_order"))
	require.Equal(t, want, s.reg.Lookup("refund_order").Schema)
	require.Nil(t, s.reg.Lookup("renamed"))
	require.Zero(t, s.reg.Mode("renamed"))
}

// An action that always touches one path is judged there, and only there: a right elsewhere does not even show
// it to a model.
func TestAnActionOnOnePath(t *testing.T) {
	kitchen := authz.MustPath("/rooms/kitchen")
	s := open(t, func(_ *shop, p *plan) {
		p.Actions = append(p.Actions, registry.Define("clean_kitchen", registry.Spec[Order]{
			Description: "Clean the kitchen.", Permission: "rooms:edit", Mode: authz.Execute, On: kitchen,
		}, func(context.Context, Order) (bool, error) { return true, nil }))
	})
	give := func(at authz.Path) {
		s.edit("scout", func(_ *authz.Facts, a *authz.Actor) {
			a.Roles, a.Overrides = []string{authz.Viewer, "auditor"}, []authz.Override{{At: at, Effect: authz.Allow, Of: []authz.Permission{"rooms:edit"}}}
		})
	}
	session, err := authz.NewSession("shop", "scout", authz.For(olga))
	require.NoError(t, err)
	call := registry.Call{Session: session, Action: "clean_kitchen", Params: []byte(`{"order_id":"W1"}`)}

	give(authz.MustPath("/rooms/attic"))
	_, err = s.desk.Propose(t.Context(), call)
	require.Equal(t, ledger.Unavailable, registry.CodeOf(err))
	give(authz.MustPath("/rooms"))
	p, err := s.desk.Propose(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, []authz.Path{kitchen}, p.Proposal.Targets)
}
