package token_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// One binding, one key and one clock serve every test: those of the worked
// token in the package comment.
const canonicalParams = `{"amount":125000,"currency":"EUR","id":9007199254740993,"to":"DE02120300000000202051"}`

var (
	issued  = time.Unix(1767225600, 0)
	expires = time.Unix(1767225900, 0)
	now     = time.Unix(1767225610, 0)

	binding = token.Binding{
		Scope:    "acme",
		Proposal: [16]byte(counting(0x10, 16)),
		Tool:     "payments.transfer",
		User:     "operator-4711",
		Params:   sha256.Sum256([]byte(canonicalParams)),
		Issued:   issued,
		Expires:  expires,
	}
)

// counting returns n bytes that count up from first.
func counting(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func testKey(id string, first byte) token.Key {
	return token.Key{ID: id, Secret: counting(first, 32)}
}

func testRing(t testing.TB) *token.Ring {
	t.Helper()
	return newRing(t, "production", testKey("k1", 0))
}

func newRing(t testing.TB, environment string, signing token.Key, old ...token.Key) *token.Ring {
	t.Helper()
	ring, err := token.NewRing(environment, signing, old...)
	require.NoError(t, err)
	return ring
}

func sign(t testing.TB, ring *token.Ring, b token.Binding) token.Token {
	t.Helper()
	tok, err := ring.Sign(b)
	require.NoError(t, err)
	return tok
}

// verify parses text and verifies it, and returns the reason, or "" for a
// token that stands. Parse's own error counts as the verdict it is.
func verify(t testing.TB, ring *token.Ring, text string, want token.Binding, now time.Time) token.Reason {
	t.Helper()
	tok, err := token.Parse(text)
	if err == nil {
		err = ring.Verify(tok, want, now)
	} else {
		require.True(t, tok.IsZero())
		require.Error(t, ring.Verify(tok, want, now))
	}
	return reason(t, err)
}

// reason demands that err is nil or a refusal with one of the seven reasons.
func reason(t testing.TB, err error) token.Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	var refused *token.Error
	require.ErrorAs(t, err, &refused)
	require.Contains(t, token.Reasons(), refused.Reason)
	return refused.Reason
}
