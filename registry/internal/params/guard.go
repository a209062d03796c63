package params

import (
	"net/url"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const maxSteps = 1_000_000 // schemas applied in one guarded check

// guarded is a second compiled copy of a schema that counts the schemas it
// applies and the steps of its patterns, and gives up beyond a bound.
// Recursive schemas whose branches all lead back to themselves need it: their
// cost doubles with every level of the document. Counting needs state, so that
// guarded checks of one schema take turns.
type guarded struct {
	compiler *jsonschema.Compiler
	compiled *jsonschema.Schema

	mu      sync.Mutex
	seen    map[*jsonschema.Schema]bool
	steps   int
	matches int
}

// tooCostly is the panic with which a guarded check is given up; Schema.run
// recovers it.
type tooCostly struct{}

// counted is a pattern of a guarded schema.
type counted struct {
	*regexp.Regexp
	size  int
	guard *guarded
}

func (c counted) MatchString(text string) bool {
	if c.guard.matches += c.size * len(text); c.guard.matches > maxMatches {
		panic(tooCostly{})
	}
	return c.Regexp.MatchString(text)
}

func (g *guarded) compilePattern(expr string) (jsonschema.Regexp, error) {
	re, size, err := compilePattern(expr)
	if err != nil {
		return nil, err
	}
	return counted{re, size, g}, nil
}

func (s *Schema) guardedCopy() (*guarded, error) {
	s.guardOnce.Do(func() {
		g := &guarded{seen: map[*jsonschema.Schema]bool{}}
		if g.compiler, s.guardErr = newCompiler(s.doc, g.compilePattern); s.guardErr != nil {
			return
		}
		if g.compiled, s.guardErr = g.at(""); s.guardErr == nil {
			s.guard = g
		}
	})
	return s.guard, s.guardErr
}

// at returns the guarded schema at a pointer into the document.
func (g *guarded) at(pointer string) (*jsonschema.Schema, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	compiled, err := g.compiler.Compile(rootURL + "#" + url.PathEscape(pointer))
	if err != nil {
		return nil, compileError(err)
	}
	ownNames(compiled)
	g.install(compiled)
	return compiled, nil
}

func (g *guarded) check(s *Schema, compiled *jsonschema.Schema, value any) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steps, g.matches = 0, 0
	return s.run(compiled, value)
}

// install makes every schema count itself, and what it applies directly, each
// time it is applied. The format check is the hook: the validator calls it
// before it goes into a value.
func (g *guarded) install(schema *jsonschema.Schema) {
	if g.seen[schema] {
		return
	}
	g.seen[schema] = true
	next := subschemas(schema)
	weight := 1 + len(next)
	format := schema.Format
	name := ""
	if format != nil {
		name = format.Name
	}
	schema.Format = &jsonschema.Format{Name: name, Validate: func(value any) error {
		if g.steps += weight; g.steps > maxSteps {
			panic(tooCostly{})
		}
		if format == nil {
			return nil
		}
		return format.Validate(value)
	}}
	for _, child := range next {
		g.install(child)
	}
}
