package agentdojo

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry"
)

// Every recorded call passes its tool's own schema, and its parameters are the ones that were recorded with
// the tool's defaults: nothing was trimmed or repaired to make it so.
func TestRecordedCallsPassTheirOwnSchemas(t *testing.T) {
	data, err := Load()
	require.NoError(t, err)
	calls := 0
	for _, s := range data.Suites {
		p, err := open(s)
		require.NoError(t, err)
		session, err := p.begin("schemas", nil)
		require.NoError(t, err)
		for _, tasks := range []map[string]Task{data.Users, data.Planted} {
			for id, task := range tasks {
				if task.Suite != s.Name {
					continue
				}
				for i, c := range task.Calls {
					calls++
					step, err := s.step(c)
					require.NoError(t, err, "%s call %d", id, i)
					call := registry.Call{Session: session, Action: c.Name, Params: c.Arguments}
					a, err := p.gate.Desk().Registry().Admit(t.Context(), call, session.Human())
					require.NoError(t, err, "%s call %d %s", id, i, c.Name)
					require.Equal(t, step.Params.String(), a.Params.String(), "%s call %d %s", id, i, c.Name)
				}
			}
		}
	}
	require.Equal(t, 268+41, calls)
}

func TestBackendAnswersAsRecorded(t *testing.T) {
	params, err := canon.Parse([]byte(`{"id": 1}`), canon.Options{})
	require.NoError(t, err)
	step := Step{"get", params}
	b := backend{state: map[string]any{}, tape: map[Step][]Expect{step: {
		{OK: true, Result: json.RawMessage(`"first"`)},
		{Error: "no such thing"},
		{OK: true, Changes: []Change{{Op: "remove", Path: "/gone"}}},
	}}}
	run := b.run("get")
	got, err := run(t.Context(), params.Bytes())
	require.NoError(t, err)
	require.JSONEq(t, `"first"`, string(got))

	_, err = run(t.Context(), params.Bytes())
	text, public := registry.PublicText(err)
	require.True(t, public)
	require.Equal(t, "no such thing", text)

	for _, why := range []string{"changes that do not fit", "nothing recorded any more"} {
		_, err = run(t.Context(), params.Bytes())
		require.Error(t, err, why)
		_, public = registry.PublicText(err)
		require.False(t, public, why)
	}
	_, err = run(t.Context(), json.RawMessage(`{"id":1.0}`))
	_, ok := errors.AsType[*canon.Error](err)
	require.True(t, ok, "the gate never hands over what is not canonical")
	require.Len(t, b.ran, 4)
}
