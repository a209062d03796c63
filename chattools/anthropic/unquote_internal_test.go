package anthropic

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestUnquote(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `x`: "", `null`: "", `""`: "", `"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t",
		`"\u00e4\u0000"`: "ä\x00", `"\ud83d\ude00!"`: "😀!",
		`"\ud83d"`: `\ud83d`, `"\ude00x"`: `\ude00x`, `"\ud83d\u0041"`: `\ud83dA`, `"\ud83d\ud83d\ude00"`: `\ud83d😀`, `"\ud83d\n"`: `\ud83d` + "\n",
		`"\uzzzz"`: `\uzzzz`, `"\u12"`: `\u12`, `"\"`: `\`,
	} {
		require.Equal(t, want, unquote(raw), raw)
	}
}

// Where a string of JSON is text, unquote reads the same text as other decoders do.
func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{`"a\u00e4\n"`, `"\ud83d\ude00"`, `"\\u0041"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := unquote(raw)
		var want string
		if !utf8.ValidString(raw) || json.Unmarshal([]byte(raw), &want) != nil || strings.TrimSpace(raw) != raw || strings.Contains(want, "\uFFFD") || raw == "null" {
			return
		}
		require.Equal(t, want, got)
	})
}
