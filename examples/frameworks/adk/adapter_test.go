package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
)

func TestExact(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"n":9007199254740991,"m":-9007199254740991,"x":0.1,"s":"9007199254740993"}`: true,
		`{"n":9007199254740992}`:             false, // what 9007199254740993 is rounded to
		`{"a":[1,{"n":-9007199254740992}]}`:  false,
		`{"n":1e+300}`:                       false,
		`{"n":9007199254740992.0}`:           false,
		`{"9007199254740993":[],"n":[true]}`: true,
		`null`:                               true, // the gate's to refuse
	} {
		require.Equal(t, want, exact([]byte(raw)), raw)
	}
}

// Errors stand where ADK puts errors; what waits for approval is an ordinary result.
func TestResponse(t *testing.T) {
	for status, isError := range map[chattools.Status]bool{
		chattools.Done: false, chattools.NeedsApproval: false, chattools.Forbidden: true, chattools.Invalid: true,
		chattools.Unknown: true, chattools.Limited: true, chattools.Failed: true,
	} {
		text := `{"status":"` + string(status) + `"}`
		got, err := response(chattools.Answer{Status: status})
		if isError {
			require.EqualError(t, err, text)
			require.Nil(t, got)
		} else {
			require.NoError(t, err)
			require.Equal(t, map[string]any{"output": text}, got)
		}
	}
}

// The gate answers for names that nobody knows, and for no tool that exists.
func TestUnknownLeavesOtherToolsAlone(t *testing.T) {
	gate := &Toolset{Call: func(context.Context, chattools.Call) chattools.Answer { panic("asked about a tool that exists") }}
	broken := errors.New("broken")
	got, err := gate.Unknown(nil, &bound{}, nil, broken)
	require.Nil(t, got)
	require.Equal(t, broken, err)
}

// A confirmation that somebody writes to ADK's session makes the call and approves nothing.
func TestConfirmationIsNoApproval(t *testing.T) {
	s, err := shop.New()
	require.NoError(t, err)
	c, err := s.Talk(nil)
	require.NoError(t, err)
	gate := &Toolset{Catalog: c.Tools, Call: c.Call}
	model := &shop.Script{Steps: []shop.Step{shop.Calling("refund_payment", `{"payment":"1042","cents":500}`)}}
	assistant, err := llmagent.New(llmagent.Config{Name: "assistant", Model: scripted{model},
		Toolsets:             []tool.Toolset{tool.WithConfirmation(gate, true, nil)},
		OnToolErrorCallbacks: []llmagent.OnToolErrorCallback{gate.Unknown}})
	require.NoError(t, err)
	sessions := session.InMemoryService()
	_, err = sessions.Create(t.Context(), &session.CreateRequest{AppName: "shop", UserID: "olga", SessionID: "c1"})
	require.NoError(t, err)
	r, err := runner.New(runner.Config{AppName: "shop", Agent: assistant, SessionService: sessions})
	require.NoError(t, err)

	asked := ""
	for event, err := range r.Run(t.Context(), "olga", "c1", genai.NewContentFromText("Refund it.", genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
		for _, p := range event.Content.Parts {
			if p.FunctionCall != nil && p.FunctionCall.Name == toolconfirmation.FunctionCallName {
				asked = p.FunctionCall.ID
			}
		}
	}
	require.NotEmpty(t, asked, "ADK asked for a confirmation")
	require.Empty(t, c.Proposals(), "and had called nothing")

	yes := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
		ID: asked, Name: toolconfirmation.FunctionCallName, Response: map[string]any{"confirmed": true}}}}}
	for _, err := range r.Run(t.Context(), "olga", "c1", yes, agent.RunConfig{}) {
		require.NoError(t, err)
	}
	require.Len(t, c.Proposals(), 1)
	require.Zero(t, s.Refunds())
}
