package params

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

const (
	maxFilled = 10_000    // members that defaults may add to one document
	maxPoured = 1_000_000 // values looked at on the way
)

// filler adds the members that are missing and have a default. It mirrors the
// schema; a node is nil where no default can lie below.
type filler struct {
	members  []filledMember
	items    *filler
	prefix   []*filler
	others   *filler // map values
	declared map[string]bool
	also     *filler // what the schema refers to
	fills    bool    // there is a default here or below
}

type filledMember struct {
	name     string
	next     *filler
	fallback any
	has      bool
}

// fill adds to root and reports whether it added anything.
func (f *filler) fill(root map[string]any) (bool, error) {
	p := pour{}
	p.into(f, root, 1)
	if p.endless {
		return false, &Error{Problem: "expected smaller parameters: too many defaults belong to these"}
	}
	return p.added > 0, nil
}

// pour is one filling of one document.
type pour struct {
	added   int
	visited int
	endless bool
}

func (p *pour) into(f *filler, value any, depth int) {
	if f == nil || p.endless {
		return
	}
	p.visited++
	if depth > 2*canon.MaxDepth || p.added > maxFilled || p.visited > maxPoured {
		p.endless = true
		return
	}
	p.into(f.also, value, depth+1)
	switch v := value.(type) {
	case map[string]any:
		for _, member := range f.members {
			_, present := v[member.name]
			if !present && member.has {
				v[member.name] = clone(member.fallback)
				present = true
				p.added++
			}
			if present {
				p.into(member.next, v[member.name], depth+1)
			}
		}
		if f.others != nil {
			for name, member := range v {
				if !f.declared[name] {
					p.into(f.others, member, depth+1)
				}
			}
		}
	case []any:
		for i, item := range v {
			if i < len(f.prefix) {
				p.into(f.prefix[i], item, depth+1)
			} else {
				p.into(f.items, item, depth+1)
			}
		}
	}
}

// planner builds fillers, one for each place of the schema.
type planner struct {
	schema  *Schema
	old     bool // a draft in which nothing beside $ref counts
	planned map[string]*filler
	checks  []defaultCheck
}

type defaultCheck struct {
	at    string
	value any
	next  *filler
}

// planDefaults builds the filler of the schema and checks every default that
// it can reach, with the defaults below it filled in, against the schema at
// its place.
func (s *Schema) planDefaults() (*filler, error) {
	p := &planner{schema: s, old: s.compiled.DraftVersion < 2019, planned: map[string]*filler{}}
	root, err := p.plan(s.doc, "")
	if err != nil {
		return nil, err
	}
	p.prune()
	for _, check := range p.checks {
		if err := p.check(check); err != nil {
			return nil, err
		}
	}
	return p.useful(root), nil
}

// prune drops the parts in which there is nothing to fill.
func (p *planner) prune() {
	for grown := true; grown; {
		grown = false
		for _, f := range p.planned {
			if !f.fills && f.leads() {
				f.fills, grown = true, true
			}
		}
	}
	for _, f := range p.planned {
		f.items, f.others, f.also = p.useful(f.items), p.useful(f.others), p.useful(f.also)
		for i := range f.prefix {
			f.prefix[i] = p.useful(f.prefix[i])
		}
		for i := range f.members {
			f.members[i].next = p.useful(f.members[i].next)
		}
		f.members = slices.DeleteFunc(f.members, func(m filledMember) bool { return !m.has && m.next == nil })
	}
}

func (p *planner) useful(f *filler) *filler {
	if f == nil || !f.fills {
		return nil
	}
	return f
}

// leads reports whether f fills something itself, or leads to what does.
func (f *filler) leads() bool {
	fills := func(next *filler) bool { return next != nil && next.fills }
	return fills(f.items) || fills(f.others) || fills(f.also) || slices.ContainsFunc(f.prefix, fills) ||
		slices.ContainsFunc(f.members, func(m filledMember) bool { return m.has || fills(m.next) })
}

func (p *planner) check(c defaultCheck) error {
	filled := pour{}
	value := clone(c.value)
	filled.into(p.useful(c.next), value, 1)
	if filled.endless {
		return fmt.Errorf("params: the default at %s has defaults below it without end", visible(c.at))
	}
	guard, err := p.schema.guardedCopy()
	if err != nil {
		return err
	}
	compiled, err := guard.at(c.at)
	if err != nil {
		return err
	}
	if err := guard.check(p.schema, compiled, value); err != nil {
		return fmt.Errorf("params: the default at %s is not allowed by its own schema (%s)",
			visible(c.at), strings.TrimPrefix(err.Error(), "params: "))
	}
	return nil
}

// plan returns the filler of the schema at pointer at.
func (p *planner) plan(node map[string]any, at string) (*filler, error) {
	if f, ok := p.planned[at]; ok {
		return f, nil
	}
	f := new(filler)
	p.planned[at] = f
	if target, place := p.follow(node); target != nil {
		next, err := p.plan(target, place)
		if err != nil {
			return nil, err
		}
		if p.old || !hasAny(node, reaching...) {
			p.planned[at] = next
			return next, nil
		}
		f.also = next
	}
	if err := p.members(f, node, at); err != nil {
		return nil, err
	}
	return f, p.elements(f, node, at)
}

// follow returns what node refers to within the document, and where it is.
func (p *planner) follow(node map[string]any) (map[string]any, string) {
	ref, _ := node["$ref"].(string)
	target := p.schema.target(node)
	if target == nil {
		return nil, ""
	}
	tokens, _ := splitFragment(ref[1:])
	return target, pointer(tokens)
}

func (p *planner) members(f *filler, node map[string]any, at string) error {
	properties, _ := node["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		child, ok := properties[name].(map[string]any)
		if !ok {
			continue
		}
		place := at + "/properties/" + pointerEscaper.Replace(name)
		member := filledMember{name: name}
		var err error
		if member.next, err = p.plan(child, place); err != nil {
			return err
		}
		if fallback, ok := p.fallback(child, 0); ok {
			if member.fallback, err = exactDefault(fallback, place); err != nil {
				return err
			}
			member.has = true
			p.checks = append(p.checks, defaultCheck{place, member.fallback, member.next})
		}
		f.members = append(f.members, member)
	}
	others, ok := node["additionalProperties"].(map[string]any)
	if _, patterned := node["patternProperties"]; !ok || patterned {
		return nil
	}
	f.declared = map[string]bool{}
	for name := range properties {
		f.declared[name] = true
	}
	var err error
	f.others, err = p.plan(others, at+"/additionalProperties")
	return err
}

func (p *planner) elements(f *filler, node map[string]any, at string) error {
	var err error
	if items, ok := node["items"].(map[string]any); ok {
		if f.items, err = p.plan(items, at+"/items"); err != nil {
			return err
		}
	}
	for _, keyword := range []string{"prefixItems", "items"} {
		list, ok := node[keyword].([]any)
		if !ok {
			continue
		}
		f.prefix = make([]*filler, len(list))
		for i, item := range list {
			if item, ok := item.(map[string]any); ok {
				if f.prefix[i], err = p.plan(item, fmt.Sprintf("%s/%s/%d", at, keyword, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fallback returns the default of node: its own, or that of what it refers to.
func (p *planner) fallback(node map[string]any, hops int) (any, bool) {
	target, _ := p.follow(node)
	if value, ok := node["default"]; ok && (target == nil || !p.old) {
		return value, true
	}
	if target == nil || hops > maxSchemaDepth {
		return nil, false
	}
	return p.fallback(target, hops+1)
}

// exactDefault puts a default into its canonical form.
func exactDefault(value any, at string) (any, error) {
	object, err := canon.Parse(appendJSON(nil, map[string]any{"default": value}), canon.Options{AllowFoldClash: true})
	if err != nil {
		return nil, fmt.Errorf("params: the default at %s has no exact form: %w", visible(at), err)
	}
	read, err := readCanonical(object.String())
	if err != nil {
		return nil, err
	}
	return read.root["default"], nil
}
