package canon_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

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
}

// BenchmarkHostile canonicalizes documents of 64 KiB that are made to be slow.
func BenchmarkHostile(b *testing.B) {
	const size = 64 << 10
	var reversed strings.Builder
	for i := 99_999; reversed.Len() < size; i-- {
		fmt.Fprintf(&reversed, `"k%05d":1,`, i)
	}
	layered := `"` + strings.Repeat("x", size-16*60) + `"`
	for range 60 {
		layered = `{"b":` + layered + `,"a":1}`
	}
	for _, c := range []struct{ name, doc string }{
		{"names in reverse", "{" + reversed.String() + `"a":0}`},
		{"60 levels out of order", layered},
		{"short numbers", `{"a":[` + strings.Repeat("1234.5678e-3,", size/13) + `0]}`},
		{"long numbers", `{"a":[` + strings.Repeat("5.551115123125783e-17,", size/22) + `0]}`},
		{"escapes", `{"a":"` + strings.Repeat(`\u0041`, size/6) + `"}`},
	} {
		b.Run(c.name+"/canon", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := canon.Parse([]byte(c.doc), canon.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/jsontext", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v := jsontext.Value(c.doc)
				if err := v.Canonicalize(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
