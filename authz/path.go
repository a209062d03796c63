package authz

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Path is a resource path such as /users/u1/orders/W42: whole segments below the root of a scope. It is
// parsed once and compared byte for byte; nothing in it is a pattern. The zero Path is no path, and every
// decision about it refuses. A Path is a comparable value.
type Path struct{ text string }

// ErrPath is the error of [ParsePath], [Path.Join] and [Path.UnmarshalText] for text that is not a canonical
// path. Nothing is cleaned: a path that is not canonical is refused.
var ErrPath = errors.New("authz: not a canonical path")

const (
	maxSegment = 255 // bytes
	maxDepth   = 64  // segments
)

// Root returns the path of a scope's root, which contains every other path.
func Root() Path { return Path{"/"} }

// ParsePath parses the text form of a path: "/" for the root, otherwise each segment preceded by a slash.
func ParsePath(text string) (Path, error) {
	if text == "/" {
		return Root(), nil
	}
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return Path{}, fmt.Errorf("%w: it does not start with a slash", ErrPath)
	}
	return Root().Join(strings.Split(rest, "/")...)
}

// MustPath is ParsePath for literals in code; it panics where ParsePath returns an error.
func MustPath(text string) Path {
	p, err := ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

// Join returns the path of the segments below p. A segment is refused, never cleaned, if it is empty, "." or
// "..", holds a slash, a backslash, a percent sign or a control or invisible character, is not valid UTF-8 in
// Unicode normal form C, starts or ends with white space, or is longer than 255 bytes. So a segment that came
// from a model's parameters can name one child and nothing else.
func (p Path) Join(segments ...string) (Path, error) {
	if p.IsZero() {
		return Path{}, fmt.Errorf("%w: the zero path has no children", ErrPath)
	}
	var b strings.Builder
	if p.text != "/" {
		b.WriteString(p.text)
	}
	for i, s := range segments {
		if fault := segmentFault(s); fault != "" {
			return Path{}, fmt.Errorf("%w: segment %d %s", ErrPath, i, fault)
		}
		b.WriteByte('/')
		b.WriteString(s)
	}
	text := b.String()
	if text == "" {
		return p, nil
	}
	if strings.Count(text, "/") > maxDepth {
		return Path{}, fmt.Errorf("%w: more than %d segments", ErrPath, maxDepth)
	}
	return Path{text}, nil
}

// invisible are the control, format, private and unassigned characters, the separators of lines and
// paragraphs, and the letters and marks that are drawn as nothing, such as U+3164, the Hangul filler.
var invisible = []*unicode.RangeTable{
	unicode.C, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
}

func segmentFault(s string) string {
	switch {
	case s == "":
		return "is empty"
	case s == "." || s == "..":
		return "is a dot segment"
	case len(s) > maxSegment:
		return "is too long"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.TrimSpace(s) != s:
		return "starts or ends with white space"
	case strings.ContainsAny(s, `/\%`):
		return "holds a separator or a percent sign"
	}
	for _, r := range s {
		if unicode.In(r, invisible...) || r == utf8.RuneError {
			return "holds a control or invisible character"
		}
	}
	if !norm.NFC.IsNormalString(s) {
		return "is not in Unicode normal form C"
	}
	return ""
}

// IsZero reports whether p is the zero Path, which is no path.
func (p Path) IsZero() bool { return p.text == "" }

// String returns the text form that [ParsePath] reads; the zero Path gives "".
func (p Path) String() string { return p.text }

// Contains reports whether q is p or lies below it. The zero Path contains nothing and lies nowhere.
func (p Path) Contains(q Path) bool {
	switch {
	case p.IsZero() || q.IsZero():
		return false
	case p.text == "/" || p.text == q.text:
		return true
	}
	return len(q.text) > len(p.text) && q.text[len(p.text)] == '/' && q.text[:len(p.text)] == p.text
}

// MarshalText implements [encoding.TextMarshaler]; the zero Path is an error.
func (p Path) MarshalText() ([]byte, error) {
	if p.IsZero() {
		return nil, ErrPath
	}
	return []byte(p.text), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler] with the rules of [ParsePath].
func (p *Path) UnmarshalText(text []byte) error {
	q, err := ParsePath(string(text))
	if err == nil {
		*p = q
	}
	return err
}

// parent returns the text of the path above, or "" above the root.
func parent(text string) string {
	if text == "/" {
		return ""
	}
	i := strings.LastIndexByte(text, '/')
	if i == 0 {
		return "/"
	}
	return text[:i]
}
