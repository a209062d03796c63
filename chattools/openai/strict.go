package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What one strict schema may have.
const (
	maxDepth      = 10
	maxProperties = 5000
	maxValues     = 1000   // of all enums
	maxNames      = 120000 // characters of names and of values
	manyValues    = 250    // of one enum, from which on their length counts
	maxLong       = 15000  // characters of the values of such an enum
)

// Keywords of strict mode that are kept as they are, and those that are said in words instead: the gate
// checks them anyway. All others cannot be written.
var (
	strictKept = []string{"type", "title", "description", "enum", "const", "pattern", "format", "required", "multipleOf",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"}
	strictSaid = []string{"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "default",
		"readOnly", "writeOnly", "deprecated", "contentEncoding", "contentMediaType"}
	strictFormats = []string{`"date-time"`, `"time"`, `"date"`, `"duration"`, `"email"`, `"hostname"`, `"ipv4"`, `"ipv6"`, `"uuid"`}
)

// strict returns the form of a portable schema that strict mode accepts, if the model can say everything with
// it that it can say without, or why there is none: every object has to be closed and all its properties
// required.
func strict(portable json.RawMessage) (schema json.RawMessage, why string) {
	var c strictly
	out := c.schema(portable, "/", 1)
	switch {
	case c.why != "":
	case c.properties > maxProperties:
		c.why = fmt.Sprintf("it has more than %d properties", maxProperties)
	case c.values > maxValues:
		c.why = fmt.Sprintf("its enums have more than %d values", maxValues)
	case c.names > maxNames:
		c.why = fmt.Sprintf("its names have more than %d characters", maxNames)
	}
	if c.why != "" {
		return nil, c.why
	}
	return out, ""
}

// strictly is the work on one schema.
type strictly struct {
	why                       string
	properties, values, names int
}

func (c *strictly) fail(at, format string, args ...any) {
	if c.why == "" {
		c.why = at + ": " + fmt.Sprintf(format, args...)
	}
}

// schema converts one schema; the order of everything stays.
func (c *strictly) schema(raw json.RawMessage, at string, depth int) json.RawMessage {
	in := split(raw)
	if depth > maxDepth {
		c.fail(at, "it is more than %d levels deep", maxDepth)
		return nil
	}
	var out, said members
	for _, m := range in {
		switch {
		case slices.Contains(strictSaid, m.name),
			m.name == "format" && !slices.Contains(strictFormats, string(m.value)),
			m.name == "pattern" && bytes.Contains(m.value, []byte("(?")): // such as a lookahead
			said.add(m.name, m.value)
		case slices.Contains(strictKept, m.name):
			out.add(m.name, m.value)
		case m.name == "additionalProperties" && string(m.value) == "false":
			out.add(m.name, m.value)
		case m.name == "properties":
			var properties members
			for _, p := range split(m.value) {
				c.properties++
				c.names += len(p.name)
				properties.add(p.name, c.schema(p.value, at+p.name+"/", depth+1))
			}
			out.add(m.name, properties.object())
		case m.name == "items":
			out.add(m.name, c.schema(m.value, at+"items/", depth+1))
		case m.name == "anyOf", m.name == "oneOf" && !in.has("anyOf"):
			out.add("anyOf", c.branches(m.value, at, depth))
		default:
			c.fail(at, "%s cannot be written", m.name)
		}
	}
	c.shape(in, at)
	c.enum(in, at)
	if len(said) > 0 {
		text, _ := jsontext.AppendUnquote(nil, out.get("description"))
		quoted, _ := jsontext.AppendQuote(nil, strings.TrimSpace(string(text)+"\n\nIt also has to match this JSON Schema: "+string(said.object())))
		out.set("description", quoted)
	}
	return out.object()
}

func (c *strictly) branches(raw json.RawMessage, at string, depth int) json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	for i, branch := range list {
		list[i] = c.schema(branch, fmt.Sprintf("%sanyOf/%d/", at, i), depth+1)
	}
	return slices.Concat([]byte("["), bytes.Join(cast(list), []byte(",")), []byte("]"))
}

func cast(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

// shape checks that a schema says what it is, and that objects are closed and complete.
func (c *strictly) shape(in members, at string) {
	kind := string(in.get("type"))
	if kind == "" && !in.has("anyOf") && !in.has("oneOf") && !in.has("enum") && !in.has("const") {
		c.fail(at, "it allows anything")
	}
	if !strings.Contains(kind, `"object"`) && !in.has("properties") {
		return
	}
	if !in.has("additionalProperties") {
		c.fail(at, "it allows other properties")
	}
	var required []string
	_ = json.Unmarshal(in.get("required"), &required)
	for _, p := range split(in.get("properties")) {
		if !slices.Contains(required, p.name) {
			c.fail(at, "%s is optional", p.name)
		}
	}
}

func (c *strictly) enum(in members, at string) {
	var values []json.RawMessage
	_ = json.Unmarshal(in.get("enum"), &values)
	length := len(in.get("const"))
	for _, v := range values {
		length += len(v)
	}
	c.values += len(values)
	c.names += length
	if len(values) > manyValues && length > maxLong {
		c.fail(at, "its enum has more than %d characters", maxLong)
	}
}

// members are those of an object, in their order.
type members []struct {
	name  string
	value json.RawMessage
}

// split takes an object of a portable schema apart.
func split(raw json.RawMessage) members {
	var all members
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != '{' {
		return nil
	}
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return all
		}
		all.add(key, json.RawMessage(value.Clone()))
	}
	return all
}

func (m *members) add(name string, value json.RawMessage) {
	*m = append(*m, struct {
		name  string
		value json.RawMessage
	}{name, value})
}

func (m *members) set(name string, value json.RawMessage) {
	for i := range *m {
		if (*m)[i].name == name {
			(*m)[i].value = value
			return
		}
	}
	m.add(name, value)
}

func (m members) get(name string) json.RawMessage {
	for _, o := range m {
		if o.name == name {
			return o.value
		}
	}
	return nil
}

func (m members) has(name string) bool { return m.get(name) != nil }

func (m members) object() json.RawMessage {
	out := []byte{'{'}
	for i, o := range m {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, o.name)
		out = append(append(out, ':'), o.value...)
	}
	return append(out, '}')
}
