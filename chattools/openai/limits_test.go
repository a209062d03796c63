package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

type wantedTool struct {
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func checkTools(body []byte, tools []wantedTool) string {
	if len(tools) > 128 {
		return fmt.Sprintf("Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length %d instead.", len(tools))
	}
	if len(tools) == 0 && bytes.Contains(body, []byte(`"tools":`)) {
		return "Invalid 'tools': empty array."
	}
	seen := map[string]bool{}
	for i, t := range tools {
		if !namePattern.MatchString(t.Name) || seen[t.Name] {
			return fmt.Sprintf("Invalid 'tools[%d].name': string does not match pattern, or is not unique.", i)
		}
		seen[t.Name] = true
		if t.Strict == nil {
			return fmt.Sprintf("tools[%d]: strict is left out", i)
		}
		if problem := checkSchema(t.Parameters, *t.Strict); problem != "" {
			return fmt.Sprintf("Invalid schema for function '%s': %s", t.Name, problem)
		}
	}
	return ""
}

func checkCall(name, arguments string) string {
	if !namePattern.MatchString(name) {
		return "string does not match pattern"
	}
	if !json.Valid([]byte(arguments)) || arguments[0] != '{' {
		return "arguments are not an object in JSON"
	}
	return ""
}

// compiled remembers which schemas are sound, since every request has them again.
var compiled sync.Map

func checkSchema(raw json.RawMessage, strict bool) string {
	key := fmt.Sprintf("%t%s", strict, raw)
	if problem, ok := compiled.Load(key); ok {
		return problem.(string)
	}
	problem := soundSchema(raw)
	if strict && problem == "" {
		var root map[string]any
		_ = json.Unmarshal(raw, &root)
		problem = strictSchema(root)
	}
	compiled.Store(key, problem)
	return problem
}

func soundSchema(raw json.RawMessage) string {
	var root map[string]json.RawMessage
	if err := json.Unmarshal(raw, &root); err != nil || string(root["type"]) != `"object"` {
		return `schema must be a JSON Schema of 'type: "object"'`
	}
	for _, name := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if root[name] != nil {
			return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
		}
	}
	if len(root["properties"]) == 0 || root["properties"][0] != '{' {
		return "object schema missing properties"
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	c := jsonschema.NewCompiler()
	if err == nil {
		err = c.AddResource("mem:schema", doc)
	}
	if err == nil {
		_, err = c.Compile("mem:schema")
	}
	if err != nil {
		return "it is not valid under JSON Schema draft 2020-12"
	}
	return ""
}

// strictSchema says what strict mode would refuse.
func strictSchema(s map[string]any) string {
	for name, value := range s {
		switch name {
		case "type", "title", "description", "enum", "const", "pattern", "format", "multipleOf", "minimum", "maximum",
			"exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "required", "additionalProperties":
		case "properties":
			required, _ := s["required"].([]any)
			if s["additionalProperties"] != false || len(required) != len(value.(map[string]any)) {
				return "'additionalProperties' is required to be false, and 'required' to have every key in properties"
			}
			for _, p := range value.(map[string]any) {
				if problem := strictSchema(p.(map[string]any)); problem != "" {
					return problem
				}
			}
		case "items":
			if problem := strictSchema(value.(map[string]any)); problem != "" {
				return problem
			}
		case "anyOf":
			for _, branch := range value.([]any) {
				if problem := strictSchema(branch.(map[string]any)); problem != "" {
					return problem
				}
			}
		default:
			return "'" + name + "' is not permitted"
		}
	}
	if s["type"] == nil && s["anyOf"] == nil && s["enum"] == nil && s["const"] == nil {
		return "schema must have a 'type' key"
	}
	return ""
}
