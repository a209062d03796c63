package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

func TestCheckTools(t *testing.T) {
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf("tool_%d", i)
	}
	tests := []struct {
		name    string
		profile wire.Profile
		tools   []string
		want    string
	}{
		{"none", wire.OpenAI, nil, ""},
		{"two", wire.OpenAI, []string{"a-b", "a_b"}, ""},
		{"one name for two", wire.Anthropic, []string{"demo_read", "other", "demo_read"}, `wire: anthropic: the tool "demo_read": two tools have this name`},
		{"a name that is not portable", wire.Anthropic, []string{"demo/read"}, `wire: anthropic: the tool "demo/read": its name does not match ^[a-zA-Z0-9_-]{1,128}$`},
		{"no name", wire.OpenAI, []string{""}, "wire: openai: a tool has no name"},
		{"a line break", wire.OpenAI, []string{"a\n"}, `wire: openai: the tool "a\n": its name does not match ^[a-zA-Z0-9_-]{1,64}$`},
		{"67 characters", wire.OpenAI, []string{strings.Repeat("x", 67)}, "its name does not match"},
		{"67 characters elsewhere", wire.Anthropic, []string{strings.Repeat("x", 67)}, ""},
		{"300 tools", wire.OpenAI, many, "wire: openai: 300 tools, but a request may have at most 128"},
		{"128 tools", wire.OpenAI, many[:128], ""},
		{"300 tools elsewhere", wire.Anthropic, many, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := wire.CheckTools(tt.profile, tt.tools)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var unfit *wire.ToolsError
			require.ErrorAs(t, err, &unfit)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestConverterRemembers(t *testing.T) {
	c := wire.NewConverter(wire.Anthropic)
	raw := json.RawMessage(`{"type":"object","properties":{"a":false}}`)
	first, widened, err := c.Schema(raw)
	require.NoError(t, err)
	require.Len(t, widened, 1)
	again, widened, err := c.Schema(raw)
	require.NoError(t, err)
	require.Empty(t, widened)
	require.Equal(t, string(first), string(again))
	_, _, err = c.Schema(json.RawMessage(`[]`))
	require.Error(t, err)

	var side sync.WaitGroup
	for i := range 8 {
		side.Go(func() {
			for j := range 1000 { // more than it remembers
				_, _, err := c.Schema(json.RawMessage(fmt.Sprintf(`{"type":"object","title":"%d"}`, i*1000+j)))
				if err != nil {
					panic(err)
				}
			}
		})
	}
	side.Wait()
	again, _, err = c.Schema(raw)
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
}
