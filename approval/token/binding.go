package token

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrField is returned by [Ring.Sign], [Ring.Seal] and [Ring.WithMaxLife] for
// an argument that the format cannot carry. The text names the field, never
// its value.
var ErrField = errors.New("token: bad field")

// Binding is what a token ties together. It is a plain value.
type Binding struct {
	// Scope is the tenant. It selects the derived key and is not in the text.
	Scope string
	// Proposal is the id of the proposal; never zero.
	Proposal [16]byte
	// Tool is the full name of the tool, with the server it comes from.
	Tool string
	// User is the approving human.
	User string
	// Params is the SHA-256 of the canonical parameters; never zero.
	Params [sha256.Size]byte
	// Issued and Expires bound the validity in whole seconds; a fraction is
	// dropped. Take both from one reading of the clock.
	Issued, Expires time.Time
}

// Sign returns the token for b, made with the ring's signing key.
//
// It returns [ErrRing] for a zero ring, and [ErrField] if scope, tool or user
// is not 1 to 256 bytes of UTF-8 without control characters, if proposal or
// parameter hash is zero, if Issued is not after 1970, if Expires is not at
// least a second after Issued, or if the life exceeds [Ring.MaxLife].
func (r *Ring) Sign(b Binding) (Token, error) {
	state := r.state()
	if state == nil {
		return Token{}, ErrRing
	}
	if err := b.signable(state.maxLife); err != nil {
		return Token{}, err
	}
	key := state.macKey(tokenLabel, b.Scope, state.signing)
	if key == nil {
		return Token{}, ErrRing
	}
	c := claims{
		issued:   b.Issued.Unix(),
		expires:  b.Expires.Unix(),
		proposal: b.Proposal,
		params:   b.Params,
		tool:     []byte(b.Tool),
		user:     []byte(b.User),
	}
	s := scratches.Get().(*scratch)
	text := string(appendToken(s.text[:0], state.signing, key, appendPayload(s.payload[:0], &c)))
	scratches.Put(s)
	return Token{&text}, nil
}

func (b *Binding) signable(maxLife int64) error {
	issued, expires := b.Issued.Unix(), b.Expires.Unix()
	const name = "is not 1 to 256 bytes of UTF-8 without control characters"
	var problem string
	switch {
	case !validName(b.Scope):
		problem = "scope " + name
	case b.Proposal == [16]byte{}:
		problem = "proposal is zero"
	case !validName(b.Tool):
		problem = "tool " + name
	case !validName(b.User):
		problem = "user " + name
	case b.Params == [sha256.Size]byte{}:
		problem = "parameter hash is zero"
	case issued <= 0:
		problem = "issued is not after 1970"
	case expires <= issued:
		problem = "expires is not after issued"
	case !validLife(issued, expires, maxLife):
		problem = "life is longer than the ring allows"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrField, problem)
}

// Verify returns nil if t is a token of this ring for exactly what want says,
// valid at now, and otherwise an [*Error] with one [Reason].
//
// From want it takes scope, proposal, tool, user and parameter hash; if
// Expires is not zero, the token's expiry must be that second too. Issued is
// not compared. now is one reading of the clock, taken by the caller for the
// whole decision: the token stands while issued - 5 s <= now < expires, in
// whole seconds.
//
// Verify says nothing about use: a token verifies as often as it is asked.
// Whoever acts on it claims the proposal first.
func (r *Ring) Verify(t Token, want Binding, now time.Time) error {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	opened, ok := open(t.Reveal(), s)
	if !ok {
		return &Error{Reason: ReasonMalformed}
	}
	reason := ReasonBadSignature
	if state := r.state(); state != nil {
		key := state.macKey(tokenLabel, want.Scope, opened.keyID)
		reason = opened.check(key, state.maxLife, &want, now.Unix())
	}
	if reason == "" {
		return nil
	}
	return &Error{Reason: reason, KeyID: strings.Clone(opened.keyID)}
}
