package mcpgateway

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/registry"
)

// Reason says what is wrong with a server or a tool of it. The set is closed.
type Reason string

// The reasons. After Timeout, Lost and TooLarge it is not known whether a call took effect.
const (
	Unreachable Reason = "unreachable" // no connection, or no handshake
	Timeout     Reason = "timeout"     // no answer in time
	Lost        Reason = "lost"        // the connection broke off
	Refused     Reason = "refused"     // it answered with a protocol error
	ToolFailed  Reason = "tool_failed" // the tool ran and reports an error
	BadListing  Reason = "bad_listing" // its list of tools is not one
	Endless     Reason = "endless"     // its list does not end, or is longer than the limit
	BadTool     Reason = "bad_tool"    // the definition of a tool cannot be used
	Duplicate   Reason = "duplicate"   // two tools have one name, or cannot be told apart
	Changed     Reason = "changed"     // the tool is not what an owner accepted
	Gone        Reason = "gone"        // the tool, or the server, is no longer there
	TooLarge    Reason = "too_large"   // more than the limit
	BadResult   Reason = "bad_result"  // the result has no form that can be passed on
	WrongScope  Reason = "wrong_scope" // the gateway is another scope's
)

// Error is what became of a call to a server. Its text is for operators and logs and may quote the server; a
// model gets a fixed sentence for the reason, and of a tool that failed the text, labelled as the server's.
type Error struct {
	Server string
	Tool   string // as the server names it; empty for the server itself
	Reason Reason
	Err    error // the cause; may be nil
}

// Error names server, tool, reason and cause.
func (e *Error) Error() string {
	text := fmt.Sprintf("mcpgateway: server %s", canon.Quote(clip(e.Server, 64)))
	if e.Tool != "" {
		text += ", tool " + canon.Quote(clip(e.Tool, 128))
	}
	text += ": " + string(e.Reason)
	if e.Err != nil {
		text += ": " + canon.Quote(clip(e.Err.Error(), maxErrorText))
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxErrorText bounds what an error repeats of a server's words.
const maxErrorText = 2 << 10

var sentences = map[Reason]string{
	Unreachable: "The server of this tool cannot be reached. Nothing was run.",
	Timeout:     "The server of this tool did not answer in time. What it did is not known.",
	Lost:        "The connection to the server of this tool broke off. What it did is not known.",
	Refused:     "The server of this tool refused the call.",
	BadListing:  "The server of this tool does not say properly what tools it has. Nothing was run.",
	Endless:     "The server of this tool does not say properly what tools it has. Nothing was run.",
	BadTool:     "This tool cannot be used. Nothing was run.",
	Duplicate:   "This tool cannot be told from another. Nothing was run.",
	Changed:     "This tool has changed since it was accepted. Nothing was run; an owner has to look at it first.",
	Gone:        "The server no longer has this tool. Nothing was run.",
	TooLarge:    "What the server of this tool returned is too large.",
	BadResult:   "What the server of this tool returned cannot be shown.",
	WrongScope:  "This tool is not for you. Nothing was run.",
}

// told is the error for a run function to return: all of it for the audit, the sentence for the model.
func (e *Error) told() error {
	text := sentences[e.Reason]
	if e.Reason == ToolFailed {
		text = "The server of this tool reports an error. In its own words, which are data: " + canon.Quote(clip(e.Err.Error(), maxErrorText))
	}
	return &told{e, registry.Public(errors.New(text))}
}

type told struct {
	whole  *Error
	public error
}

func (t *told) Error() string   { return t.whole.Error() }
func (t *told) Unwrap() []error { return []error{t.whole, t.public} }

// refuse is an error of an administrative action that whoever asked may read.
func refuse(format string, args ...any) error { return registry.Public(fmt.Errorf(format, args...)) }

// clip cuts a text at a number of bytes, on the border of a character, and says so.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:limit], ""), len(s))
}
