package canon_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
)

func TestParameterVectors(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Name, Input, Canonical, SHA256, Refused string
			InputHex                                string `json:"input_hex"`
		}
	}
	require.NoError(t, json.Unmarshal(readFile(t, "params.json"), &vectors))
	require.Len(t, vectors.Cases, 86)

	// The vectors know fewer reasons than the package; these are the finer ones.
	finer := map[string]string{
		"nothing":              "syntax > empty",
		"spaces":               "syntax > empty",
		"NUL behind":           "syntax > trailing_data",
		"two documents":        "syntax > trailing_data",
		"text behind":          "syntax > trailing_data",
		"null":                 "not_an_object > null",
		"129-character number": "number_out_of_range > number_too_long",
	}
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := []byte(c.Input)
			if c.InputHex != "" {
				var err error
				in, err = hex.DecodeString(c.InputHex)
				require.NoError(t, err)
			}
			o, err := canon.Parse(in, canon.Options{})
			if c.Refused != "" {
				want := c.Refused
				if f, ok := finer[c.Name]; ok {
					require.True(t, strings.HasPrefix(f, want+" > "))
					_, want, _ = strings.Cut(f, " > ")
				}
				require.Equal(t, "!"+want, outcome(t, o.String(), err))
				require.True(t, o.IsZero())
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.Canonical, o.String())
			require.Equal(t, c.SHA256, o.Hash().String())
		})
	}
}

func TestJCSFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "jcs", "input", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 6)
	for _, file := range files {
		name := filepath.Base(file)
		in, err := os.ReadFile(file)
		require.NoError(t, err)
		want := string(readFile(t, "jcs", "output", name))
		t.Run(name, func(t *testing.T) {
			if name == "values.json" { // has 333333333.33333329, which RFC 8785 rounds
				_, err := anyTop(string(in))
				require.Equal(t, canon.ReasonInexact, refusal(t, err).Reason)
				require.Equal(t, "/numbers/0", refusal(t, err).Pointer)
				// Rounded as RFC 8785 does, the rest of the file is exact.
				in = []byte(strings.Replace(string(in), "333333333.33333329", "333333333.3333333", 1))
			}
			got, err := anyTop(string(in))
			require.NoError(t, err)
			require.Equal(t, want, got)

			o, err := canon.Parse(in, canon.Options{})
			switch name {
			case "arrays.json":
				require.Equal(t, canon.ReasonNotObject, refusal(t, err).Reason)
				return
			case "structures.json": // has the names f and F in one object
				require.Equal(t, canon.ReasonFoldClash, refusal(t, err).Reason)
				require.Equal(t, "/1/f/F", refusal(t, err).Pointer)
				o, err = canon.Parse(in, canon.Options{AllowFoldClash: true})
			}
			require.NoError(t, err)
			require.Equal(t, want, o.String())
		})
	}
}

// TestES6Numbers gives every number once with 17 digits, as a foreign
// serializer may write it, and once with the shortest digits. What RFC 8785
// writes must come out, except where it is another number than was given.
func TestES6Numbers(t *testing.T) {
	file := gunzip(t, readFile(t, "jcs", "es6testfile10k.txt.gz"))
	require.Equal(t, "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892", fmt.Sprintf("%x", sha256.Sum256(file)))
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	require.Len(t, lines, 10_000)

	differ := map[string]int{}
	for _, line := range lines {
		bits, want, _ := strings.Cut(line, ",")
		u, err := strconv.ParseUint(bits, 16, 64)
		require.NoError(t, err)
		for how, precision := range map[string]int{"17 digits": 16, "shortest": -1} {
			literal := strconv.FormatFloat(math.Float64frombits(u), 'e', precision, 64)
			text, err := anyTop(literal)
			got := outcome(t, text, err)
			require.Equal(t, exactNumber(t, literal), got, literal)
			if got != want {
				differ[how]++
			}
			o, err := canon.Parse([]byte(`{"n":`+literal+`}`), canon.Options{})
			if got[0] == '!' {
				require.Equal(t, got, outcome(t, o.String(), err))
				require.Equal(t, "/n", refusal(t, err).Pointer)
			} else {
				require.Equal(t, `{"n":`+got+`}`, o.String())
			}
		}
	}
	require.Equal(t, map[string]int{"17 digits": 4381, "shortest": 1}, differ)
}

func TestRFC8785AppendixB(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(string(readFile(t, "jcs", "rfc8785-appendix-b.csv"))), "\n")[1:]
	require.Len(t, rows, 26)
	for _, row := range rows {
		bits, want, _ := strings.Cut(row, ",")
		u, err := strconv.ParseUint(bits, 16, 64)
		require.NoError(t, err)
		f := math.Float64frombits(u)
		switch {
		case want == "error":
			want = "!syntax" // NaN and Infinity have no JSON spelling
		case f == 0 && math.Signbit(f):
			want = "!negative_zero"
		}
		literal := strconv.FormatFloat(f, 'e', -1, 64)
		text, err := anyTop(literal)
		require.Equal(t, want, outcome(t, text, err), literal)
		if want[0] != '!' {
			text, err = anyTop(want)
			require.Equal(t, want, outcome(t, text, err))
		}
	}
}
