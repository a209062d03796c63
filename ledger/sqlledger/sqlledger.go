// Package sqlledger keeps a [ledger.Store] in a host's own database: SQLite, PostgreSQL, or MySQL and MariaDB.
//
// [New] makes a [Store] of the host's *sql.DB and an explicit [Dialect]. [Store.Migrate] creates and upgrades
// the tables, only when it is called; [Schema] prints the same statements for hosts that apply them by other
// means, and [InsertOnly] prints triggers that refuse every change of the audit trail. [Store.Check] says which
// settings of the database would let a commit be lost, and how to change them.
//
// A proposal's decision and its record are written in one transaction, before the effect that they allow. A
// decision record is unique per proposal, and so are the uses of a standing grant. A change whose commit was
// not answered is asked for again under its lock: it is answered as applied or as refused. Where that cannot be
// learned the error is [ErrInDoubt], and nothing may run. Nothing here runs a claim twice, takes one back, or
// repeats it under another claim id. A row that cannot be restored is an error that names it, in lists too: a
// list with a hole would be believed. The error is [ledger.ErrTampered].
//
// Where the application's data is in the same database, a run function joins by [Tx] the transaction in which the
// ledger records how the run ended: what it wrote, the record and the outcome are committed together, or not at
// all. [Store.Purge] removes what retention no longer asks for, and [ledger.Records] streams the audit trail.
//
// Text is kept byte for byte, or refused before anything begins: what is compared (ids, names, versions, a run, an
// origin, a conversation) with more than 255 bytes, any other with 16 MiB. A text with U+0000, or with bytes that are not
// UTF-8, is kept quoted, with escapes for all but ASCII; that is what counts for its length, and what a search for text
// looks through.
//
// The package imports no driver, sets nothing outside of itself, keeps no prepared statement and no state of a
// session, so that it works through PgBouncer in transaction mode and in every mode of a driver. It is tested with
// modernc.org/sqlite, with pgx on PostgreSQL and with go-sql-driver/mysql on MariaDB. MySQL itself is not
// tested. Galera clusters are not supported, because they answer commits that they then undo.
//
// # What the host must see to
//
// A commit that the database forgets is a claim that can be made again. So:
//
//   - SQLite: journal mode WAL, synchronous FULL, a busy timeout, and one connection that writes
//     (db.SetMaxOpenConns(1), or a pool for other reads beside it); never a network file system. A database in
//     memory must have one connection, which is not closed.
//   - PostgreSQL: synchronous_commit on, an encoding of UTF8, and synchronous replication where a fail-over is
//     automatic.
//   - MySQL and MariaDB: innodb_flush_log_at_trx_commit and sync_binlog 1, binlog_format not STATEMENT, strict
//     mode, connections in utf8mb4.
//   - Every machine keeps its clock with NTP: expiry is judged by the clock of the caller.
//
// The transactions ask for READ COMMITTED themselves, whatever the default is. They take their locks in one
// order: scope, proposal, grant.
package sqlledger

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Dialect says which database it is. It is never guessed from a driver's name. The zero Dialect is none.
type Dialect uint8

// The dialects.
const (
	SQLite     = Dialect(sqlkit.SQLite)
	PostgreSQL = Dialect(sqlkit.PostgreSQL)
	MySQL      = Dialect(sqlkit.MySQL) // and MariaDB
)

// String returns the dialect's name in lower case.
func (d Dialect) String() string { return sqlkit.Dialect(d).String() }

// Errors of a [Store], beside those of the contract.
var (
	// ErrInDoubt says that nobody knows whether a change was applied: the database did not answer its commit and
	// could not be asked about it. A caller treats a claim as lost and runs nothing.
	ErrInDoubt = sqlkit.ErrInDoubt
	// ErrSchema says that the tables are not this program's: they have a newer version, or another environment's
	// name, or there are none.
	ErrSchema = sqlkit.ErrSchema
)

// Options are what a host may choose. All processes of one ledger choose the same Prefix and Environment.
type Options struct {
	// Prefix comes before the name of every table: lower-case letters, digits and underscores, at most 32
	// of them. One that ends in a dot is a schema (on MySQL, a database), and one like "audit.sp_" is both;
	// SQLite takes no schema. The zero value means "sallyport_".
	Prefix string

	// Timeout bounds a change, the wait for a connection and all tries included; one that ended in doubt
	// has it once more to be cleared up. A change that began is bounded by it alone, not by the caller's
	// context. Zero means five seconds.
	Timeout time.Duration

	// Environment is recorded by the first Migrate that names one, such as "production"; a Migrate or Check
	// that names another is refused from then on. It has at most 100 letters, digits and any of . _ : / -.
	Environment string

	// Random is read for a mark that tells one try of a change from everybody else's. Nil means
	// crypto/rand.Reader.
	Random io.Reader
}

// Store is a [ledger.Store] in a database. It is safe for concurrent use, by any number of processes.
type Store struct {
	db      *sqlkit.DB
	dialect Dialect
	sql     statements
}

// New returns a Store on a database whose tables [Store.Migrate] or [Schema] made. It does not talk to the
// database yet. The host keeps and closes db.
func New(db *sql.DB, d Dialect, o Options) (*Store, error) {
	k, err := sqlkit.New(db, sqlkit.Dialect(d), sqlkit.Options(o), tables, faultOf)
	if err != nil {
		return nil, fmt.Errorf("sqlledger: %w", err)
	}
	return &Store{k, d, newStatements(k.Text, d)}, nil
}

// faultOf knows the errors of the contract, by which a change refuses itself, and rows that nobody can restore.
func faultOf(err error) (sqlkit.Fault, bool) {
	for _, own := range []error{ledger.ErrConflict, ledger.ErrNotFound, ledger.ErrLimit, ledger.ErrGrantSpent} {
		if errors.Is(err, own) {
			return sqlkit.Refused, true
		}
	}
	return sqlkit.Final, errors.Is(err, ledger.ErrTampered)
}

// by names the index that a list goes along. MySQL and MariaDB take another one where they guess that it costs less, or
// the right one from its beginning instead of from the cursor on: such lists take longer the longer the ledger is.
func (d Dialect) by(index string) string {
	if d == MySQL {
		return " FORCE INDEX (" + index + ")"
	}
	return ""
}

var _ ledger.Store = (*Store)(nil)
