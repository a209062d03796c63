package canon

import (
	"errors"
	"fmt"
	"strconv"
)

// Reason says why a document has no exact canonical form. The set is closed;
// the zero Reason is none of them. Its text form is the code in the package
// comment, the same in every release.
type Reason uint8

// The reasons, in the order in which the package comment explains them.
const (
	ReasonEmpty Reason = iota + 1
	ReasonNull
	ReasonNotObject
	ReasonSize
	ReasonDepth
	ReasonUTF8
	ReasonSyntax
	ReasonTrailing
	ReasonSurrogate
	ReasonDuplicate
	ReasonFoldClash
	ReasonNegativeZero
	ReasonNumberLength
	ReasonRange
	ReasonInexact
	ReasonNotCanonical
)

// reasons holds the code of each reason and what its reader should do.
var reasons = [...]struct{ code, advice string }{
	ReasonEmpty:        {"empty", "send an object; {} if there are no parameters"},
	ReasonNull:         {"null", "send an object; {} if there are no parameters"},
	ReasonNotObject:    {"not_an_object", "the parameters must be one JSON object"},
	ReasonSize:         {"too_large", "at most " + strconv.Itoa(MaxBytes) + " bytes are allowed"},
	ReasonDepth:        {"too_deep", "at most " + strconv.Itoa(MaxDepth) + " levels of arrays and objects are allowed"},
	ReasonUTF8:         {"bad_utf8", "the text must be valid UTF-8"},
	ReasonSyntax:       {"syntax", "this is not valid JSON"},
	ReasonTrailing:     {"trailing_data", "nothing may follow the object"},
	ReasonSurrogate:    {"lone_surrogate", "a \\u surrogate needs its other half"},
	ReasonDuplicate:    {"duplicate_name", "a name may occur once in an object"},
	ReasonFoldClash:    {"case_fold_clash", "names in an object may not differ only by case"},
	ReasonNegativeZero: {"negative_zero", "write 0, or send the number as a string"},
	ReasonNumberLength: {"number_too_long", "a number has at most " + strconv.Itoa(maxNumber) + " characters; send it as a string"},
	ReasonRange:        {"number_out_of_range", "send the number as a string"},
	ReasonInexact:      {"inexact_number", "write fewer digits, or send the number as a string"},
	ReasonNotCanonical: {"not_canonical", "the stored text is not in its canonical form"},
}

// String returns the code of r, and "unknown" for a value outside the set.
func (r Reason) String() string {
	if r == 0 || int(r) >= len(reasons) {
		return "unknown"
	}
	return reasons[r].code
}

// MarshalText returns the code of r, or an error for a value outside the set.
func (r Reason) MarshalText() ([]byte, error) {
	if r == 0 || int(r) >= len(reasons) {
		return nil, fmt.Errorf("canon: no reason has number %d", r)
	}
	return []byte(reasons[r].code), nil
}

// UnmarshalText sets r from a code. An unknown code is an error and leaves r
// as it was.
func (r *Reason) UnmarshalText(code []byte) error {
	for i := 1; i < len(reasons); i++ {
		if reasons[i].code == string(code) {
			*r = Reason(i)
			return nil
		}
	}
	return errors.New("canon: unknown reason")
}

// Error is the refusal of a document. It carries no value of the document:
// only the place, by names and positions.
type Error struct {
	// Reason is why.
	Reason Reason
	// Pointer is the RFC 6901 pointer to the value or member concerned; "" is
	// the whole document. Of two clashing names it is the later member; a fault
	// inside a name, or between members, points to the object around it. The
	// names in it come from the document: quote them before showing, as the
	// method Error does.
	Pointer string
	// Offset is the byte in the given text at which the fault was seen: the
	// first byte of a number, the name of the later of two clashing members,
	// the backslash of a lone surrogate, the end of a text that stops early; 0
	// for a text that is too large to be read.
	Offset int
}

// maxShown is how many bytes of a pointer an error message repeats.
const maxShown = 160

// Error returns one line that is safe to show and to log: the reason, the
// place with hidden characters escaped and its length bounded, and advice.
func (e *Error) Error() string {
	msg := "canon: " + e.Reason.String()
	if p := e.Pointer; p != "" {
		cut := ""
		if len(p) > maxShown {
			p, cut = wholeRunes(p[:maxShown]), "…"
		}
		msg += " at " + Quote(p) + cut
	}
	msg += " (byte " + strconv.Itoa(e.Offset) + ")"
	if e.Reason != 0 && int(e.Reason) < len(reasons) {
		msg += ": " + reasons[e.Reason].advice
	}
	return msg
}

var errUnmarshal = errors.New("canon: an Object cannot be unmarshaled; use Parse or Stored on the raw value")
