package backoffice

import (
	"context"

	"github.com/sallyport-dev/sallyport/examples/internal/arith"
)

// Calculation is an arithmetic expression.
type Calculation struct {
	Expression string `json:"expression" jsonschema_description:"The mathematical expression to calculate, such as '2 + 2'. The expression can contain numbers, operators (+, -, *, /), parentheses, and spaces."`
}

// Calculate returns the value of an expression, rounded to two decimals. It
// calculates in doubles and always answers with a decimal point: "4.0".
func (s *Shop) Calculate(ctx context.Context, p Calculation) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	answer, err := arith.Evaluate(p.Expression)
	if err != nil {
		return "", refuse("%v", err)
	}
	return answer, nil
}
