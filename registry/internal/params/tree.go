package params

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// document is canonical text, read into maps and slices. Numbers keep their
// spelling as json.Number, so that no digit is lost on the way to a validator.
type document struct {
	root   map[string]any
	bytes  int // how long its text is
	values int // how many values it has
	pairs  int // upper bound of the comparisons that unique items can cost
}

var errNoObject = errors.New("params: there is no parameter document")

// readCanonical reads the text of a canon.Object. That text is known to be
// sound JSON without white space, which is why this can be short and fast:
// strings without escapes share the text's memory.
func readCanonical(text string) (document, error) {
	if len(text) < 2 || text[0] != '{' {
		return document{}, errNoObject
	}
	r := reader{text: text}
	root := r.object()
	return document{root, len(text), r.values, r.pairs}, nil
}

type reader struct {
	text   string
	at     int
	values int
	pairs  int
}

func (r *reader) value() any {
	r.values++
	switch r.text[r.at] {
	case '{':
		r.values--
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.string()
	case 't':
		r.at += len("true")
		return true
	case 'f':
		r.at += len("false")
		return false
	case 'n':
		r.at += len("null")
		return nil
	}
	start := r.at
	for r.at < len(r.text) && r.text[r.at] != ',' && r.text[r.at] != '}' && r.text[r.at] != ']' {
		r.at++
	}
	return json.Number(r.text[start:r.at])
}

func (r *reader) object() map[string]any {
	r.values++
	members := map[string]any{}
	r.at++
	for r.text[r.at] != '}' {
		if r.text[r.at] == ',' {
			r.at++
		}
		name := r.string()
		r.at++
		members[name] = r.value()
	}
	r.at++
	return members
}

func (r *reader) array() []any {
	items := []any{}
	r.at++
	for r.text[r.at] != ']' {
		if r.text[r.at] == ',' {
			r.at++
		}
		items = append(items, r.value())
	}
	r.at++
	r.pairs += len(items) * len(items)
	return items
}

func (r *reader) string() string {
	start := r.at
	for i := start + 1; ; i++ {
		switch r.text[i] {
		case '"':
			r.at = i + 1
			return r.text[start+1 : i]
		case '\\':
			return r.escaped(start)
		}
	}
}

func (r *reader) escaped(start int) string {
	i := start + 1
	for r.text[i] != '"' {
		if r.text[i] == '\\' {
			i++
		}
		i++
	}
	r.at = i + 1
	decoded, _ := jsontext.AppendUnquote(nil, r.text[start:r.at])
	return string(decoded)
}

// appendJSON writes a value as readCanonical reads it. Members are sorted so
// that equal values give equal text.
func appendJSON(dst []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(dst, name)
			dst = append(dst, ':')
			dst = appendJSON(dst, v[name])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, item)
		}
		return append(dst, ']')
	case string:
		dst, _ = jsontext.AppendQuote(dst, v)
		return dst
	case json.Number:
		return append(dst, v...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	}
	return append(dst, "null"...)
}

// clone copies a value deeply.
func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = clone(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return value
}
