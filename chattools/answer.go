package chattools

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Status is how a call was answered. The set is closed.
type Status string

// The statuses.
const (
	Done          Status = "done"           // it ran; Result is what it returned
	NeedsApproval Status = "needs_approval" // nothing was changed; a person has to approve Proposal
	Forbidden     Status = "forbidden"      // the tool exists, but not for this person or record
	Invalid       Status = "invalid"        // the arguments; Text says where and what was expected
	Unknown       Status = "unknown"        // no such tool
	Limited       Status = "limited"        // too many proposals wait already
	Failed        Status = "failed"         // it ran, or should have, and did not succeed
)

// Answer is what a model gets back for a call. All of it may be read by the model.
type Answer struct {
	CallID   string          `json:"call_id,omitempty"`
	Status   Status          `json:"status"`
	Text     string          `json:"text,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // data, whatever it says
	Proposal string          `json:"proposal,omitempty"`
}

const (
	textWaiting   = "This needs a person's approval and waits for it. Nothing has been changed yet."
	textUnknown   = "There is no such tool."
	textNotYou    = "You, or the person you are acting for, are not permitted to do this."
	textNotThere  = "There is no such record, or it is not one you may act on."
	textNotHere   = "This cannot be done from within another call."
	textLimited   = "Too many proposals are waiting for a decision. Wait until some are decided."
	textFailed    = "The call failed."
	textTooMany   = "The limit on calls for one message is reached. Nothing was run."
	textCancelled = "The conversation was stopped before this call. Nothing was run."
	textNoResult  = "The result cannot be shown."
	textTruncated = "The call was cut off before it was complete. Nothing was run."
)

// refused makes an answer of a refusal. What is not public stays behind.
func refused(err error) Answer {
	r, ok := errors.AsType[*registry.Refusal](err)
	if !ok {
		return Answer{Status: Failed, Text: textFailed}
	}
	switch r.Code {
	case ledger.Unknown, ledger.Unavailable:
		return Answer{Status: Unknown, Text: textUnknown}
	case ledger.Forbidden:
		return Answer{Status: Forbidden, Text: forbidden(authz.Reason(r.Reason))}
	case ledger.Invalid:
		return Answer{Status: Invalid, Text: invalid(r.Err)}
	case ledger.Limited:
		return Answer{Status: Limited, Text: textLimited}
	}
	text := textFailed
	if public, ok := registry.PublicText(err); ok {
		text = strings.ToValidUTF8(public, "\uFFFD")
	}
	return Answer{Status: Failed, Text: text}
}

// forbidden is one of three fixed texts, without rule, role or name. A record that does not exist and one that
// is somebody else's get the same.
func forbidden(why authz.Reason) string {
	switch why {
	case authz.ReasonNoTarget, authz.ReasonNotOnTarget, authz.ReasonDenyOverride:
		return textNotThere
	case authz.ReasonChangeInRead, authz.ReasonOtherIdentity, authz.ReasonInsideRun:
		return textNotHere
	}
	return textNotYou
}

// invalid tells a model how to repair its arguments, all of them at once: only errors that say where and what
// was expected, and echo nothing, are passed on.
func invalid(err error) string {
	var faults []string
	if e, ok := errors.AsType[*canon.Error](err); ok {
		faults = append(faults, e.Error())
	} else {
		faults = appendFaults(nil, err)
	}
	if len(faults) == 0 {
		return "The arguments are not valid."
	}
	for i, text := range faults {
		_, faults[i], _ = strings.Cut(text, ": ")
	}
	return "The arguments are not valid: " + strings.Join(faults, "; ") + "."
}

func appendFaults(faults []string, err error) []string {
	if many, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, err := range many.Unwrap() {
			faults = appendFaults(faults, err)
		}
		return faults
	}
	if e, ok := errors.AsType[*registry.ParamError](err); ok {
		faults = append(faults, e.Error())
	}
	return faults
}
