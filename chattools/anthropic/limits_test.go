package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// wanted is a request as the API documents it.
type wanted struct {
	Model      string          `json:"model"`
	MaxTokens  int             `json:"max_tokens"`
	Stream     bool            `json:"stream"`
	System     []wantedBlock   `json:"system"`
	Messages   []wantedMessage `json:"messages"`
	Tools      []wantedTool    `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Thinking     map[string]any `json:"thinking"`
	OutputConfig map[string]any `json:"output_config"`
}

type wantedMessage struct {
	Role    string        `json:"role"`
	Content []wantedBlock `json:"content"`
}

type wantedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *wantedCache    `json:"cache_control"`
}

type wantedCache struct {
	Type string `json:"type"`
}

type wantedBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   []wantedBlock   `json:"content"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	Cache     *wantedCache    `json:"cache_control"`
}

var (
	namePattern     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	idPattern       = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	propertyPattern = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// check says what the API would refuse.
func (a *api) check(r *http.Request, body []byte) string {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		return "not the address of messages"
	}
	if r.Header.Get("authorization") != "Bearer "+secret || r.Header.Get("anthropic-version") == "" || r.Header.Get("content-type") != "application/json" {
		return "a header is missing"
	}
	if !jsontext.Value(body).IsValid() {
		return "the request is not strict JSON"
	}
	var w wanted
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return err.Error()
	}
	if w.Model == "" || w.MaxTokens < 1 || len(w.Messages) == 0 {
		return "model, max_tokens and messages are required"
	}
	marks := 0
	for i, t := range w.Tools {
		if t.Cache != nil {
			marks++
		}
		if problem := checkTool(t); problem != "" {
			return fmt.Sprintf("tools.%d: %s", i, problem)
		}
		if slices.ContainsFunc(w.Tools[:i], func(o wantedTool) bool { return o.Name == t.Name }) {
			return "tools: Tool names must be unique."
		}
	}
	for _, b := range w.System {
		if b.Cache != nil {
			marks++
		}
		if b.Type != "text" || strings.TrimSpace(b.Text) == "" {
			return "system: text content blocks must be non-empty"
		}
	}
	more, problem := a.checkMessages(w)
	if marks += more; marks > 4 {
		return "A maximum of 4 blocks with cache_control may be provided."
	}
	return problem
}

func (a *api) checkMessages(w wanted) (marks int, problem string) {
	if w.Messages[0].Role != "user" || w.Messages[len(w.Messages)-1].Role != "user" {
		return 0, "the first and the last message must be the user's"
	}
	seen := map[string]bool{}
	var open []string
	for i, m := range w.Messages {
		if i > 0 && m.Role == w.Messages[i-1].Role {
			return 0, "roles must alternate"
		}
		if len(m.Content) == 0 {
			return 0, fmt.Sprintf("messages.%d: content must be non-empty", i)
		}
		var results, calls []string
		for j, b := range m.Content {
			where := fmt.Sprintf("messages.%d.content.%d: ", i, j)
			if b.Cache != nil {
				marks++
			}
			switch {
			case b.Type == "text":
				if strings.TrimSpace(b.Text) == "" {
					return 0, where + "text content blocks must be non-empty"
				}
			case b.Type == "tool_use" && m.Role == "assistant":
				if !idPattern.MatchString(b.ID) || !namePattern.MatchString(b.Name) {
					return 0, where + "String should match pattern"
				}
				if seen[b.ID] {
					return 0, where + "`tool_use` ids must be unique"
				}
				if len(b.Input) == 0 || b.Input[0] != '{' {
					return 0, where + "Input should be a valid dictionary"
				}
				if len(w.Tools) == 0 {
					return 0, "Requests which include `tool_use` or `tool_result` blocks must define tools"
				}
				seen[b.ID] = true
				calls = append(calls, b.ID)
			case b.Type == "tool_result" && m.Role == "user":
				if len(results) != j {
					return 0, where + "tool_result blocks must come before text"
				}
				if len(b.Content) == 0 || strings.TrimSpace(b.Content[0].Text) == "" {
					return 0, where + "text content blocks must be non-empty"
				}
				results = append(results, b.ToolUseID)
			case b.Type == "thinking" && m.Role == "assistant":
				if thought, ok := a.signed[b.Signature]; !ok || thought != b.Thinking {
					return 0, where + "Invalid `signature` in `thinking` block"
				}
			case b.Type == "redacted_thinking" && m.Role == "assistant":
				if b.Data == "" {
					return 0, where + "data is required"
				}
			default:
				return 0, where + "unexpected block " + b.Type
			}
		}
		if !slices.Equal(results, open) {
			return 0, fmt.Sprintf("messages.%d: `tool_use` ids %q, `tool_result` blocks %q", i, open, results)
		}
		open = calls
	}
	return marks, ""
}

// compiled remembers which schemas are sound, since every request has them again.
var compiled sync.Map

func checkTool(t wantedTool) string {
	if !namePattern.MatchString(t.Name) {
		return "name: String should match pattern"
	}
	if problem, ok := compiled.Load(string(t.Schema)); ok {
		return problem.(string)
	}
	problem := checkSchema(t.Schema)
	compiled.Store(string(t.Schema), problem)
	return problem
}

func checkSchema(raw json.RawMessage) string {
	var root struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		AnyOf      json.RawMessage            `json:"anyOf"`
		OneOf      json.RawMessage            `json:"oneOf"`
		AllOf      json.RawMessage            `json:"allOf"`
		Schema     string                     `json:"$schema"`
	}
	if err := json.Unmarshal(raw, &root); err != nil || root.Type != "object" {
		return "input_schema.type: Input should be 'object'"
	}
	if root.AnyOf != nil || root.OneOf != nil || root.AllOf != nil {
		return "input_schema does not support oneOf, allOf, or anyOf at the top level"
	}
	for name := range root.Properties {
		if !propertyPattern.MatchString(name) {
			return "input_schema.properties: Property keys should match pattern"
		}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	c := jsonschema.NewCompiler()
	if err == nil {
		err = c.AddResource("mem:schema", doc)
	}
	if err == nil {
		_, err = c.Compile("mem:schema")
	}
	if err != nil || root.Schema != "" && !strings.Contains(root.Schema, "2020-12") {
		return "input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
	}
	return ""
}
