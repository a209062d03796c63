package sqlkit

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"
)

// Fault is what an error says about the transaction it ended.
type Fault uint8

// The faults.
const (
	Doubtful  Fault = iota // nobody knows; also every error that no server has sent
	Again                  // certainly not applied, and another try may go better
	Final                  // certainly not applied, and another try would go the same way
	Duplicate              // certainly not applied: a unique index has the row already
	Refused                // one of the store's own errors, after which nothing was committed
)

// Failure is an error whose fault is known from where it happened.
type Failure struct {
	Fault Fault
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// FaultOf classifies an error.
func (k *DB) FaultOf(err error) Fault {
	var own *Failure
	if !errors.As(err, &own) {
		if f, ok := k.known(err); ok {
			return f
		}
	}
	return FaultOf(err)
}

// FaultOf classifies an error of a database. Drivers are not imported, so their errors are known by what they offer:
// pgx by the method SQLState, modernc.org/sqlite by the method Code, and go-sql-driver/mysql by the field Number.
func FaultOf(err error) Fault {
	var own *Failure
	var state interface{ SQLState() string }
	var code interface{ Code() int }
	switch {
	case errors.As(err, &own):
		return own.Fault
	case errors.Is(err, driver.ErrBadConn):
		return Again // by which a driver promises that the server has seen nothing
	case errors.As(err, &state):
		return postgresFault(state.SQLState())
	case errors.As(err, &code):
		return sqliteFault(code.Code(), err.Error())
	}
	if number, ok := mysqlNumber(err); ok {
		return mysqlFault(number)
	}
	return Doubtful
}

// postgresFault is for PostgreSQL, and for CockroachDB, which says 40003 of a commit that it lost sight of.
func postgresFault(state string) Fault {
	switch state {
	case "23505":
		return Duplicate
	case "40001", "40P01", "55P03", "53300", "57014":
		return Again // serialization, deadlock, lock timeout, too many connections, statement timeout
	case "40003", "57P01", "57P02", "57P03":
		return Doubtful // statement completion unknown; the server goes down
	}
	if strings.HasPrefix(state, "08") || state == "" {
		return Doubtful // the connection
	}
	return Final
}

// sqliteFault takes extended result codes, whose low byte is the primary one. A trigger of InsertOnly reports a
// second decision in the words of a unique index.
func sqliteFault(code int, text string) Fault {
	switch code & 0xff {
	case 5, 6: // BUSY, LOCKED
		return Again
	case 9, 10: // INTERRUPT, IOERR
		return Doubtful
	case 19: // CONSTRAINT
		if code == 2067 || code == 1555 || strings.Contains(text, "UNIQUE constraint failed") {
			return Duplicate
		}
	}
	return Final
}

func mysqlFault(number uint16) Fault {
	switch number {
	case 1062:
		return Duplicate
	case 1213, 1205, 1020, 1040, 3572:
		return Again // deadlock, lock timeout, changed since last read, too many connections, lock not available
	case 1053, 1152, 1158, 1159, 1160, 1161, 1317, 1927:
		return Doubtful // the connection, or the server goes down
	}
	return Final
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
