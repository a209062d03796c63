package canon_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// toolCall makes an argument object of about size bytes: names out of order,
// short strings with some escapes, integers, fractions, nesting.
func toolCall(size int) []byte {
	r := rand.New(rand.NewPCG(7, 11))
	var b strings.Builder
	b.WriteString(`{"recipient":"Zoë \"Z\" Müller","amount":125000,"dry_run":false,"note":"line one\nline two","rate":0.125`)
	for i := 0; b.Len() < size-90; i++ {
		fmt.Fprintf(&b, `,"item_%03x":{"sku":"A-%06d","qty":%d,"price":%d.%02d,"tags":["x","y%d"],"ok":true}`,
			r.IntN(1<<12)<<12|i, r.IntN(1e6), r.IntN(100), r.IntN(1000), 1+r.IntN(99), r.IntN(10))
	}
	b.WriteString(`,"account":"DE02120300000000202051"}`)
	return []byte(b.String())
}

// BenchmarkHash canonicalizes and hashes, beside jsontext doing the same.
func BenchmarkHash(b *testing.B) {
	for _, size := range []int{200, 2 << 10, 64 << 10} {
		doc := toolCall(size)
		b.Run(fmt.Sprintf("%dB/canon", len(doc)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				o, err := canon.Parse(doc, canon.Options{})
				if err != nil || o.Hash().IsZero() {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%dB/jsontext", len(doc)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				v := jsontext.Value(bytes.Clone(doc))
				if err := v.Canonicalize(); err != nil || sha256.Sum256(v) == [32]byte{} {
					b.Fatal(err)
				}
			}
		})
	}
	require.Equal(b, 1, 1)
}
