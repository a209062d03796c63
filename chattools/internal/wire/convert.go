package wire

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The drafts, by the year or number that orders them.
const (
	draft4    = 4
	draft6    = 6
	draft7    = 7
	draft2019 = 2019
	draft2020 = 2020
)

func draftOf(root *object) int {
	uri, _ := root.text("$schema")
	switch {
	case strings.Contains(uri, "/draft-04/"):
		return draft4
	case strings.Contains(uri, "/draft-06/"):
		return draft6
	case strings.Contains(uri, "/draft-07/"):
		return draft7
	case strings.Contains(uri, "/2019-09/"):
		return draft2019
	}
	return draft2020
}

// maxExpansion bounds how many schemas references may turn into.
const maxExpansion = 4000

// conversion is the work on one schema.
//
// Every method that converts a schema also says whether the result is exact: it allows the same values as the
// original. Where a wider part would make the whole narrower, as under "not", only exact parts are kept.
type conversion struct {
	profile Profile
	root    *object
	draft   int
	base    *url.URL
	active  map[*object]bool // being converted: meeting one again is a cycle
	within  int              // how many references deep
	left    int              // schemas that references may still turn into
	notes   []string
	err     error
}

func newConversion(p Profile, root *object) *conversion {
	c := &conversion{profile: p, root: root, draft: draftOf(root), active: map[*object]bool{}, left: maxExpansion}
	id, _ := root.text(c.idKeyword())
	if base, err := url.Parse(id); err == nil {
		base.Fragment = ""
		c.base = base
	}
	return c
}

func (c *conversion) idKeyword() string {
	if c.draft == draft4 {
		return "id"
	}
	return "$id"
}

// identity reports whether a schema has an address of its own, against which references within it are read.
func (c *conversion) identity(o *object) bool {
	id, ok := o.text(c.idKeyword())
	return ok && o != c.root && !strings.HasPrefix(id, "#")
}

func (c *conversion) convert() (*object, error) {
	out, _ := c.schema(c.root, "", false)
	if c.err != nil {
		return nil, c.err
	}
	if err := c.shapeRoot(out); err != nil {
		return nil, err
	}
	return out, nil
}

func (c *conversion) fail(at, problem string) {
	if c.err == nil {
		c.err = fmt.Errorf("wire: the schema at %q: %w", at, errors.New(problem))
	}
}

func (c *conversion) widened(at, format string, args ...any) {
	if at == "" {
		at = "/"
	}
	c.notes = append(c.notes, at+": "+fmt.Sprintf(format, args...))
}

// schema converts a schema. Foreign says that it lies within one that has an identity of its own, where
// references mean something else.
func (c *conversion) schema(v any, at string, foreign bool) (*object, bool) {
	if isTrue(v) {
		return newObject(), true
	}
	if isFalse(v) {
		c.widened(at, "false, which allows nothing, is {} now")
		return newObject(), false
	}
	o, ok := v.(*object)
	if !ok {
		c.fail(at, "a schema is expected here")
		return newObject(), false
	}
	if c.within > 0 {
		c.left--
	}
	switch {
	case c.active[o]:
		c.widened(at, "a schema within itself is open from here on")
		return c.stub(o), false
	case c.left < 0:
		c.widened(at, "references make the schema too large; it is open from here on")
		return c.stub(o), false
	}
	if _, other := o.text("$schema"); other && draftOf(o) != c.draft {
		c.widened(at, "a schema of another draft is open now")
		return newObject(), false
	}
	foreign = foreign || c.identity(o)
	c.active[o] = true
	defer delete(c.active, o)
	s := sub{conversion: c, in: o, out: newObject(), at: at, foreign: foreign, exact: true}
	s.keywords()
	s.references()
	s.array()
	s.property()
	return s.out, s.exact
}

// stub stands for a schema that is not followed further: its type and what it says about itself.
func (c *conversion) stub(o *object) *object {
	out := newObject()
	for _, name := range []string{"type", "title", "description"} {
		ignored := name == "type" && c.draft < draft2019 && o.has("$ref")
		if v, ok := o.values[name]; ok && !ignored {
			out.set(name, v)
		}
	}
	s := sub{out: out}
	s.array()
	return out
}
