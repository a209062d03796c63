package wire

import (
	"slices"
	"strings"
)

// shapeRoot makes the root what providers ask for: an object with properties, and without the keywords that
// they refuse there. Those are said in words instead.
func (c *conversion) shapeRoot(out *object) error {
	if c.root.has("type") && !hasType(c.root, "object") {
		return errNoSchema
	}
	if out.has("type") {
		out.set("type", quote("object"))
	} else {
		out.first("type", quote("object"))
	}
	c.flatten(out)
	rest := newObject()
	for _, name := range slices.Clone(out.names) {
		if slices.Contains(c.profile.Root, name) {
			rest.set(name, out.values[name])
			out.remove(name)
			c.widened("", "%s at the root is in the description only", name)
		}
	}
	if len(rest.names) > 0 {
		describe(out, "All arguments together also have to match this JSON Schema: ", rest)
	}
	if !out.has("properties") {
		out.set("properties", newObject())
	}
	return nil
}

// describe adds to what a schema says about itself.
func describe(o *object, text string, v any) {
	said, _ := o.text("description")
	o.set("description", quote(strings.TrimSpace(said+"\n\n"+text+string(appendValue(nil, v)))))
}

// flatten takes into the root those parts of its allOf that mean the same there.
func (c *conversion) flatten(out *object) {
	parts, _ := out.values["allOf"].(list)
	if !slices.Contains(c.profile.Root, "allOf") || parts == nil {
		return
	}
	var rest list
	for _, part := range parts {
		if o := part.(*object); !merge(out, o) {
			rest = append(rest, o)
		}
	}
	if rest == nil {
		out.remove("allOf")
	} else {
		out.set("allOf", rest)
	}
}

// merge adds the keywords of one schema to another, if both together then mean what both mean.
func merge(into, from *object) bool {
	if closed(into) && declares(from) || closed(from) && declares(into) {
		return false
	}
	properties, _ := into.values["properties"].(*object)
	added, _ := from.values["properties"].(*object)
	if properties != nil && added != nil {
		for _, name := range added.names {
			if properties.has(name) && !same(properties.values[name], added.values[name]) {
				return false
			}
		}
	}
	for _, name := range from.names {
		switch {
		case keywords[name].kind == note, name == "properties", name == "required", !into.has(name), same(into.values[name], from.values[name]):
		default:
			return false
		}
	}
	for _, name := range from.names {
		switch {
		case name == "properties" && properties != nil:
			for _, key := range added.names {
				properties.set(key, added.values[key])
			}
		case name == "required" && into.has("required"):
			into.set("required", union(into.values["required"], from.values["required"]))
		case name == "description" && into.has(name) && !same(into.values[name], from.values[name]):
			said, _ := into.text(name)
			more, _ := from.text(name)
			into.set(name, quote(said+"\n\n"+more))
		case !into.has(name):
			into.set(name, from.values[name])
		}
	}
	return true
}

// closed reports whether what a schema declares decides about other properties.
func closed(o *object) bool {
	v, ok := o.values["additionalProperties"]
	return ok && !isTrue(v)
}

func declares(o *object) bool {
	return o.has("properties") || o.has("patternProperties") || closed(o)
}

func union(a, b any) list {
	all, _ := a.(list)
	all = slices.Clone(all)
	more, _ := b.(list)
	for _, name := range more {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// property moves properties whose names the provider refuses into the description, and allows them as others.
func (s *sub) property() {
	properties, _ := s.out.values["properties"].(*object)
	if s.profile.Property == nil || properties == nil {
		return
	}
	refused := newObject()
	for _, name := range slices.Clone(properties.names) {
		if !s.profile.Property.MatchString(name) {
			refused.set(name, properties.values[name])
			properties.remove(name)
			s.loose("the property "+string(quote(name)), "is in the description only, since the provider refuses its name")
		}
	}
	if len(refused.names) == 0 {
		return
	}
	if closed(s.out) {
		s.out.remove("additionalProperties")
	}
	describe(s.out, "There are also these properties, by name and JSON Schema: ", refused)
}
