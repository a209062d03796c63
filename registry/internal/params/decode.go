package params

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// Decoding and encoding by the same rules: names match by case, a name that
// the type does not have is an error, and a nil slice or map is null, so that
// null and empty stay apart. The tag option omitempty also omits 0 and false,
// as everyone who writes it expects, so that a member may be absent.
var (
	decoding = json.JoinOptions(json.RejectUnknownMembers(true))
	encoding = json.JoinOptions(json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true),
		jsonv1.OmitEmptyWithLegacySemantics(true))
)

// Decode makes a fresh P from the canonical text. It returns a P only if that
// P encodes to exactly the text it came from, and an error otherwise: a number
// that a float32 rounds, a time in another spelling, or a member that a type
// drops, would mean that what runs is not what was hashed.
//
// One difference is permitted. Of a member that the type marks as optional
// (omitempty, omitzero), it does not matter whether its empty or zero value was
// given or the member was left out: P holds the same.
//
// If P is [encoding/json.RawMessage], the result is a fresh copy of the text.
// A fault is an [*Error] that does not repeat the value.
func Decode[P any](o canon.Object) (p P, err error) {
	if o.IsZero() {
		return p, errNoObject
	}
	if raw, ok := any(&p).(*stdjson.RawMessage); ok {
		*raw = o.Bytes()
		return p, nil
	}
	return decode[P](o, true)
}

// Again makes another fresh P from a text that [Decode] accepted for the same
// type, without proving once more that it encodes to that text.
func Again[P any](o canon.Object) (p P, err error) {
	if raw, ok := any(&p).(*stdjson.RawMessage); ok {
		*raw = o.Bytes()
		return p, nil
	}
	return decode[P](o, false)
}

func decode[P any](o canon.Object, prove bool) (p P, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = *new(P), fmt.Errorf("params: a method of %s panicked while decoding", reflect.TypeFor[P]())
		}
	}()
	text := o.Bytes()
	if err := json.Unmarshal(text, &p, decoding); err != nil {
		return *new(P), decodeError(err)
	}
	if prove {
		if err := exactly(text, &p); err != nil {
			return *new(P), err
		}
	}
	return p, nil
}

// exactly reports where value, a pointer, does not encode to text.
func exactly(text []byte, value any) error {
	encoded, err := json.Marshal(value, encoding)
	if err != nil {
		return encodeError(err)
	}
	again, err := canon.Parse(encoded, canon.Options{AllowFoldClash: true})
	if err == nil && again.String() == string(text) {
		return nil
	}
	// A member that the type omits was given, or something was lost. Only a
	// walk can tell, and say where.
	c := comparison{}
	if !c.equal(text, encoded, reflect.ValueOf(value).Elem()) {
		return &Error{Pointer: pointer(c.path), Problem: c.problem}
	}
	return nil
}

func decodeError(err error) error {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return &Error{Problem: "this cannot be decoded"}
	}
	at := string(semantic.JSONPointer)
	if errors.Is(err, json.ErrUnknownName) {
		cut := strings.LastIndexByte(at, '/')
		name := pointerUnescaper.Replace(at[cut+1:])
		return &Error{Pointer: at[:max(cut, 0)], Problem: "unknown " + quoted([]string{name})}
	}
	problem := "this value does not fit"
	if semantic.GoType != nil {
		problem = "expected a value that fits " + kindWords(semantic.GoType)
	}
	return &Error{Pointer: at, Problem: problem}
}

func encodeError(err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return &Error{Pointer: string(semantic.JSONPointer), Problem: "this value cannot be encoded again"}
	}
	return &Error{Problem: "these parameters cannot be encoded again"}
}

// kindWords names what a Go type holds without naming the type.
func kindWords(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == timeType {
		return "an RFC 3339 time"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64"
		}
		return "array"
	case reflect.Interface:
		return "any value"
	}
	return t.Kind().String()
}

// split returns the names and values of an object's members, or the items of
// an array, of a text that is known to be sound.
func split(text jsontext.Value) (names []string, parts []jsontext.Value) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text))
	open, err := dec.ReadToken()
	if err != nil {
		return nil, nil
	}
	isObject := open.Kind() == '{'
	for kind := dec.PeekKind(); kind != '}' && kind != ']' && kind != 0; kind = dec.PeekKind() {
		if isObject {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, nil
			}
			names = append(names, name.String())
		}
		part, err := dec.ReadValue()
		if err != nil {
			return nil, nil
		}
		parts = append(parts, part.Clone())
	}
	return names, parts
}
