package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
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
		return fmt.Errorf("params: the pattern %q cannot be used: %s",
			shorten(pattern.Regex, maxName), shorten(pattern.Err.Error(), maxCompileText))
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), rootURL, "")), " ")
	return fmt.Errorf("params: the schema is not valid: %s", shorten(text, maxCompileText))
}

// target returns the schema that node's $ref leads to within the document,
// or nil.
func (s *Schema) target(node map[string]any) map[string]any {
	ref, ok := node["$ref"].(string)
	if !ok || !strings.HasPrefix(ref, "#") {
		return nil
	}
	return s.lookup(ref[1:])
}

// lookup follows a JSON pointer, percent-encoded as in a fragment.
func (s *Schema) lookup(fragment string) map[string]any {
	tokens, ok := splitFragment(fragment)
	if !ok {
		return nil
	}
	var at any = s.doc
	for _, token := range tokens {
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, ok := index(token, len(v))
			if !ok {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	node, _ := at.(map[string]any)
	return node
}
