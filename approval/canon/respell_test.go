package canon_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// respell writes a document, which must be valid, in another way: members
// shuffled, white space added, characters escaped, numbers moved by powers of
// ten. It is the same JSON value.
func respell(doc []byte, seed uint64) []byte {
	s := speller{rand.New(rand.NewPCG(seed, 1)), jsontext.NewDecoder(bytes.NewReader(doc))}
	return []byte(s.space() + s.value() + s.space())
}

type speller struct {
	r *rand.Rand
	d *jsontext.Decoder
}

func (s speller) space() string {
	return [...]string{"", "", "", " ", "\n", "\t", "\r\n  "}[s.r.IntN(7)]
}

func (s speller) value() string {
	token, err := s.d.ReadToken()
	if err != nil {
		panic(err)
	}
	switch token.Kind() {
	case '{':
		var members []string
		for s.d.PeekKind() != '}' {
			name, err := s.d.ReadToken()
			if err != nil {
				panic(err)
			}
			members = append(members, s.text(name.String())+s.space()+":"+s.space()+s.value())
		}
		s.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + s.list(members, '}') + "}"
	case '[':
		var elements []string
		for s.d.PeekKind() != ']' {
			elements = append(elements, s.value())
		}
		return "[" + s.list(elements, ']') + "]"
	case '"':
		return s.text(token.String())
	case '0':
		return s.number(token.String())
	}
	return token.String()
}

func (s speller) list(items []string, end rune) string {
	if _, err := s.d.ReadToken(); err != nil {
		panic(fmt.Sprintf("no %c: %v", end, err))
	}
	return s.space() + strings.Join(items, s.space()+","+s.space()) + s.space()
}

func (s speller) text(decoded string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range decoded {
		if r < 0x20 || r == '"' || r == '\\' || s.r.IntN(6) == 0 {
			form := [...]string{`\u%04x`, `\u%04X`}[s.r.IntN(2)]
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, form, unit)
			}
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// number moves the point of a literal by some digits and takes it back with
// the exponent.
func (s speller) number(literal string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	e, err := strconv.Atoi("0" + strings.TrimPrefix(exponent, "+"))
	if strings.HasPrefix(exponent, "-") {
		e, err = strconv.Atoi(exponent)
	}
	if err != nil || len(literal) > 60 || s.r.IntN(4) == 0 {
		return literal
	}
	negative := strings.HasPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := []byte(whole + fraction)
	e -= len(fraction)
	for range s.r.IntN(4) {
		digits = append(digits, '0')
		e--
	}
	digits = bytes.TrimLeft(digits, "0")
	point := s.r.IntN(len(digits) + 1)
	e += len(digits) - point
	if point == 0 {
		digits = slices.Concat([]byte("0"), digits)
		point = 1
	}
	out := string(digits[:point])
	if point < len(digits) {
		out += "." + string(digits[point:])
	}
	if negative {
		out = "-" + out
	}
	if e != 0 || s.r.IntN(2) == 0 {
		out += [...]string{"e", "E"}[s.r.IntN(2)] + strconv.Itoa(e)
	}
	return out
}

func TestRespelledDocumentsAreEqual(t *testing.T) {
	for _, doc := range documents(t) {
		want, err := anyTop(string(doc))
		if err != nil {
			continue
		}
		for seed := range uint64(20) {
			other := respell(doc, seed)
			got, err := anyTop(string(other))
			require.NoError(t, err, "%s", other)
			require.Equal(t, want, got, "%s", other)
		}
	}
}
