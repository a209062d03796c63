package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestArgumentsOfTheWire(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `null`: "", `""`: "", `"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t",
		`"\u00e4\u0000"`: "ä\x00", `"\ud83d\ude00!"`: "😀!", `"\\ud83d"`: `\ud83d`,
		`"\ud83d"`: "\xed\xa0\xbd", `"\ude00x"`: "\xed\xb8\x80x", `"\ud83d\u0041"`: "\xed\xa0\xbdA", `"\ud83d\ud83d\ude00"`: "\xed\xa0\xbd😀", `"\ud83d\n"`: "\xed\xa0\xbd\n",
		"\"\xff\"": "\xff", `{"a":"\\\"\n"}`: `{"a":"\\\"\n"}`, `7`: "7",
	} {
		var a Arguments
		a.Add(json.RawMessage(raw))
		require.Equal(t, want, string(a.Bytes()), raw)
	}
	for _, r := range []rune{0xD800, 0xDBFF, 0xDC00, 0xDFFF} {
		require.False(t, utf8.Valid(appendRune(nil, r)))
	}
}

// Where a string of JSON is text, Bytes reads the same text as other decoders do.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`"a\u00e4\n"`, `"\ud83d\ude00"`, `"\\u0041"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if len(raw) < 2 || raw[0] != '"' {
			return
		}
		var a Arguments
		a.Add(json.RawMessage(raw))
		got := string(a.Bytes())
		var want string
		if !utf8.ValidString(raw) || strings.TrimSpace(raw) != raw || json.Unmarshal([]byte(raw), &want) != nil || strings.Contains(want, "\uFFFD") {
			return
		}
		require.Equal(t, want, got)
	})
}
