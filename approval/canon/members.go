package canon

import (
	"bytes"
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// member is one member of an open object.
type member struct {
	name       []byte // decoded; in src, or in the scanner's own buffer
	at         int    // its name in src
	start, end int    // "name":value in the canonical text
}

// arrange puts the members from base on in canonical order within the text
// that starts with the object's bracket, and compares their names.
func (s *scanner) arrange(base, start int) Reason {
	ms := s.members[base:]
	ordered, plain := true, true
	for i := range ms {
		ordered = ordered && (i == 0 || compareUTF16(ms[i-1].name, ms[i].name) < 0)
		plain = plain && foldsToItself(ms[i].name)
	}
	if !ordered {
		slices.SortFunc(ms, func(a, b member) int {
			return cmp.Or(compareUTF16(a.name, b.name), a.at-b.at)
		})
		for i := 1; i < len(ms); i++ {
			if bytes.Equal(ms[i-1].name, ms[i].name) {
				return s.clash(ReasonDuplicate, ms[i])
			}
		}
		s.spare = append(s.spare[:0], s.out[start:]...)
		s.out = s.out[:start+1]
		for i, m := range ms {
			if i > 0 {
				s.out = append(s.out, ',')
			}
			s.out = append(s.out, s.spare[m.start-start:m.end-start]...)
		}
	}
	if plain || s.allowFold || len(ms) < 2 {
		return 0
	}
	// The text is written: the names may now become their folded forms.
	for i := range ms {
		from := len(s.decoded)
		s.decoded = appendFolded(s.decoded, ms[i].name)
		ms[i].name = s.decoded[from:]
	}
	slices.SortFunc(ms, func(a, b member) int {
		return cmp.Or(bytes.Compare(a.name, b.name), a.at-b.at)
	})
	for i := 1; i < len(ms); i++ {
		if bytes.Equal(ms[i-1].name, ms[i].name) {
			return s.clash(ReasonFoldClash, ms[i])
		}
	}
	return 0
}

// clash refuses member m, the later of two, under the name that it has in src.
func (s *scanner) clash(r Reason, m member) Reason {
	s.i = m.at
	name, _ := s.text()
	s.path = append(s.path, string(name))
	return s.fail(r, m.at)
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
