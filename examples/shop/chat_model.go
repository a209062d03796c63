package main

import (
	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	oai "github.com/openai/openai-go/v3"
	oaioption "github.com/openai/openai-go/v3/option"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/anthropic"
	"github.com/sallyport-dev/sallyport/chattools/openai"
)

// modelOf chooses the model of a chat by the environment: Anthropic's API with ANTHROPIC_API_KEY, one that
// speaks OpenAI's chat completions with OPENAI_API_KEY or OPENAI_BASE_URL (Ollama, vLLM, llama.cpp), and a
// script without any. SHOP_MODEL names the model.
func modelOf(env func(string) string) (chattools.Model, string, error) {
	switch key, base := env("OPENAI_API_KEY"), env("OPENAI_BASE_URL"); {
	case env("ANTHROPIC_API_KEY") != "":
		name := or(env("SHOP_MODEL"), "claude-sonnet-4-5")
		m, err := anthropic.New(sdk.NewClient(option.WithAPIKey(env("ANTHROPIC_API_KEY"))), anthropic.Options{Model: name})
		return m, name, err
	case key != "" || base != "":
		name := or(env("SHOP_MODEL"), "gpt-4.1")
		o := []oaioption.RequestOption{oaioption.WithAPIKey(or(key, "none"))}
		if base != "" {
			o = append(o, oaioption.WithBaseURL(base))
		}
		m, err := openai.NewChat(oai.NewClient(o...), openai.Options{Model: name})
		return m, name, err
	}
	m, err := newScripted()
	return m, "a script", err
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
