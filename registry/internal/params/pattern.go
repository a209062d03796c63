package params

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxPatternBytes = 4 << 10
	maxPatternSize  = 10_000  // instructions of one compiled program
	maxPatternsSize = 200_000 // of all programs of a schema
)

var (
	errPatternSize  = errors.New("it is too large")
	errPatternsSize = errors.New("all patterns together are too large")
)

// patterns compiles regular expressions within bounds and adds up their sizes.
// Matching takes time proportional to a program's size times the length of the
// text, so that the sum bounds what a document can cost.
type patterns struct {
	size atomic.Int64
	done atomic.Bool // the schema is compiled; what follows is in documents
}

func (p *patterns) compile(expr string) (jsonschema.Regexp, error) {
	re, size, err := compilePattern(expr)
	if err != nil {
		return nil, err
	}
	if !p.done.Load() && p.size.Add(int64(size)) > maxPatternsSize {
		return nil, errPatternsSize
	}
	return re, nil
}

func compilePattern(expr string) (*regexp.Regexp, int, error) {
	if len(expr) > maxPatternBytes {
		return nil, 0, errPatternSize
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("only RE2 syntax is supported, without look-around or back references (%w)", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(program.Inst) > maxPatternSize {
		return nil, 0, errPatternSize
	}
	re, err := regexp.Compile(expr)
	return re, len(program.Inst), err
}
