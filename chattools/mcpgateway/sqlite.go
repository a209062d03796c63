package mcpgateway

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/authz"
)

// SQLite is a [Store] in a host's own SQLite database, beside the ledger's tables. It imports no driver.
type SQLite struct{ db *sql.DB }

// NewSQLite returns the store of a database, whose table it creates if there is none.
func NewSQLite(ctx context.Context, db *sql.DB) (*SQLite, error) {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS sallyport_mcp_pins (
		scope TEXT NOT NULL PRIMARY KEY, revision INTEGER NOT NULL, servers TEXT NOT NULL) STRICT`); err != nil {
		return nil, fmt.Errorf("mcpgateway: %w", err)
	}
	return &SQLite{db}, nil
}

// Load returns the pins of a scope.
func (s *SQLite) Load(ctx context.Context, scope authz.Scope) (p Pins, err error) {
	var servers string
	err = s.db.QueryRowContext(ctx, `SELECT revision, servers FROM sallyport_mcp_pins WHERE scope = ?`, string(scope)).Scan(&p.Revision, &servers)
	if errors.Is(err, sql.ErrNoRows) {
		return Pins{}, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(servers), &p.Servers)
	}
	if err != nil {
		return Pins{}, fmt.Errorf("mcpgateway: the servers of scope %q cannot be read: %w", scope, err)
	}
	return p, nil
}

// Save writes the pins of a scope in one statement.
func (s *SQLite) Save(ctx context.Context, scope authz.Scope, p Pins) error {
	servers, err := json.Marshal(p.Servers)
	if err != nil {
		return err
	}
	result, err := s.db.ExecContext(ctx, `INSERT INTO sallyport_mcp_pins (scope, revision, servers)
		SELECT ?1, ?2, ?3 WHERE ?2 = 1 OR EXISTS (SELECT 1 FROM sallyport_mcp_pins WHERE scope = ?1)
		ON CONFLICT (scope) DO UPDATE SET revision = excluded.revision, servers = excluded.servers
		WHERE sallyport_mcp_pins.revision = excluded.revision - 1`, string(scope), p.Revision, string(servers))
	if err != nil {
		return fmt.Errorf("mcpgateway: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrConflict, err)
	}
	return nil
}
