package openai

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// textNoAnswer stands where the API wants the answer to a call and the conversation has none.
const textNoAnswer = `{"status":"failed","text":"There is no answer to this call."}`

// Ids of calls may be longer in responses than in chat completions.
var (
	chatID      = regexp.MustCompile(`^[!-~]{1,40}$`)
	responsesID = regexp.MustCompile(`^[!-~]{1,64}$`)
)

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

const maxNameSize = 64

// calls writes the calls of a history and their answers as the API wants them: with an id each that fits and
// that no other call has, and right after calls the answers to all of them, in their order.
type calls struct {
	fits  *regexp.Regexp
	open  []open
	taken map[string]bool // ids that are on the wire
}

// open is a call that is to be answered next.
type open struct{ id, wireID string }

// result is an answer with the id of its call on the wire.
type result struct{ id, text string }

func newCalls(fits *regexp.Regexp) *calls { return &calls{fits: fits, taken: map[string]bool{}} }

// call returns what to write for a call, whatever the model made up: an id, a name and arguments that the API
// accepts.
func (w *calls) call(c chattools.Call) (id, name, arguments string) {
	id = c.ID
	for n := len(w.taken) + 1; !w.fits.MatchString(id) || w.taken[id]; n++ {
		id = fmt.Sprintf("call_%d", n)
	}
	w.taken[id] = true
	w.open = append(w.open, open{c.ID, id})
	name = notInName.ReplaceAllString(wire.Clean(c.Name), "_")
	if name = name[:min(len(name), maxNameSize)]; name == "" {
		name = "_"
	}
	return id, name, string(c.Echo())
}

// answers returns the results of all open calls, in the order of the calls. A call without an answer gets one
// that says so; an answer without a call is left out.
func (w *calls) answers(answers []chattools.Answer) []result {
	answers = slices.Clone(answers)
	var results []result
	for _, call := range w.open {
		i := slices.IndexFunc(answers, func(a chattools.Answer) bool { return a.CallID == call.id })
		text := textNoAnswer
		if i >= 0 {
			text, _ = answers[i].ForModel()
			answers = slices.Delete(answers, i, i+1)
		}
		results = append(results, result{call.wireID, wire.Clean(text)})
	}
	w.open = nil
	return results
}
