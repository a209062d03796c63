package sqlledger

import (
	"context"
	"embed"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
)

//go:embed schema/*.sql
var files embed.FS

var tables = sqlkit.Schema{Name: "sqlledger", Meta: "{meta}", Version: 1, Files: files}

// Schema returns the statements that make an empty ledger of the newest version. [Store.Migrate] does the same,
// and upgrades older ones.
func Schema(d Dialect, o Options) ([]string, error) {
	return tables.Statements(sqlkit.Dialect(d), sqlkit.Options(o))
}

// InsertOnly returns the statements of triggers that refuse to change, delete or truncate records, also by
// REPLACE. They protect the audit trail from honest code. Whoever owns the table can drop them: let the
// application connect as a role that does not own it and may only insert and select there.
func InsertOnly(d Dialect, o Options) ([]string, error) {
	checked, err := sqlkit.Options(o).Check(sqlkit.Dialect(d))
	if err != nil {
		return nil, err
	}
	return tables.Step(sqlkit.Dialect(d), checked, "insertonly"), nil
}

// Migrate makes the tables, or upgrades them to the version that this package knows, and records the
// environment's name. It may run in several processes at once; all but one wait. Tables of a newer version or of
// another environment are left alone, with [ErrSchema]. Nothing else ever changes the schema.
func (s *Store) Migrate(ctx context.Context) error { return s.db.Migrate(ctx) }
