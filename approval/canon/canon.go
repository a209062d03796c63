// Package canon gives the parameters of a proposed action one exact spelling.
//
// A document is parsed once, at the door, with [Parse]. The [Object] that
// comes back holds the canonical text: that one string is validated, hashed,
// stored, shown to the operator and decoded for the run. Two documents have
// the same text, and so the same [Hash], only if they are the same JSON value,
// number for number. What cannot be written exactly is refused with an
// [Error] that says why and where. Nothing is repaired, rounded or dropped.
//
// # The exact canonical form
//
// The text is UTF-8 without white space between tokens.
//
//   - Structure: strict JSON (RFC 8259), nothing after the value. The top level
//     is an object. Arrays and objects nest at most [MaxDepth] levels, the top
//     object being the first. Neither the document nor its canonical text is
//     longer than [MaxBytes].
//   - Strings: escapes are decoded and only the quotation mark, the backslash
//     and U+0000 to U+001F are written escaped: \" \\ \b \t \n \f \r, the rest
//     as \u00xx in lower case. There is no Unicode normalization.
//   - Names: members are ordered by the UTF-16 code units of their names. No
//     two names of one object are equal, and none are equal under simple case
//     folding unless [Options] allow it.
//   - Numbers: let v be the exact decimal value of the literal. Zero is 0. If v
//     is an integer that fits int64 or uint64, it is written in plain digits.
//     Otherwise v must equal the shortest decimal that identifies its nearest
//     binary64 number, and is written as ECMAScript writes that number. So
//     1.0, 1e0 and 10e-1 are all 1; 0.1 stays 0.1; 9007199254740993 keeps its
//     last digit; 3.141592653589793238 is refused.
//
// Wherever RFC 8785 loses nothing, the text is the one that RFC 8785 gives.
// The form has its own name because it differs where RFC 8785 rounds: there it
// keeps an integer exactly or refuses.
//
// # Why a document is refused
//
//	empty                nothing but white space
//	null                 the document is null, which is not the same as {}
//	not_an_object        it begins with anything but {; a byte order mark too
//	too_large            longer than MaxBytes, as given or as canonical text
//	too_deep             more than MaxDepth levels
//	bad_utf8             a byte that is not part of valid UTF-8
//	syntax               not JSON
//	trailing_data        anything but white space after the document
//	lone_surrogate       a \u escape that is half of a surrogate pair
//	duplicate_name       one name twice in one object
//	case_fold_clash      two names that are equal under simple case folding
//	negative_zero        -0 in any spelling
//	number_too_long      a number literal of more than 128 characters
//	number_out_of_range  binary64 would make it infinite or zero
//	inexact_number       binary64 would change its value
//	not_canonical        text given to Stored that is not its own canonical form
//
// Size is judged first, then UTF-8, then everything else in reading order; the
// members of one object are compared with one another when it ends. The work
// is linear in the size of the document, up to sorting, whatever it contains.
//
// Everything here is an immutable value or a pure function, safe for
// concurrent use; slices that are returned belong to the caller.
//
// # What it costs
//
// Microseconds and allocations to canonicalize and hash one document, in one
// run on one machine; read them as ratios. docs/measurements.md says more.
//
//	                         227 B       2,006 B        65,530 B
//	SHA-256 alone          0.17 / 0      1.0 / 0        30 / 0
//	this package            1.3 / 6       11 / 7       388 / 12
//	jsontext                2.0 / 1       18 / 1       832 / 833
//	encoding/json           4.8 / 72      49 / 767   1,644 / 25,457
//	gowebpki/jcs            5.5 / 105     58 / 1,091 2,258 / 36,279
package canon

import "strings"

const (
	// MaxBytes is the most bytes that a document, and its canonical text, may have.
	MaxBytes = 256 << 10
	// MaxDepth is how many levels of arrays and objects may nest; the top object is level 1.
	MaxDepth = 64
)

// Object is one canonical parameter document. It is immutable, safe for
// concurrent use, and comparable: two Objects are equal with == exactly if
// their canonical texts are. The zero Object is no document at all, which is
// not the same as the empty object {}.
type Object struct{ text string }

// Options are what an action may relax for its own parameters. The zero value
// is the strict form.
type Options struct {
	// AllowFoldClash accepts names in one object that differ only by case, such
	// as "a" and "A". It is for actions whose data needs both, a map of user
	// given keys for instance. Names are still compared by case when the text
	// is decoded.
	AllowFoldClash bool
}

// Parse reads one JSON document and returns its exact canonical form. It is
// the only way for a document that someone else wrote to become an Object.
// The error is always an [*Error]. Parse keeps no reference to src.
func Parse(src []byte, o Options) (Object, error) {
	text, err := canonicalize(src, o, false)
	if err != nil {
		return Object{}, err
	}
	return Object{text}, nil
}

// Stored returns the Object whose canonical text a store kept. It accepts
// exactly the texts that [Object.String] can return, names that differ only by
// case included, since the option that admitted them is not stored. Any other
// text is refused with an [*Error]: not_canonical if it is a sound document in
// another spelling, else the reason that [Parse] gives.
func Stored(text string) (Object, error) {
	canonical, err := canonicalize([]byte(text), Options{AllowFoldClash: true}, false)
	if err != nil {
		return Object{}, err
	}
	if canonical != text {
		at := 0
		for at < min(len(text), len(canonical)) && text[at] == canonical[at] {
			at++
		}
		return Object{}, &Error{Reason: ReasonNotCanonical, Offset: at}
	}
	return Object{strings.Clone(text)}, nil
}

// String returns the canonical text, or "" for the zero Object.
func (o Object) String() string { return o.text }

// Bytes returns the canonical text as a fresh slice that the caller owns; nil
// for the zero Object.
func (o Object) Bytes() []byte { return append([]byte(nil), o.text...) }

// IsZero reports whether o is no document.
func (o Object) IsZero() bool { return o.text == "" }

// MarshalJSON returns the canonical text. The zero Object is an error with
// reason empty, so that a missing document never turns into null or {}; tag a
// field that may be absent with omitzero. An encoder may respell the text
// inside a larger document ([encoding/json] escapes <, > and &): hash and
// compare the Object, never what an encoder wrote around it.
func (o Object) MarshalJSON() ([]byte, error) {
	if o.IsZero() {
		return nil, &Error{Reason: ReasonEmpty}
	}
	return o.Bytes(), nil
}

// UnmarshalJSON always fails, because a decoder has already chosen how to read
// the bytes and cannot know the action's [Options]. Keep the raw value of the
// member and give it to [Parse], or to [Stored] if a store wrote it.
func (*Object) UnmarshalJSON([]byte) error { return errUnmarshal }
