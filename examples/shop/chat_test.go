package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/store"
)

// TestChat plays a conversation on the terminal: asked, pending, approved by staff, told.
func TestChat(t *testing.T) {
	model, err := newScripted()
	require.NoError(t, err)
	var out bytes.Buffer
	in := &typist{t: t, out: &out}
	in.lines = []func(shown string) string{
		func(string) string { return "May I pay with my other card?" },
		func(string) string { return "/pending" },
		func(string) string { return "Is it done?" },
		func(shown string) string { return "/approve " + lastID(shown) },
		func(shown string) string { return "/approve " + lastID(shown) },
		func(string) string { return "And now?" },
		func(string) string { return "/dismiss nothing at all" },
		func(string) string { return "/sudo" },
		func(string) string { return "" },
		func(string) string { return "/quit" },
	}
	w, err := store.New(t.Context(), store.InMemory())
	require.NoError(t, err)
	require.NoError(t, chatWith(t.Context(), in, &out, model, "a script", w))
	text := out.String()
	for _, want := range []string{
		"… modify_pending_order_payment", "… needs_approval", "… waits for staff: ",
		`Pay order "#W4923227" with "credit_card_8897086" instead.`, "1 waiting",
		"nothing is changed before they agree", "    done\n", "    spent\n",
		"the ledger says: ", " is done. (A script plays me", "    unknown\n", "There is no such command.",
	} {
		require.Contains(t, text, want)
	}
	require.Less(t, strings.Index(text, "nothing is changed before"), strings.Index(text, "    done\n"))
}

func lastID(text string) string {
	ids := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`).FindAllString(text, -1)
	return ids[len(ids)-1]
}

// typist reads the screen before it types the next line.
type typist struct {
	t     *testing.T
	out   *bytes.Buffer
	lines []func(shown string) string
}

func (p *typist) Read(b []byte) (int, error) {
	require.NotEmpty(p.t, p.lines, "the chat should have ended")
	line := p.lines[0](p.out.String())
	p.lines = p.lines[1:]
	return copy(b, line+"\n"), nil
}

// The environment chooses the model, and no key is needed for the script.
func TestModelOf(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "a script"},
		{map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "claude-sonnet-4-5"},
		{map[string]string{"OPENAI_API_KEY": "k", "SHOP_MODEL": "gpt-5"}, "gpt-5"},
		{map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "SHOP_MODEL": "qwen3"}, "qwen3"},
	} {
		model, name, err := modelOf(func(key string) string { return test.env[key] })
		require.NoError(t, err)
		require.NotNil(t, model)
		require.Equal(t, test.want, name)
	}
}
