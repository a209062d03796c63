package canon

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// member is one member of an open object. It holds positions, not slices, so
// that sorting moves few bytes and costs the garbage collector nothing.
type member struct {
	name       span
	at         int32 // the name's quotation mark in src
	start, end int32 // "name":value in the canonical text
}

// span is a decoded string: bytes of src, or of the scanner's decoded buffer
// if its spelling there has escapes.
type span struct {
	from, to int32
	decoded  bool
}

func (s *scanner) bytes(p span) []byte {
	if p.decoded {
		return s.decoded[p.from:p.to]
	}
	return s.src[p.from:p.to]
}

// arrange puts the members from base on in canonical order within the text
// that starts with the object's bracket, and compares their names.
func (s *scanner) arrange(base, start int) Reason {
	ms := s.members[base:]
	if len(ms) < 2 {
		return 0
	}
	ordered, plain := true, foldsToItself(s.bytes(ms[0].name))
	for i := 1; i < len(ms); i++ {
		name := s.bytes(ms[i].name)
		ordered = ordered && compareUTF16(s.bytes(ms[i-1].name), name) < 0
		plain = plain && foldsToItself(name)
	}
	if !ordered {
		if later, found := s.sort(ms, compareUTF16); found {
			return s.clash(ReasonDuplicate, later)
		}
		s.rewrite(ms, start)
	}
	if plain || s.allowFold {
		return 0
	}
	// The text is written: the names may now become their folded forms.
	for i := range ms {
		from := len(s.decoded)
		s.decoded = appendFolded(s.decoded, s.bytes(ms[i].name))
		ms[i].name = span{int32(from), int32(len(s.decoded)), true}
	}
	if later, found := s.sort(ms, bytes.Compare); found {
		return s.clash(ReasonFoldClash, later)
	}
	return 0
}

// sort orders members by name, equal names by position, and finds the first
// name that occurs twice.
func (s *scanner) sort(ms []member, compare func(a, b []byte) int) (later member, found bool) {
	slices.SortFunc(ms, func(a, b member) int {
		if c := compare(s.bytes(a.name), s.bytes(b.name)); c != 0 {
			return c
		}
		return int(a.at - b.at)
	})
	for i := 1; i < len(ms); i++ {
		if bytes.Equal(s.bytes(ms[i-1].name), s.bytes(ms[i].name)) {
			return ms[i], true
		}
	}
	return member{}, false
}

// rewrite repeats the members, which are all that follows the bracket at
// start, in their new order.
func (s *scanner) rewrite(ms []member, start int) {
	first := start + len("{")
	if s.spare == nil {
		s.spare = make([]byte, 0, len(s.src))
	}
	s.spare = append(s.spare[:0], s.out[first:]...)
	s.out = s.out[:first]
	for i, m := range ms {
		if i > 0 {
			s.out = append(s.out, ',')
		}
		s.out = append(s.out, s.spare[int(m.start)-first:int(m.end)-first]...)
	}
}

// clash refuses member m, the later of two, under the name that it has in src.
func (s *scanner) clash(r Reason, m member) Reason {
	s.i = int(m.at)
	name, _ := s.text()
	s.path = append(s.path, string(s.bytes(name)))
	return s.fail(r, int(m.at))
}

// compareUTF16 orders two strings of valid UTF-8 by their UTF-16 code units.
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(unitRank(a[i])) - int(unitRank(b[i]))
		}
	}
	return len(a) - len(b)
}

// unitRank maps the first byte in which two strings differ to its rank among
// UTF-16 code units. Bytes order as UTF-16 does, with one exception: 0xEE and
// 0xEF begin U+E000 to U+FFFF, which come after the surrogates with which
// UTF-16 writes what begins with 0xF0 to 0xF4.
func unitRank(b byte) byte {
	switch {
	case b >= 0xF0:
		return b - 2
	case b >= 0xEE:
		return b + 5
	}
	return b
}

// foldsToItself reports whether a name has neither capitals nor anything
// beyond ASCII. Two different names of that kind cannot fold to the same.
func foldsToItself(name []byte) bool {
	for _, c := range name {
		if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// appendFolded appends name with every character replaced by the least one
// that is equal to it under simple case folding.
func appendFolded(dst, name []byte) []byte {
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		i += n
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		dst = utf8.AppendRune(dst, least)
	}
	return dst
}
