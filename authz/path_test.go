package authz_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/sallyport-dev/sallyport/authz"
)

// hostileSegments are refused as one segment of a path, each for its own reason.
var hostileSegments = map[string]string{
	"empty":                    "",
	"dot":                      ".",
	"dot dot":                  "..",
	"slash":                    "a/b",
	"climbs":                   "../b",
	"only a slash":             "/",
	"backslash":                `a\b`,
	"percent":                  "a%2Fb",
	"percent alone":            "%",
	"NUL":                      "a\x00b",
	"newline":                  "a\nb",
	"tab":                      "a\tb",
	"escape":                   "a\x1b[31mb",
	"delete":                   "a\x7fb",
	"C1 control":               "a\u0085b",
	"bidi override":            "a\u202eb",
	"bidi isolate":             "a\u2066b",
	"bidi mark":                "a\u200fb",
	"arabic letter mark":       "a\u061cb",
	"zero width space":         "a\u200bb",
	"zero width joiner":        "a\u200db",
	"word joiner":              "a\u2060b",
	"byte order mark":          "\ufeffa",
	"soft hyphen":              "a\u00adb",
	"tag character":            "a\U000e0041b",
	"grapheme joiner":          "a\u034fb",
	"hangul filler":            "a\u3164b",
	"hangul choseong filler":   "a\u115fb",
	"khmer inherent vowel":     "a\u17b4b",
	"variation selector":       "a\ufe0fb",
	"variation selector 17":    "a\U000e0100b",
	"mongolian selector":       "a\u180bb",
	"line separator":           "a\u2028b",
	"paragraph separator":      "a\u2029b",
	"private use":              "a\ue000b",
	"unassigned":               "a\u0378b",
	"noncharacter":             "a\uffffb",
	"replacement character":    "a\ufffdb",
	"decomposed":               "e\u0301",
	"compatible singleton":     "\u212b", // Angstrom sign, U+00C5 in normal form C
	"marks out of order":       "a\u0301\u0323",
	"invalid byte":             "a\xffb",
	"overlong":                 "a\xc0\xafb",
	"encoded surrogate":        "a\xed\xa0\x80b",
	"cut in two":               "a\xc3",
	"leading space":            " a",
	"trailing space":           "a ",
	"leading no-break space":   "\u00a0a",
	"trailing ideographic one": "a\u3000",
	"only a space":             " ",
	"too long":                 strings.Repeat("a", 256),
	"too long in bytes":        strings.Repeat("é", 128),
}

func TestHostileSegments(t *testing.T) {
	users := authz.MustPath("/users")
	for name, segment := range hostileSegments {
		t.Run(name, func(t *testing.T) {
			p, err := users.Join(segment)
			require.ErrorIs(t, err, authz.ErrPath, "%q", segment)
			require.True(t, p.IsZero())
			p, err = users.Join("u1", segment, "orders")
			require.ErrorIs(t, err, authz.ErrPath)
			require.True(t, p.IsZero())
			if strings.Contains(segment, "/") && !strings.Contains(segment, "..") && segment != "/" {
				return // as text that is two segments
			}
			for _, text := range []string{"/" + segment + "/x", "/users/" + segment} {
				p, err = authz.ParsePath(text)
				require.ErrorIs(t, err, authz.ErrPath, "%q", text)
				require.True(t, p.IsZero())
			}
			require.Panics(t, func() { authz.MustPath("/" + segment + "/x") })
		})
	}
}

func TestHostileText(t *testing.T) {
	for _, text := range []string{
		"", "users", "users/u1", "//", "//users", "/users/", "/users//u1", "/./users", "/users/..", "/../users",
		"/dashboard../../config", `\users`, "/users\\u1", " /users", "/users ", "C:/users", "*",
		strings.Repeat("/a", 65),
	} {
		p, err := authz.ParsePath(text)
		require.ErrorIs(t, err, authz.ErrPath, "%q", text)
		require.True(t, p.IsZero(), "%q", text)
	}
}

// goodPaths are canonical. Nothing in them is a pattern, and case and look-alikes make other paths.
var goodPaths = []string{
	"/", "/a", "/A", "/users/u1/orders/W42", "/*", "/users/*", "/...", "/..a", "/a..", "/.hidden", "/a b", "/~", "/a:b@c",
	"/é", "/Å", "/ß", "/ss", "/日本/語", "/😀", "/x\u0323\u0301", "/" + strings.Repeat("é", 127),
	"/" + strings.Repeat("a", 255), strings.Repeat("/a", 64),
}

func TestPathRoundTrips(t *testing.T) {
	for _, text := range goodPaths {
		p, err := authz.ParsePath(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, text, p.String())
		require.Equal(t, p, authz.MustPath(text), "paths are comparable")

		joined, err := authz.Root().Join(segmentsOf(text)...)
		require.NoError(t, err)
		require.Equal(t, p, joined)
		same, err := p.Join()
		require.NoError(t, err)
		require.Equal(t, p, same)

		b, err := json.Marshal(p)
		require.NoError(t, err)
		back := authz.MustPath("/other")
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, p, back)
	}
	p := authz.MustPath("/users")
	require.ErrorIs(t, p.UnmarshalText([]byte("/users/../etc")), authz.ErrPath)
	require.Equal(t, authz.MustPath("/users"), p, "a failed decoding leaves the path as it was")
	_, err := authz.Path{}.MarshalText()
	require.ErrorIs(t, err, authz.ErrPath)
	_, err = authz.Path{}.Join("a")
	require.ErrorIs(t, err, authz.ErrPath)
	_, err = authz.MustPath(strings.Repeat("/a", 63)).Join("b", "c")
	require.ErrorIs(t, err, authz.ErrPath)
	require.Equal(t, "", authz.Path{}.String())
}

// segmentsOf splits the text of a canonical path.
func segmentsOf(text string) []string {
	if text == "/" {
		return nil
	}
	return strings.Split(text[1:], "/")
}

// containsBySegments is the meaning of Contains: whole segments, compared byte for byte.
func containsBySegments(p, q string) bool {
	outer, inner := segmentsOf(p), segmentsOf(q)
	if len(inner) < len(outer) {
		return false
	}
	for i, s := range outer {
		if inner[i] != s {
			return false
		}
	}
	return true
}

func TestContains(t *testing.T) {
	tests := []struct {
		p, q string
		want bool
	}{
		{"/", "/", true},
		{"/", "/users/u1", true},
		{"/users", "/", false},
		{"/users", "/users", true},
		{"/users", "/users/u1/orders", true},
		{"/users/u1", "/users", false},
		{"/users", "/users2", false},
		{"/users/u1", "/users/u10", false},
		{"/users", "/Users", false},
		{"/*", "/users", false},
		{"/users/*", "/users/u1", false},
		{"/ß", "/ss", false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, authz.MustPath(tt.p).Contains(authz.MustPath(tt.q)), "%s, %s", tt.p, tt.q)
	}
	for _, p := range goodPaths {
		for _, q := range goodPaths {
			require.Equal(t, containsBySegments(p, q), authz.MustPath(p).Contains(authz.MustPath(q)), "%s, %s", p, q)
		}
		require.False(t, authz.Path{}.Contains(authz.MustPath(p)))
		require.False(t, authz.MustPath(p).Contains(authz.Path{}))
	}
	require.False(t, authz.Path{}.Contains(authz.Path{}))
}

// drawnAsNothing is the forbidden part of Unicode, written down apart from the code under test.
func drawnAsNothing(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp), r == unicode.ReplacementChar:
		return true
	case unicode.In(r, unicode.Variation_Selector, unicode.Noncharacter_Code_Point):
		return true
	}
	return strings.ContainsRune("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0", r)
}

// FuzzParsePath: a text is refused, or it is a path that reads back equal, holds no forbidden character and
// lies below each of its own beginnings, and below nothing that is not one.
func FuzzParsePath(f *testing.F) {
	for _, text := range goodPaths {
		f.Add(text, "/users")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		p, err := authz.ParsePath(text)
		if err != nil {
			require.ErrorIs(t, err, authz.ErrPath)
			require.True(t, p.IsZero())
			return
		}
		require.Equal(t, text, p.String())
		again, err := authz.ParsePath(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
		require.True(t, utf8.ValidString(text) && norm.NFC.IsNormalString(text))
		require.NotContains(t, text, `\`)
		require.NotContains(t, text, "%")
		require.Equal(t, -1, strings.IndexFunc(text, drawnAsNothing))
		above := authz.Root()
		for _, s := range segmentsOf(text) {
			require.NotContains(t, []string{"", ".", ".."}, s)
			require.Equal(t, strings.TrimSpace(s), s)
			require.True(t, above.Contains(p))
			below, err := above.Join(s)
			require.NoError(t, err)
			require.False(t, below.Contains(above))
			above = below
		}
		require.Equal(t, p, above)
		if q, err := authz.ParsePath(other); err == nil {
			require.Equal(t, containsBySegments(text, other), p.Contains(q))
			require.Equal(t, p == q, p.Contains(q) && q.Contains(p))
		}
	})
}

// TestFuzzSeeds keeps the fuzz target from starting with nothing.
func TestFuzzSeeds(t *testing.T) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzParsePath", "*"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(seeds), 8)
	for _, seed := range seeds {
		b, err := os.ReadFile(seed)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(b), "go test fuzz v1\nstring("), seed)
	}
}
