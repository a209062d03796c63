package params

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// comparison walks a canonical text, its re-encoding and the decoded value
// side by side, and remembers where they first differ. The value was decoded
// afresh, so that a member which was not given is zero.
type comparison struct {
	path    []string
	problem string
}

// equal reports whether encoded says the same as text, up to optional members
// of v that one of them gives with their empty or zero value.
func (c *comparison) equal(text, encoded jsontext.Value, v reflect.Value) bool {
	if string(text) == string(encoded) {
		return true
	}
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() && !hasCodec(v.Type()) {
		v = v.Elem()
	}
	if !v.IsValid() || text.Kind() != encoded.Kind() || hasCodec(v.Type()) {
		return c.leaf(text, encoded, v)
	}
	switch {
	case v.Kind() == reflect.Struct && text.Kind() == '{':
		return c.members(text, encoded, v)
	case v.Kind() == reflect.Map && text.Kind() == '{':
		return c.entries(text, encoded, v)
	case (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && text.Kind() == '[':
		return c.items(text, encoded, v)
	}
	return c.leaf(text, encoded, v)
}

func (c *comparison) fail(problem string) bool {
	c.problem = problem
	return false
}

// leaf compares without leave to omit anything.
func (c *comparison) leaf(text, encoded jsontext.Value, v reflect.Value) bool {
	wrap := func(value jsontext.Value) string { return `{"v":` + string(value) + `}` }
	again, err := canon.Parse([]byte(wrap(encoded)), canon.Options{AllowFoldClash: true})
	if err == nil && again.String() == wrap(text) {
		return true
	}
	if !v.IsValid() {
		return c.fail("this value does not survive decoding")
	}
	return c.fail("expected a value that " + kindWords(v.Type()) + " holds exactly, in its usual spelling")
}

func (c *comparison) members(text, encoded jsontext.Value, v reflect.Value) bool {
	fields, _, _ := fieldsOf(v.Type())
	names, given := split(text)
	again, kept := split(encoded)
	place := places(again)
	for i, name := range names {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		c.path = append(c.path, name)
		if at < 0 {
			return c.fail("this member is not kept by the action")
		}
		f := fields[at]
		member, err := v.FieldByIndexErr(f.index)
		if err != nil {
			return c.fail("this member is not kept by the action")
		}
		var part jsontext.Value
		if j, ok := place[name]; ok {
			part = kept[j]
		} else if !f.omit {
			return c.fail("this member is not kept by the action")
		} else if part, err = json.Marshal(member.Interface(), encoding, json.StringifyNumbers(f.stringify)); err != nil {
			return c.fail("this value cannot be encoded again")
		}
		if !c.equal(given[i], part, member) {
			return false
		}
		c.path = c.path[:len(c.path)-1]
	}
	place = places(names)
	return !slices.ContainsFunc(again, func(name string) bool {
		if _, ok := place[name]; ok || optionalZero(v, fields, name) {
			return false
		}
		return !c.fail("missing " + quoted([]string{name}))
	})
}

// optionalZero reports whether the named member of v may be absent and is zero.
func optionalZero(v reflect.Value, fields []field, name string) bool {
	at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if at < 0 || !fields[at].omit {
		return false
	}
	member, err := v.FieldByIndexErr(fields[at].index)
	return err != nil || member.IsZero()
}

func (c *comparison) entries(text, encoded jsontext.Value, v reflect.Value) bool {
	names, given := split(text)
	again, kept := split(encoded)
	place := places(again)
	for i, name := range names {
		c.path = append(c.path, name)
		j, ok := place[name]
		key := reflect.ValueOf(name)
		if !ok || !key.CanConvert(v.Type().Key()) {
			return c.fail("this member is not kept by the action")
		}
		if !c.equal(given[i], kept[j], v.MapIndex(key.Convert(v.Type().Key()))) {
			return false
		}
		c.path = c.path[:len(c.path)-1]
	}
	if len(again) > len(names) {
		return c.fail("other members than those that the action keeps")
	}
	return true
}

func places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

func (c *comparison) items(text, encoded jsontext.Value, v reflect.Value) bool {
	_, given := split(text)
	_, kept := split(encoded)
	if len(given) != len(kept) || len(given) != v.Len() {
		return c.fail("expected " + strconv.Itoa(len(kept)) + " items")
	}
	for i := range given {
		c.path = append(c.path, strconv.Itoa(i))
		if !c.equal(given[i], kept[i], v.Index(i)) {
			return false
		}
		c.path = c.path[:len(c.path)-1]
	}
	return true
}
