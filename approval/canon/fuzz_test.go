package canon_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

// TestFuzzSeeds keeps the fuzz targets from starting with nothing.
func TestFuzzSeeds(t *testing.T) {
	for _, target := range []string{"FuzzAgainstJSONText", "FuzzNumbers", "FuzzMeaning", "FuzzDisplay"} {
		seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", target, "*"))
		require.NoError(t, err)
		require.NotEmpty(t, seeds, target)
	}
	require.Greater(t, len(documents(t)), 300)
}

// documents are the small files of all vectors.
func documents(t testing.TB) [][]byte {
	t.Helper()
	var docs [][]byte
	for _, folder := range []string{"test_parsing", "test_transform"} {
		for _, doc := range jsonTestSuite(t, folder) {
			if len(doc) < 2_000 {
				docs = append(docs, doc)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "jcs", "input", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		doc, err := os.ReadFile(file)
		require.NoError(t, err)
		docs = append(docs, doc)
	}
	return append(docs, toolCall(400))
}

// FuzzAgainstJSONText holds the package against an RFC 8785 implementation. It
// accepts nothing that jsontext refuses, and refuses more only for its stated
// reasons. Where RFC 8785 loses nothing the bytes are equal; elsewhere the
// value is kept exactly, or refused.
func FuzzAgainstJSONText(f *testing.F) {
	for _, doc := range documents(f) {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		text, err := anyTop(string(in))
		rfc8785 := jsontext.Value(bytes.Clone(in))
		foreign := rfc8785.Canonicalize()
		if e := refusal(t, err); e != nil {
			switch e.Reason {
			case canon.ReasonNegativeZero, canon.ReasonInexact, canon.ReasonRange, canon.ReasonNumberLength:
				want := "!" + e.Reason.String()
				require.Equal(t, want, exactNumber(t, string(literalAtStart.Find(in[e.Offset:]))))
			case canon.ReasonDepth, canon.ReasonSize:
			default:
				require.Error(t, foreign, "refused: %v", err)
			}
			require.LessOrEqual(t, e.Offset, len(in))
			requirePointer(t, e.Pointer)
			return
		}
		require.NoError(t, foreign)
		given := tokens(in)
		require.True(t, sameValue(t, given, tokens([]byte(text))), "%q became %q", in, text)
		again := jsontext.Value(text)
		require.NoError(t, again.Canonicalize())
		require.Equal(t, string(rfc8785), string(again))
		if sameValue(t, given, tokens(rfc8785)) {
			require.Equal(t, string(rfc8785), text)
		}
	})
}

// requirePointer checks the grammar of RFC 6901.
func requirePointer(t *testing.T, p string) {
	t.Helper()
	require.True(t, p == "" || p[0] == '/', p)
	rest := strings.NewReplacer("~0", "", "~1", "").Replace(p)
	require.NotContains(t, rest, "~")
}

// FuzzNumbers compares with exact rationals.
func FuzzNumbers(f *testing.F) {
	f.Fuzz(func(t *testing.T, negative bool, whole uint64, zeros uint8, fraction uint64, exponent int16, spelling uint8) {
		literal := fmt.Sprint(whole)
		if negative {
			literal = "-" + literal
		}
		if spelling&1 != 0 {
			literal += "." + strings.Repeat("0", int(zeros)%32) + fmt.Sprint(fraction)
		}
		if spelling&2 != 0 {
			literal += [...]string{"e", "E"}[spelling>>2&1]
			if exponent >= 0 && spelling&8 != 0 {
				literal += "+"
			}
			literal += fmt.Sprint(exponent)
		}
		text, err := anyTop(literal)
		got := outcome(t, text, err)
		require.Equal(t, exactNumber(t, literal), got, literal)
		if got[0] != '!' {
			again, err := anyTop(got)
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
	})
}

// FuzzMeaning: a canonical text is its own canonical form, and two accepted
// documents are equal exactly if they are the same JSON value. The second
// document is the first one in another spelling, or another one.
func FuzzMeaning(f *testing.F) {
	for i, doc := range documents(f) {
		f.Add(doc, doc, uint64(i))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, seed uint64) {
		loose := canon.Options{AllowFoldClash: true}
		first, err := canon.Parse(a, loose)
		if err != nil {
			return
		}
		again, err := canon.Parse(first.Bytes(), loose)
		require.NoError(t, err)
		require.Equal(t, first, again)
		stored, err := canon.Stored(first.String())
		require.NoError(t, err)
		require.Equal(t, first, stored)

		if strict, err := canon.Parse(a, canon.Options{}); err == nil {
			require.Equal(t, first, strict)
		} else {
			require.Equal(t, canon.ReasonFoldClash, refusal(t, err).Reason)
		}

		if other := respell(a, seed); len(other) <= canon.MaxBytes {
			respelled, err := canon.Parse(other, loose)
			require.NoError(t, err, "%q", other)
			require.Equal(t, first, respelled)
			require.Equal(t, first.Hash(), respelled.Hash())
		}
		if second, err := canon.Parse(b, loose); err == nil {
			require.Equal(t, sameValue(t, tokens(a), tokens(b)), first == second)
			require.Equal(t, first == second, first.Hash() == second.Hash())
		}
	})
}

// FuzzDisplay: nothing hidden is shown, an uncut display is the document, and
// any text can be quoted.
func FuzzDisplay(f *testing.F) {
	for _, doc := range documents(f) {
		f.Add(doc, uint16(100))
	}
	f.Fuzz(func(t *testing.T, in []byte, limit uint16) {
		quoted := canon.Quote(string(in))
		require.True(t, len(quoted) >= 2 && quoted[0] == '"' && quoted[len(quoted)-1] == '"')
		requireVisible(t, quoted)
		require.NotContains(t, quoted, "\n")
		for _, s := range canon.Suspicions(string(in)) {
			require.Contains(t, string(in), s.Word)
			requireVisible(t, s.String())
		}

		o, err := canon.Parse(in, canon.Options{AllowFoldClash: true})
		if err != nil {
			requireVisible(t, err.Error())
			return
		}
		full := o.Display(0)
		requireVisible(t, full)
		if len(full) <= canon.MaxBytes {
			back, err := canon.Parse([]byte(full), canon.Options{AllowFoldClash: true})
			require.NoError(t, err)
			require.Equal(t, o, back)
		}
		part := o.Display(int(limit))
		requireVisible(t, part)
		if part != full {
			kept, mark, _ := strings.Cut(part, "\n… cut: ")
			require.True(t, strings.HasPrefix(full, kept))
			require.Contains(t, mark, o.Hash().Short())
		}
		for _, s := range o.Suspicions() {
			require.LessOrEqual(t, s.Line, strings.Count(full, "\n")+1)
			requireVisible(t, s.String())
		}
	})
}

func requireVisible(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		require.False(t, forbidden(r), "%U", r)
	}
}
