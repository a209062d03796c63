package office

import (
	"context"

	"github.com/sallyport-dev/sallyport/examples/internal/arith"
)

// Calculation is an arithmetic expression.
type Calculation struct {
	Expression string `json:"expression" jsonschema_description:"The mathematical expression to calculate, such as '2 + 2'. The expression can contain numbers, operators (+, -, *, /), parentheses, and spaces."`
}

// Thought is something to think about.
type Thought struct {
	Thought string `json:"thought" jsonschema_description:"A thought to think about."`
}

// Handoff says why a person has to take over.
type Handoff struct {
	Summary string `json:"summary" jsonschema_description:"A summary of the user's issue."`
}

// Calculate returns the value of an expression, rounded to two decimals. It
// always answers with a decimal point: "4.0".
func (a *Airline) Calculate(ctx context.Context, p Calculation) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	answer, err := arith.Evaluate(p.Expression)
	if err != nil {
		return "", refuse("%v", err)
	}
	return answer, nil
}

// Think does nothing. It gives a caller that reasons in calls a place to do so.
func (a *Airline) Think(ctx context.Context, _ Thought) (string, error) {
	return "", ctx.Err()
}

// TransferToHumanAgents ends the caller's part; a person goes on from the summary.
func (a *Airline) TransferToHumanAgents(ctx context.Context, _ Handoff) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return "Transfer successful", nil
}
