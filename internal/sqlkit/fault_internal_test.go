package sqlkit

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// sqliteError stands for the driver's own, which nobody else can make; the tests of the engines have those.
type sqliteError struct{ code int }

func (e sqliteError) Error() string { return fmt.Sprint("sqlite: ", e.code) }
func (e sqliteError) Code() int     { return e.code }

var errOwn = errors.New("a refusal of the store")

func TestFaultOf(t *testing.T) {
	db := &DB{known: func(err error) (Fault, bool) { return Refused, errors.Is(err, errOwn) }}
	pg := func(code string) error { return &pgconn.PgError{Code: code} }
	my := func(number uint16) error { return &mysql.MySQLError{Number: number} }
	for _, c := range []struct {
		name string
		want Fault
		errs []error
	}{
		{"refused", Refused, []error{errOwn}},
		{"again", Again, []error{
			driver.ErrBadConn, pg("40001"), pg("40P01"), pg("55P03"), my(1213), my(1205), my(1020),
			sqliteError{5}, sqliteError{517}, sqliteError{6}, sqliteError{262}, &Failure{Again, io.EOF},
		}},
		{"final", Final, []error{pg("42P01"), pg("53100"), my(1146), my(1114), sqliteError{1}, sqliteError{8}, sqliteError{13}, sqliteError{1811}}},
		{"duplicate", Duplicate, []error{pg("23505"), my(1062), sqliteError{2067}, sqliteError{1555}}},
		{"doubtful", Doubtful, []error{
			io.ErrUnexpectedEOF, errors.New("invalid connection"), pg("40003"), pg("08006"), pg("57P01"), my(1053), my(1317),
			sqliteError{9}, sqliteError{10}, &Failure{Doubtful, pg("40001")},
		}},
	} {
		for _, err := range c.errs {
			require.Equal(t, c.want, db.FaultOf(err), "%s: %v", c.name, err)
			require.Equal(t, c.want, db.FaultOf(fmt.Errorf("wrapped: %w", err)), "%s: %v", c.name, err)
		}
	}
}

func TestDigestsTellListsApart(t *testing.T) {
	require.NotEqual(t, Digest("a", "b"), Digest("ab"))
	require.NotEqual(t, Digest("a", "b"), Digest("a", "b", ""))
	require.Equal(t, Digest("a", "b"), Digest("a", "b"))
}
