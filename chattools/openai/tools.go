package openai

import (
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// function is a tool as the API wants it. Strict is always said: left out, responses try strict first, and the
// same tool behaves differently by its schema.
type function struct {
	Type        string          `json:"type,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// tools returns the tools of a request, each in its final bytes.
func (c *client) tools(r chattools.Request, kind string) ([]json.RawMessage, error) {
	tools := r.Tools
	if c.o.Select != nil && len(tools) > wire.OpenAI.Tools {
		tools = c.o.Select(r, wire.OpenAI.Tools)
	}
	functions, err := c.functions(tools, kind)
	if err != nil {
		return nil, &chattools.ModelError{Trouble: chattools.TroubleTools, Err: err}
	}
	return functions, nil
}

func (c *client) functions(tools []*chattools.Tool, kind string) ([]json.RawMessage, error) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	if err := wire.CheckTools(wire.OpenAI, names); err != nil {
		return nil, err
	}
	functions := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		form, err := c.forms.of(t.Schema)
		if err != nil {
			return nil, &wire.ToolsError{Provider: provider, Tool: t.Name, Problem: err.Error()}
		}
		c.report(t.Name, form)
		f := function{Type: kind, Name: t.Name, Parameters: form.schema, Strict: form.strict}
		if !blank(t.Description) {
			f.Description = wire.Clean(t.Description)
		}
		if functions[i], err = json.Marshal(f); err != nil {
			return nil, &wire.ToolsError{Provider: provider, Tool: t.Name, Problem: err.Error()}
		}
	}
	return functions, nil
}

func (c *client) report(tool string, f form) {
	if c.o.Logger == nil {
		return
	}
	if len(f.widened) > 0 {
		c.o.Logger.Info("openai: the model sees a wider schema than the gate", slog.String("tool", tool), slog.Any("widened", f.widened))
	}
	if f.loose != "" {
		c.o.Logger.Info("openai: the tool is not strict", slog.String("tool", tool), slog.String("why", f.loose))
	}
}

// form is a schema as the API gets it, and what there is to report about it.
type form struct {
	schema  json.RawMessage
	strict  bool
	widened []string
	loose   string // why it is not strict, if it was to be
}

// maxForms bounds how many forms are remembered; a catalog is far smaller.
const maxForms = 4096

// forms remembers the forms of schemas, since every turn has the same ones. It is safe for concurrent use.
type forms struct {
	strict bool
	mu     sync.Mutex
	known  map[string]form
}

func newForms(strict bool) *forms { return &forms{strict: strict, known: map[string]form{}} }

// of returns the form of a schema. What there is to report is told only the first time.
func (f *forms) of(raw json.RawMessage) (form, error) {
	f.mu.Lock()
	known, ok := f.known[string(raw)]
	f.mu.Unlock()
	if ok {
		return known, nil
	}
	portable, widened, err := wire.Schema(raw, wire.OpenAI)
	if err != nil {
		return form{}, err
	}
	made := form{schema: portable, widened: widened}
	if f.strict {
		if schema, why := strict(portable); why == "" {
			made.schema, made.strict = schema, true
		} else {
			made.loose = why
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) >= maxForms {
		clear(f.known)
	}
	f.known[string(raw)] = form{schema: made.schema, strict: made.strict}
	return made, nil
}
