package wire

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Arguments collects the arguments of a call in the spelling of the wire, which is a JSON string, or several
// that belong end to end. Only the whole is unquoted: half of a surrogate pair in one fragment and half in the
// next are one character.
type Arguments struct{ quoted strings.Builder }

// Add adds what stands where arguments do. Servers that write them as an object, and not as a string with an
// object in it, mean what they write.
func (a *Arguments) Add(raw json.RawMessage) { a.quoted.WriteString(inner(raw)) }

func inner(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] == '"':
		return string(raw[1 : len(raw)-1])
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(raw))
}

// Quoted returns what was added so far, in the spelling of the wire.
func (a *Arguments) Quoted() string { return a.quoted.String() }

// Bytes returns the arguments as they were meant. A lone half of a surrogate pair, which no text can hold,
// becomes bytes that are no UTF-8, so that the gate refuses it. Other decoders put U+FFFD in its place, and the
// call would run with that.
func (a *Arguments) Bytes() json.RawMessage { return unquote(a.quoted.String()) }

// unquote returns the text between the quotation marks of a JSON string, as [Arguments.Bytes] does.
func unquote(in string) []byte {
	out := []byte{}
	for {
		i := strings.IndexByte(in, '\\')
		if i < 0 || i+1 >= len(in) {
			return append(out, in...)
		}
		out = append(out, in[:i]...)
		in = in[i:]
		if first, ok := escaped(in); ok {
			in = in[6:]
			if second, ok := escaped(in); ok && utf16.IsSurrogate(first) {
				if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
					first, in = pair, in[6:]
				}
			}
			out = appendRune(out, first)
			continue
		}
		c := in[1]
		if i := strings.IndexByte("bfnrt", c); i >= 0 {
			c = "\b\f\n\r\t"[i]
		}
		out = append(out, c)
		in = in[2:]
	}
}

// appendRune appends a character in UTF-8, and half of a pair in the same scheme.
func appendRune(out []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
	}
	return utf8.AppendRune(out, r)
}

func escaped(in string) (rune, bool) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(in[2:6], 16, 16)
	return rune(n), err == nil
}
