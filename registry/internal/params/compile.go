package params

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// rootURL names the schema for the validator. References are resolved against
// it, and nothing can be loaded from it.
const rootURL = "https://params.invalid/schema"

const maxCompileText = 300

// Compile makes a schema usable. Without a $schema it is read as draft
// 2020-12; earlier drafts are accepted where $schema names them. Formats are
// asserted. The root must be an object schema with "type": "object".
//
// The schema may come from anywhere: its size, depth and numbers are bounded,
// a reference to a file or URL is refused and never read, and so are patterns
// that Go's regular expressions cannot run, patterns too large to run safely,
// and defaults that the schema itself does not allow.
func Compile(raw json.RawMessage) (schema *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			schema, err = nil, errors.New("params: the schema cannot be compiled")
		}
	}()
	doc, size, err := readSchema(raw)
	if err != nil {
		return nil, err
	}
	if !isObjectType(doc["type"]) {
		return nil, errors.New(`params: the schema's root must have "type": "object"`)
	}
	s := &Schema{raw: slices.Clone(raw), doc: doc, size: size}
	counted := new(patterns)
	compiler, err := newCompiler(doc, counted.compile)
	if err != nil {
		return nil, err
	}
	if s.compiled, err = compiler.Compile(rootURL); err != nil {
		return nil, compileError(err)
	}
	ownNames(s.compiled)
	counted.done.Store(true)
	s.patterns = int(counted.size.Load())
	if size.defaults {
		if s.defaults, err = s.planDefaults(); err != nil {
			return nil, err
		}
	}
	s.quick = planQuick(s.compiled)
	return s, nil
}

func isObjectType(declared any) bool {
	if list, ok := declared.([]any); ok {
		return len(list) == 1 && list[0] == "object"
	}
	return declared == "object"
}

func newCompiler(doc map[string]any, engine jsonschema.RegexpEngine) (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(engine)
	if err := c.AddResource(rootURL, doc); err != nil {
		return nil, compileError(err)
	}
	return c, nil
}

// noLoader refuses every reference that leaves the schema.
type noLoader struct{}

var errOutside = errors.New("nothing outside the schema is read")

func (noLoader) Load(string) (any, error) { return nil, errOutside }

// compileError words an error of the validator for the author of a schema.
func compileError(err error) error {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		url := strings.TrimPrefix(load.URL, "https://params.invalid/")
		return fmt.Errorf("params: the schema refers to %q: %w", shorten(url, maxPointer), errOutside)
	}
	var pattern *jsonschema.InvalidRegexError
	if errors.As(err, &pattern) {
		return patternError(pattern.Regex, pattern.Err)
	}
	text := err.Error()
	var invalid *jsonschema.SchemaValidationError
	if verdict := (*jsonschema.ValidationError)(nil); errors.As(err, &invalid) && errors.As(invalid.Err, &verdict) {
		worst := leaves(verdict)[0]
		if format, ok := worst.ErrorKind.(*kind.Format); ok && format.Want == "regex" {
			expr, _ := format.Got.(string)
			return patternError(expr, format.Err)
		}
		text = worst.Error()
	}
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, rootURL, "")), " ")
	return fmt.Errorf("params: the schema is not valid: %s", shorten(text, maxCompileText))
}

func patternError(expr string, err error) error {
	return fmt.Errorf("params: the pattern %q cannot be used: %s",
		shorten(expr, maxName), shorten(err.Error(), maxCompileText))
}

// leaves returns the causes of a verdict, the most deeply placed first.
func leaves(v *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(v.Causes) == 0 {
		return []*jsonschema.ValidationError{v}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range v.Causes {
		all = append(all, leaves(cause)...)
	}
	slices.SortFunc(all, func(a, b *jsonschema.ValidationError) int {
		if c := cmp.Compare(len(b.InstanceLocation), len(a.InstanceLocation)); c != 0 {
			return c
		}
		return cmp.Compare(a.Error(), b.Error())
	})
	return all
}
