package registry

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

// sentence is a parsed template: text, then a parameter's path, then text, and so on.
type sentence struct {
	text  []string
	names [][]string // one fewer than text
}

// parseSentence reads a template such as "Refund {cents} cents of order {order_id}". A name is a parameter,
// or a member of one with dots between; "{{" and "}}" are braces.
func parseSentence(words string, schema *params.Schema) (sentence, error) {
	var s sentence
	var text strings.Builder
	for words != "" {
		switch {
		case strings.HasPrefix(words, "{{"), strings.HasPrefix(words, "}}"):
			text.WriteByte(words[0])
			words = words[2:]
		case words[0] == '}':
			return s, fmt.Errorf("a brace is closed that was not opened")
		case words[0] == '{':
			name, rest, ok := strings.Cut(words[1:], "}")
			path := strings.Split(name, ".")
			if !ok || !schema.HasProperty(path...) {
				return s, fmt.Errorf("{%s} is no parameter", name)
			}
			s.text, s.names = append(s.text, text.String()), append(s.names, path)
			text.Reset()
			words = rest
		default:
			text.WriteByte(words[0])
			words = words[1:]
		}
	}
	s.text = append(s.text, text.String())
	return s, nil
}

// say fills the template from canonical parameters. A string is quoted in display form, a number has its
// exact digits, and what is absent says so.
func (s sentence) say(o canon.Object) string {
	var b strings.Builder
	for i, name := range s.names {
		b.WriteString(s.text[i])
		b.WriteString(word(o, name))
	}
	if len(s.text) > 0 {
		b.WriteString(s.text[len(s.text)-1])
	}
	return b.String()
}

func word(o canon.Object, path []string) string {
	value := jsontext.Value(o.String())
	for _, name := range path {
		var members map[string]jsontext.Value
		if value.Kind() != '{' || json.Unmarshal(value, &members) != nil {
			return "(none)"
		}
		if value = members[name]; value == nil {
			return "(none)"
		}
	}
	if value.Kind() == '"' {
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return "(none)"
		}
		return canon.Quote(text)
	}
	return unquoted(value.String())
}

// unquoted shows a number, a list or an object on one line, with whatever strings it holds in display form.
func unquoted(text string) string {
	quoted := canon.Quote(text)
	if inner := strings.Trim(quoted, `"`); !strings.ContainsAny(inner, `"\`) {
		return inner
	}
	return quoted
}
