package canon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// Hash is the SHA-256 of a canonical text. It is comparable with ==. The zero
// Hash belongs to no document and has no text form that [ParseHash] accepts.
type Hash [sha256.Size]byte

// ErrHash is returned for text that is not the text form of a [Hash].
var ErrHash = errors.New("canon: a hash is 64 lower-case hexadecimal digits, not all zero")

// Hash returns the SHA-256 of the canonical text, and the zero Hash for the
// zero Object: an absent document never has the hash of something.
func (o Object) Hash() Hash {
	if o.IsZero() {
		return Hash{}
	}
	return sha256.Sum256([]byte(o.text))
}

// ParseHash reads the text form of a Hash: 64 hexadecimal digits in lower
// case, so that each hash has one spelling. Everything else, capitals and the
// zero Hash included, gives [ErrHash].
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != hex.EncodedLen(len(h)) || strings.ContainsAny(s, "ABCDEF") {
		return Hash{}, ErrHash
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil || h.IsZero() {
		return Hash{}, ErrHash
	}
	return h, nil
}

// String returns h in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 8 bytes in hexadecimal, for people to compare. It
// identifies nothing by itself.
func (h Hash) Short() string { return hex.EncodeToString(h[:8]) }

// IsZero reports whether h belongs to no document.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText returns the text form of h, and [ErrHash] for the zero Hash.
func (h Hash) MarshalText() ([]byte, error) {
	if h.IsZero() {
		return nil, ErrHash
	}
	return hex.AppendEncode(nil, h[:]), nil
}

// UnmarshalText sets h as [ParseHash] reads it; on error h stays as it was.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err != nil {
		return err
	}
	*h = parsed
	return nil
}
