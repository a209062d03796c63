package office

import (
	"errors"
	"fmt"
)

// ErrNotFound is wrapped by the [*Error] of a call that names a user or
// reservation that the airline does not have.
var ErrNotFound = errors.New("office: no such record")

// Error is the airline's refusal of a call; nothing has changed. Its text is
// meant to be read by whoever made the call and starts with "Error: ".
type Error struct {
	text  string
	cause error
}

// Error returns the answer of the call, such as "Error: reservation not found".
func (e *Error) Error() string { return e.text }

// Unwrap returns [ErrNotFound] if the call named an unknown record, else nil.
func (e *Error) Unwrap() error { return e.cause }

var (
	errUserNotFound        = &Error{text: "Error: user not found", cause: ErrNotFound}
	errReservationNotFound = &Error{text: "Error: reservation not found", cause: ErrNotFound}
)

func refuse(format string, args ...any) *Error {
	return &Error{text: "Error: " + fmt.Sprintf(format, args...)}
}
