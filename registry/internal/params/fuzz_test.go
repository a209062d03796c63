package params_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

type fuzzed struct {
	ID      string            `json:"id" jsonschema:"maxLength=40"`
	Cents   int64             `json:"cents" jsonschema:"minimum=-5"`
	Big     uint64            `json:"big,omitempty"`
	Text    int64             `json:"text,string,omitempty"`
	Ratio   float64           `json:"ratio,omitempty"`
	Small   float32           `json:"small,omitempty"`
	At      time.Time         `json:"at,omitzero"`
	Data    []byte            `json:"data,omitempty"`
	Any     any               `json:"any,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Map     map[string]*int8  `json:"map,omitempty"`
	Limit   int               `json:"limit,omitempty" jsonschema:"default=10"`
	Tree    *node             `json:"tree,omitempty" jsonschema:"nullable"`
	Nested  zeroable[[]color] `json:"nested,omitzero"`
	Pointer **string          `json:"pointer,omitempty"`
}

// What Parse and Decode accept encodes to the object again, but for members
// that the type may leave out.
func FuzzParseAndDecode(f *testing.F) {
	s := generated[fuzzed](f)
	f.Fuzz(func(t *testing.T, source []byte) {
		o, err := s.Parse(source, canon.Options{})
		if err != nil {
			return
		}
		require.NoError(t, s.Validate(o))
		again, err := s.Parse(o.Bytes(), canon.Options{})
		require.NoError(t, err)
		require.Equal(t, o, again, "parsing what was parsed changes nothing")
		p, err := params.Decode[fuzzed](o)
		if err != nil {
			require.NotEmpty(t, params.Faults(err), "%v", err)
			return
		}
		encoded, err := jsonv2.Marshal(p)
		require.NoError(t, err)
		round, err := canon.Parse(encoded, canon.Options{AllowFoldClash: true})
		require.NoError(t, err)
		var given, kept any
		require.NoError(t, exactly(o.Bytes(), &given))
		require.NoError(t, exactly(round.Bytes(), &kept))
		require.Equal(t, strip(given), strip(kept))
	})
}

// exactly decodes with every digit kept.
func exactly(text []byte, into *any) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	return d.Decode(into)
}

// strip removes members whose value is empty or zero, at every depth.
func strip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if member = strip(member); member != nil {
				out[name] = member
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = strip(v[i])
		}
		return out
	case json.Number:
		if v == "0" {
			return nil
		}
	case string:
		if v == "" || v == "0" || v == "0001-01-01T00:00:00Z" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

// Compile survives any bytes, and so does a document that meets what compiles.
func FuzzCompile(f *testing.F) {
	f.Fuzz(func(t *testing.T, schema, document []byte) {
		s, err := params.Compile(schema)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "params: "), err.Error())
			require.Nil(t, s)
			return
		}
		require.Equal(t, string(schema), string(s.JSON()))
		s.HasProperty("a", "b")
		o, err := s.Parse(document, canon.Options{})
		if err != nil {
			require.LessOrEqual(t, len(err.Error()), 8*(maxLine+8), "%v", err)
			return
		}
		require.NoError(t, s.Validate(o))
		again, err := s.Parse(o.Bytes(), canon.Options{})
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

const maxLine = 1000

func TestFuzzSeedsArePresent(t *testing.T) {
	for _, target := range []string{"FuzzParseAndDecode", "FuzzCompile"} {
		seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", target, "*"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(seeds), 5, target)
		for _, seed := range seeds {
			content, err := os.ReadFile(seed)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(content), "go test fuzz v1\n"), seed)
		}
	}
}
