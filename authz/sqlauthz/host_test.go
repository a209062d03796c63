package sqlauthz_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz/authztest"
)

// TestHostsNamesOfColumns: a host that uses sqlx has its own rule for the names of columns.
func TestHostsNamesOfColumns(t *testing.T) {
	before := sqlx.NameMapper
	t.Cleanup(func() { sqlx.NameMapper = before })
	sqlx.NameMapper = func(field string) string { return field }
	d := engines[0].open(t)
	set(t, d, "shop", authztest.Full())
	require.Equal(t, authztest.Full().Actors, facts(t, d, "shop").Actors)
}
