package token

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// minSecret is the output size of SHA-256: a shorter key is weaker than the
// MAC, and HMAC itself would accept even an empty one.
const minSecret = 32

const redactedKey = "key(redacted)"

// ErrKey is returned by [NewKey] and [NewRing] for a key or environment that
// cannot be used. The text says which rule it breaks and names key ids, never
// secrets.
var ErrKey = errors.New("token: bad key")

// Key is a secret with a name. The id travels in every token; the secret is
// the input of key derivation and signs nothing itself.
//
// A Key prints as a redacted word through fmt, encoding/json, log/slog and
// anything that honours encoding.TextMarshaler. It is the way into a [Ring] and
// not a place to keep a secret: fmt calls no method on the unexported fields of
// other structs, nor for %p or a misplaced %w, and prints the bytes it finds.
// Make the Ring and let the Key go. Concurrent reads of a Key are safe.
type Key struct {
	// ID is 1 to 32 characters of A-Z a-z 0-9 - _. Never use an id again for
	// another secret.
	ID string
	// Secret is at least 32 bytes from a cryptographic random source. Decode it
	// before it comes here: a trailing newline or a base64 spelling is a
	// different secret.
	Secret []byte
}

// NewKey returns a key with a fresh secret of 32 random bytes.
func NewKey(id string) (Key, error) {
	if !validKeyID(id) {
		return Key{}, fmt.Errorf("%w: the id must be 1 to %d of A-Z a-z 0-9 - _", ErrKey, maxKeyID)
	}
	secret := make([]byte, minSecret)
	rand.Read(secret) // never fails; without randomness the program ends
	return Key{ID: id, Secret: secret}, nil
}

// String returns a redacted word.
func (k Key) String() string { return redactedKey }

// Format prints a redacted word for every verb.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, redactedKey) }

// MarshalText returns a redacted word; it never fails.
func (k Key) MarshalText() ([]byte, error) { return []byte(redactedKey), nil }

// LogValue returns a redacted word.
func (k Key) LogValue() slog.Value { return slog.StringValue(redactedKey) }
