package canon

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Display returns the document for an operator to read: one value to a line,
// indented by two spaces, members in canonical order, numbers digit for digit
// as in the canonical text. Strings keep their escapes, and every character
// that a reader could not see, or that could move or merge with its neighbors,
// is escaped too: control and format characters (bidirectional and zero-width
// ones among them), line separators, every space but U+0020, private-use,
// unassigned and noncharacter code points, variation selectors, fillers and
// blanks, and combining marks that follow no letter or digit or pile up. The
// escape is \uXXXX in lower case, beyond U+FFFF as a surrogate pair. An
// uncut display is therefore JSON, and [Parse] turns it into the same Object.
//
// Letters of right-to-left scripts are shown as they are; a page should set
// the text left to right. What counts as unassigned follows the Unicode
// tables of the Go release.
//
// A limit above 0 is the most bytes of the display to return; nothing is split
// inside a character or an escape. A cut is never silent: a last line, beyond
// the limit, begins with "…" as no other line can, and gives the full length
// and the beginning of the hash. The zero Object displays as "".
func (o Object) Display(limit int) string {
	w := clipped{limit: limit}
	o.eachPiece(func(_ int, piece string) {
		if piece[0] == '"' {
			eachVisible(piece, w.add)
		} else {
			w.add(piece)
		}
	})
	if w.cut {
		fmt.Fprintf(&w.kept, "\n… cut: %d of %d bytes shown; the document has %d bytes, its SHA-256 begins %s",
			w.kept.Len(), w.total, len(o.text), o.Hash().Short())
	}
	return w.kept.String()
}

// Quote returns s in quotation marks for use inside a sentence, escaped as
// [Object.Display] escapes a string. A byte that is not valid UTF-8, which no
// document contains, is shown in the form \xff.
func Quote(s string) string {
	var b strings.Builder
	eachVisible(string(appendText(nil, []byte(s))), func(unit string) { b.WriteString(unit) })
	return b.String()
}

// clipped keeps the first whole units of a text up to a limit, and its length.
type clipped struct {
	kept  strings.Builder
	limit int
	total int
	cut   bool
}

func (w *clipped) add(unit string) {
	w.total += len(unit)
	w.cut = w.limit > 0 && w.total > w.limit
	if !w.cut {
		w.kept.WriteString(unit)
	}
}

// eachPiece calls emit with the display before escaping: punctuation, line
// breaks with their indent, scalars, and strings as they are in the canonical
// text. With each piece comes the line on which it begins, from 1.
func (o Object) eachPiece(emit func(line int, piece string)) {
	line, depth := 1, 0
	newline := func() {
		emit(line, indents[:1+2*depth])
		line++
	}
	for rest := o.text; rest != ""; {
		n := 1
		switch rest[0] {
		case '{', '[':
			if rest[1] == '}' || rest[1] == ']' {
				n = 2
				emit(line, rest[:n])
				break
			}
			depth++
			emit(line, rest[:n])
			newline()
		case '}', ']':
			depth--
			newline()
			emit(line, rest[:n])
		case ',':
			emit(line, rest[:n])
			newline()
		case ':':
			emit(line, ": ")
		case '"':
			for ; rest[n] != '"'; n++ {
				if rest[n] == '\\' {
					n++
				}
			}
			n++
			emit(line, rest[:n])
		default:
			n = strings.IndexAny(rest, ",]}")
			emit(line, rest[:n])
		}
		rest = rest[n:]
	}
}

var indents = "\n" + strings.Repeat("  ", MaxDepth)

// wholeRunes drops a character that was cut in two at the end of s.
func wholeRunes(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}
