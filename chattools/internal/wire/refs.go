package wire

import (
	"net/url"
	"strconv"
	"strings"
)

// references puts what a reference names in its place.
func (s *sub) references() {
	ref, ok := s.in.text("$ref")
	if !ok {
		return
	}
	target, foreign, found := s.resolve(ref)
	if !found || s.foreign {
		s.loose("$ref", "cannot be followed here and is left out")
		return
	}
	s.within++
	body, exact := s.schema(target, s.at, foreign)
	s.within--
	s.exact = s.exact && exact
	if s.onlyNotes() { // what stands beside a reference describes this use of it
		for _, name := range s.out.names {
			body.set(name, s.out.values[name])
		}
		s.out = body
		return
	}
	if len(body.names) > 0 {
		both, _ := s.out.values["allOf"].(list)
		s.out.set("allOf", append(both[:len(both):len(both)], body))
	}
}

func (s *sub) onlyNotes() bool {
	for _, name := range s.out.names {
		if keywords[name].kind != note {
			return false
		}
	}
	return true
}

// resolve finds what a reference names within the schema, and whether that lies within a schema that has an
// identity of its own.
func (c *conversion) resolve(ref string) (target any, foreign, ok bool) {
	u, err := url.Parse(ref)
	if err != nil || c.base == nil {
		return nil, false, false
	}
	fragment := u.Fragment
	u = c.base.ResolveReference(u)
	u.Fragment, u.RawFragment = "", ""
	if u.String() != c.base.String() {
		return nil, false, false
	}
	switch {
	case fragment == "":
		return c.root, false, true
	case fragment[0] == '/':
		return c.pointer(fragment)
	}
	target = c.anchor(c.root, fragment)
	return target, false, target != nil
}

func (c *conversion) pointer(p string) (target any, foreign, ok bool) {
	target = c.root
	for step := range strings.SplitSeq(p[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch v := target.(type) {
		case *object:
			target, ok = v.values[step]
		case list:
			i, err := strconv.Atoi(step)
			ok = err == nil && i >= 0 && i < len(v)
			if ok {
				target = v[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false, false
		}
		if o, isObject := target.(*object); isObject {
			foreign = foreign || c.identity(o)
		}
	}
	return target, foreign, true
}

// anchor finds the schema with a name of its own.
func (c *conversion) anchor(v any, name string) any {
	switch v := v.(type) {
	case *object:
		keyword, want := "$anchor", name
		if c.draft < draft2019 {
			keyword, want = c.idKeyword(), "#"+name
		}
		if got, ok := v.text(keyword); ok && got == want {
			return v
		}
		if got, ok := v.text("$dynamicAnchor"); ok && c.draft >= draft2020 && got == name {
			return v
		}
		if c.identity(v) {
			return nil
		}
		for _, key := range v.names {
			if key == "enum" || key == "const" || key == "default" || key == "examples" {
				continue
			}
			if found := c.anchor(v.values[key], name); found != nil {
				return found
			}
		}
	case list:
		for _, item := range v {
			if found := c.anchor(item, name); found != nil {
				return found
			}
		}
	}
	return nil
}
