package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxSchemaBytes  = 256 << 10
	maxSchemaDepth  = 64
	maxSchemaValues = 12_000
	maxNumberLength = 128
)

// census counts what decides how expensive a schema can be.
type census struct {
	values     int
	references bool // $ref and its relatives
	branches   bool // keywords that apply several schemas to one value
	unique     bool // uniqueItems
	defaults   bool
}

// branching lists the keywords through which one value can be judged by more
// than one schema.
var branching = map[string]bool{
	"allOf": true, "anyOf": true, "oneOf": true, "not": true,
	"if": true, "then": true, "else": true,
	"dependencies": true, "dependentSchemas": true, "contains": true,
	"patternProperties": true, "propertyNames": true,
	"unevaluatedProperties": true, "unevaluatedItems": true,
}

// reaching lists the keywords that go into a value. Beside a reference, which
// may go there as well, they judge its parts a second time.
var reaching = []string{"properties", "additionalProperties", "items", "prefixItems", "additionalItems"}

// counting lists the keywords whose number has to fit an int.
var counting = map[string]bool{
	"minLength": true, "maxLength": true, "minItems": true, "maxItems": true,
	"minProperties": true, "maxProperties": true, "minContains": true, "maxContains": true,
}

// readSchema reads a schema strictly and within bounds.
func readSchema(raw []byte) (map[string]any, census, error) {
	if len(raw) > maxSchemaBytes {
		return nil, census{}, fmt.Errorf("params: a schema has at most %d bytes", maxSchemaBytes)
	}
	r := schemaReader{dec: jsontext.NewDecoder(bytes.NewReader(raw))}
	value, err := r.value("", 1)
	if err != nil {
		return nil, census{}, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, census{}, errors.New("params: something follows the schema")
	}
	doc, ok := value.(map[string]any)
	if !ok {
		return nil, census{}, errors.New(`params: the schema's root must be an object with "type": "object"`)
	}
	return doc, r.census, nil
}

type schemaReader struct {
	dec *jsontext.Decoder
	census
}

func (r *schemaReader) value(keyword string, depth int) (any, error) {
	if r.values++; r.values > maxSchemaValues {
		return nil, fmt.Errorf("params: a schema has at most %d values", maxSchemaValues)
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("params: a schema nests at most %d levels deep", maxSchemaDepth)
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil, syntaxError(err)
	}
	switch token.Kind() {
	case '{':
		return r.object(depth)
	case '[':
		items := []any{}
		for r.dec.PeekKind() != ']' {
			item, err := r.value("", depth+1)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		_, err := r.dec.ReadToken()
		return items, err
	case '"':
		return token.String(), nil
	case '0':
		return r.number(keyword, token.String())
	case 'n':
		return nil, nil
	}
	return token.Bool(), nil
}

func (r *schemaReader) object(depth int) (any, error) {
	members := map[string]any{}
	for r.dec.PeekKind() != '}' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return nil, syntaxError(err)
		}
		name := token.String()
		if members[name], err = r.value(name, depth+1); err != nil {
			return nil, err
		}
		r.note(name)
	}
	r.branches = r.branches || hasAny(members, "$ref", "$dynamicRef", "$recursiveRef") && hasAny(members, reaching...)
	_, err := r.dec.ReadToken()
	return members, err
}

func hasAny(node map[string]any, keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool {
		_, ok := node[keyword]
		return ok
	})
}

func (r *schemaReader) note(name string) {
	switch name {
	case "$ref", "$dynamicRef", "$recursiveRef":
		r.references = true
	case "uniqueItems":
		r.unique = true
	case "default":
		r.defaults = true
	}
	if branching[name] {
		r.branches = true
	}
}

// number keeps the spelling of a number and refuses those whose exact value
// would be expensive to compute with, such as 1e2000000.
func (r *schemaReader) number(keyword, literal string) (json.Number, error) {
	if len(literal) > maxNumberLength {
		return "", fmt.Errorf("params: a number in a schema has at most %d characters", maxNumberLength)
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	value, err := strconv.ParseFloat(literal, 64)
	if err != nil || len(exponent) > len("+308") || value == 0 && strings.ContainsAny(digits, "123456789") {
		return "", fmt.Errorf("params: the number %s in a schema is out of range", shorten(literal, maxName))
	}
	if counting[keyword] && math.Abs(value) > math.MaxInt32 {
		return "", fmt.Errorf("params: %s is at most %d", keyword, math.MaxInt32)
	}
	return json.Number(literal), nil
}

func syntaxError(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("params: the schema has a name twice, at byte %d", syntax.ByteOffset)
	}
	if syntax != nil {
		return fmt.Errorf("params: the schema is not valid JSON, at byte %d", syntax.ByteOffset)
	}
	return errors.New("params: the schema is not valid JSON")
}
