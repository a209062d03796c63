package canon

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many combining marks may follow one letter; no orthography
// needs more, and a longer pile covers the lines around it.
const maxMarks = 4

// eachVisible calls emit with the parts of a canonical string, quotation marks
// included, in order: escapes as they are, other characters as they are if
// they can be seen, else as new escapes, invalid bytes as \xff.
func eachVisible(text string, emit func(unit string)) {
	marks := maxMarks // that follow the last letter; none may follow anything else
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		mark := unicode.IsMark(r)
		before := marks
		marks = maxMarks
		switch {
		case r == '\\':
			n = 2
			if text[i+1] == 'u' {
				n = 6
			}
			emit(text[i : i+n])
		case r == utf8.RuneError && n == 1:
			emit(fmt.Sprintf(`\x%02x`, text[i]))
		case hidden(r) || mark && before >= maxMarks:
			emit(escapeRune(r))
		default:
			emit(text[i : i+n])
			if mark {
				marks = before + 1
			} else if unicode.IsLetter(r) || unicode.IsNumber(r) {
				marks = 0
			}
		}
		i += n
	}
}

func escapeRune(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// hidden reports whether a reader could not see r, or could not tell it from
// a space. [unicode.IsPrint] leaves out controls, format characters, private
// use, surrogates, unassigned code points and all spaces but U+0020.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7F
	}
	return !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.Is(blanks, r)
}

// blanks are the characters that have a printing category and yet no ink:
// Tifinagh and Brahmi joiners, Braille blank, object replacement, Egyptian
// blanks, Khitan filler, null notehead.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x2D7F, Hi: 0x2D7F, Stride: 1},
		{Lo: 0xFFFC, Hi: 0xFFFC, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1107F, Hi: 0x1107F, Stride: 1},
		{Lo: 0x13441, Hi: 0x13442, Stride: 1},
		{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1},
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1},
	},
}
