package wire_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
	"github.com/sallyport-dev/sallyport/chattools/internal/wiretest"
)

// All published tools fit, alone and, for a provider without a limit, together. Their portable schemas allow
// what their own allow, and their own are left as they are.
func TestRealTools(t *testing.T) {
	tools, err := wiretest.Tools()
	require.NoError(t, err)
	require.Len(t, tools, 253)
	var names []string
	allowed := 0
	for i, tool := range tools {
		names = append(names, tool.Name)
		before := slices.Clone(tool.InputSchema)
		full, err := compile(tool.InputSchema)
		require.NoError(t, err, tool.Name)
		for _, p := range []wire.Profile{wire.Anthropic, wire.OpenAI} {
			require.NoError(t, wire.CheckTools(p, names[i:]))
			out, widened, err := wire.Schema(tool.InputSchema, p)
			require.NoError(t, err, tool.Name)
			require.Equal(t, string(before), string(tool.InputSchema))
			for _, what := range widened {
				t.Logf("%s, %s: %s", p.Provider, tool.Name, what)
			}
			again, _, err := wire.Schema(out, p)
			require.NoError(t, err)
			require.Equal(t, string(out), string(again), tool.Name)
			for _, banned := range []string{`"$ref":`, `"$schema":`, `"$defs":`, `"definitions":`, `"$comment":`} {
				require.NotContains(t, string(out), banned, tool.Name)
			}
			var root map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(out, &root))
			require.Equal(t, `"object"`, string(root["type"]))
			require.True(t, strings.HasPrefix(string(root["properties"]), "{"))
			for _, name := range p.Root {
				require.NotContains(t, root, name, tool.Name)
			}
			portable, err := compile(out)
			require.NoError(t, err, tool.Name)

			s := sampler{rand.New(rand.NewPCG(uint64(i), 3))}
			for range 20 {
				raw, err := json.Marshal(s.value(full, 6))
				require.NoError(t, err)
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
				require.NoError(t, err)
				if full.Validate(value) == nil {
					allowed++
					require.NoError(t, portable.Validate(value), "%s: %s", tool.Name, raw)
				}
			}
		}
	}
	require.NoError(t, wire.CheckTools(wire.Anthropic, names))
	require.ErrorContains(t, wire.CheckTools(wire.OpenAI, names), "at most 128")
	require.NoError(t, wire.CheckTools(wire.OpenAI, names[:128]))
	require.Greater(t, allowed, 5000)
	t.Logf("%d values allowed", allowed)
}

// sampler makes values that a schema mostly allows.
type sampler struct{ *rand.Rand }

func (s sampler) value(of *jsonschema.Schema, depth int) any {
	for of.Ref != nil {
		of = of.Ref
	}
	if branches := slices.Concat(of.AnyOf, of.OneOf); len(branches) > 0 && of.Properties == nil {
		return s.value(branches[s.IntN(len(branches))], depth)
	}
	switch {
	case of.Const != nil:
		return *of.Const
	case of.Enum != nil:
		return of.Enum.Values[s.IntN(len(of.Enum.Values))]
	case of.Types == nil || of.Types.IsEmpty():
		return "any"
	}
	types := of.Types.ToStrings()
	switch types[s.IntN(len(types))] {
	case "object":
		o := map[string]any{}
		for name, p := range of.Properties {
			if slices.Contains(of.Required, name) || depth > 0 && s.IntN(3) == 0 {
				o[name] = s.value(p, depth-1)
			}
		}
		return o
	case "array":
		l := []any{}
		if items := of.Items2020; items != nil && depth > 0 {
			for range 1 + s.IntN(2) {
				l = append(l, s.value(items, depth-1))
			}
		} else if items, ok := of.Items.(*jsonschema.Schema); ok && depth > 0 {
			l = append(l, s.value(items, depth-1))
		}
		return l
	case "string":
		return "12345678-1234-4234-8234-123456789012"
	case "integer", "number":
		return 1 + s.IntN(5)
	case "boolean":
		return s.IntN(2) == 0
	}
	return nil
}
