package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	prefix  = "apv1."
	version = 1

	maxText    = 1024 // characters of a whole token
	maxKeyID   = 32
	maxName    = 256 // bytes of a tool, user, scope or environment
	macChars   = 43  // 32 bytes in base64url without padding
	fixedBytes = 1 + 8 + 8 + 16 + 32

	// notBeforeSkew is how far a verifier's clock may lag behind the signer's.
	// Expiry has no such tolerance.
	notBeforeSkew = 5
)

// Strict refuses spare bits. It still skips CR and LF anywhere in its input,
// which is why wordChars looks at every character first.
var base64url = base64.RawURLEncoding.Strict()

// claims is a payload in the clear.
type claims struct {
	issued, expires int64 // Unix seconds
	proposal        [16]byte
	params          [sha256.Size]byte
	tool, user      []byte
}

// scratch holds the buffers of one call. Interfaces make every byte given to a
// hash escape to the heap; pooling keeps that from costing an allocation.
type scratch struct {
	text    [maxText]byte
	payload [maxText]byte
	mac     [sha256.Size]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// sealed is a token taken apart: well formed, and nothing of it believed. Its
// slices live as long as the scratch it was opened with.
type sealed struct {
	keyID   string
	signed  []byte // what the MAC covers: everything before the last dot
	payload []byte
	mac     []byte
}

// open splits and decodes text. It reports false for what is malformed.
func open(text string, s *scratch) (sealed, bool) {
	if len(text) > maxText || !strings.HasPrefix(text, prefix) {
		return sealed{}, false
	}
	keyID, rest, ok := strings.Cut(text[len(prefix):], ".")
	if !ok || !validKeyID(keyID) {
		return sealed{}, false
	}
	payload, mac, ok := strings.Cut(rest, ".")
	if !ok || len(mac) != macChars || !wordChars(payload) || !wordChars(mac) {
		return sealed{}, false
	}
	raw := s.text[:copy(s.text[:], text)]
	lastDot := len(raw) - macChars - 1
	if _, err := base64url.Decode(s.mac[:], raw[lastDot+1:]); err != nil {
		return sealed{}, false
	}
	n, err := base64url.Decode(s.payload[:], raw[lastDot-len(payload):lastDot])
	if err != nil {
		return sealed{}, false
	}
	return sealed{keyID: keyID, signed: raw[:lastDot], payload: s.payload[:n], mac: s.mac[:]}, true
}

// check decides everything behind "malformed", in the fixed order, and returns
// the empty Reason when the token stands. A nil key is an unknown key id.
func (t *sealed) check(key *macKey, maxLife int64, want *Binding, now int64) Reason {
	if key == nil || !key.verify(t.signed, t.mac) {
		return ReasonBadSignature
	}
	c, ok := parsePayload(t.payload, maxLife)
	if !ok {
		return ReasonUnparseable
	}
	// Integers against integers: time.Time comparisons wrap near the ends of
	// int64. parsePayload made sure that issued is positive.
	if now < c.issued-notBeforeSkew || now >= c.expires {
		return ReasonExpired
	}
	if subtle.ConstantTimeCompare(c.tool, []byte(want.Tool)) != 1 {
		return ReasonToolMismatch
	}
	if subtle.ConstantTimeCompare(c.user, []byte(want.User)) != 1 {
		return ReasonUserMismatch
	}
	if !c.sameProposal(want) {
		return ReasonParamsChanged
	}
	return ""
}

// sameProposal compares what only the proposal's row can answer. A zero hash
// or proposal is one the caller failed to fill in and equals nothing.
func (c *claims) sameProposal(want *Binding) bool {
	if want.Proposal == ([16]byte{}) || want.Params == ([sha256.Size]byte{}) {
		return false
	}
	same := subtle.ConstantTimeCompare(c.proposal[:], want.Proposal[:]) &
		subtle.ConstantTimeCompare(c.params[:], want.Params[:])
	return same == 1 && (want.Expires.IsZero() || want.Expires.Unix() == c.expires)
}

// appendToken writes the whole token: prefix, key id, payload, MAC.
func appendToken(dst []byte, keyID string, key *macKey, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, prefix...)
	dst = append(dst, keyID...)
	dst = append(dst, '.')
	dst = base64url.AppendEncode(dst, payload)
	s := key.compute(dst[start:])
	dst = append(dst, '.')
	dst = base64url.AppendEncode(dst, s.sum[:])
	key.release(s)
	return dst
}

// appendPayload writes the fields in their one order. Tool and user carry
// their lengths, so no byte can move from one to the other.
func appendPayload(dst []byte, c *claims) []byte {
	dst = append(dst, version)
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.issued))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.expires))
	dst = append(dst, c.proposal[:]...)
	dst = append(dst, c.params[:]...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(c.tool)))
	dst = append(dst, c.tool...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(c.user)))
	return append(dst, c.user...)
}

// parsePayload reads exactly what appendPayload writes, and only claims that
// could have been signed.
func parsePayload(b []byte, maxLife int64) (claims, bool) {
	var c claims
	if len(b) < fixedBytes || b[0] != version {
		return c, false
	}
	c.issued = int64(binary.BigEndian.Uint64(b[1:]))
	c.expires = int64(binary.BigEndian.Uint64(b[9:]))
	copy(c.proposal[:], b[17:])
	copy(c.params[:], b[33:])
	b = b[fixedBytes:]
	var ok bool
	if c.tool, b, ok = cutField(b); !ok {
		return c, false
	}
	if c.user, b, ok = cutField(b); !ok || len(b) != 0 {
		return c, false
	}
	return c, validName(c.tool) && validName(c.user) && validLife(c.issued, c.expires, maxLife)
}

func cutField(b []byte) (field, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; len(b) < n {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// validLife cannot overflow: both times are positive when they are subtracted.
func validLife(issued, expires, maxLife int64) bool {
	return issued > 0 && expires > issued && expires-issued <= maxLife
}

// validName accepts 1 to 256 bytes of UTF-8 without control characters.
func validName[S string | []byte](name S) bool {
	if len(name) == 0 || len(name) > maxName || !utf8.ValidString(string(name)) {
		return false
	}
	for i := range len(name) {
		if name[i] < 0x20 || name[i] == 0x7f {
			return false
		}
	}
	return true
}

func validKeyID(id string) bool {
	return len(id) > 0 && len(id) <= maxKeyID && wordChars(id)
}

// wordChars accepts the base64url alphabet, which key ids share.
func wordChars(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
