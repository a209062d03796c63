package texts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A template has its texts in double brackets. The values for the placeholders follow in their order, each after a bar;
// they may be anything that a template has, elements and texts included:
//
//	<h1>[[Inbox]]</h1>
//	<p>[[{dismissed} of {all} were dismissed. These were not:|{{.Dismissed}}|{{.All}}]]</p>
//	<p>[[{decided} is in the ledger.|<a href="ledger">[[What was decided]]</a>]]</p>
//
// Before the template is parsed, Expand puts the host's words there, as constants of the template:
//
//	<h1>{{"Posteingang"}}</h1>
//
// So whole sentences can have elements in them and be put in another order, and what a replacement says is escaped by
// html/template for the place where it stands, as every other value is.

// sentence is a text in a template.
type sentence struct {
	start, end int // in the source, brackets included
	text       string
	values     []string
}

// next finds the first sentence in a source. Its end is zero if there is none.
func next(source string) (s sentence, err error) {
	if s.start = strings.Index(source, "[["); s.start < 0 {
		return s, nil
	}
	from, depth, action := s.start+2, 1, false
	var parts []string
	for i := from; i < len(source); i++ {
		switch two := source[i:min(i+2, len(source))]; {
		case two == "{{":
			action = true
		case two == "}}":
			action = false
		case action: // a bar is part of it
		case two == "[[":
			depth++
			i++
		case two == "]]":
			if depth--; depth == 0 {
				parts = append(parts, source[from:i])
				s.end, s.text, s.values = i+2, parts[0], parts[1:]
				if want := len(placeholder.FindAllString(s.text, -1)); want != len(s.values) || want != len(names(s.text)) {
					return s, fmt.Errorf("texts: %q has %d values", s.text, len(s.values))
				}
				return s, nil
			}
			i++
		case source[i] == '|' && depth == 1:
			parts = append(parts, source[from:i])
			from = i + 1
		}
	}
	return s, fmt.Errorf("texts: %.40q does not end", source[s.start:])
}

// Of lists the texts of a template.
func Of(source string) ([]string, error) {
	var list []string
	for {
		s, err := next(source)
		if err != nil || s.end == 0 {
			return list, err
		}
		list = append(list, s.text)
		for _, value := range s.values {
			inner, err := Of(value)
			if err != nil {
				return nil, err
			}
			list = append(list, inner...)
		}
		source = source[s.end:]
	}
}

// Expand returns the source of a template in the host's words. Each value in a sentence is an element by itself, so that
// its direction moves nothing beside it; in a tag, which can have none, marks do that where the page is read from right to
// left.
func (c *Catalog) Expand(source string) (string, error) { return c.expand(source, false) }

func (c *Catalog) expand(source string, inTag bool) (string, error) {
	var b strings.Builder
	for {
		s, err := next(source)
		if err != nil {
			return "", err
		}
		if s.end == 0 {
			b.WriteString(source)
			return b.String(), nil
		}
		before := source[:s.start]
		if i := strings.LastIndexAny(before, "<>"); i >= 0 {
			inTag = before[i] == '<'
		}
		b.WriteString(before)
		values := slices.Clone(s.values)
		for i := range values {
			if values[i], err = c.expand(values[i], inTag); err != nil {
				return "", err
			}
			switch {
			case !inTag:
				values[i] = "<bdi>" + values[i] + "</bdi>"
			case c.backward:
				values[i] = constant(isolate) + values[i] + constant(endIsolate)
			}
		}
		for _, p := range c.pieces(s.text) {
			if p.value < 0 {
				b.WriteString(constant(p.text))
			} else {
				b.WriteString(values[p.value])
			}
		}
		source = source[s.end:]
	}
}

// constant is a text as an action of a template.
func constant(text string) string { return "{{" + strconv.Quote(text) + "}}" }
