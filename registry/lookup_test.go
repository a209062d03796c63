package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
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
