// Package token makes and checks approval tokens: the signed proof that ties one
// person's approval to one scope, proposal, tool, hash of parameters, user and
// expiry. It also seals stored rows, so that a changed row is noticed. Make a
// [Ring], then use [Ring.Sign] and [Ring.Verify], [Ring.Seal] and
// [Ring.CheckSeal]. This comment is the token format, version 1.
//
// # Text
//
//	apv1 . KID . base64url(PAYLOAD) . base64url(MAC)
//
//	MAC     = HMAC-SHA256(K, every character before the last dot)
//	PAYLOAD = 01
//	        | issued        8 bytes   Unix seconds, signed, big-endian
//	        | expires       8 bytes   the same
//	        | proposal     16 bytes
//	        | parameters   32 bytes   SHA-256 of the canonical parameters
//	        | length        2 bytes   big-endian
//	        | tool          1 to 256 bytes
//	        | length        2 bytes
//	        | user          1 to 256 bytes, and nothing after it
//
// KID is the key id, 1 to 32 of A-Z a-z 0-9 - _. It picks the key; nothing in a
// token picks an algorithm. Base64url is that of RFC 4648 section 5 without
// padding; bits that encode nothing are zero, and no other character, line
// breaks included, may stand anywhere. MAC is 43 characters. A whole token is at
// most 1,024. So every token has exactly one spelling, and the MAC covers that
// spelling. Tool and user are UTF-8 without control characters (no byte under
// 0x20, no 0x7F) and are compared byte for byte, without case folding or
// normalization. 0 < issued < expires, and expires - issued is at most
// [Ring.MaxLife].
//
// # Keys
//
// A ring's secrets sign nothing themselves. Each use has its own key K, by
// HKDF-SHA256 (RFC 5869) with an empty salt, 32 bytes long:
//
//	info = field(label) | field(environment) | field(scope)
//	field(x) = length of x, 2 bytes big-endian | x
//	label = "approval-token/v1" for tokens, "row-seal/v1/" and the purpose for seals
//
// A token of another scope or environment is therefore a bad signature, and a
// seal can never pass for a token. The scope is not in the text.
//
// # Verification
//
// The first reason that applies is the only one reported. Nothing of the payload
// is read before the MAC is good, and nothing of it is ever returned.
//
//	1 malformed       not the text described above; decided without a key
//	2 bad_signature   KID unknown, or another MAC (compared in constant time)
//	3 unparseable     a good MAC over a payload that breaks a rule above
//	4 expired         not issued - 5 <= now < expires
//	5 tool_mismatch   another tool
//	6 user_mismatch   another user
//	7 params_changed  another parameter hash, proposal or expiry than asked for
//
// The five seconds are for a verifier whose clock is behind the signer's. At
// expires itself the token has expired. The reasons are for operators and logs;
// a remote caller needs to hear no more than that it was refused.
//
// A token is not used up by verifying. That it works once is the business of
// whoever records the decision: claim the proposal first, then act.
//
// # Rotation
//
// Make the new key the signing key of a new ring and keep the old one behind it:
//
//	token.NewRing("production", newKey, oldKey)
//
// For tokens, keep the old key for the longest life plus five seconds. For
// seals, keep it as long as a row that it sealed may still be used. A key id
// never comes back with another secret. There is no default key.
//
// # A worked token
//
// Secret 00 01 ... 1f, key id k1, environment "production", scope "acme", issued
// 1767225600, expires 1767225900, proposal 10 11 ... 1f, tool
// "payments.transfer", user "operator-4711", and the parameters
//
//	{"amount":125000,"currency":"EUR","id":9007199254740993,"to":"DE02120300000000202051"}
//
// give this payload, derived key, MAC and token (each in one line, broken here):
//
//	payload 01000000006955b900000000006955ba2c
//	        101112131415161718191a1b1c1d1e1f
//	        5e314535b4511b9a5f180275987df400be7f911e56f0e67db3ed6e10b2714e74
//	        00117061796d656e74732e7472616e73666572
//	        000d6f70657261746f722d34373131
//	K       bef746ab23b890ac2c54f4c9e7a625adaf0ddd7ad6297ae1651ce64530c8f8f5
//	MAC     0ddcddf1de5cd46dc9fb98e2374c162161632165627ed03bad5446447ff34016
//	token   apv1.k1.AQAAAABpVbkAAAAAAGlVuiwQERITFBUWFxgZGhscHR4fXjFFNbRRG5pfGAJ1
//	        mH30AL5_kR5W8OZ9s-1uELJxTnQAEXBheW1lbnRzLnRyYW5zZmVyAA1vcGVyYXRvci00
//	        NzEx.Ddzd8d5c1G3J-5jiN0wWIWFjIWViftA7rVRGRH_zQBY
//
// # What it costs
//
// Nanoseconds and allocations for one approval, in one run on one machine; read
// them as ratios. docs/measurements.md says more.
//
//	                              sign          verify
//	HMAC-SHA256 alone          550 /  8      602 /   8
//	this package               492 /  2      660 /   1
//	gorilla/securecookie     1,815 / 21    2,975 /  25
//	golang-jwt, HS256        2,275 / 33    4,014 /  47
//	macaroon.v2              3,103 / 57    3,164 /  57
//	go-paseto, v4.local      5,993 / 63    8,422 / 104
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
// is empty or longer than any token is [ReasonMalformed] at once; everything else is
// for [Ring.Verify] to judge. White space is not trimmed.
func Parse(text string) (Token, error) {
	if text == "" || len(text) > maxText {
		return Token{}, &Error{Reason: ReasonMalformed}
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
