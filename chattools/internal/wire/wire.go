// Package wire makes the tools of a catalog fit the providers of models.
//
// [Schema] turns the schema of an action's parameters into one that a provider accepts. The gate validates
// against the action's own schema, so the portable one may only be wider: whatever the action's schema allows,
// the portable one allows too. It has no references, reads as draft 2020-12, is an object at its root, and is
// the same bytes every time. What was widened is told, for logs.
//
// [CheckTools] says whether the names and the number of tools fit. Names are never changed: an action's name
// is portable already, and a name that a model calls is looked up as it is.
package wire

import (
	"encoding/json"
	"regexp"
)

// Profile is what a provider accepts. [Anthropic] and [OpenAI] are two.
type Profile struct {
	Provider string
	Name     *regexp.Regexp // of tools
	Tools    int            // how many one request may have; zero means no limit
	Property *regexp.Regexp // names of properties; nil means any
	Root     []string       // keywords that are refused at a schema's root
}

// Anthropic is the profile of the Messages API.
var Anthropic = Profile{
	Provider: "anthropic",
	Name:     regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
	Property: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`),
	Root:     []string{"anyOf", "oneOf", "allOf"},
}

// OpenAI is the profile of chat completions and responses, without strict mode.
var OpenAI = Profile{
	Provider: "openai",
	Name:     regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	Tools:    128,
	Root:     []string{"anyOf", "oneOf", "allOf", "enum", "const", "not"},
}

// Schema returns the portable form of a schema that the registry has compiled, and what was widened, each as
// a place and what happened there. Doing it twice changes nothing. An error means that raw is no schema of an
// object.
func Schema(raw json.RawMessage, p Profile) (portable json.RawMessage, widened []string, err error) {
	root, err := parse(raw)
	if err != nil {
		return nil, nil, err
	}
	c := newConversion(p, root)
	out, err := c.convert()
	if err != nil {
		return nil, nil, err
	}
	return appendValue(nil, out), c.notes, nil
}
