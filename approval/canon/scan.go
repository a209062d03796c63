package canon

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner turns one document into its canonical text in a single pass. Its
// methods return 0, or the reason for refusal with the place in at and path.
type scanner struct {
	src       []byte
	i         int    // next byte of src
	out       []byte // canonical text so far
	allowFold bool

	members []member // of all objects that are open
	decoded []byte   // holds names whose spelling has escapes
	spare   []byte   // members being put in order

	at   int      // byte at which the document was refused
	path []string // way to that place, innermost step first
}

// canonicalize returns the canonical text of src. Only tests ask for anyTop,
// which admits documents that are not objects.
func canonicalize(src []byte, o Options, anyTop bool) (string, error) {
	if len(src) > MaxBytes {
		return "", &Error{Reason: ReasonSize}
	}
	if !utf8.Valid(src) {
		return "", badUTF8(src)
	}
	s := scanner{src: src, allowFold: o.AllowFoldClash}
	s.out = make([]byte, 0, len(src))
	s.members = make([]member, 0, 24)
	s.decoded = make([]byte, 0, 64)
	if r := s.document(anyTop); r != 0 {
		return "", &Error{Reason: r, Pointer: pointer(s.path), Offset: s.at}
	}
	return string(s.out), nil
}

// badUTF8 finds the first invalid byte of src and the value in which it
// stands: that is where a scan of the text before it stops for want of more.
func badUTF8(src []byte) *Error {
	e := &Error{Reason: ReasonUTF8}
	for {
		r, n := utf8.DecodeRune(src[e.Offset:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		e.Offset += n
	}
	s := scanner{src: src[:e.Offset]}
	if r := s.document(false); r != 0 && s.at == e.Offset {
		e.Pointer = pointer(s.path)
	}
	return e
}

// pointer writes a path, innermost step first, as RFC 6901 does.
func pointer(path []string) string {
	var b strings.Builder
	for i := len(path) - 1; i >= 0; i-- {
		b.WriteByte('/')
		for j := range len(path[i]) {
			switch c := path[i][j]; c {
			case '~':
				b.WriteString("~0")
			case '/':
				b.WriteString("~1")
			default:
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

func (s *scanner) fail(r Reason, at int) Reason {
	s.at = at
	return r
}

// peek returns the next byte, or NUL at the end. NUL may not stand outside
// strings either, so that both are the same fault.
func (s *scanner) peek() byte {
	if s.i < len(s.src) {
		return s.src[s.i]
	}
	return 0
}

func (s *scanner) space() {
	for s.i < len(s.src) {
		switch s.src[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) document(anyTop bool) Reason {
	s.space()
	if s.i == len(s.src) {
		return s.fail(ReasonEmpty, s.i)
	}
	if s.src[s.i] != '{' && !anyTop {
		if string(bytes.TrimRight(s.src[s.i:], " \t\n\r")) == "null" {
			return s.fail(ReasonNull, s.i)
		}
		return s.fail(ReasonNotObject, s.i)
	}
	if r := s.value(1); r != 0 {
		return r
	}
	s.space()
	if s.i < len(s.src) {
		return s.fail(ReasonTrailing, s.i)
	}
	if len(s.out) > MaxBytes {
		return s.fail(ReasonSize, s.i)
	}
	return 0
}

// value reads one value; an array or object is then at the given depth.
func (s *scanner) value(depth int) Reason {
	switch c := s.peek(); c {
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	case '"':
		mark := len(s.decoded)
		_, r := s.text()
		s.decoded = s.decoded[:mark]
		return r
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		if c == '-' || isDigit(c) {
			return s.number()
		}
		return s.fail(ReasonSyntax, s.i)
	}
}

func (s *scanner) word(w string) Reason {
	if len(s.src)-s.i < len(w) || string(s.src[s.i:s.i+len(w)]) != w {
		return s.fail(ReasonSyntax, s.i)
	}
	s.out = append(s.out, w...)
	s.i += len(w)
	return 0
}

func (s *scanner) array(depth int) Reason {
	if depth > MaxDepth {
		return s.fail(ReasonDepth, s.i)
	}
	s.open()
	for n, more := 0, s.peek() != ']'; more; n++ {
		r := s.value(depth + 1)
		if r != 0 {
			s.path = append(s.path, strconv.Itoa(n))
			return r
		}
		if more, r = s.comma(']'); r != 0 {
			return r
		}
	}
	s.close()
	return 0
}

func (s *scanner) object(depth int) Reason {
	if depth > MaxDepth {
		return s.fail(ReasonDepth, s.i)
	}
	start, base := len(s.out), len(s.members)
	s.open()
	for more := s.peek() != '}'; more; {
		r := s.member(depth)
		if r != 0 {
			return r
		}
		if more, r = s.comma('}'); r != 0 {
			return r
		}
	}
	if r := s.arrange(base, start); r != 0 {
		return r
	}
	s.members = s.members[:base]
	s.close()
	return 0
}

// member reads one name with its value, inside an object at the given depth.
func (s *scanner) member(depth int) Reason {
	m := member{at: int32(s.i), start: int32(len(s.out))}
	if s.peek() != '"' {
		return s.fail(ReasonSyntax, s.i)
	}
	var r Reason
	if m.name, r = s.text(); r != 0 {
		return r
	}
	s.space()
	if s.peek() != ':' {
		return s.fail(ReasonSyntax, s.i)
	}
	s.i++
	s.out = append(s.out, ':')
	s.space()
	if r = s.value(depth + 1); r != 0 {
		s.path = append(s.path, string(s.bytes(m.name)))
		return r
	}
	m.end = int32(len(s.out))
	s.members = append(s.members, m)
	return 0
}

// open and close copy a bracket; open also steps over the space behind it.
func (s *scanner) open() {
	s.close()
	s.space()
}

func (s *scanner) close() {
	s.out = append(s.out, s.src[s.i])
	s.i++
}

// comma reads what follows an element: a comma, after which there must be
// more, or the end bracket, which it leaves in place.
func (s *scanner) comma(end byte) (more bool, r Reason) {
	if len(s.out) > MaxBytes {
		return false, s.fail(ReasonSize, s.i)
	}
	s.space()
	switch s.peek() {
	case ',':
		s.out = append(s.out, ',')
		s.i++
		s.space()
		return true, 0
	case end:
		return false, 0
	}
	return false, s.fail(ReasonSyntax, s.i)
}
