package sqlledger_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// TestHostsNamesOfColumns: a host that uses sqlx has its own rule for the names of columns.
func TestHostsNamesOfColumns(t *testing.T) {
	before := sqlx.NameMapper
	t.Cleanup(func() { sqlx.NameMapper = before })
	sqlx.NameMapper = func(field string) string { return field }
	s := engines[0].open(t)
	require.Empty(t, settings(t, s.Store))
	everyStatement(t, s.Store)
}
