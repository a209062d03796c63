package canon

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	latin     = "Latin"
	fullwidth = "Fullwidth"
	// eastAsian stands for the scripts that one East Asian word may mix.
	eastAsian = "East Asian"
)

// lookalikes are the letters that most fonts draw like Latin ones.
var lookalikes = map[string]string{
	"Cyrillic": "асԁеһіјӏорԛѕԝхуѵүАВЕЅІЈКМНОРСТУХԚԜҮӀ",
	"Greek":    "αγικνορυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳϹͿ",
}

// looksLatin reports whether r, of the given script, is drawn like a letter of
// Latin.
func looksLatin(r rune, script string) bool {
	return strings.ContainsRune(lookalikes[script], r)
}

// scriptOf names the script of r as Unicode does, or a group that reads like
// a script of its own; "" if r may stand in any word.
func scriptOf(r rune) string {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return latin
		}
		return ""
	case 0xFF21 <= r && r <= 0xFF3A || 0xFF41 <= r && r <= 0xFF5A:
		return fullwidth
	case 0x1D400 <= r && r <= 0x1D7FF:
		return "Mathematical"
	}
	table := scripts()
	i, found := slices.BinarySearchFunc(table, r, func(s scriptRange, r rune) int {
		switch {
		case s.hi < r:
			return -1
		case s.lo > r:
			return 1
		}
		return 0
	})
	if !found {
		return ""
	}
	return table[i].script
}

// scriptRange says that lo to hi are of one script.
type scriptRange struct {
	lo, hi rune
	script string
}

// scripts is one table of the scripts of all characters, in order, so that a
// look-up need not try some 170 tables in turn.
var scripts = sync.OnceValue(func() []scriptRange {
	var all []scriptRange
	add := func(script string, lo, hi, stride rune) {
		if stride == 1 {
			all = append(all, scriptRange{lo, hi, script})
			return
		}
		for r := lo; r <= hi; r += stride {
			all = append(all, scriptRange{r, r, script})
		}
	}
	for name, table := range unicode.Scripts {
		switch name {
		case "Common", "Inherited":
			continue
		case "Han", "Hiragana", "Katakana", "Bopomofo", "Hangul":
			name = eastAsian
		}
		for _, r := range table.R16 {
			add(name, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(name, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(all, func(a, b scriptRange) int { return cmp.Compare(a.lo, b.lo) })
	return all
})
