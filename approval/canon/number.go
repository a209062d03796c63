package canon

import (
	"bytes"
	"strconv"
)

const (
	// maxNumber is the most characters of a number literal.
	maxNumber = 128
	// exactDigits is how many digits a decimal may have and surely be the
	// shortest that identifies its binary64 number: since 10^15 < 2^52, such
	// decimals lie further apart than binary64 numbers do (DBL_DIG of C). That
	// holds where binary64 has its full 53 bits, well within exactPoint.
	exactDigits = 15
	exactPoint  = 300
)

// decimal is the exact value 0.d1d2d3… × 10^point, neither the first nor the
// last digit being 0. No digits at all is zero.
type decimal struct {
	negative bool
	digits   []byte
	point    int
}

// number reads one number and writes it exactly.
func (s *scanner) number() Reason {
	at := s.i
	var buf [maxNumber + maxNumber]byte
	d, r := s.literal(buf[:0])
	if r != 0 {
		return r
	}
	switch {
	case len(d.digits) == 0 && d.negative:
		return s.fail(ReasonNegativeZero, at)
	case len(d.digits) == 0:
		s.out = append(s.out, '0')
	case d.isInteger64():
		s.out = d.appendSign(s.out)
		s.out = append(s.out, d.digits...)
		s.out = appendZeros(s.out, d.point-len(d.digits))
	case len(d.digits) <= exactDigits && -exactPoint <= d.point && d.point <= exactPoint:
		s.out = d.appendShortest(s.out)
	default:
		if r := d.survivesBinary64(s.src[at:s.i]); r != 0 {
			return s.fail(r, at)
		}
		s.out = d.appendShortest(s.out)
	}
	return 0
}

// literal reads a number literal of the JSON grammar and returns its value,
// with the digits in buf. An exponent is clamped far outside the range of
// binary64 and far beyond what the other characters can make up for.
func (s *scanner) literal(buf []byte) (d decimal, r Reason) {
	at := s.i
	if s.src[s.i] == '-' {
		d.negative = true
		s.i++
	}
	whole := s.run()
	if len(whole) == 0 {
		return d, s.fail(ReasonSyntax, s.i)
	}
	if len(whole) > 1 && whole[0] == '0' {
		return d, s.fail(ReasonSyntax, s.i-len(whole)+1)
	}
	var fraction []byte
	if s.peek() == '.' {
		s.i++
		if fraction = s.run(); len(fraction) == 0 {
			return d, s.fail(ReasonSyntax, s.i)
		}
	}
	exponent := 0
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		sign := s.peek()
		if sign == '+' || sign == '-' {
			s.i++
		}
		digits := s.run()
		if len(digits) == 0 {
			return d, s.fail(ReasonSyntax, s.i)
		}
		for _, c := range digits {
			exponent = min(exponent*10+int(c-'0'), 1_000_000)
		}
		if sign == '-' {
			exponent = -exponent
		}
	}
	if s.i-at > maxNumber {
		return d, s.fail(ReasonNumberLength, at)
	}
	d.digits = append(append(buf, whole...), fraction...)
	d.point = len(whole) + exponent
	significant := bytes.TrimLeft(d.digits, "0")
	d.point -= len(d.digits) - len(significant)
	d.digits = bytes.TrimRight(significant, "0")
	return d, 0
}

// run reads digits.
func (s *scanner) run() []byte {
	from := s.i
	for s.i < len(s.src) && isDigit(s.src[s.i]) {
		s.i++
	}
	return s.src[from:s.i]
}

// isInteger64 reports whether d is an integer that fits int64 or uint64.
func (d decimal) isInteger64() bool {
	if d.point < len(d.digits) || d.point > 20 {
		return false
	}
	if d.point <= 18 {
		return true
	}
	limit := "18446744073709551615"
	if d.negative {
		limit = "9223372036854775808"
	}
	var plain [20]byte
	digits := appendZeros(append(plain[:0], d.digits...), d.point-len(d.digits))
	return len(digits) < len(limit) || len(digits) == len(limit) && string(digits) <= limit
}

// survivesBinary64 returns 0 if d, spelled by literal, is the shortest decimal
// that identifies its nearest binary64 number.
func (d decimal) survivesBinary64(literal []byte) Reason {
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || f == 0 {
		return ReasonRange
	}
	var buf [32]byte
	mantissa, exponent, _ := bytes.Cut(strconv.AppendFloat(buf[:0], f, 'e', -1, 64), []byte("e"))
	point, err := strconv.Atoi(string(exponent))
	if err != nil || point+1 != d.point {
		return ReasonInexact
	}
	mantissa = bytes.TrimPrefix(mantissa, []byte("-"))
	if mantissa[0] != d.digits[0] || !bytes.Equal(bytes.TrimPrefix(mantissa[1:], []byte(".")), d.digits[1:]) {
		return ReasonInexact
	}
	return 0
}

// appendShortest lays d out as ECMAScript's Number::toString does.
func (d decimal) appendShortest(out []byte) []byte {
	out = d.appendSign(out)
	n := len(d.digits)
	switch {
	case n <= d.point && d.point <= 21:
		return appendZeros(append(out, d.digits...), d.point-n)
	case 0 < d.point && d.point <= 21:
		out = append(append(out, d.digits[:d.point]...), '.')
		return append(out, d.digits[d.point:]...)
	case -6 < d.point && d.point <= 0:
		out = appendZeros(append(out, '0', '.'), -d.point)
		return append(out, d.digits...)
	}
	out = append(out, d.digits[0])
	if n > 1 {
		out = append(append(out, '.'), d.digits[1:]...)
	}
	out = append(out, 'e')
	if d.point > 0 {
		out = append(out, '+')
	}
	return strconv.AppendInt(out, int64(d.point-1), 10)
}

func (d decimal) appendSign(out []byte) []byte {
	if d.negative {
		return append(out, '-')
	}
	return out
}

func appendZeros(out []byte, n int) []byte {
	for range n {
		out = append(out, '0')
	}
	return out
}
