// Package arith works out arithmetic expressions and rounds money, as the
// recorded applications do: in doubles, to two decimals.
package arith

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// maxNesting bounds the parentheses of an expression, and so the recursion.
const maxNesting = 100

var errBadSyntax = errors.New("invalid syntax")

// Evaluate returns the value of an expression of numbers, +, -, *, / and
// parentheses, rounded to two decimals and always with a decimal point: "4.0".
func Evaluate(text string) (string, error) {
	if strings.Trim(text, "0123456789+-*/(). ") != "" {
		return "", errors.New("invalid characters in expression")
	}
	parser := expression{rest: text}
	value, err := parser.sum()
	if err != nil {
		return "", err
	}
	if parser.next() != 0 {
		return "", errBadSyntax
	}
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return "", errors.New("result out of range")
	}
	return decimal(Cents(value)), nil
}

// decimal writes a double as Python does.
func decimal(value float64) string {
	if math.Abs(value) >= 1e16 {
		return strconv.FormatFloat(value, 'e', -1, 64)
	}
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// expression is what is still to be read of one, by recursive descent: a sum of
// products of signed numbers and parentheses.
type expression struct {
	rest    string
	nesting int
}

// next returns the next character that is not a space, or 0 at the end.
func (e *expression) next() byte {
	e.rest = strings.TrimLeft(e.rest, " ")
	if e.rest == "" {
		return 0
	}
	return e.rest[0]
}

// take consumes the next character if it is one of these, and returns it or 0.
func (e *expression) take(these string) byte {
	c := e.next()
	if c == 0 || strings.IndexByte(these, c) < 0 {
		return 0
	}
	e.rest = e.rest[1:]
	return c
}

func (e *expression) sum() (float64, error) {
	total, err := e.product()
	for err == nil {
		op := e.take("+-")
		if op == 0 {
			return total, nil
		}
		var term float64
		term, err = e.product()
		if op == '-' {
			term = -term
		}
		total += term
	}
	return 0, err
}

func (e *expression) product() (float64, error) {
	total, err := e.signed()
	for err == nil {
		op := e.take("*/")
		if op == 0 {
			return total, nil
		}
		var factor float64
		factor, err = e.signed()
		switch {
		case err != nil:
		case op == '*':
			total *= factor
		case factor == 0:
			err = errors.New("division by zero")
		default:
			total /= factor
		}
	}
	return 0, err
}

func (e *expression) signed() (float64, error) {
	sign := 1.0
	for {
		switch e.take("+-") {
		case '-':
			sign = -sign
		case 0:
			value, err := e.operand()
			return sign * value, err
		}
	}
}

// operand reads a number or an expression in parentheses.
func (e *expression) operand() (float64, error) {
	if e.take("(") == 0 {
		return e.number()
	}
	if e.nesting++; e.nesting > maxNesting {
		return 0, errors.New("too many nested parentheses")
	}
	value, err := e.sum()
	if err != nil {
		return 0, err
	}
	if e.take(")") == 0 {
		return 0, errBadSyntax
	}
	e.nesting--
	return value, nil
}

func (e *expression) number() (float64, error) {
	end := len(e.rest) - len(strings.TrimLeft(e.rest, "0123456789."))
	value, err := strconv.ParseFloat(e.rest[:end], 64)
	if err != nil && !math.IsInf(value, 0) {
		return 0, errBadSyntax
	}
	e.rest = e.rest[end:]
	return value, nil
}
