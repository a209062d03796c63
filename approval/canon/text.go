package canon

import "unicode/utf8"

// needsCare marks the bytes that end a run of plain text inside a string.
var needsCare = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// text reads one string, writes it in canonical form and says where its decoded
// bytes are. The source is known to be valid UTF-8.
func (s *scanner) text() (span, Reason) {
	open := s.i
	i := open + 1
	for i < len(s.src) && !needsCare[s.src[i]] {
		i++
	}
	s.i = i
	switch s.peek() {
	case '"':
		s.i++
		s.out = append(s.out, s.src[open:s.i]...)
		return span{int32(open + 1), int32(i), false}, 0
	case '\\':
		return s.escapedText(open + 1)
	}
	return span{}, s.fail(ReasonSyntax, s.i)
}

// escapedText goes on with a string at its first backslash.
func (s *scanner) escapedText(start int) (span, Reason) {
	from := len(s.decoded)
	s.decoded = append(s.decoded, s.src[start:s.i]...)
	for {
		switch s.peek() {
		case '"':
			s.i++
			s.out = appendText(s.out, s.decoded[from:])
			return span{int32(from), int32(len(s.decoded)), true}, 0
		case '\\':
			if r := s.escape(); r != 0 {
				return span{}, r
			}
		default:
			return span{}, s.fail(ReasonSyntax, s.i)
		}
		run := s.i
		for s.i < len(s.src) && !needsCare[s.src[s.i]] {
			s.i++
		}
		s.decoded = append(s.decoded, s.src[run:s.i]...)
	}
}

// unescaped gives the character of each two-character escape.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape decodes one escape, or a surrogate pair of two.
func (s *scanner) escape() Reason {
	at := s.i
	s.i++
	c := s.peek()
	if u := unescaped[c]; u != 0 {
		s.i++
		s.decoded = append(s.decoded, u)
		return 0
	}
	if c != 'u' {
		return s.fail(ReasonSyntax, s.i)
	}
	s.i++
	u, ok := s.hex4()
	if !ok {
		return s.fail(ReasonSyntax, s.i)
	}
	switch u >> 10 {
	case 0xDC00 >> 10: // low half without a high one
		return s.fail(ReasonSurrogate, at)
	case 0xD800 >> 10:
		if s.peek() != '\\' || s.i+1 >= len(s.src) || s.src[s.i+1] != 'u' {
			return s.fail(ReasonSurrogate, at)
		}
		s.i += 2
		low, ok := s.hex4()
		if !ok {
			return s.fail(ReasonSyntax, s.i)
		}
		if low>>10 != 0xDC00>>10 {
			return s.fail(ReasonSurrogate, at)
		}
		u = 0x10000 + (u&0x3FF)<<10 + low&0x3FF
	}
	s.decoded = utf8.AppendRune(s.decoded, u)
	return 0
}

// hex4 reads four hexadecimal digits, or stops at the first byte that is none.
func (s *scanner) hex4() (u rune, ok bool) {
	for range 4 {
		c := s.peek()
		switch {
		case isDigit(c):
			u = u<<4 + rune(c-'0')
		case 'a' <= c && c <= 'f':
			u = u<<4 + rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			u = u<<4 + rune(c-'A'+10)
		default:
			return 0, false
		}
		s.i++
	}
	return u, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// escaped gives the letter of each two-character escape in canonical text.
var escaped = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// appendText appends a decoded string in canonical form.
func appendText(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	run := 0
	for i, c := range text {
		if !needsCare[c] {
			continue
		}
		dst = append(dst, text[run:i]...)
		run = i + 1
		if e := escaped[c]; e != 0 {
			dst = append(dst, '\\', e)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, text[run:]...)
	return append(dst, '"')
}
