package token

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// maxPurpose bounds a purpose, which hosts may name themselves.
const maxPurpose = 32

// ErrSeal is returned by [Ring.CheckSeal] for whatever is wrong with a seal:
// the row was changed, or was sealed for another purpose, scope, environment or
// key. Treat the row as tampered with.
var ErrSeal = errors.New("token: seal does not match")

// Purpose keeps the seals of different kinds of rows apart: each has its own
// derived keys. It is 1 to 32 characters of A-Z a-z 0-9 - _.
type Purpose string

const (
	// PurposeProposal seals the immutable fields of a proposal.
	PurposeProposal Purpose = "proposal"
	// PurposeGrant seals the immutable fields of a standing grant.
	PurposeGrant Purpose = "grant"
)

// label derives the seal keys. An invalid purpose has none.
func (p Purpose) label() (string, bool) {
	if len(p) == 0 || len(p) > maxPurpose || !wordChars(string(p)) {
		return "", false
	}
	switch p {
	case PurposeProposal:
		return sealLabel + string(PurposeProposal), true
	case PurposeGrant:
		return sealLabel + string(PurposeGrant), true
	}
	return sealLabel + string(p), true
}

// Seal returns the MAC of message as "KID.MAC", the MAC in 43 characters of
// base64url. message is the caller's encoding of the row, with the length of
// every variable field in front of it, so that no byte can move from one field
// to the next. A seal is not secret and not a token.
//
// It returns [ErrRing] for a zero ring, and [ErrField] for a bad purpose or
// scope or an empty message.
func (r *Ring) Seal(p Purpose, scope string, message []byte) (string, error) {
	state := r.state()
	if state == nil {
		return "", ErrRing
	}
	label, ok := p.label()
	switch {
	case !ok:
		return "", fmt.Errorf("%w: purpose is not 1 to %d of A-Z a-z 0-9 - _", ErrField, maxPurpose)
	case !validName(scope):
		return "", fmt.Errorf("%w: scope is not 1 to %d bytes of UTF-8 without control characters", ErrField, maxName)
	case len(message) == 0:
		return "", fmt.Errorf("%w: message is empty", ErrField)
	}
	key := state.macKey(label, scope, state.signing)
	if key == nil {
		return "", ErrRing
	}
	var buf [maxKeyID + 1 + macChars]byte
	out := append(buf[:0], state.signing...)
	out = append(out, '.')
	s := key.compute(message)
	out = base64url.AppendEncode(out, s.sum[:])
	key.release(s)
	return string(out), nil
}

// CheckSeal returns nil if seal is this ring's seal, under its signing key or
// an old one, of exactly this message for this purpose and scope, and
// [ErrSeal] otherwise.
func (r *Ring) CheckSeal(p Purpose, scope string, message []byte, seal string) error {
	state := r.state()
	label, ok := p.label()
	if state == nil || !ok || len(message) == 0 {
		return ErrSeal
	}
	keyID, text, ok := strings.Cut(seal, ".")
	if !ok || len(text) != macChars || !validKeyID(keyID) || !wordChars(text) {
		return ErrSeal
	}
	var mac [sha256.Size]byte
	if _, err := base64url.Decode(mac[:], []byte(text)); err != nil {
		return ErrSeal
	}
	key := state.macKey(label, scope, keyID)
	if key == nil || !key.verify(message, mac[:]) {
		return ErrSeal
	}
	return nil
}
