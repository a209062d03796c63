package token_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
)

// BenchmarkRawHMAC is the floor: one HMAC-SHA256, from key to sum, over the
// text that a token's MAC covers.
func BenchmarkRawHMAC(b *testing.B) {
	text := signedText(b)
	key := testKey("k1", 0).Secret
	b.ReportAllocs()
	for b.Loop() {
		m := hmac.New(sha256.New, key)
		m.Write(text)
		m.Sum(nil)
	}
}

// BenchmarkReusedHMAC is a harder floor: the key blocks are hashed beforehand.
func BenchmarkReusedHMAC(b *testing.B) {
	text := signedText(b)
	m := hmac.New(sha256.New, testKey("k1", 0).Secret)
	var sum [sha256.Size]byte
	b.ReportAllocs()
	for b.Loop() {
		m.Reset()
		m.Write(text)
		m.Sum(sum[:0])
	}
}

func BenchmarkSign(b *testing.B) {
	ring := testRing(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Sign(binding); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	ring := testRing(b)
	tok := sign(b, ring, binding)
	b.ReportAllocs()
	for b.Loop() {
		if err := ring.Verify(tok, binding, now); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyParallel(b *testing.B) {
	ring := testRing(b)
	tok := sign(b, ring, binding)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := ring.Verify(tok, binding, now); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkVerifyNewScope pays the key derivation every time.
func BenchmarkVerifyNewScope(b *testing.B) {
	ring := testRing(b)
	tok := sign(b, ring, binding)
	want := binding
	scope := []byte("tenant-00000000")
	b.ReportAllocs()
	for b.Loop() {
		for i := len(scope) - 1; ; i-- {
			if scope[i]++; scope[i] <= '9' {
				break
			}
			scope[i] = '0'
		}
		want.Scope = string(scope)
		if err := ring.Verify(tok, want, now); err == nil {
			b.Fatal("verified in another scope")
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	ring, row := testRing(b), signedText(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Seal(token.PurposeProposal, "acme", row); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckSeal(b *testing.B) {
	ring, row := testRing(b), signedText(b)
	seal, err := ring.Seal(token.PurposeProposal, "acme", row)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if err := ring.CheckSeal(token.PurposeProposal, "acme", row, seal); err != nil {
			b.Fatal(err)
		}
	}
}

func signedText(b *testing.B) []byte {
	text := sign(b, testRing(b), binding).Reveal()
	return []byte(text[:strings.LastIndexByte(text, '.')])
}
