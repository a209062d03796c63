package wire

import (
	"encoding/json"
	"fmt"
	"sync"
)

// ToolsError says why the tools of a request do not fit a provider. Nothing is renamed or left out to make
// them fit.
type ToolsError struct {
	Provider string
	Tool     string // empty if it is not about one tool
	Problem  string
}

// Error names the tool and the limit.
func (e *ToolsError) Error() string {
	if e.Tool == "" {
		return fmt.Sprintf("wire: %s: %s", e.Provider, e.Problem)
	}
	return fmt.Sprintf("wire: %s: the tool %q: %s", e.Provider, e.Tool, e.Problem)
}

// CheckTools checks the names of all tools of one request: each fits the provider's pattern and stands for one
// tool only, and there are no more than the provider takes. The error is a [*ToolsError].
func CheckTools(p Profile, names []string) error {
	if p.Tools > 0 && len(names) > p.Tools {
		return &ToolsError{p.Provider, "", fmt.Sprintf("%d tools, but a request may have at most %d", len(names), p.Tools)}
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if name == "" {
			return &ToolsError{p.Provider, "", "a tool has no name"}
		}
		if !p.Name.MatchString(name) {
			return &ToolsError{p.Provider, name, "its name does not match " + p.Name.String()}
		}
		if seen[name] {
			return &ToolsError{p.Provider, name, "two tools have this name"}
		}
		seen[name] = true
	}
	return nil
}

// maxRemembered bounds a Converter's memory; a catalog is far smaller.
const maxRemembered = 4096

// Converter remembers the portable forms of schemas, since every turn has the same ones. It is safe for
// concurrent use.
type Converter struct {
	profile Profile
	mu      sync.Mutex
	known   map[string]json.RawMessage
}

// NewConverter returns a converter for a provider.
func NewConverter(p Profile) *Converter {
	return &Converter{profile: p, known: map[string]json.RawMessage{}}
}

// Schema is [Schema], remembered. What was widened is told only the first time. The result is shared.
func (c *Converter) Schema(raw json.RawMessage) (json.RawMessage, []string, error) {
	c.mu.Lock()
	portable, ok := c.known[string(raw)]
	c.mu.Unlock()
	if ok {
		return portable, nil, nil
	}
	portable, widened, err := Schema(raw, c.profile)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxRemembered {
		clear(c.known)
	}
	c.known[string(raw)] = portable
	return portable, widened, nil
}
