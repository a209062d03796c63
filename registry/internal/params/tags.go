package params

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// tagKeywords splits a jsonschema tag at the commas that are not escaped.
func tagKeywords(f reflect.StructField) []string {
	const escaped = "\x00"
	tag := strings.ReplaceAll(f.Tag.Get("jsonschema"), `\,`, escaped)
	parts := strings.Split(tag, ",")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, escaped, ",")
	}
	return parts
}

// Which keywords of a tag have an effect on which types, and what their values
// have to be. The reflector drops the others without a word.
var (
	textKeywords   = map[string]valueTest{"minLength": isCount, "maxLength": isCount, "pattern": isAny, "format": isAny, "default": isAny, "example": isAny, "enum": isAny, "readOnly": isBool, "writeOnly": isBool}
	numberKeywords = map[string]valueTest{"minimum": isNumber, "maximum": isNumber, "exclusiveMinimum": isNumber, "exclusiveMaximum": isNumber, "multipleOf": isNumber, "default": isNumber, "example": isNumber, "enum": isNumber}
	boolKeywords   = map[string]valueTest{"default": isBool}
	arrayKeywords  = map[string]valueTest{"minItems": isCount, "maxItems": isCount, "uniqueItems": isTrue, "default": isAny}
	anyKeywords    = map[string]valueTest{"title": isAny, "description": isAny, "oneof_required": isAny, "anyof_required": isAny}
	flags          = map[string]bool{"": true, "required": true, "nullable": true}
)

type valueTest func(string) bool

func isAny(string) bool    { return true }
func isTrue(s string) bool { return s == "true" }
func isBool(s string) bool { return s == "true" || s == "false" }
func isCount(s string) bool {
	_, err := strconv.ParseUint(s, 10, 31)
	return err == nil
}

func isNumber(s string) bool {
	return json.Valid([]byte(s)) && strings.IndexByte("-0123456789", s[0]) >= 0
}

// inspectKeywords finds keywords that would have no effect.
func (in *inspector) inspectKeywords(f field, keywords []string, path string) {
	allowed := keywordsFor(f.source.Type, f.stringify)
	for _, keyword := range keywords {
		name, value, hasValue := strings.Cut(keyword, "=")
		if !hasValue && flags[name] {
			continue
		}
		test, ok := anyKeywords[name]
		for _, group := range allowed {
			if !ok {
				test, ok = group[name]
			}
		}
		switch {
		case !hasValue || !ok:
			in.fault(path, "the jsonschema tag has %q, which has no effect on this type; a comma inside a value needs a backslash before it", shorten(keyword, maxName))
		case !test(value):
			in.fault(path, "the jsonschema tag has %q, whose value cannot be used", shorten(keyword, maxName))
		}
	}
}

// keywordsFor returns the keywords that have an effect on a field of type t.
func keywordsFor(t reflect.Type, stringify bool) []map[string]valueTest {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case describesItself(t), isAnything(t):
		return nil
	case t == timeType, isBytes(t), stringify:
		return []map[string]valueTest{textKeywords}
	}
	switch t.Kind() {
	case reflect.String:
		return []map[string]valueTest{textKeywords}
	case reflect.Bool:
		return []map[string]valueTest{boolKeywords}
	case reflect.Slice, reflect.Array:
		items := keywordsFor(t.Elem(), false)
		if k := t.Elem().Kind(); k == reflect.Slice && !isBytes(t.Elem()) || k == reflect.Array || k == reflect.Map || k == reflect.Struct {
			items = nil
		}
		return append([]map[string]valueTest{arrayKeywords}, items...)
	case reflect.Struct, reflect.Map:
		return nil
	}
	return []map[string]valueTest{numberKeywords}
}
