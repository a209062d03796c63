package params

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// inspector walks a type and collects what keeps it from having a schema that
// agrees with its encoding.
type inspector struct {
	seen   map[reflect.Type]bool
	open   map[reflect.Type]bool   // slices and maps around the current type, up to the next struct
	owner  map[string]reflect.Type // which type has a definition's name
	faults []error
}

func (in *inspector) fault(path, format string, args ...any) {
	in.faults = append(in.faults, fmt.Errorf("params: %s: %s", path, fmt.Sprintf(format, args...)))
}

func (in *inspector) inspect(t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		if t.Name() != "" {
			in.fault(path, "%s is a named pointer type; use a plain pointer", t)
			return
		}
		t = t.Elem()
	}
	switch {
	case hasMethod(t, "JSONSchemaAlias"), hasMethod(t, "JSONSchemaProperty"):
		in.fault(path, "%s describes itself as another type; use a JSONSchema method", t)
		return
	case describesItself(t):
		in.inspectOwn(t, path)
		return
	case t == timeType, isAnything(t):
		return
	case t == durationType:
		in.fault(path, "time.Duration has no encoding of its own; use an integer whose name says the unit, or a string")
		return
	case t == numberType:
		in.fault(path, "json.Number does not decode exactly; use int64, float64, or a string for decimals")
		return
	case hasCodec(t):
		in.fault(path, "%s encodes itself, so that its schema is unknown; give it a JSONSchema method, or use a string", t)
		return
	case isBytes(t):
		return
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Slice, reflect.Array:
		in.inspectElement(t, path)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || hasCodec(t.Key()) {
			in.fault(path, "a map needs plain string keys, not %s", t.Key())
		} else {
			in.inspectElement(t, path)
		}
	case reflect.Struct:
		if !in.seen[t] {
			in.seen[t] = true
			around := in.open
			in.open = map[reflect.Type]bool{}
			in.inspectStruct(t, path)
			in.open = around
		}
	default:
		in.fault(path, "%s has no JSON Schema", kindName(t))
	}
}

// inspectElement goes into a slice, array or map. One that contains itself has
// no struct in between, and so no definition to refer to.
func (in *inspector) inspectElement(t reflect.Type, path string) {
	if in.open[t] {
		in.fault(path, "%s contains itself without a struct in between", t)
		return
	}
	in.open[t] = true
	in.inspect(t.Elem(), path+"[]")
	delete(in.open, t)
}

func (in *inspector) inspectStruct(t reflect.Type, path string) {
	if t.PkgPath() == "net/url" && t.Name() == "URL" {
		in.fault(path, "url.URL does not encode as a text; use a string with format=uri")
		return
	}
	if name := portableName(t); name != "" {
		if other, taken := in.owner[name]; taken {
			in.fault(path, "%s and %s would both be called %q in the schema; rename one", qualified(t), qualified(other), name)
			return
		}
		in.owner[name] = t
	}
	before := len(in.faults)
	fields, shadowed, cyclic := fieldsOf(t)
	if cyclic {
		in.fault(path, "%s embeds itself", t)
		return
	}
	for _, f := range shadowed {
		in.fault(path+"."+f.path, "another field is called %q too; rename one", f.name)
	}
	for i, f := range fields {
		for _, other := range fields[:i] {
			if strings.EqualFold(f.name, other.name) {
				in.fault(path+"."+f.path, "the name %q differs from %q only by case", f.name, other.name)
			}
		}
		if !settable(t, f) {
			in.fault(path+"."+f.path, "a decoder cannot reach it through an embedded pointer to an unexported type")
			continue
		}
		in.inspectField(f, path+"."+f.path)
	}
	if len(in.faults) > before {
		return
	}
	if err := json.Unmarshal([]byte("{}"), reflect.New(t).Interface(), decoding); err != nil {
		in.fault(path, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// settable reports whether a decoder can set f: it cannot allocate what an
// unexported field points to.
func settable(t reflect.Type, f field) bool {
	for i := range f.index[1:] {
		around := t.FieldByIndex(f.index[:i+1])
		if !around.IsExported() && around.Type.Kind() == reflect.Pointer {
			return false
		}
	}
	return true
}

func (in *inspector) inspectField(f field, path string) {
	source := f.source
	keywords := tagKeywords(source)
	switch {
	case source.Anonymous && !f.named:
		in.fault(path, "an embedded field that is not a struct needs a name in its json tag")
		return
	case f.name == "-":
		in.fault(path, `the name "-" cannot be used`)
		return
	case slices.Contains(keywords, "-"):
		in.fault(path, `a member hidden from the schema could never be given; use json:"-" too`)
		return
	}
	for _, option := range f.options {
		name, _, _ := strings.Cut(option, ":")
		switch name {
		case "omitempty", "omitzero", "string", "":
		case "inline", "embed":
			in.fault(path, "the option %s is not supported; embed the struct, or name the member", name)
			return
		case "format":
			in.fault(path, "the option format is not supported; use a type that encodes the text you want")
			return
		case "case":
			in.fault(path, "the option case is not supported; names have to match exactly")
			return
		}
	}
	if f.stringify && !isNumeric(source.Type) {
		in.fault(path, "the option string is only for numbers")
		return
	}
	if slices.Contains(keywords, "nullable") && !canBeNull(source.Type) {
		in.fault(path, "a nullable member has to be a pointer, slice or map, which can hold null")
		return
	}
	before := len(in.faults)
	in.inspect(source.Type, path)
	if len(in.faults) == before {
		in.inspectKeywords(f, keywords, path)
	}
}

func describesItself(t reflect.Type) bool { return hasMethod(t, "JSONSchema") }

// hasMethod reports whether a concrete type, or a pointer to it, has a method.
func hasMethod(t reflect.Type, name string) bool {
	if t.Kind() == reflect.Interface {
		return false
	}
	_, ok := reflect.PointerTo(t).MethodByName(name)
	return ok
}

func (in *inspector) inspectOwn(t reflect.Type, path string) {
	defer func() {
		if r := recover(); r != nil {
			in.fault(path, "the JSONSchema method of %s panicked", t)
		}
	}()
	switch own := ownSchema(t); {
	case own == nil:
		in.fault(path, "the JSONSchema method of %s gives no *jsonschema.Schema", t)
	case own.ID != "":
		in.fault(path, "the JSONSchema method of %s sets $id", t)
	}
}

func canBeNull(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

func isNumeric(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
}

// kindName names a kind for a message, with its article where it needs one.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Func:
		return "a function"
	case reflect.Chan:
		return "a channel"
	case reflect.Interface:
		return "an interface with methods"
	case reflect.Pointer:
		return "a pointer"
	}
	return t.Kind().String()
}

func qualified(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }
