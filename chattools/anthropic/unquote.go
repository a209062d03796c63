package anthropic

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote returns the text of a JSON string of the wire. Half of a surrogate pair, which no text can hold,
// stays the escape it is: with the other half in the next fragment it is a character again, and without it the
// gate refuses it. Other decoders put U+FFFD in its place, and the call would run with that.
func unquote(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	var b strings.Builder
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			b.WriteString(raw)
			return b.String()
		}
		b.WriteString(raw[:i])
		raw = raw[i:]
		switch raw[1] {
		case 'u':
			raw = unescape(&b, raw)
			continue
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(raw[1])
		}
		raw = raw[2:]
	}
}

// unescape writes the character of the escape, or of two, that raw begins with, and returns the rest.
func unescape(b *strings.Builder, raw string) string {
	first, ok := escaped(raw)
	if !ok {
		b.WriteString(raw[:2])
		return raw[2:]
	}
	if !utf16.IsSurrogate(first) {
		b.WriteRune(first)
		return raw[6:]
	}
	if second, ok := escaped(raw[6:]); ok {
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			b.WriteRune(pair)
			return raw[12:]
		}
	}
	b.WriteString(raw[:6])
	return raw[6:]
}

func escaped(raw string) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(raw[2:6], 16, 16)
	return rune(n), err == nil
}
