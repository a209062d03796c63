package sqlledger

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"

	"github.com/sallyport-dev/sallyport/ledger"
)

// fault is what an error says about the transaction it ended.
type fault uint8

const (
	doubtful  fault = iota // nobody knows; also every error that no server has sent
	again                  // certainly not applied, and another try may go better
	final                  // certainly not applied, and another try would go the same way
	duplicate              // certainly not applied: a unique index has the row already
	decided                // one of the contract's own errors, after which nothing was committed
)

// failure is an error whose fault is known from where it happened.
type failure struct {
	fault fault
	err   error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// faultOf classifies an error. Drivers are not imported, so their errors are known by what they offer: pgx by
// the method SQLState, modernc.org/sqlite by the method Code, and go-sql-driver/mysql by the field Number.
func faultOf(err error) fault {
	var own *failure
	var state interface{ SQLState() string }
	var code interface{ Code() int }
	switch {
	case errors.As(err, &own):
		return own.fault
	case errors.Is(err, ledger.ErrConflict), errors.Is(err, ledger.ErrNotFound), errors.Is(err, ledger.ErrLimit), errors.Is(err, ledger.ErrGrantSpent):
		return decided
	case errors.Is(err, ledger.ErrTampered):
		return final
	case errors.Is(err, driver.ErrBadConn):
		return again // by which a driver promises that the server has seen nothing
	case errors.As(err, &state):
		return postgresFault(state.SQLState())
	case errors.As(err, &code):
		return sqliteFault(code.Code(), err.Error())
	}
	if number, ok := mysqlNumber(err); ok {
		return mysqlFault(number)
	}
	return doubtful
}

// postgresFault is for PostgreSQL, and for CockroachDB, which says 40003 of a commit that it lost sight of.
func postgresFault(state string) fault {
	switch state {
	case "23505":
		return duplicate
	case "40001", "40P01", "55P03", "53300", "57014":
		return again // serialization, deadlock, lock timeout, too many connections, statement timeout
	case "40003", "57P01", "57P02", "57P03":
		return doubtful // statement completion unknown; the server goes down
	}
	if strings.HasPrefix(state, "08") || state == "" {
		return doubtful // the connection
	}
	return final
}

// sqliteFault takes extended result codes, whose low byte is the primary one. A trigger of InsertOnly reports a
// second decision in the words of a unique index.
func sqliteFault(code int, text string) fault {
	switch code & 0xff {
	case 5, 6: // BUSY, LOCKED
		return again
	case 9, 10: // INTERRUPT, IOERR
		return doubtful
	case 19: // CONSTRAINT
		if code == 2067 || code == 1555 || strings.Contains(text, "UNIQUE constraint failed") {
			return duplicate
		}
	}
	return final
}

func mysqlFault(number uint16) fault {
	switch number {
	case 1062:
		return duplicate
	case 1213, 1205, 1020, 1040, 3572:
		return again // deadlock, lock timeout, changed since last read, too many connections, lock not available
	case 1053, 1152, 1158, 1159, 1160, 1161, 1317, 1927:
		return doubtful // the connection, or the server goes down
	}
	return final
}

// mysqlNumber finds a struct with a field Number of type uint16 in the chain of an error.
func mysqlNumber(err error) (uint16, bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.ValueOf(err)
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Struct {
			if f := v.FieldByName("Number"); f.IsValid() && f.Kind() == reflect.Uint16 {
				return uint16(f.Uint()), true
			}
		}
	}
	return 0, false
}
