package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
)

// Warning is a setting of the database under which the ledger does not keep what it promises.
type Warning struct {
	Setting string // and its value, as in "synchronous = 1"
	Risk    string
	Fix     string
}

// String returns one line.
func (w Warning) String() string { return w.Setting + ": " + w.Risk + "; " + w.Fix }

// Check asks the database for its settings, through one connection of the pool, and changes nothing. It is meant
// for the start of a process, after [Store.Migrate]. The error is [ErrSchema] if the tables are not this
// program's.
func (s *Store) Check(ctx context.Context) ([]Warning, error) {
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return nil, fmt.Errorf("sqlledger: check: %w", err)
	}
	defer func() { _ = conn.Close() }()
	m, err := s.db.Recorded(ctx, conn)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("%w: their version is not recorded; call Migrate", ErrSchema)
	case errors.Is(err, ErrSchema):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("sqlledger: check, before Migrate: %w", err)
	case m.Version < tables.Version:
		return nil, fmt.Errorf("%w: they have version %d, and this program needs %d; call Migrate", ErrSchema, m.Version, tables.Version)
	}
	c := &checker{value: func(query string) (string, error) {
		row, err := conn.QueryxContext(ctx, query)
		if err != nil {
			return "", err
		}
		defer func() { _ = row.Close() }()
		var v sql.NullString
		if row.Next() {
			columns, err := row.Columns()
			if err != nil {
				return "", err
			}
			into := make([]any, len(columns)) // the last one is the value; SHOW VARIABLES has a name before it
			for i := range into {
				into[i] = new(sql.NullString)
			}
			into[len(into)-1] = &v
			if err := row.Scan(into...); err != nil {
				return "", err
			}
		}
		return v.String, row.Err()
	}}
	switch s.dialect {
	case SQLite:
		c.sqlite(s.db.Stats().MaxOpenConnections)
	case PostgreSQL:
		c.postgresql()
	case MySQL:
		c.mysql(sqlkit.Names(s.db.Options.Prefix).Replace("{proposals}"))
	}
	if c.err != nil {
		return nil, fmt.Errorf("sqlledger: check: %w", c.err)
	}
	return c.warnings, nil
}

// checker collects warnings and keeps the first error.
type checker struct {
	value    func(query string) (string, error)
	warnings []Warning
	err      error
}

func (c *checker) ask(query string) string {
	if c.err != nil {
		return ""
	}
	v, err := c.value(query)
	if err != nil {
		c.err = fmt.Errorf("%s: %w", query, err)
	}
	return v
}

func (c *checker) warn(bad bool, setting, value, risk, fix string) {
	if bad && c.err == nil {
		c.warnings = append(c.warnings, Warning{setting + " = " + value, risk, fix})
	}
}

// lost is what happens to a commit that the database forgets.
const lost = "a claim that was answered may be forgotten when power fails, and be made again"

func (c *checker) sqlite(pool int) {
	journal := c.ask("PRAGMA journal_mode")
	synchronous := c.ask("PRAGMA synchronous")
	level, _ := strconv.Atoi(synchronous)
	c.warn(level < 2, "synchronous", synchronous, lost, "set PRAGMA synchronous = FULL in the DSN, for every connection")
	c.warn(journal == "memory" && c.ask("SELECT file FROM pragma_database_list WHERE name = 'main'") == "", "journal_mode", journal,
		"a database in memory ends with its connection, and each connection of a pool has its own",
		"use a file, or this for tests only, with db.SetMaxOpenConns(1)")
	c.warn(journal == "off", "journal_mode", journal, "a change that fails half-way stays half done", "set PRAGMA journal_mode = WAL")
	c.warn(journal != "wal" && journal != "memory" && journal != "off" && pool != 1, "journal_mode", journal,
		"readers and the writer of a pool exclude one another, and commits fail busy", "set PRAGMA journal_mode = WAL, or db.SetMaxOpenConns(1)")
	busy := c.ask("PRAGMA busy_timeout")
	c.warn(busy == "0", "busy_timeout", busy, "changes fail at once while another connection writes", "set PRAGMA busy_timeout = 5000 in the DSN")
	encoding := c.ask("PRAGMA encoding")
	c.warn(encoding != "UTF-8", "encoding", encoding, "ids are not ordered byte for byte", "create the database with PRAGMA encoding = 'UTF-8'")
	if runtime.GOOS == "darwin" {
		full := c.ask("PRAGMA fullfsync")
		c.warn(full == "0", "fullfsync", full, lost, "set PRAGMA fullfsync = 1 in the DSN")
	}
}

func (c *checker) postgresql() {
	commit := c.ask("SHOW synchronous_commit")
	c.warn(commit == "off", "synchronous_commit", commit, lost, "set synchronous_commit = on for the role of the application")
	for _, name := range []string{"fsync", "full_page_writes"} {
		v := c.ask("SHOW " + name)
		c.warn(v == "off", name, v, lost, "set "+name+" = on in postgresql.conf")
	}
	encoding := c.ask("SHOW server_encoding")
	c.warn(encoding != "UTF8", "server_encoding", encoding, "text cannot be kept as it is", "create the database with ENCODING 'UTF8'")
	standby := c.ask("SELECT CAST(pg_is_in_recovery() AS TEXT)")
	c.warn(standby == "true", "pg_is_in_recovery", standby, "a standby takes no change and answers with what was before", "connect to the primary")
}

func (c *checker) mysql(table string) {
	v := c.ask("SELECT @@innodb_flush_log_at_trx_commit")
	c.warn(v != "1", "innodb_flush_log_at_trx_commit", v, lost, "set it to 1")
	if c.ask("SELECT @@log_bin") == "1" {
		v = c.ask("SELECT @@sync_binlog")
		c.warn(v != "1", "sync_binlog", v, "replicas may have claims that the primary forgot, or the other way round, when power fails", "set it to 1")
		v = c.ask("SELECT @@binlog_format")
		c.warn(v == "STATEMENT", "binlog_format", v, "changes under READ COMMITTED are refused", "set it to ROW or MIXED")
	}
	v = c.ask("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")
	c.warn(v == "ON", "wsrep_on", v, "Galera answers commits that it then undoes, so one proposal may be claimed twice", "use a server outside of a Galera cluster")
	v = c.ask("SELECT @@autocommit")
	c.warn(v != "1", "autocommit", v, "reads answer from a snapshot that never ends, and hold locks on the tables", "set autocommit to 1 for the connections")
	v = c.ask("SELECT @@sql_mode")
	c.warn(!strings.Contains(v, "STRICT_TRANS_TABLES") && !strings.Contains(v, "STRICT_ALL_TABLES"), "sql_mode", v,
		"text that does not fit is cut instead of refused", "add STRICT_TRANS_TABLES")
	v = c.ask("SELECT @@character_set_client")
	c.warn(v != "utf8mb4", "character_set_client", v, "text cannot be kept as it is", "connect with charset=utf8mb4")
	v = c.ask("SELECT @@version")
	c.warn(!strings.Contains(v, "MariaDB"), "version", v, "this package is tested with MariaDB only", "run its tests against your server")
	schema, name := "DATABASE()", table
	if before, after, ok := strings.Cut(table, "."); ok {
		schema, name = "'"+before+"'", after
	}
	of := " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = " + schema + " AND TABLE_NAME = '" + name + "'"
	v = c.ask("SELECT COALESCE(GROUP_CONCAT(CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE)), '')" + of +
		" AND COLUMN_NAME IN ('scope', 'id', 'claim', 'actor', 'decision') AND DATA_TYPE <> 'varbinary'")
	c.warn(v != "", "columns of "+table, v, "ids that differ by case or by spaces at the end may meet", "give them the types that Schema has")
	v = c.ask("SELECT COALESCE(MAX(ENGINE), '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + schema + " AND TABLE_NAME = '" + name + "'")
	c.warn(v != "InnoDB", "engine of "+table, v, "it has no transactions", "make it an InnoDB table")
}
