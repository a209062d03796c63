package token

import "errors"

// Reason says why [Ring.Verify] refused a token. The set is closed; its text
// form is what logs, stores and answers carry. The zero Reason is none of the
// seven and never comes from this package.
type Reason string

// The reasons in the order in which they are decided. The first that applies
// is the only one reported.
const (
	// ReasonMalformed: the text is not a token, decidable without any key.
	ReasonMalformed Reason = "malformed"
	// ReasonBadSignature: the key id is unknown, or the MAC is not this ring's
	// for this scope.
	ReasonBadSignature Reason = "bad_signature"
	// ReasonUnparseable: the MAC is good and the payload breaks the format. Only
	// a holder of the key can cause it.
	ReasonUnparseable Reason = "unparseable"
	// ReasonExpired: now is outside the token's validity, before it or after it.
	ReasonExpired Reason = "expired"
	// ReasonToolMismatch: the token approves another tool.
	ReasonToolMismatch Reason = "tool_mismatch"
	// ReasonUserMismatch: the token belongs to another user.
	ReasonUserMismatch Reason = "user_mismatch"
	// ReasonParamsChanged: the token approves other parameters, another
	// proposal, or another expiry than the one asked for.
	ReasonParamsChanged Reason = "params_changed"
)

// Reasons returns the closed set in the order of decision. The slice is the
// caller's own.
func Reasons() []Reason {
	return []Reason{
		ReasonMalformed, ReasonBadSignature, ReasonUnparseable, ReasonExpired,
		ReasonToolMismatch, ReasonUserMismatch, ReasonParamsChanged,
	}
}

// UnmarshalText accepts the seven reasons and nothing else; on an error the
// receiver is left alone.
func (r *Reason) UnmarshalText(text []byte) error {
	for _, known := range Reasons() {
		if string(text) == string(known) {
			*r = known
			return nil
		}
	}
	return errors.New("token: unknown reason")
}

// Error is a refused token. It carries nothing from the payload and none of
// the token's text except a well-formed key id.
type Error struct {
	// Reason is one of the seven.
	Reason Reason
	// KeyID is the id that the token names, so that an operator can tell a key
	// that was rotated out from a forgery. It is what the token claims, not
	// something verified; it is empty when the token is malformed.
	KeyID string
}

// Error returns "token: " and the reason.
func (e *Error) Error() string { return "token: " + string(e.Reason) }
