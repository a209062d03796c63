package token

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// defaultMaxLife is the longest life of a token unless the ring says otherwise.
const defaultMaxLife = 24 * time.Hour

const redactedRing = "ring(redacted)"

// ErrRing is returned by [Ring.Sign] and [Ring.Seal] of a nil or zero ring,
// which has no key to sign with. There is no default key.
var ErrRing = errors.New("token: ring has no keys")

// Ring holds the keys of one environment. The first key signs, every key
// verifies. Make one with [NewRing]; a nil or zero Ring signs and verifies
// nothing.
//
// A Ring is immutable, and all its methods may be called concurrently. It
// keeps a bounded cache of derived keys inside. It prints as a redacted word.
type Ring struct {
	// Behind a function, so that whatever prints the fields of a copied or
	// nested Ring finds an address. A pointer would not do: fmt follows it for
	// a verb that does not fit.
	load func() *ringState
}

type ringState struct {
	environment string
	maxLife     int64 // seconds
	signing     string
	secrets     map[string][]byte
	derived     *derivedKeys
}

// NewRing returns a ring whose keys are bound to environment, such as
// "production": the same secrets in another environment verify nothing of this
// one. signing makes new tokens and seals; old keys only verify. The secrets
// are copied.
//
// It returns [ErrKey] for an environment that is not 1 to 256 bytes of UTF-8
// without control characters, a key id that breaks the rule of [Key] or occurs
// twice, a secret of fewer than 32 bytes, and a secret that occurs twice.
func NewRing(environment string, signing Key, old ...Key) (*Ring, error) {
	if !validName(environment) {
		return nil, fmt.Errorf("%w: the environment must be 1 to %d bytes of UTF-8 without control characters", ErrKey, maxName)
	}
	secrets := make(map[string][]byte, 1+len(old))
	for i, key := range append([]Key{signing}, old...) {
		if !validKeyID(key.ID) {
			// The id is not repeated: it may be a secret in the wrong field.
			return nil, fmt.Errorf("%w: the id of key %d must be 1 to %d of A-Z a-z 0-9 - _", ErrKey, i+1, maxKeyID)
		}
		if len(key.Secret) < minSecret {
			return nil, fmt.Errorf("%w: the secret of %s is shorter than %d bytes", ErrKey, key.ID, minSecret)
		}
		if _, twice := secrets[key.ID]; twice {
			return nil, fmt.Errorf("%w: the id %s occurs twice", ErrKey, key.ID)
		}
		for id, secret := range secrets {
			if subtle.ConstantTimeCompare(secret, key.Secret) == 1 {
				return nil, fmt.Errorf("%w: %s and %s have the same secret", ErrKey, id, key.ID)
			}
		}
		secrets[key.ID] = append([]byte(nil), key.Secret...)
	}
	return ringOf(ringState{
		environment: environment,
		maxLife:     int64(defaultMaxLife / time.Second),
		signing:     signing.ID,
		secrets:     secrets,
		derived:     &derivedKeys{keys: make(map[derivedID]*macKey)},
	}), nil
}

func ringOf(state ringState) *Ring {
	return &Ring{func() *ringState { return &state }}
}

// state returns nil for a nil or zero ring.
func (r *Ring) state() *ringState {
	if r == nil || r.load == nil {
		return nil
	}
	return r.load()
}

// Environment returns the name the ring was made for; empty for a zero ring.
func (r *Ring) Environment() string {
	if state := r.state(); state != nil {
		return state.environment
	}
	return ""
}

// WithMaxLife returns a ring with the same keys that neither signs nor accepts
// a token living longer than limit. A new ring allows 24 hours. The limit
// counts in whole seconds and is at least one; a fraction is dropped. Tokens
// already out there that live longer become [ReasonUnparseable] to the new ring.
//
// A nil or zero ring stays one. A limit under one second is [ErrField].
func (r *Ring) WithMaxLife(limit time.Duration) (*Ring, error) {
	if limit < time.Second {
		return nil, fmt.Errorf("%w: the longest life is shorter than a second", ErrField)
	}
	state := r.state()
	if state == nil {
		return new(Ring), nil
	}
	limited := *state
	limited.maxLife = int64(limit / time.Second)
	return ringOf(limited), nil
}

// MaxLife returns the longest life of a token of this ring; zero for a zero
// ring.
func (r *Ring) MaxLife() time.Duration {
	if state := r.state(); state != nil {
		return time.Duration(state.maxLife) * time.Second
	}
	return 0
}

// String returns a redacted word.
func (r *Ring) String() string { return redactedRing }

// Format prints a redacted word for every verb.
func (r *Ring) Format(f fmt.State, _ rune) { io.WriteString(f, redactedRing) }

// MarshalText returns a redacted word; it never fails.
func (r *Ring) MarshalText() ([]byte, error) { return []byte(redactedRing), nil }

// LogValue returns a redacted word.
func (r *Ring) LogValue() slog.Value { return slog.StringValue(redactedRing) }
