// Package token makes and checks approval tokens.
package token

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

const redactedToken = "token(redacted)"

// Token is the secret proof that a person approved one proposal. It prints as
// a redacted word through fmt, encoding/json, log/slog and anything that
// honours encoding.TextMarshaler; [Token.Reveal] is the only way to its text.
// The zero Token never verifies.
//
// A Token is an immutable value and safe for concurrent use. Two tokens of the
// same text are not equal under ==.
type Token struct {
	// Behind a pointer, because fmt prints the unexported fields of other
	// structs without asking any method: all it finds is an address.
	text *string
}

// Parse wraps the text of a token that came from a form or a body. Text that
// is empty or longer than any token is [Malformed] at once; everything else is
// for [Ring.Verify] to judge. White space is not trimmed.
func Parse(text string) (Token, error) {
	if text == "" || len(text) > maxText {
		return Token{}, &Error{Reason: Malformed}
	}
	text = strings.Clone(text)
	return Token{&text}, nil
}

// Reveal returns the text, for the one place that hands it to the approving
// person. Keep it out of URLs, logs and anything that a model reads. It is
// empty for the zero Token.
func (t Token) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// IsZero reports whether t holds no text.
func (t Token) IsZero() bool { return t.text == nil }

// String returns a redacted word.
func (t Token) String() string { return redactedToken }

// Format prints a redacted word for every verb.
func (t Token) Format(f fmt.State, _ rune) { io.WriteString(f, redactedToken) }

// MarshalText returns a redacted word; it never fails.
func (t Token) MarshalText() ([]byte, error) { return []byte(redactedToken), nil }

// LogValue returns a redacted word.
func (t Token) LogValue() slog.Value { return slog.StringValue(redactedToken) }
