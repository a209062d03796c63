package token_test

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// notAToken holds for whatever differs from a token that was signed: it is
// refused before its payload is believed.
func notAToken(t *testing.T, ring *token.Ring, text string) {
	t.Helper()
	got := verify(t, ring, text, binding, now)
	require.Contains(t, []token.Reason{token.ReasonMalformed, token.ReasonBadSignature}, got, "%q", text)
}

// validTexts returns tokens whose payloads end in each of the three ways that
// base64 can end.
func validTexts(t *testing.T, ring *token.Ring) []string {
	var texts []string
	for _, user := range []string{"operator-4711", "operator-471", "operator-47"} {
		b := binding
		b.User = user
		texts = append(texts, sign(t, ring, b).Reveal())
	}
	return texts
}

func TestEveryTruncation(t *testing.T) {
	ring := testRing(t)
	for _, text := range validTexts(t, ring) {
		for n := range text {
			notAToken(t, ring, text[:n])
			notAToken(t, ring, text[n+1:])
			notAToken(t, ring, text[:n]+text[n+1:])
		}
	}
}

func TestEveryByteChanged(t *testing.T) {
	ring := testRing(t)
	text := []byte(sign(t, ring, binding).Reveal())
	for i, original := range text {
		for v := range 256 {
			if text[i] = byte(v); text[i] != original {
				notAToken(t, ring, string(text))
			}
		}
		text[i] = original
	}
	require.Empty(t, verify(t, ring, string(text), binding, now))
}

func TestEveryByteInserted(t *testing.T) {
	ring := testRing(t)
	text := sign(t, ring, binding).Reveal()
	for i := range len(text) + 1 {
		for v := range 256 {
			notAToken(t, ring, text[:i]+string([]byte{byte(v)})+text[i:])
		}
	}
}

// Text that a lax base64 decoder would take for the same bytes.
func TestEveryBase64Variant(t *testing.T) {
	ring := testRing(t)
	malformed := func(text string) {
		t.Helper()
		require.Equal(t, token.ReasonMalformed, verify(t, ring, text, binding, now), "%q", text)
	}
	for _, text := range validTexts(t, ring) {
		parts := strings.Split(text, ".")
		require.Len(t, parts, 4)
		for i := 2; i < 4; i++ {
			with := func(part string) string {
				p := append([]string(nil), parts...)
				p[i] = part
				return strings.Join(p, ".")
			}
			part := parts[i]
			for _, pad := range []string{"=", "==", "===", "\n", "\r\n", "\r", " ", "\t", "\x00"} {
				malformed(with(part + pad))
				malformed(with(pad + part))
				malformed(with(part[:5] + pad + part[5:]))
			}
			malformed(with(part[:len(part)-1] + "\n"))
			if strings.ContainsAny(part, "-_") {
				malformed(with(strings.NewReplacer("-", "+", "_", "/").Replace(part)))
			}
			// Every last character that decodes to the same bytes.
			raw, err := base64.RawURLEncoding.DecodeString(part)
			require.NoError(t, err)
			for _, last := range alphabet {
				variant := part[:len(part)-1] + string(last)
				if same, err := base64.RawURLEncoding.DecodeString(variant); err == nil && string(same) == string(raw) && variant != part {
					malformed(with(variant))
				}
			}
		}
	}
}

func TestRandomText(t *testing.T) {
	ring := testRing(t)
	text := []byte(sign(t, ring, binding).Reveal())
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		mangled := append([]byte(nil), text...)
		for range 1 + random.IntN(8) {
			mangled[random.IntN(len(mangled))] = alphabet[random.IntN(len(alphabet))]
		}
		if string(mangled) != string(text) {
			notAToken(t, ring, string(mangled))
		}
	}
	for n := range 1200 {
		notAToken(t, ring, strings.Repeat(".", n))
		notAToken(t, ring, "apv1.k1."+strings.Repeat("A", n)+"."+strings.Repeat("A", 43))
	}
}

// Tool and user are adjacent in the payload. Moving a byte between them gives
// the same characters and never the same token.
func TestFieldsDoNotFlowIntoEachOther(t *testing.T) {
	ring := testRing(t)
	joined := binding.Tool + binding.User
	for i := 1; i < len(joined); i++ {
		signed := binding
		signed.Tool, signed.User = joined[:i], joined[i:]
		tok := sign(t, ring, signed)
		for j := range len(joined) + 1 {
			want := binding
			want.Tool, want.User = joined[:j], joined[j:]
			err := ring.Verify(tok, want, now)
			if i == j {
				require.NoError(t, err)
			} else {
				require.Equal(t, token.ReasonToolMismatch, reason(t, err))
			}
		}
	}
}

// Each fault hides every later one. The steps add faults from the last reason
// to the first.
func TestFirstReasonWins(t *testing.T) {
	ring := testRing(t)
	short, err := ring.WithMaxLife(time.Minute)
	require.NoError(t, err)
	text := sign(t, ring, binding).Reveal()
	want, at := binding, now

	require.Empty(t, verify(t, ring, text, want, at))
	want.Params[0]++
	require.Equal(t, token.ReasonParamsChanged, verify(t, ring, text, want, at))
	want.User = "someone"
	require.Equal(t, token.ReasonUserMismatch, verify(t, ring, text, want, at))
	want.Tool = "payments.refund"
	require.Equal(t, token.ReasonToolMismatch, verify(t, ring, text, want, at))
	at = expires
	require.Equal(t, token.ReasonExpired, verify(t, ring, text, want, at))
	require.Equal(t, token.ReasonUnparseable, verify(t, short, text, want, at))
	want.Scope = "globex"
	require.Equal(t, token.ReasonBadSignature, verify(t, short, text, want, at))
	require.Equal(t, token.ReasonMalformed, verify(t, short, text+"=", want, at))
}

func TestEachFieldOfTheBindingCounts(t *testing.T) {
	ring := testRing(t)
	tok := sign(t, ring, binding)
	for _, test := range []struct {
		name string
		edit func(*token.Binding)
		want token.Reason
	}{
		{"nothing", func(*token.Binding) {}, ""},
		{"issued is not compared", func(b *token.Binding) { b.Issued = time.Time{} }, ""},
		{"expiry not asked for", func(b *token.Binding) { b.Expires = time.Time{} }, ""},
		{"expiry in another zone", func(b *token.Binding) { b.Expires = expires.In(time.FixedZone("", 3600)) }, ""},
		{"expiry a second earlier", func(b *token.Binding) { b.Expires = expires.Add(-time.Second) }, token.ReasonParamsChanged},
		{"expiry a second later", func(b *token.Binding) { b.Expires = expires.Add(time.Second) }, token.ReasonParamsChanged},
		{"expiry at 1970", func(b *token.Binding) { b.Expires = time.Unix(0, 0) }, token.ReasonParamsChanged},
		{"another proposal", func(b *token.Binding) { b.Proposal[0]++ }, token.ReasonParamsChanged},
		{"no proposal", func(b *token.Binding) { b.Proposal = [16]byte{} }, token.ReasonParamsChanged},
		{"other parameters", func(b *token.Binding) { b.Params[31] ^= 1 }, token.ReasonParamsChanged},
		{"no parameters", func(b *token.Binding) { b.Params = [32]byte{} }, token.ReasonParamsChanged},
		{"user in capitals", func(b *token.Binding) { b.User = "OPERATOR-4711" }, token.ReasonUserMismatch},
		{"no user", func(b *token.Binding) { b.User = "" }, token.ReasonUserMismatch},
		{"tool with a space", func(b *token.Binding) { b.Tool += " " }, token.ReasonToolMismatch},
		{"no tool", func(b *token.Binding) { b.Tool = "" }, token.ReasonToolMismatch},
		{"another scope", func(b *token.Binding) { b.Scope = "globex" }, token.ReasonBadSignature},
		{"no scope", func(b *token.Binding) { b.Scope = "" }, token.ReasonBadSignature},
		{"zero", func(b *token.Binding) { *b = token.Binding{} }, token.ReasonBadSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := binding
			test.edit(&want)
			require.Equal(t, test.want, reason(t, ring.Verify(tok, want, now)))
		})
	}
}
