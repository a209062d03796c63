package canon_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// forbidden are the runes that a display may not contain, written down apart
// from the package: controls, bidirectional and zero-width characters,
// fillers, selectors, tags, private use, unassigned, noncharacters and every
// space but U+0020. A line feed is the display's own.
func forbidden(r rune) bool {
	if r == ' ' || r == '\n' {
		return false
	}
	for _, span := range [][2]rune{
		{0x00, 0x1F}, {0x7F, 0x9F}, {0xA0, 0xA0}, {0xAD, 0xAD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160}, {0x1680, 0x1680},
		{0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800}, {0x3000, 0x3000},
		{0x3164, 0x3164}, {0xD800, 0xF8FF}, {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFC}, {0xFFFE, 0xFFFF},
		{0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A}, {0x1FFFE, 0x1FFFF}, {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF},
	} {
		if span[0] <= r && r <= span[1] {
			return true
		}
	}
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

func TestDisplayLayout(t *testing.T) {
	o := parse(t, `{"to":{"iban":"DE02","tags":["x",[],{},[[1]]]},"amount":1.25e5,"id":9007199254740993,"ok":true,"none":null,"":"a\"\\b\n\u0001"}`)
	require.Equal(t, `{
  "": "a\"\\b\n\u0001",
  "amount": 125000,
  "id": 9007199254740993,
  "none": null,
  "ok": true,
  "to": {
    "iban": "DE02",
    "tags": [
      "x",
      [],
      {},
      [
        [
          1
        ]
      ]
    ]
  }
}`, o.Display(0))
	require.Equal(t, "{}", parse(t, "{ }").Display(0))
}

func TestDisplayEscapesWhatCannotBeSeen(t *testing.T) {
	for in, want := range map[string]string{
		"a\u202eb":                        `a\u202eb`,
		"a\u200bb\u00a0c\u3000d":          `a\u200bb\u00a0c\u3000d`,
		"\u007f\u0085\u2028":              `\u007f\u0085\u2028`,
		"\ue000\U000f0000":                `\ue000\udb80\udc00`,
		"\U000e0041":                      `\udb40\udc41`,
		"\uffff\U0010ffff":                `\uffff\udbff\udfff`,
		"\u0378":                          `\u0378`, // unassigned
		"\u3164\u115f\u2800":              `\u3164\u115f\u2800`,
		"\u2764\ufe0f":                    "\u2764" + `\ufe0f`,
		"e\u0301":                         "e\u0301",
		"\u0301x":                         `\u0301x`, // would sit on the quotation mark
		"=\u0338":                         `=\u0338`, // would read as ≠
		"\u200be\u0301":                   `\u200b` + "e\u0301",
		"\u0001\u0301":                    `\u0001\u0301`,
		"a\ufe0f\u0301":                   `a\ufe0f\u0301`,
		"a\u3164\u0301":                   `a\u3164\u0301`,
		"1\u20e3":                         "1\u20e3",
		"😀\u0301":                         "😀" + `\u0301`,
		"e\u200b\u0301":                   `e\u200b\u0301`,
		"é漢字עברית😀":                       "é漢字עברית😀",
		`\u202e`:                          `\\u202e`, // the six characters, not the one
		"\ufffd":                          "\ufffd",
		"tab\there":                       `tab\there`,
		"</script>&'":                     "</script>&'",
		"a" + strings.Repeat("\u0301", 6): "a" + strings.Repeat("\u0301", 4) + `\u0301\u0301`,
	} {
		require.Equal(t, `"`+want+`"`, canon.Quote(in))
		text, err := anyTop(canon.Quote(in))
		require.NoError(t, err)
		o := parse(t, `{"v":`+text+`}`)
		require.Equal(t, "{\n  \"v\": \""+want+"\"\n}", o.Display(0))
	}
	require.Equal(t, `"\xff\xc3é\xed\xa0\x80"`, canon.Quote("\xff\xc3é\xed\xa0\x80"))
}

// TestEveryCharacter shows each code point and reads it back.
func TestEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		quoted := canon.Quote("a" + string(r))
		for _, shown := range quoted {
			if forbidden(shown) || shown == '\n' {
				require.Failf(t, "shown", "%U as %q", r, quoted)
			}
		}
		if r < 0x3000 || r%97 == 0 {
			back, err := anyTop(quoted)
			require.NoError(t, err)
			want, err := jsontext.AppendQuote(nil, "a"+string(r))
			require.NoError(t, err)
			require.NoError(t, (*jsontext.Value)(&want).Canonicalize())
			require.Equal(t, string(want), back)
		}
	}
}

func TestDisplayCutIsNeverSilent(t *testing.T) {
	o := parse(t, `{"note":"`+strings.Repeat(`é\u202e\u0001`, 50)+`","z":[1,2,3]}`)
	full := o.Display(0)
	require.Equal(t, full, o.Display(len(full)))
	require.NotContains(t, full, "…")
	for limit := 1; limit < len(full); limit++ {
		shown := o.Display(limit)
		kept, mark, found := strings.Cut(shown, "\n… cut: ")
		require.True(t, found)
		require.LessOrEqual(t, len(kept), limit)
		require.Greater(t, len(kept)+len(`\u202e`), limit, "more would have fit")
		require.True(t, strings.HasPrefix(full, kept))
		require.True(t, utf8.ValidString(kept))
		require.NotRegexp(t, `\\u?[0-9a-f]{0,3}$`, kept, "an escape was split")
		require.Equal(t, fmt.Sprintf("%d of %d bytes shown; the document has %d bytes, its SHA-256 begins %s",
			len(kept), len(full), len(o.String()), o.Hash().Short()), mark)
	}
	// Text of a document cannot look like the mark: it never starts a line.
	o = parse(t, `{"a":"\n… cut: 1 of 2 bytes shown"}`)
	require.NotContains(t, o.Display(0), "\n…")
}
