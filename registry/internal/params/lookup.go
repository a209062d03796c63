package params

import (
	"net/url"
	"strconv"
	"strings"
)

// target returns the schema that node's $ref leads to within the document,
// or nil.
func (s *Schema) target(node map[string]any) map[string]any {
	ref, ok := node["$ref"].(string)
	if !ok || !strings.HasPrefix(ref, "#") {
		return nil
	}
	return s.lookup(ref[1:])
}

// lookup follows a JSON pointer, percent-encoded as in a fragment.
func (s *Schema) lookup(fragment string) map[string]any {
	tokens, ok := splitFragment(fragment)
	if !ok {
		return nil
	}
	var at any = s.doc
	for _, token := range tokens {
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, ok := index(token, len(v))
			if !ok {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	node, _ := at.(map[string]any)
	return node
}

// splitFragment returns the tokens of a percent-encoded JSON pointer.
func splitFragment(fragment string) ([]string, bool) {
	path, err := url.PathUnescape(fragment)
	if err != nil || path != "" && path[0] != '/' {
		return nil, false
	}
	tokens := strings.Split(path, "/")[1:]
	for i, token := range tokens {
		tokens[i] = pointerUnescaper.Replace(token)
	}
	return tokens, true
}

var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

func index(token string, length int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i < length
}
