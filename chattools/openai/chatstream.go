package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// chatStream puts an answer together from its chunks.
type chatStream struct {
	tell          func(delta string)
	text, refusal strings.Builder
	calls         []*arriving // in the order in which they began
	reason        string
	usage         *chatUsage
}

// arriving is a call while it arrives.
type arriving struct {
	index     int
	id, name  string
	arguments wire.Arguments
}

// take takes one chunk.
func (s *chatStream) take(data []byte) (last bool, err error) {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		if s.reason == "" {
			return true, broken(errNoReason)
		}
		return true, nil
	}
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return true, broken(errUnreadable)
	}
	if c.Error != nil {
		return true, inside(*c.Error)
	}
	if c.Usage != nil {
		s.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one was asked for
		}
		s.say(&s.text, choice.Delta.Content)
		s.say(&s.refusal, choice.Delta.Refusal)
		for _, d := range choice.Delta.Calls {
			s.call(d)
		}
		if reason := string(choice.Reason); reason != "" {
			if s.reason != "" && s.reason != reason {
				return true, broken(errOutOfOrder)
			}
			s.reason = reason
		}
	}
	return false, nil
}

func (s *chatStream) say(to *strings.Builder, delta words) {
	if delta == "" {
		return
	}
	to.WriteString(string(delta))
	if s.tell != nil {
		s.tell(string(delta))
	}
}

// call takes a piece of a call: of one that has begun, or the beginning of another.
func (s *chatStream) call(d chatCall) {
	c := s.begun(d)
	if c == nil {
		c = &arriving{index: d.Index, id: string(d.ID)}
		s.calls = append(s.calls, c)
	} else if c.again(d) {
		return
	}
	if c.name == "" {
		c.name = string(d.Function.Name)
	}
	c.arguments.Add(d.Function.Arguments)
}

// begun finds the call that a piece continues. It has the same index and not another id or name: servers
// that number all calls of an answer 0 begin another call so. Without an id it is the latest.
func (s *chatStream) begun(d chatCall) *arriving {
	for _, c := range slices.Backward(s.calls) {
		if c.index != d.Index {
			continue
		}
		otherName := d.Function.Name != "" && c.name != "" && string(d.Function.Name) != c.name
		if (d.ID == "" || string(d.ID) == c.id) && !otherName {
			return c
		}
		if d.ID == "" {
			return nil
		}
	}
	return nil
}

// again reports whether a piece is the whole call a second time, as some servers deliver it, and not its
// continuation: it names the call, and its arguments are complete and those that are there.
func (c *arriving) again(d chatCall) bool {
	if d.ID == "" || string(d.Function.Name) != c.name {
		return false
	}
	var piece wire.Arguments
	piece.Add(d.Function.Arguments)
	return piece.Quoted() == c.arguments.Quoted() && strings.HasPrefix(piece.Quoted(), "{") && json.Valid(piece.Bytes())
}

func (s *chatStream) turn() (chattools.Turn, error) {
	slices.SortStableFunc(s.calls, func(a, b *arriving) int { return cmp.Compare(a.index, b.index) })
	var calls []chattools.Call
	for _, c := range s.calls {
		calls = append(calls, chattools.Call{ID: c.id, Name: c.name, Arguments: c.arguments.Bytes()})
	}
	return chatTurn(s.text.String(), s.refusal.String(), calls, s.reason, s.usage), nil
}
