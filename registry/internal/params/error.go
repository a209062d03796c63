package params

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFaults  = 8   // faults named in one error
	maxPointer = 160 // bytes of a pointer that a message shows
	maxProblem = 480 // bytes of a problem
	maxName    = 48  // bytes of one member name or enum choice
	maxNames   = 12  // names or choices listed
)

// Error is one fault in parameters, worded so that a model can repair its
// call. It carries names, types and limits, never a value of the parameters.
type Error struct {
	// Pointer is the RFC 6901 pointer to the value concerned; "" is the whole
	// document.
	Pointer string
	// Problem says what was expected there, such as "expected integer, at
	// least 1".
	Problem string
}

// Error returns one line of bounded length that is safe to show and to log.
func (e *Error) Error() string { return "params: " + e.line() }

func (e *Error) line() string {
	if e.Pointer == "" {
		return shorten(e.Problem, maxProblem)
	}
	return visible(shorten(e.Pointer, maxPointer)) + ": " + shorten(e.Problem, maxProblem)
}

// several is the error of a call with more than one fault.
type several struct {
	faults []*Error
	more   bool
}

func (s *several) Error() string {
	lines := make([]string, 0, len(s.faults)+1)
	for _, fault := range s.faults {
		lines = append(lines, fault.line())
	}
	if s.more {
		lines = append(lines, "and more")
	}
	return "params: " + strings.Join(lines, "; ")
}

func (s *several) Unwrap() []error {
	all := make([]error, len(s.faults))
	for i, fault := range s.faults {
		all[i] = fault
	}
	return all
}

// Faults returns the faults that err holds, at most eight, ordered by pointer;
// nil if err is of another kind.
func Faults(err error) []*Error {
	var many *several
	if errors.As(err, &many) {
		return slices.Clone(many.faults)
	}
	var one *Error
	if errors.As(err, &one) {
		return []*Error{one}
	}
	return nil
}

// faults gathers what is wrong with a document and keeps the first few, so
// that the order in which they were found does not show.
type faults struct {
	kept []*Error
	more bool
}

func (f *faults) add(tokens []string, problem string) {
	f.kept = append(f.kept, &Error{Pointer: pointer(tokens), Problem: problem})
	if len(f.kept) >= 16*maxFaults {
		f.trim()
	}
}

func (f *faults) trim() {
	slices.SortFunc(f.kept, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Problem, b.Problem))
	})
	f.kept = slices.CompactFunc(f.kept, func(a, b *Error) bool { return *a == *b })
	if len(f.kept) > maxFaults {
		f.kept, f.more = f.kept[:maxFaults], true
	}
}

// err returns the faults as one error, or nil.
func (f *faults) err() error {
	f.trim()
	switch len(f.kept) {
	case 0:
		return nil
	case 1:
		return f.kept[0]
	}
	return &several{f.kept, f.more}
}

// pointer spells an RFC 6901 pointer.
func pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscaper.Replace(token))
	}
	return b.String()
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// visible returns s, in quotes and escaped if it holds anything that a reader
// could not see or could take for the end of it.
func visible(s string) string {
	for _, r := range s {
		if r == ' ' || r == '"' || !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// shorten cuts s to at most limit bytes, at a rune's edge.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// quoted lists names in quotes, sorted, shortened, the long tail counted.
func quoted(names []string) string {
	names = slices.Sorted(slices.Values(names))
	shown := names[:min(len(names), maxNames)]
	out := make([]string, len(shown))
	for i, name := range shown {
		out[i] = strconv.Quote(shorten(name, maxName))
	}
	list := strings.Join(out, ", ")
	if rest := len(names) - len(shown); rest > 0 {
		list += " and " + strconv.Itoa(rest) + " more"
	}
	return list
}
