package params

import (
	"reflect"
	"slices"
	"strings"
)

// field is a member of the object that a struct type encodes to.
type field struct {
	name      string
	index     []int
	source    reflect.StructField
	path      string // Go names, from the struct: "Base.ID"
	named     bool   // the tag gives the name
	omit      bool   // omitempty or omitzero
	stringify bool
	options   []string
}

// fieldsOf lists the fields of a struct by the rules of JSON version 2: the
// fields of embedded structs are promoted, and of several with one name the
// shallowest counts, or at equal depth the only one with a name in its tag.
// The second result lists the fields that lost; embedding that never ends is
// cut off where it repeats, and cyclic says so.
func fieldsOf(t reflect.Type) (fields, shadowed []field, cyclic bool) {
	type level struct {
		t      reflect.Type
		index  []int
		path   string
		within []reflect.Type
	}
	var all []field
	queue := []level{{t: t}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for i := range at.t.NumField() {
			source := at.t.Field(i)
			tag := source.Tag.Get("json")
			if tag == "-" || !source.IsExported() && !source.Anonymous {
				continue
			}
			options := strings.Split(tag, ",")
			f := field{
				name:    options[0],
				index:   append(slices.Clone(at.index), i),
				source:  source,
				path:    at.path + source.Name,
				named:   options[0] != "",
				options: options[1:],
			}
			if source.Anonymous && !f.named {
				embedded := source.Type
				if embedded.Kind() == reflect.Pointer {
					embedded = embedded.Elem()
				}
				if embedded.Kind() == reflect.Struct {
					if embedded == t || slices.Contains(at.within, embedded) {
						cyclic = true
						continue
					}
					queue = append(queue, level{embedded, f.index, f.path + ".", append(slices.Clone(at.within), embedded)})
					continue
				}
			}
			if !f.named {
				f.name = source.Name
			}
			f.omit = slices.Contains(f.options, "omitempty") || slices.Contains(f.options, "omitzero")
			f.stringify = slices.Contains(f.options, "string")
			all = append(all, f)
		}
	}
	for _, f := range all {
		if wins(f, all) {
			fields = append(fields, f)
		} else {
			shadowed = append(shadowed, f)
		}
	}
	return fields, shadowed, cyclic
}

func wins(f field, all []field) bool {
	for _, other := range all {
		if other.name != f.name || slices.Equal(other.index, f.index) {
			continue
		}
		if len(other.index) < len(f.index) || len(other.index) == len(f.index) && (other.named || !f.named) {
			return false
		}
	}
	return true
}

// methods that replace the encoding of a type.
var codecMethods = []string{
	"MarshalJSON", "MarshalJSONTo", "MarshalText", "AppendText",
	"UnmarshalJSON", "UnmarshalJSONFrom", "UnmarshalText",
}

// hasCodec reports whether t, or a pointer to it, encodes itself.
func hasCodec(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		t = reflect.PointerTo(t)
	}
	return slices.ContainsFunc(codecMethods, func(name string) bool {
		_, ok := t.MethodByName(name)
		return ok
	})
}
