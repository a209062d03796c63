package arith

import "strconv"

// Cents rounds an amount to two decimals, half to even on the exact value of
// the double. Multiplying by 100, rounding and dividing does not: the product is
// rounded already.
func Cents(amount float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(amount, 'f', 2, 64), 64)
	return rounded
}
