package token_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

var row = []byte("\x00\x04acme\x00\x06refund")

func seal(t *testing.T, ring *token.Ring, p token.Purpose, scope string, message []byte) string {
	t.Helper()
	text, err := ring.Seal(p, scope, message)
	require.NoError(t, err)
	return text
}

func TestSeal(t *testing.T) {
	ring := testRing(t)
	text := seal(t, ring, token.PurposeProposal, "acme", row)
	require.Regexp(t, `^k1\.[A-Za-z0-9_-]{43}$`, text)
	require.Equal(t, text, seal(t, ring, token.PurposeProposal, "acme", row), "a seal depends on nothing else")
	require.NoError(t, ring.CheckSeal(token.PurposeProposal, "acme", row, text))

	// HKDF and HMAC by another implementation.
	require.Equal(t, "k1.7qDs233U8k0YUtkjWHwkphHk7bif4EkhIJo2NBwvW9o",
		seal(t, ring, token.PurposeProposal, "acme", []byte("\x00\x01x")))
}

func TestSealsAreApart(t *testing.T) {
	ring := testRing(t)
	text := seal(t, ring, token.PurposeProposal, "acme", row)
	refused := func(ring *token.Ring, p token.Purpose, scope string, message []byte) {
		t.Helper()
		require.ErrorIs(t, ring.CheckSeal(p, scope, message, text), token.ErrSeal)
	}
	refused(ring, token.PurposeGrant, "acme", row)
	refused(ring, "Proposal", "acme", row)
	refused(ring, "", "acme", row)
	refused(ring, "bad/purpose", "acme", row)
	refused(ring, token.PurposeProposal, "globex", row)
	refused(ring, token.PurposeProposal, "", row)
	refused(ring, token.PurposeProposal, "acme", nil)
	refused(ring, token.PurposeProposal, "acme", row[1:])
	refused(ring, token.PurposeProposal, "acme", append(append([]byte(nil), row...), 0))
	refused(newRing(t, "staging", testKey("k1", 0)), token.PurposeProposal, "acme", row)
	refused(newRing(t, "production", testKey("k1", 1)), token.PurposeProposal, "acme", row)
	refused(newRing(t, "production", testKey("k2", 0)), token.PurposeProposal, "acme", row)
	for i := range row {
		changed := append([]byte(nil), row...)
		changed[i] ^= 1
		refused(ring, token.PurposeProposal, "acme", changed)
	}

	own := seal(t, ring, "settings-v2", "acme", row)
	require.NoError(t, ring.CheckSeal("settings-v2", "acme", row, own))
}

func TestEverySealVariant(t *testing.T) {
	ring := testRing(t)
	text := seal(t, ring, token.PurposeGrant, "acme", row)
	refused := func(variant string) {
		t.Helper()
		require.ErrorIs(t, ring.CheckSeal(token.PurposeGrant, "acme", row, variant), token.ErrSeal, "%q", variant)
	}
	for i := range text {
		refused(text[:i])
		refused(text[i+1:])
		for v := range 256 {
			refused(text[:i] + string([]byte{byte(v)}) + text[i:])
			if byte(v) != text[i] {
				refused(text[:i] + string([]byte{byte(v)}) + text[i+1:])
			}
		}
	}
	for _, end := range []string{"=", "\n", ".", ".x"} {
		refused(text + end)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text[3:])
	require.NoError(t, err)
	refused("k1." + base64.RawURLEncoding.EncodeToString(raw[:16]))
}

func TestSealRefuses(t *testing.T) {
	ring := testRing(t)
	for _, test := range []struct {
		name    string
		purpose token.Purpose
		scope   string
		message []byte
	}{
		{"no purpose", "", "acme", row},
		{"purpose with a slash", "a/b", "acme", row},
		{"purpose too long", token.Purpose(strings.Repeat("p", 33)), "acme", row},
		{"no scope", token.PurposeGrant, "", row},
		{"scope with NUL", token.PurposeGrant, "a\x00", row},
		{"no message", token.PurposeGrant, "acme", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := ring.Seal(test.purpose, test.scope, test.message)
			require.ErrorIs(t, err, token.ErrField)
			require.Empty(t, text)
		})
	}
}

func TestSealsRotate(t *testing.T) {
	oldKey, newKey := testKey("k1", 0), testKey("k2", 100)
	text := seal(t, newRing(t, "production", oldKey), token.PurposeGrant, "acme", row)
	during := newRing(t, "production", newKey, oldKey)
	require.NoError(t, during.CheckSeal(token.PurposeGrant, "acme", row, text))
	require.Regexp(t, `^k2\.`, seal(t, during, token.PurposeGrant, "acme", row))
	require.ErrorIs(t, newRing(t, "production", newKey).CheckSeal(token.PurposeGrant, "acme", row, text), token.ErrSeal)
}

// A seal over the very characters that a token's MAC covers is still no token,
// and a token's MAC is no seal.
func TestASealIsNotAToken(t *testing.T) {
	ring := testRing(t)
	text := sign(t, ring, binding).Reveal()
	dot := strings.LastIndexByte(text, '.')
	signed, mac := text[:dot], text[dot+1:]
	for _, p := range []token.Purpose{token.PurposeProposal, token.PurposeGrant, "approval-token"} {
		forged := seal(t, ring, p, binding.Scope, []byte(signed))
		require.Equal(t, token.ReasonBadSignature, verify(t, ring, signed+strings.TrimPrefix(forged, "k1"), binding, now))
		require.Equal(t, token.ReasonMalformed, verify(t, ring, forged, binding, now))
		require.ErrorIs(t, ring.CheckSeal(p, binding.Scope, []byte(signed), "k1."+mac), token.ErrSeal)
		require.ErrorIs(t, ring.CheckSeal(p, binding.Scope, []byte(signed), text), token.ErrSeal)
	}
}
