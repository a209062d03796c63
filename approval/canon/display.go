package canon

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Quote returns s in quotation marks for use inside a sentence, written as
// [Object.Display] writes a string. A byte that is not valid UTF-8 is shown as
// \xff, which no string of a document can contain.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('"')
	return b.String()
}

func wholeRunes(s string) string { return strings.ToValidUTF8(s, "") }
