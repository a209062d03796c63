package params

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explainer turns the validator's tree of errors into faults. It reads what
// was expected from the schema, never what was given from the document.
type explainer struct {
	schema *Schema
	faults
}

func (e *explainer) explain(v *jsonschema.ValidationError) {
	switch k := v.ErrorKind.(type) {
	case *kind.AnyOf:
		e.explainChoice(v)
		return
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			e.add(v.InstanceLocation, "expected exactly one of the allowed forms, but more than one fits")
			return
		}
		e.explainChoice(v)
		return
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		e.add(v.InstanceLocation, "expected "+e.words(v)+" with other items")
		return
	case *kind.PropertyNames:
		e.add(v.InstanceLocation, "the member name "+quoted([]string{k.Property})+" is not allowed")
		return
	}
	if len(v.Causes) > 0 {
		for _, cause := range v.Causes {
			e.explain(cause)
		}
		return
	}
	e.add(v.InstanceLocation, e.problem(v))
}

func (e *explainer) problem(v *jsonschema.ValidationError) string {
	switch k := v.ErrorKind.(type) {
	case *kind.Required:
		return "missing " + quoted(k.Missing)
	case *kind.Dependency:
		return "missing " + quoted(k.Missing) + ", needed beside " + quoted([]string{k.Prop})
	case *kind.DependentRequired:
		return "missing " + quoted(k.Missing) + ", needed beside " + quoted([]string{k.Prop})
	case *kind.AdditionalProperties:
		problem := "unknown " + quoted(k.Properties)
		if known := e.names(v); len(known) > 0 {
			problem += "; allowed: " + quoted(known)
		}
		return problem
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal, but all have to differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return "the last " + strconv.Itoa(k.Count) + " items are not allowed"
	case *kind.FalseSchema:
		return "nothing is allowed here"
	case *kind.Not:
		return "this value is excluded by the schema"
	case *kind.RefCycle:
		return "this cannot be checked: the schema refers to itself"
	}
	return "expected " + e.words(v)
}

// explainChoice words a choice of which no branch fits. If all branches but
// one fail at the value itself, by its type or a constant, the remaining one
// is what was meant, and its faults say more.
func (e *explainer) explainChoice(v *jsonschema.ValidationError) {
	var meant []*jsonschema.ValidationError
	for _, branch := range v.Causes {
		if !e.otherKind(branch, len(v.InstanceLocation)) {
			meant = append(meant, branch)
		}
	}
	if len(meant) == 1 {
		e.explain(meant[0])
		return
	}
	e.add(v.InstanceLocation, "expected "+e.words(v))
}

// otherKind reports whether a branch failed because the value is something
// else: of another type, or marked with another constant.
func (e *explainer) otherKind(v *jsonschema.ValidationError, depth int) bool {
	switch v.ErrorKind.(type) {
	case *kind.Type:
		return len(v.InstanceLocation) == depth
	case *kind.Const:
		return len(v.InstanceLocation) <= depth+1
	case *kind.Group, *kind.Reference:
		for _, cause := range v.Causes {
			if e.otherKind(cause, depth) {
				return true
			}
		}
	}
	return false
}

// node returns the part of the schema that refused.
func (e *explainer) node(v *jsonschema.ValidationError) map[string]any {
	fragment, ok := strings.CutPrefix(v.SchemaURL, rootURL+"#")
	if !ok {
		return nil
	}
	return e.schema.lookup(fragment)
}

func (e *explainer) words(v *jsonschema.ValidationError) string {
	return e.schema.describe(e.node(v), 0)
}

func (e *explainer) names(v *jsonschema.ValidationError) []string {
	properties, _ := e.node(v)["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	return names
}
