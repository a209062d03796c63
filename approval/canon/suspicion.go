package canon

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Suspicion is one word that may not be what it looks like: a hint for the
// person who reads it, not a fault of the document. Look-alikes within one
// script, such as l and I, are not found.
type Suspicion struct {
	// Line is the line of the uncut [Object.Display] on which the word stands,
	// from 1, and 0 if the word is from a single string.
	Line int
	// Word is the word as it is. Show it with [Quote].
	Word string
	// Scripts are the scripts that the word mixes, in order of appearance, by
	// their Unicode names. A single one means that the word is written wholly
	// in letters of that script which look like Latin letters.
	Scripts []string
	// Odd are the first few different letters of the word that are not Latin.
	Odd []rune
}

// maxOdd bounds Suspicion.Odd.
const maxOdd = 8

// String returns one line for a text interface, such as
//
//	line 3: "pаypal" mixes Latin and Cyrillic (U+0430)
func (s Suspicion) String() string {
	var b strings.Builder
	if s.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", s.Line)
	}
	b.WriteString(Quote(s.Word))
	if len(s.Scripts) == 1 {
		fmt.Fprintf(&b, " is %s that looks like Latin (", s.Scripts[0])
	} else {
		fmt.Fprintf(&b, " mixes %s (", strings.Join(s.Scripts, " and "))
	}
	for i, r := range s.Odd {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%U", r)
	}
	b.WriteByte(')')
	return b.String()
}

// Suspicions lists the suspicious words of a string, in order. A word is a run
// of letters, marks and digits; characters that cannot be seen do not end it.
// Words are suspicious that mix scripts, such as Latin with Cyrillic or
// Greek, except that the East Asian scripts go with one another and with
// Latin; full-width and mathematical letters count as scripts of their own. So
// are words of three or more letters, all Cyrillic or all Greek, that could be
// read as Latin, unless the string also has letters of that script that could
// not. Compare the restriction levels of Unicode Technical Standard 39.
func Suspicions(s string) []Suspicion {
	var found []Suspicion
	var w word
	genuine := map[string]bool{} // scripts of letters that do not look Latin
	for i, r := range s {
		switch {
		case hidden(r) && !unicode.IsSpace(r):
		case unicode.In(r, unicode.L, unicode.M, unicode.N):
			script := scriptOf(r)
			w.add(s, i, r, script)
			if lookalikes[script] != "" && !looksLatin(r, script) {
				genuine[script] = true
			}
		default:
			found = w.end(found)
			w = word{}
		}
	}
	found = w.end(found)
	return slices.DeleteFunc(found, func(x Suspicion) bool {
		return len(x.Scripts) == 1 && genuine[x.Scripts[0]]
	})
}

// Suspicions lists the suspicious words in the names and string values of the
// document, as the function [Suspicions] finds them, with their lines.
func (o Object) Suspicions() []Suspicion {
	var found []Suspicion
	o.eachPiece(func(line int, piece string) {
		if piece[0] != '"' || isASCII(piece) {
			return
		}
		s := scanner{src: []byte(piece)}
		text, _ := s.text()
		for _, suspicion := range Suspicions(string(s.bytes(text))) {
			suspicion.Line = line
			found = append(found, suspicion)
		}
	})
	return found
}

// word is a word being read.
type word struct {
	text    string
	from    int
	scripts []string
	odd     []rune
	letters int // that have a script
	latin   int // of those, the ones of another script that look Latin
}

// add takes the character r, of the given script, at position i of s.
func (w *word) add(s string, i int, r rune, script string) {
	if w.text == "" {
		w.from = i
	}
	w.text = s[w.from : i+utf8.RuneLen(r)]
	if script == "" {
		return
	}
	w.letters++
	if looksLatin(r, script) {
		w.latin++
	}
	if !slices.Contains(w.scripts, script) {
		w.scripts = append(w.scripts, script)
	}
	if script != latin && len(w.odd) < maxOdd && !slices.Contains(w.odd, r) {
		w.odd = append(w.odd, r)
	}
}

// end appends the word to found if it is suspicious.
func (w *word) end(found []Suspicion) []Suspicion {
	disguised := len(w.scripts) == 1 && w.latin == w.letters && w.letters >= 3
	mixed := len(w.scripts) > 1
	if len(w.scripts) == 2 && slices.Contains(w.scripts, eastAsian) {
		mixed = !slices.Contains(w.scripts, latin) && !slices.Contains(w.scripts, fullwidth)
	}
	if !disguised && !mixed {
		return found
	}
	return append(found, Suspicion{Word: w.text, Scripts: w.scripts, Odd: w.odd})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
