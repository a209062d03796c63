// Package texts puts a host's words in the place of the console's own.
//
// A text is a whole sentence in English, or a label. What varies in it is a placeholder: a name of small letters in
// braces, as in "{dismissed} of {all} were dismissed." The English text is also the name by which it is replaced, and a
// replacement has the same placeholders, in whatever order its language wants. A text without a replacement stays English.
package texts

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Catalog has the texts of one console. It is immutable and safe for concurrent use. The zero Catalog speaks English.
type Catalog struct {
	lang     string
	replaced map[string]string
	backward bool // it is read from right to left
}

// New returns the catalog of a language in which some of the known texts are replaced. Its error lists every fault.
func New(lang string, replaced map[string]string, known []string) (*Catalog, error) {
	var faults []error
	if !tag.MatchString(lang) {
		faults = append(faults, fmt.Errorf("%q is not a language tag", lang))
	}
	for _, text := range slices.Sorted(maps.Keys(replaced)) {
		switch want, have := names(text), names(replaced[text]); {
		case !slices.Contains(known, text):
			faults = append(faults, fmt.Errorf("there is no text %q", text))
		case strings.TrimSpace(replaced[text]) == "":
			faults = append(faults, fmt.Errorf("the text %q has an empty replacement", text))
		case !slices.Equal(want, have):
			faults = append(faults, fmt.Errorf("the text %q has the placeholders %v, and its replacement has %v", text, want, have))
		}
	}
	if faults != nil {
		return nil, errors.Join(faults...)
	}
	return &Catalog{lang, maps.Clone(replaced), backward(lang)}, nil
}

var placeholder = regexp.MustCompile(`\{([a-z]+)\}`)

// names are those of the placeholders of a text, sorted, each once.
func names(text string) []string {
	list := []string{}
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Lang is the language tag of pages.
func (c *Catalog) Lang() string { return c.lang }

// Dir is the direction in which pages are read, "ltr" or "rtl": that in which the language is written.
func (c *Catalog) Dir() string {
	if c.backward {
		return "rtl"
	}
	return "ltr"
}

// isolate and endIsolate are the marks of Unicode that keep what is between them from moving what is beside it.
const isolate, endIsolate = "\u2068", "\u2069"

// Say returns a text in the host's words. Values are for its placeholders, in the order in which the English text has
// them. They are text that may stand there as it is: whoever calls has made it visible. Where the page is read from right
// to left each of them keeps its own direction.
func (c *Catalog) Say(text string, values ...any) string {
	if len(values) == 0 {
		return c.word(text)
	}
	var b strings.Builder
	for _, p := range c.pieces(text) {
		switch {
		case p.value < 0:
			b.WriteString(p.text)
		case c.backward:
			b.WriteString(isolate + fmt.Sprint(values[p.value]) + endIsolate)
		default:
			b.WriteString(fmt.Sprint(values[p.value]))
		}
	}
	return b.String()
}

func (c *Catalog) word(text string) string {
	if own, ok := c.replaced[text]; ok {
		return own
	}
	return text
}

// piece is a part of a text: words, or the place of the value with a number.
type piece struct {
	text  string
	value int // -1 for words
}

// pieces takes the host's words for a text apart, and numbers its placeholders by the English text.
func (c *Catalog) pieces(text string) []piece {
	var order []string
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		order = append(order, m[1])
	}
	var list []piece
	own, from := c.word(text), 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(own, -1) {
		list = append(list, piece{own[from:m[0]], -1}, piece{value: slices.Index(order, own[m[2]:m[3]])})
		from = m[1]
	}
	return slices.DeleteFunc(append(list, piece{own[from:], -1}), func(p piece) bool { return p.value < 0 && p.text == "" })
}

// tag is the form of a language tag of BCP 47.
var tag = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// Languages and scripts that are written from right to left.
var (
	backwardLanguages = []string{"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ji", "ks", "nqo", "prs", "ps", "sd", "syr", "ug", "ur", "yi"}
	backwardScripts   = []string{"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"}
)

// backward reports whether a language is written from right to left: by the script that its tag names, as in az-Arab, or
// else by the one that the language has.
func backward(lang string) bool {
	parts := strings.Split(strings.ToLower(lang), "-")
	for _, p := range parts[1:] {
		if len(p) == 1 { // what follows is an extension
			break
		}
		if len(p) == 4 && p[0] >= 'a' {
			return slices.Contains(backwardScripts, p)
		}
	}
	return slices.Contains(backwardLanguages, parts[0])
}
