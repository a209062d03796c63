package canon_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// anyTop is canonicalization as plain vectors expect it: any value at the top
// and names that differ only by case.
func anyTop(src string) (string, error) {
	return canon.ParseAnyTop([]byte(src), canon.Options{AllowFoldClash: true})
}

// refusal returns the error that err must be, or nil.
func refusal(t testing.TB, err error) *canon.Error {
	t.Helper()
	if err == nil {
		return nil
	}
	var e *canon.Error
	require.True(t, errors.As(err, &e), "not an *Error: %v", err)
	require.NotZero(t, e.Reason)
	return e
}

// outcome is the canonical text, or the reason with an exclamation mark.
func outcome(t testing.TB, text string, err error) string {
	t.Helper()
	if e := refusal(t, err); e != nil {
		return "!" + e.Reason.String()
	}
	return text
}

func readFile(t testing.TB, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
	require.NoError(t, err)
	return b
}

func gunzip(t testing.TB, compressed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	require.NoError(t, err)
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	return b
}

// jsonTestSuite returns the files of one folder of the suite by name.
func jsonTestSuite(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(gunzip(t, readFile(t, "jsontestsuite", "files.tar.gz"))))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		if h.Typeflag != tar.TypeReg || path.Dir(h.Name) != folder {
			continue
		}
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		files[strings.TrimSuffix(path.Base(h.Name), ".json")] = b
	}
}

var (
	literalAtStart = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)
	literalForm    = regexp.MustCompile(literalAtStart.String() + `$`)
)

// exactNumber says what becomes of a number literal, by the rule and with
// exact rationals; it shares nothing with the package.
func exactNumber(t testing.TB, literal string) string {
	t.Helper()
	require.Regexp(t, literalForm, literal)
	if len(literal) > 128 {
		return "!number_too_long"
	}
	if isZero(literal) {
		if literal[0] == '-' {
			return "!negative_zero"
		}
		return "0"
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(literal), "e"); ok {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > 600 || e < -600 { // 128 characters cannot bring it back into range
			return "!number_out_of_range"
		}
	}
	v := rational(t, literal)
	if v.IsInt() && (v.Num().IsInt64() || v.Num().IsUint64()) {
		return v.Num().String()
	}
	f, _ := v.Float64()
	if math.IsInf(f, 0) || f == 0 {
		return "!number_out_of_range"
	}
	shortest := jsontext.Value(strconv.FormatFloat(f, 'e', -1, 64))
	if rational(t, string(shortest)).Cmp(v) != 0 {
		return "!inexact_number"
	}
	require.NoError(t, shortest.Canonicalize())
	return string(shortest)
}

func isZero(literal string) bool {
	digits, _, _ := strings.Cut(strings.ToLower(literal), "e")
	return strings.Trim(digits, "-0.") == ""
}

// rational is the exact value of a literal whose exponent is not huge, or
// whose digits are all zero.
func rational(t testing.TB, literal string) *big.Rat {
	t.Helper()
	if isZero(literal) {
		return new(big.Rat)
	}
	v, ok := new(big.Rat).SetString(literal)
	require.True(t, ok, literal)
	return v
}

// tokens reads a document as jsontext does, members in canonical order and
// numbers as they were written; nil if jsontext refuses it.
func tokens(src []byte) []string {
	v := jsontext.Value(bytes.Clone(src))
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return nil
	}
	list := []string{}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			return list
		}
		if err != nil {
			panic(fmt.Sprintf("canonical text that does not parse: %v", err))
		}
		kind := token.Kind()
		list = append(list, string(kind)+token.String())
	}
}

// sameValue reports whether two token lists are the same JSON value, numbers
// compared exactly.
func sameValue(t testing.TB, a, b []string) bool {
	t.Helper()
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if a[i][0] != '0' || b[i][0] != '0' {
			return false
		}
		if rational(t, a[i][1:]).Cmp(rational(t, b[i][1:])) != 0 {
			return false
		}
	}
	return true
}
