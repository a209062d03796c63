package params

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// memberNames does the work of propertyNames. The validator's own keyword
// reports the place of a fault in a slice that it goes on to overwrite.
type memberNames struct{ schema *jsonschema.Schema }

func (m memberNames) Validate(ctx *jsonschema.ValidatorContext, value any) {
	members, _ := value.(map[string]any)
	for name := range members {
		if m.schema.Validate(name) != nil {
			ctx.AddError(&kind.PropertyNames{Property: name})
		}
	}
}

// ownNames replaces propertyNames by memberNames in a compiled schema and all
// that it leads to.
func ownNames(root *jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{root: true}
	queue := []*jsonschema.Schema{root}
	for len(queue) > 0 {
		schema := queue[0]
		queue = queue[1:]
		if schema.PropertyNames != nil {
			schema.Extensions = append(schema.Extensions, memberNames{schema.PropertyNames})
			schema.PropertyNames = nil
		}
		for _, next := range subschemas(schema) {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
}

// subschemas lists the schemas that one schema applies.
func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	add := func(more ...*jsonschema.Schema) {
		for _, schema := range more {
			if schema != nil {
				out = append(out, schema)
			}
		}
	}
	addAny := func(v any) {
		switch v := v.(type) {
		case *jsonschema.Schema:
			add(v)
		case []*jsonschema.Schema:
			add(v...)
		}
	}
	add(s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.UnevaluatedItems, s.Contains, s.Items2020, s.ContentSchema)
	if s.DynamicRef != nil {
		add(s.DynamicRef.Ref)
	}
	add(s.AllOf...)
	add(s.AnyOf...)
	add(s.OneOf...)
	add(s.PrefixItems...)
	addAny(s.Items)
	addAny(s.AdditionalItems)
	addAny(s.AdditionalProperties)
	for _, schema := range s.Properties {
		add(schema)
	}
	for _, schema := range s.PatternProperties {
		add(schema)
	}
	for _, schema := range s.DependentSchemas {
		add(schema)
	}
	for _, dependency := range s.Dependencies {
		addAny(dependency)
	}
	for _, extension := range s.Extensions {
		if names, ok := extension.(memberNames); ok {
			add(names.schema)
		}
	}
	return out
}
