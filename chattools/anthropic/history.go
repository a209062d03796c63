package anthropic

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// What stands where the API wants something and the conversation has nothing.
const (
	textStart    = "(The start of the conversation is left out.)"
	textContinue = "(Go on.)"
	textNoAnswer = `{"status":"failed","text":"There is no answer to this call."}`
)

var errNothingSaid = errors.New("the conversation is empty")

var (
	idPattern   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	notInName   = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
	maxNameSize = 128
)

// history writes a conversation as the API wants it: the user's turn first and last, turns that alternate,
// and right after calls one turn that begins with the results of all of them, in their order. It reports
// whether there are calls.
func history(messages []chattools.Message) (turns []sdk.MessageParam, calls bool) {
	w := writer{taken: map[string]bool{}}
	for _, m := range messages {
		switch m.Role {
		case chattools.RoleAssistant:
			w.assistant(m)
		case chattools.RoleTool:
			w.answers(m.Answers)
		default:
			w.answers(nil)
			w.user(m.ForModel())
		}
	}
	w.answers(nil)
	if n := len(w.turns); n > 0 && w.turns[n-1].OfAssistant != nil {
		w.user(textContinue)
	}
	return w.turns, w.calls
}

// pending is a call that is to be answered in the next turn.
type pending struct{ id, wireID string }

type writer struct {
	turns []sdk.MessageParam
	open  []pending
	taken map[string]bool // ids that are on the wire
	calls bool
}

func (w *writer) user(text string) {
	if !blank(text) {
		w.add(sdk.NewTextBlock(wire.Clean(text)))
	}
}

// add adds a block to the user's turn, which begins with it if it is not the user's already.
func (w *writer) add(block sdk.ContentBlockParamUnion) {
	if n := len(w.turns); n > 0 && w.turns[n-1].OfUser != nil {
		w.turns[n-1].OfUser.Content = append(w.turns[n-1].OfUser.Content, block)
		return
	}
	w.turns = append(w.turns, sdk.NewUserMessage(block))
}

func (w *writer) assistant(m chattools.Message) {
	w.answers(nil)
	var blocks []sdk.ContentBlockParamUnion
	for _, p := range layout(m) {
		switch {
		case p.Thinking != nil:
			blocks = append(blocks, sdk.NewThinkingBlock(p.Thinking.Signature, p.Thinking.Thinking))
		case p.Redacted != "":
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(p.Redacted))
		case p.call != nil:
			blocks = append(blocks, w.call(*p.call))
		case !blank(p.text):
			blocks = append(blocks, sdk.NewTextBlock(wire.Clean(p.text)))
		}
	}
	if !slices.ContainsFunc(blocks, func(b sdk.ContentBlockParamUnion) bool { return b.OfText != nil || b.OfToolUse != nil }) {
		return // reasoning alone is no turn
	}
	if len(w.turns) == 0 {
		w.user(textStart)
	}
	if n := len(w.turns); w.turns[n-1].OfAssistant != nil {
		w.turns[n-1].OfAssistant.Content = append(w.turns[n-1].OfAssistant.Content, blocks...)
		return
	}
	w.turns = append(w.turns, sdk.NewAssistantMessage(blocks...))
}

// call writes a call with an id and a name that the API accepts, whatever the model made up.
func (w *writer) call(c chattools.Call) sdk.ContentBlockParamUnion {
	w.calls = true
	id := c.ID
	for n := len(w.taken) + 1; !idPattern.MatchString(id) || w.taken[id]; n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	w.taken[id] = true
	w.open = append(w.open, pending{c.ID, id})
	name := notInName.ReplaceAllString(wire.Clean(c.Name), "_")
	if name = name[:min(len(name), maxNameSize)]; name == "" {
		name = "_"
	}
	return sdk.NewToolUseBlock(id, c.Echo(), name)
}

// answers writes the results of all open calls, in the order of the calls. A call without an answer gets one
// that says so; an answer without a call is left out.
func (w *writer) answers(answers []chattools.Answer) {
	answers = slices.Clone(answers)
	for _, call := range w.open {
		i := slices.IndexFunc(answers, func(a chattools.Answer) bool { return a.CallID == call.id })
		text, failed := textNoAnswer, true
		if i >= 0 {
			text, failed = answers[i].ForModel()
			answers = slices.Delete(answers, i, i+1)
		}
		w.add(sdk.NewToolResultBlock(call.wireID, wire.Clean(text), failed))
	}
	w.open = nil
}
