package params

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"
)

var (
	timeType       = reflect.TypeFor[time.Time]()
	durationType   = reflect.TypeFor[time.Duration]()
	numberType     = reflect.TypeFor[json.Number]()
	rawMessageType = reflect.TypeFor[json.RawMessage]()
	rawValueType   = reflect.TypeFor[jsontext.Value]()
)

// isAnything reports whether a value of t can hold any JSON value.
func isAnything(t reflect.Type) bool {
	return t == rawMessageType || t == rawValueType || t.Kind() == reflect.Interface && t.NumMethod() == 0
}

// anything is the schema {}. The reflector would write true for it, which some
// clients and providers do not take as a schema; the empty map prevents that.
func anything() *jsonschema.Schema { return &jsonschema.Schema{Extras: map[string]any{}} }

// isBytes reports whether t encodes as base64.
func isBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() == reflect.Uint8
}

func bytesSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	if t.Kind() == reflect.Array {
		length := uint64((t.Len() + 2) / 3 * 4)
		s.MinLength, s.MaxLength = &length, &length
	}
	return s
}

// ownSchema returns the schema that a type gives itself, or nil.
func ownSchema(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Interface {
		return nil
	}
	own, ok := reflect.New(t).Interface().(interface{ JSONSchema() *jsonschema.Schema })
	if !ok {
		return nil
	}
	s := own.JSONSchema()
	if s != nil {
		s.Version = ""
	}
	return s
}

func integerSchema(kind reflect.Kind) *jsonschema.Schema {
	low, high := integerRange(kind)
	return &jsonschema.Schema{Type: "integer", Minimum: json.Number(low.String()), Maximum: json.Number(high.String())}
}

// integerRange returns the least and the greatest value of an integer kind.
// int and uint are 64 bits wide, so that a schema does not depend on the
// machine that made it.
func integerRange(kind reflect.Kind) (low, high *big.Int) {
	bits := map[reflect.Kind]uint{
		reflect.Int8: 8, reflect.Int16: 16, reflect.Int32: 32,
		reflect.Uint8: 8, reflect.Uint16: 16, reflect.Uint32: 32,
	}[kind]
	if bits == 0 {
		bits = 64
	}
	one := big.NewInt(1)
	switch kind {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		high = new(big.Int).Lsh(one, bits)
		return new(big.Int), high.Sub(high, one)
	}
	low = new(big.Int).Neg(new(big.Int).Lsh(one, bits-1))
	high = new(big.Int).Lsh(one, bits-1)
	return low, high.Sub(high, one)
}

// settleInteger makes sure that the tag of a field only narrowed the bounds of
// its kind. With the option "string" the value is a text of digits.
func settleInteger(s *jsonschema.Schema, kind reflect.Kind) error {
	low, high := integerRange(kind)
	if s.Type == "string" {
		s.Minimum, s.Maximum = "", ""
		if s.Pattern == "" {
			s.Pattern = "^(0|[1-9][0-9]*)$"
			if low.Sign() < 0 {
				s.Pattern = "^(0|-?[1-9][0-9]*)$"
			}
		}
		return nil
	}
	least, ok := new(big.Rat).SetString(string(s.Minimum))
	if !ok || least.Cmp(new(big.Rat).SetInt(low)) < 0 {
		s.Minimum, least = json.Number(low.String()), new(big.Rat).SetInt(low)
	}
	greatest, ok := new(big.Rat).SetString(string(s.Maximum))
	if !ok || greatest.Cmp(new(big.Rat).SetInt(high)) > 0 {
		s.Maximum, greatest = json.Number(high.String()), new(big.Rat).SetInt(high)
	}
	if least.Cmp(greatest) > 0 {
		return fmt.Errorf("no value is between the minimum %s and the maximum %s", s.Minimum, s.Maximum)
	}
	return nil
}

// unwrapNullable undoes the oneOf that the reflector makes of a nullable field.
func unwrapNullable(s *jsonschema.Schema) (*jsonschema.Schema, bool) {
	if len(s.OneOf) == 2 && s.Type == "" && s.OneOf[1].Type == "null" {
		return s.OneOf[0], true
	}
	return s, false
}

// allowNull adds null to a schema in the form that most providers take: in the
// list of types, or beside a reference.
func allowNull(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Ref != "":
		description := s.Description
		s.Description = ""
		return &jsonschema.Schema{Description: description, AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
	case s.Type == "":
		return s
	}
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras["type"] = []string{s.Type, "null"}
	s.Type = ""
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}
