package params

import (
	"encoding/json"
	"strconv"
	"strings"
)

// describe says in a few words what a schema wants, such as "integer, at
// least 1, at most 500" or `one of "open", "closed"`.
func (s *Schema) describe(node map[string]any, depth int) string {
	const fallback = "another value, as the schema describes it"
	if node == nil || depth > 3 {
		return fallback
	}
	if value, ok := node["const"]; ok {
		return choice(value)
	}
	if values, ok := node["enum"].([]any); ok {
		return choices(values)
	}
	parts := []string{typeWords(node["type"])}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches, ok := node[keyword].([]any); ok && parts[0] == "" {
			parts[0] = s.alternatives(branches, depth)
		}
	}
	if target := s.target(node); target != nil && parts[0] == "" {
		parts[0] = s.describe(target, depth+1)
	}
	parts = append(parts, limits(node)...)
	if parts[0] == "" {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return fallback
	}
	return strings.Join(parts, ", ")
}

func (s *Schema) alternatives(branches []any, depth int) string {
	if len(branches) > 6 {
		return "one of " + strconv.Itoa(len(branches)) + " forms that the schema describes"
	}
	words := make([]string, 0, len(branches))
	for _, branch := range branches {
		node, _ := branch.(map[string]any)
		words = append(words, s.describe(node, depth+1))
	}
	return strings.Join(words, ", or ")
}

func typeWords(declared any) string {
	switch v := declared.(type) {
	case string:
		return v
	case []any:
		var names []string
		for _, name := range v {
			if name, ok := name.(string); ok {
				names = append(names, name)
			}
		}
		return strings.Join(names, " or ")
	}
	return ""
}

// limits words the keywords that narrow a type, in a fixed order.
func limits(node map[string]any) []string {
	var out []string
	for _, limit := range []struct{ keyword, before, after string }{
		{"minimum", "at least ", ""},
		{"exclusiveMinimum", "more than ", ""},
		{"maximum", "at most ", ""},
		{"exclusiveMaximum", "less than ", ""},
		{"multipleOf", "a multiple of ", ""},
		{"minLength", "at least ", " characters"},
		{"maxLength", "at most ", " characters"},
		{"minItems", "at least ", " items"},
		{"maxItems", "at most ", " items"},
		{"minProperties", "at least ", " members"},
		{"maxProperties", "at most ", " members"},
	} {
		if n, ok := node[limit.keyword].(json.Number); ok {
			out = append(out, limit.before+shorten(string(n), maxName)+limit.after)
		}
	}
	if format, ok := node["format"].(string); ok {
		out = append(out, "in the format "+shorten(format, maxName)+formatExample(format))
	}
	if pattern, ok := node["pattern"].(string); ok {
		out = append(out, "matching "+strconv.Quote(shorten(pattern, 2*maxName)))
	}
	if encoding, ok := node["contentEncoding"].(string); ok {
		out = append(out, "encoded as "+shorten(encoding, maxName))
	}
	return out
}

func formatExample(format string) string {
	switch format {
	case "date-time":
		return " (such as 2006-01-02T15:04:05Z)"
	case "date":
		return " (such as 2006-01-02)"
	case "time":
		return " (such as 15:04:05Z)"
	}
	return ""
}

func choices(values []any) string {
	words := make([]string, 0, maxNames)
	for _, value := range values[:min(len(values), maxNames)] {
		words = append(words, choice(value))
	}
	list := strings.Join(words, ", ")
	if rest := len(values) - len(words); rest > 0 {
		list += " and " + strconv.Itoa(rest) + " more"
	}
	if len(values) == 1 {
		return list
	}
	return "one of " + list
}

func choice(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(shorten(v, maxName))
	case map[string]any:
		return "a fixed object"
	case []any:
		return "a fixed array"
	}
	return shorten(string(appendJSON(nil, value)), maxName)
}
