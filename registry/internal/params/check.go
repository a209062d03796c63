package params

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxPairs   = 4_000_000   // comparisons for unique items
	maxWork    = 2_000_000   // schema values times document values
	maxMatches = 100_000_000 // pattern instructions times document bytes
)

// check judges a document. The quick rules answer for most sound documents;
// whatever they do not accept goes to the full validator, which alone refuses.
func (s *Schema) check(d document) error {
	costlyPatterns := s.patterns*d.bytes > maxMatches
	if s.quick != nil && !costlyPatterns && s.quick.accepts(d.root, 0) {
		return nil
	}
	if s.size.unique && d.pairs > maxPairs {
		return &Error{Problem: "expected shorter arrays: too many items have to be unique"}
	}
	if s.size.references && s.size.branches || s.size.values*d.values > maxWork || costlyPatterns {
		guard, err := s.guardedCopy()
		if err != nil {
			return err
		}
		return guard.check(s, guard.compiled, d.root)
	}
	return s.run(s.compiled, d.root)
}

// run validates and words the verdict. The validator is not trusted to
// survive every schema: a panic refuses the document.
func (s *Schema) run(compiled *jsonschema.Schema, value any) (err error) {
	defer func() {
		switch recover().(type) {
		case nil:
		case tooCostly:
			err = &Error{Problem: "expected smaller parameters: these are too costly to check against the schema"}
		default:
			err = &Error{Problem: "these parameters cannot be checked against the schema"}
		}
	}()
	verdict := compiled.Validate(value)
	if verdict == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(verdict, &invalid) {
		return &Error{Problem: "these parameters cannot be checked against the schema"}
	}
	e := explainer{schema: s}
	e.explain(invalid)
	if err := e.err(); err != nil {
		return err
	}
	return &Error{Problem: "these parameters do not satisfy the schema"}
}
