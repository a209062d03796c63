package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/internal/wire"
)

// stream puts an answer together from its events.
type stream struct {
	text   func(delta string)
	begun  bool
	over   bool
	blocks []*block // by index
	open   int      // blocks that have not ended
	reason sdk.StopReason
	usage  chattools.Usage
}

// block is one block of content while it arrives.
type block struct {
	kind      string
	id        string
	name      string
	initial   string // input as the block began with it
	arguments wire.Arguments
	data      string
	text      strings.Builder // text or reasoning
	sign      strings.Builder
	ended     bool
}

// take takes one event. Events and deltas of unknown kinds are passed over, as the API asks.
func (s *stream) take(e sdk.MessageStreamEventUnion) error {
	if s.begun == (e.Type == "message_start") {
		return errOutOfOrder
	}
	switch e.Type {
	case "message_start":
		s.begun = true
		u := e.Message.Usage
		s.usage = chattools.Usage{
			Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		}
	case "content_block_start":
		return s.start(e)
	case "content_block_delta":
		return s.delta(e)
	case "content_block_stop":
		b, err := s.at(e.Index)
		if err != nil {
			return err
		}
		b.ended = true
		s.open--
	case "message_delta":
		s.reason = e.Delta.StopReason
		s.count(e.Usage)
	case "message_stop":
		if s.open > 0 {
			return errOutOfOrder
		}
		if s.reason == "" {
			return errNoReason
		}
		s.over = true
	}
	return nil
}

// at returns a block that has begun and not ended.
func (s *stream) at(index int64) (*block, error) {
	if index < 0 || index >= int64(len(s.blocks)) || s.blocks[index].ended {
		return nil, errOutOfOrder
	}
	return s.blocks[index], nil
}

func (s *stream) start(e sdk.MessageStreamEventUnion) error {
	if e.Index != int64(len(s.blocks)) {
		return errOutOfOrder
	}
	c := e.ContentBlock
	b := &block{kind: c.Type, id: c.ID, name: c.Name, data: c.Data, initial: c.JSON.Input.Raw()}
	switch c.Type {
	case "text":
		s.say(b, c.Text)
	case "thinking":
		b.text.WriteString(c.Thinking)
		b.sign.WriteString(c.Signature)
	}
	s.blocks = append(s.blocks, b)
	s.open++
	return nil
}

func (s *stream) say(b *block, text string) {
	if text = wire.Clean(text); text != "" {
		b.text.WriteString(text)
		s.text(text)
	}
}

func (s *stream) delta(e sdk.MessageStreamEventUnion) error {
	b, err := s.at(e.Index)
	if err != nil {
		return err
	}
	switch d := e.Delta; d.Type {
	case "text_delta":
		if b.kind != "text" {
			return errOutOfOrder
		}
		s.say(b, d.Text)
	case "input_json_delta":
		if b.kind == "tool_use" {
			b.arguments.Add(json.RawMessage(d.JSON.PartialJSON.Raw()))
		}
	case "thinking_delta":
		b.text.WriteString(d.Thinking)
	case "signature_delta":
		b.sign.WriteString(d.Signature)
	}
	return nil
}

// count takes the usage so far: each number replaces an earlier one.
func (s *stream) count(u sdk.MessageDeltaUsage) {
	for _, n := range []struct {
		told  bool
		value int64
		to    *int
	}{
		{u.JSON.InputTokens.Valid(), u.InputTokens, &s.usage.Input},
		{u.JSON.OutputTokens.Valid(), u.OutputTokens, &s.usage.Output},
		{u.JSON.CacheReadInputTokens.Valid(), u.CacheReadInputTokens, &s.usage.CacheRead},
		{u.JSON.CacheCreationInputTokens.Valid(), u.CacheCreationInputTokens, &s.usage.CacheWrite},
	} {
		if n.told {
			*n.to = int(n.value)
		}
	}
}

func (s *stream) turn() (chattools.Turn, error) {
	var parts []part
	for _, b := range s.blocks {
		switch b.kind {
		case "text":
			parts = append(parts, part{text: b.text.String()})
		case "tool_use":
			parts = append(parts, part{call: &chattools.Call{ID: b.id, Name: b.name, Arguments: b.input()}})
		case "thinking":
			parts = append(parts, part{Thinking: &thinking{b.text.String(), b.sign.String()}})
		case "redacted_thinking":
			parts = append(parts, part{Redacted: b.data})
		}
	}
	return turn(parts, s.reason, s.usage)
}

// input is the fragments, end to end; if there are none, or nothing in them, it is what the block began with,
// which is all that was said about it.
func (b *block) input() json.RawMessage {
	if whole := b.arguments.Bytes(); len(whole) > 0 {
		return whole
	}
	return json.RawMessage(b.initial)
}
