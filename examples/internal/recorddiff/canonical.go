package recorddiff

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// Canonical returns the one JSON text of a record that RFC 8785 prescribes: keys
// sorted, no white space, numbers as ECMAScript writes them, UTF-8, nothing
// escaped that need not be. Equal records have equal bytes, here and elsewhere.
// It panics if the record has no JSON form.
func Canonical(record any) []byte {
	return appendCanonical(nil, generic(record))
}

// Version returns the hex SHA-256 of a record's canonical JSON, or "" for no
// record. A record that differs in anything has another version.
func Version[T any](record *T) string {
	if record == nil {
		return ""
	}
	sum := sha256.Sum256(Canonical(record))
	return hex.EncodeToString(sum[:])
}

// generic returns a record as maps, lists, strings, doubles and booleans.
func generic(record any) (value any) {
	text, err := json.Marshal(record)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		// Records hold nothing that JSON lacks.
		panic(fmt.Sprintf("recorddiff: %T has no JSON form: %v", record, err))
	}
	return value
}

func appendCanonical(b []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		b = append(b, '{')
		for i, key := range slices.SortedFunc(maps.Keys(v), compareUTF16) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key), ':')
			b = appendCanonical(b, v[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, element := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, element)
		}
		return append(b, ']')
	case string:
		return appendString(b, v)
	case float64:
		return appendNumber(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return append(b, "null"...)
	}
}

// compareUTF16 orders keys by their UTF-16 code units, as RFC 8785 asks.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// appendNumber relies on encoding/json, whose doubles are ECMAScript's except
// for the sign of zero.
func appendNumber(b []byte, number float64) []byte {
	if number == 0 {
		return append(b, '0')
	}
	text, _ := json.Marshal(number)
	return append(b, text...)
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ':
			b = append(b, string(r)...)
		default:
			b = append(b, cmp.Or(controls[r], fmt.Sprintf(`\u%04x`, r))...)
		}
	}
	return append(b, '"')
}

// controls are the control characters that have a short escape.
var controls = map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
