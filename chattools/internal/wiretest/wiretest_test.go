package wiretest_test

import (
	"encoding/json"
	"testing"

	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
)

// TestTools holds the numbers of the README beside the data, so that a test that loops over the tools cannot
// loop over none.
func TestTools(t *testing.T) {
	t.Parallel()
	tools, err := wiretest.Tools()
	if err != nil {
		t.Fatal(err)
	}
	if len(tools) != 253 {
		t.Errorf("%d tools, want 253", len(tools))
	}
	seen := map[[2]string]bool{}
	for _, tool := range tools {
		key := [2]string{tool.Server, tool.Name}
		if tool.Server == "" || tool.Name == "" || seen[key] {
			t.Errorf("a tool without a name of its own: %q", key)
		}
		seen[key] = true
		if !json.Valid(tool.InputSchema) {
			t.Errorf("%s: the input schema is no JSON", tool.Name)
		}
	}
}
