package mcptools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/mcptest"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
)

// S6, and the whole way with the TypeScript SDK as the client: list, call, wait, be approved elsewhere, ask, call
// again; for two identities, stateless and stateful. An answer that waits is readable though it is no result.
func TestS6_TypeScriptClient(t *testing.T) {
	node := mcptest.Open(t)
	for _, change := range []func(*mcptools.Config){nil, stateful} {
		s := openShop(t)
		_, url := s.serve(t, change)
		as := func(bearer string, steps ...mcptest.Step) []mcptest.Outcome {
			return node.TypeScript(t, mcptest.Job{URL: url, Headers: map[string]string{"Authorization": "Bearer " + bearer}, Steps: steps})
		}
		refund := mcptest.Step{Call: "refund_order", Arguments: json.RawMessage(`{"order":"a1","cents":250}`)}
		ann := as("assistant-ann", mcptest.Step{}, mcptest.Step{Call: "find_order", Arguments: json.RawMessage(`{"order":"a1"}`)}, refund, refund)
		require.Len(t, ann[0].Result.Tools, len(s.names(t, session("assistant", "ann"))))
		require.Equal(t, `{"of":"ann","order":"a1"}`, ann[1].Result.Content[0].Text)
		p := s.only(t)
		for _, o := range ann[2:] {
			require.Empty(t, o.Error)
			require.False(t, o.Result.IsError)
			require.Contains(t, o.Result.Content[0].Text, p.ID)
		}
		bob := as("assistant-bob", refund, mcptest.Step{Call: "proposal_status", Arguments: json.RawMessage(`{"proposal":"` + p.ID + `"}`)})
		require.Equal(t, string(chattools.Forbidden), bob[0].Result.Meta[mcptools.StatusKey])
		require.True(t, bob[1].Result.IsError)
		clerk := as("clerk-olga", mcptest.Step{}, refund)
		require.Len(t, clerk[0].Result.Tools, len(s.names(t, session("clerk", "olga"))))
		require.Contains(t, clerk[1].Error, "There is no such tool.")

		s.approve(t, p.ID)
		require.EqualValues(t, 1, s.runs.Load())
		ann = as("assistant-ann", mcptest.Step{Call: "proposal_status", Arguments: json.RawMessage(`{"proposal":"` + p.ID + `"}`)}, refund)
		require.Contains(t, ann[0].Result.Content[0].Text, `"status":"done"`)
		require.NotContains(t, ann[1].Result.Content[0].Text, p.ID, "what is decided is over; the same call is a new proposal")
		require.EqualValues(t, 1, s.runs.Load())
	}
}

// A7: a client in JavaScript rounds numbers, but not in the text that its model reads, and what the model sends as
// text comes back exactly.
func TestA7_DigitsSurviveJavaScript(t *testing.T) {
	node := mcptest.Open(t)
	s := openShop(t)
	_, url := s.serve(t, nil)
	outcomes := node.TypeScript(t, mcptest.Job{URL: url, Headers: map[string]string{"Authorization": "Bearer assistant-olga"}, Steps: []mcptest.Step{
		{Call: "list"}, {Call: "nil_list"}, {Call: "all_optional", Arguments: json.RawMessage(`{"id":"725653563933458433"}`)},
	}})
	require.Equal(t, "[4611686018427387905,2]", outcomes[0].Result.Content[0].Text)
	require.Equal(t, "[]", outcomes[1].Result.Content[0].Text, "S8")
	require.Equal(t, `{"id":"725653563933458433"}`, outcomes[2].Result.Content[0].Text)
}

// The same with the Inspector, which speaks the newest revision to the stateless server and an older one to the
// other, and finds nothing in our definitions that other clients would not take.
func TestTheInspectorAsAClient(t *testing.T) {
	node := mcptest.Open(t)
	for _, change := range []func(*mcptools.Config){nil, stateful} {
		s := openShop(t)
		_, url := s.serve(t, change)
		as := func(bearer string, args ...string) string {
			out, log, err := node.Inspector(t, append([]string{url, "--transport", "http", "--header", "Authorization: Bearer " + bearer}, args...)...)
			require.NoError(t, err, log)
			return out
		}
		list := as("assistant-ann", "--method", "tools/list", "--strict")
		require.Contains(t, list, "refund_order")
		require.NotContains(t, as("clerk-olga", "--method", "tools/list"), "refund_order")
		refund := []string{"--method", "tools/call", "--tool-name", "refund_order", "--tool-args-json", `{"order":"a1","cents":7}`}
		out := as("assistant-ann", refund...)
		p := s.only(t)
		require.Contains(t, out, p.ID)
		require.Contains(t, as("assistant-ann", refund...), p.ID)
		s.approve(t, p.ID)
		require.EqualValues(t, 1, s.runs.Load())
		require.Contains(t, as("assistant-ann", "--method", "tools/call", "--tool-name", "proposal_status", "--tool-arg", "proposal="+p.ID), `done`)
		_, log, err := node.Inspector(t, append([]string{url, "--transport", "http", "--header", "Authorization: Bearer clerk-olga"}, refund...)...)
		require.Error(t, err)
		require.Contains(t, strings.ToLower(log), "not found", "the Inspector looks it up in its list")
	}
}

// Both on standard input and output.
func TestLocalClientsOfOthers(t *testing.T) {
	node := mcptest.Open(t)
	self, err := os.Executable()
	require.NoError(t, err)
	for _, person := range []string{"ann", "bob"} {
		script := filepath.Join(t.TempDir(), "serve")
		require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nMCPTOOLS_SERVE_STDIO="+person+" exec "+self+"\n"), 0o700))
		outcomes := node.TypeScript(t, mcptest.Job{Command: []string{script}, Steps: []mcptest.Step{
			{}, {Call: "who"}, {Call: "refund_order", Arguments: json.RawMessage(`{"order":"a1","cents":250}`)},
		}})
		require.NotEmpty(t, outcomes[0].Result.Tools)
		require.Equal(t, `"assistant for `+person+`"`, outcomes[1].Result.Content[0].Text)
		want := map[string]chattools.Status{"ann": chattools.NeedsApproval, "bob": chattools.Forbidden}[person]
		require.Equal(t, string(want), outcomes[2].Result.Meta[mcptools.StatusKey])

		out, log, err := node.Inspector(t, script, "--method", "tools/call", "--tool-name", "who")
		require.NoError(t, err, log)
		require.Contains(t, out, "assistant for "+person)
	}
}
