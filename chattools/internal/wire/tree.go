package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A value is an *object, a list or a scalar. Objects keep the order of their members and scalars their
// spelling, so that nothing is lost between reading and writing.
type (
	object struct {
		names  []string
		values map[string]any
	}
	list   []any
	scalar string
)

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) set(name string, value any) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) remove(name string) {
	delete(o.values, name)
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == name })
}

// first puts a member before all others.
func (o *object) first(name string, value any) {
	o.remove(name)
	o.names = slices.Insert(o.names, 0, name)
	o.values[name] = value
}

func (o *object) has(name string) bool { _, ok := o.values[name]; return ok }

// text returns a member that is a string.
func (o *object) text(name string) (string, bool) {
	s, ok := o.values[name].(scalar)
	if !ok || s[0] != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, []byte(s))
	return string(text), err == nil
}

// isTrue and isFalse recognize boolean schemas and switches.
func isTrue(v any) bool  { return v == scalar("true") }
func isFalse(v any) bool { return v == scalar("false") }

var errNoSchema = errors.New("wire: the schema is not an object")

func parse(raw json.RawMessage) (*object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	v, err := read(d)
	if err != nil {
		return nil, fmt.Errorf("wire: the schema is not valid JSON: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("wire: something follows the schema")
	}
	if o, ok := v.(*object); ok {
		return o, nil
	}
	return nil, errNoSchema
}

func read(d *jsontext.Decoder) (any, error) {
	switch d.PeekKind() {
	case '{':
		o := newObject()
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			var name jsontext.Token
			if name, err = d.ReadToken(); err != nil {
				break
			}
			key := name.String()
			var v any
			if v, err = read(d); err == nil {
				o.set(key, v)
			}
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		return o, err
	case '[':
		l := list{}
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != ']' {
			var v any
			if v, err = read(d); err == nil {
				l = append(l, v)
			}
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		return l, err
	}
	v, err := d.ReadValue()
	return scalar(v), err
}

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case *object:
		dst = append(dst, '{')
		for i, name := range v.names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst, _ = jsontext.AppendQuote(dst, name)
			dst = append(dst, ':')
			dst = appendValue(dst, v.values[name])
		}
		return append(dst, '}')
	case list:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case scalar:
		return append(dst, v...)
	}
	panic(fmt.Sprintf("wire: a value of type %T", v))
}

func quote(text string) scalar {
	raw, _ := jsontext.AppendQuote(nil, text)
	return scalar(raw)
}

func same(a, b any) bool { return bytes.Equal(appendValue(nil, a), appendValue(nil, b)) }
