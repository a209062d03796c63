package wire

import (
	"strconv"
	"strings"
)

// kind says what a keyword holds and how it is converted.
type kind int

const (
	plain    kind = iota // kept as it is
	note                 // kept as it is, and says nothing about which values are allowed
	schemas              // a schema
	listed               // a list of schemas
	named                // schemas by name
	negative             // a schema that has to stay exact
	open                 // removed, which allows more
	special              // by a method of its own
)

// keywords are those that are understood, with the draft that brought them. All others say nothing about
// which values are allowed, and are left out.
var keywords = map[string]struct {
	since int
	kind  kind
}{
	"type": {draft4, plain}, "enum": {draft4, plain}, "const": {draft6, plain},
	"multipleOf": {draft4, plain}, "maximum": {draft4, special}, "minimum": {draft4, special},
	"exclusiveMaximum": {draft4, special}, "exclusiveMinimum": {draft4, special},
	"minLength": {draft4, plain}, "maxLength": {draft4, plain}, "pattern": {draft4, plain}, "format": {draft4, plain},
	"minItems": {draft4, plain}, "maxItems": {draft4, plain}, "uniqueItems": {draft4, plain},
	"minProperties": {draft4, plain}, "maxProperties": {draft4, plain}, "required": {draft4, plain},
	"dependentRequired": {draft2019, plain},

	"title": {draft4, note}, "description": {draft4, note}, "default": {draft4, note},
	"readOnly": {draft7, note}, "writeOnly": {draft7, note}, "deprecated": {draft2019, note},
	"contentEncoding": {draft7, note}, "contentMediaType": {draft7, note},

	"propertyNames": {draft6, schemas}, "prefixItems": {draft2020, listed}, "allOf": {draft4, listed}, "anyOf": {draft4, listed},
	"properties": {draft4, named}, "patternProperties": {draft4, named}, "dependentSchemas": {draft2019, named},
	"not": {draft4, negative},

	"additionalProperties": {draft4, special}, "items": {draft4, special}, "contains": {draft6, special},
	"oneOf": {draft4, special}, "if": {draft7, special}, "dependencies": {draft4, special},

	"unevaluatedItems": {draft2019, open}, "unevaluatedProperties": {draft2019, open},
	"$recursiveRef": {draft2019, open}, "$dynamicRef": {draft2020, open},
}

// sub is the work on one schema within a schema.
type sub struct {
	*conversion
	in, out *object
	at      string
	foreign bool
	exact   bool
}

// keywords converts all keywords but references.
func (s *sub) keywords() {
	onlyNotes := s.draft < draft2019 && s.in.has("$ref") // then a reference is all that counts
	for _, name := range s.in.names {
		k, known := keywords[name]
		if !known || k.since > s.draft || onlyNotes && k.kind != note {
			continue
		}
		v := s.in.values[name]
		switch k.kind {
		case plain, note:
			s.out.set(name, v)
		case schemas:
			s.out.set(name, s.child(v, name))
		case listed:
			s.out.set(name, s.children(v, name))
		case named:
			s.out.set(name, s.members(v, name))
		case negative:
			if converted, ok := s.exactly(v, name); ok {
				s.out.set(name, converted)
			}
		case open:
			s.loose(name, "is left out")
		case special:
			s.special(name, v)
		}
	}
}

// loose says that a keyword became wider.
func (s *sub) loose(name, what string) {
	s.exact = false
	s.widened(s.at, "%s %s", name, what)
}

func (s *sub) child(v any, steps ...string) *object {
	out, exact := s.schema(v, s.at+"/"+strings.Join(steps, "/"), s.foreign)
	s.exact = s.exact && exact
	return out
}

func (s *sub) children(v any, name string) list {
	in, ok := v.(list)
	if !ok {
		s.fail(s.at+"/"+name, "a list of schemas is expected here")
	}
	out := make(list, len(in))
	for i, item := range in {
		out[i] = s.child(item, name, strconv.Itoa(i))
	}
	return out
}

func (s *sub) members(v any, name string) *object {
	in, ok := v.(*object)
	out := newObject()
	if !ok {
		s.fail(s.at+"/"+name, "schemas by name are expected here")
		return out
	}
	for _, key := range in.names {
		out.set(key, s.child(in.values[key], name, escape(key)))
	}
	return out
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// escape makes a name a step of a JSON pointer.
func escape(name string) string { return escaper.Replace(name) }

// exactly converts a schema that may not become wider. If it would, it is left out, which is told once.
func (s *sub) exactly(v any, name string) (*object, bool) {
	told := len(s.notes)
	out, exact := s.schema(v, s.at+"/"+name, s.foreign)
	if !exact {
		s.notes = s.notes[:told]
		s.loose(name, "is left out, since it cannot be written exactly")
	}
	return out, exact
}

// special converts the keywords that depend on others.
func (s *sub) special(name string, v any) {
	switch name {
	case "minimum", "maximum":
		exclusive := "exclusiveM" + name[1:]
		if isTrue(s.in.values[exclusive]) {
			name = exclusive
		}
		s.out.set(name, v)
	case "exclusiveMinimum", "exclusiveMaximum":
		if !isTrue(v) && !isFalse(v) {
			s.out.set(name, v)
		}
	case "additionalProperties":
		if isTrue(v) || isFalse(v) {
			s.out.set(name, v)
		} else {
			s.out.set(name, s.child(v, name))
		}
	case "items":
		s.items(v)
	case "contains":
		s.contains(v)
	case "oneOf":
		s.oneOf(v)
	case "if":
		s.conditional(v)
	case "dependencies":
		s.dependencies(v)
	}
}

// items makes prefixItems of the tuples of earlier drafts.
func (s *sub) items(v any) {
	if _, tuple := v.(list); !tuple {
		s.out.set("items", s.child(v, "items"))
		return
	}
	s.out.set("prefixItems", s.children(v, "items"))
	if rest, ok := s.in.values["additionalItems"]; ok {
		s.out.set("items", s.child(rest, "additionalItems"))
	}
}

// contains keeps maxContains only if no more items can match than did.
func (s *sub) contains(v any) {
	out, exact := s.schema(v, s.at+"/contains", s.foreign)
	s.exact = s.exact && exact
	s.out.set("contains", out)
	if s.draft < draft2019 {
		return
	}
	if least, ok := s.in.values["minContains"]; ok {
		s.out.set("minContains", least)
	}
	if most, ok := s.in.values["maxContains"]; ok && exact {
		s.out.set("maxContains", most)
	} else if ok {
		s.loose("maxContains", "is left out, since contains is wider")
	}
}

// oneOf stays if its branches are what they were; wider ones may overlap.
func (s *sub) oneOf(v any) {
	before := s.exact
	s.exact = true
	branches := s.children(v, "oneOf")
	exact := s.exact
	s.exact = s.exact && before
	switch {
	case exact:
		s.out.set("oneOf", branches)
	case s.in.has("anyOf"):
		s.loose("oneOf", "is left out, since its branches are wider and there is an anyOf")
	default:
		s.loose("oneOf", "is anyOf now, since its branches are wider")
		s.out.set("anyOf", branches)
	}
}

func (s *sub) conditional(v any) {
	condition, ok := s.exactly(v, "if")
	if !ok {
		return
	}
	s.out.set("if", condition)
	for _, name := range []string{"then", "else"} {
		if branch, ok := s.in.values[name]; ok {
			s.out.set(name, s.child(branch, name))
		}
	}
}

// dependencies become the two keywords that took their place.
func (s *sub) dependencies(v any) {
	in, ok := v.(*object)
	if !ok {
		s.fail(s.at+"/dependencies", "dependencies by name are expected here")
		return
	}
	if s.draft >= draft2019 && (s.in.has("dependentRequired") || s.in.has("dependentSchemas")) {
		s.loose("dependencies", "is left out beside those that took its place")
		return
	}
	required, applied := newObject(), newObject()
	for _, key := range in.names {
		if names, ok := in.values[key].(list); ok {
			required.set(key, names)
		} else {
			applied.set(key, s.child(in.values[key], "dependencies", escape(key)))
		}
	}
	if len(required.names) > 0 {
		s.out.set("dependentRequired", required)
	}
	if len(applied.names) > 0 {
		s.out.set("dependentSchemas", applied)
	}
}

// array gives arrays without items open ones, which some providers ask for.
func (s *sub) array() {
	if !s.out.has("items") && hasType(s.out, "array") {
		s.out.set("items", newObject())
	}
}

func hasType(o *object, name string) bool {
	types, ok := o.values["type"].(list)
	if !ok {
		types = list{o.values["type"]}
	}
	for _, t := range types {
		if t == any(quote(name)) {
			return true
		}
	}
	return false
}
