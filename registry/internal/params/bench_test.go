package params_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

type benchAddress struct {
	Street  string `json:"street" jsonschema:"maxLength=200"`
	City    string `json:"city" jsonschema:"maxLength=100"`
	Country string `json:"country" jsonschema:"enum=DE,enum=FR,enum=PL"`
}

type benchParams struct {
	OrderID string       `json:"order_id" jsonschema:"pattern=^[A-Z][0-9]+$"`
	Cents   int64        `json:"cents" jsonschema:"minimum=1,maximum=1000000"`
	Reason  string       `json:"reason" jsonschema:"maxLength=500"`
	Notify  bool         `json:"notify,omitempty"`
	Ratio   float64      `json:"ratio,omitempty" jsonschema:"minimum=0,maximum=1"`
	Tags    []string     `json:"tags,omitempty" jsonschema:"maxItems=8"`
	Address benchAddress `json:"address"`
	Limit   int          `json:"limit,omitempty"`
}

const benchSource = `{"order_id": "W4211", "cents": 1250, "reason": "The parcel arrived damaged; the customer sent two photographs.",
 "notify": true, "ratio": 0.25, "tags": ["damaged", "photo"],
 "address": {"street": "Hauptstraße 12", "city": "Leipzig", "country": "DE"}, "limit": 20, "unused": 1}`

var benchInput = []byte(benchSource[:len(benchSource)-len(`, "unused": 1}`)] + "}")

func BenchmarkParse(b *testing.B) {
	s := generated[benchParams](b)
	b.ReportAllocs()
	b.SetBytes(int64(len(benchInput)))
	for b.Loop() {
		if _, err := s.Parse(benchInput, canon.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanon(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Parse(benchInput, canon.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	s := generated[benchParams](b)
	object, err := s.Parse(benchInput, canon.Options{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := params.Decode[benchParams](object); err != nil {
			b.Fatal(err)
		}
	}
}

func generated[P any](t testing.TB) *params.Schema {
	t.Helper()
	raw, err := params.Generate(reflect.TypeFor[P]())
	require.NoError(t, err)
	s, err := params.Compile(raw)
	require.NoError(t, err)
	return s
}

// A schema beyond the quick rules goes to the full validator.
func BenchmarkParseWithFullValidator(b *testing.B) {
	s := compile(b, object(`"order_id":{"type":"string"},"cents":{"type":"integer","minimum":1},"reason":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"notify":{"type":"boolean"},"ratio":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},"address":{"type":"object"},"limit":{"type":"integer"}`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Parse(benchInput, canon.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
