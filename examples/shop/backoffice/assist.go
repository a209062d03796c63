package backoffice

import "context"

// Thought is something to think about.
type Thought struct {
	Thought string `json:"thought" jsonschema_description:"A thought to think about."`
}

// Handoff says why a person has to take over.
type Handoff struct {
	Summary string `json:"summary" jsonschema_description:"A summary of the user's issue."`
}

// Think does nothing. It gives a caller that reasons in calls a place to do so.
func (s *Shop) Think(ctx context.Context, _ Thought) (string, error) {
	return "", ctx.Err()
}

// TransferToHumanAgents ends the caller's part; a person goes on from the summary.
func (s *Shop) TransferToHumanAgents(ctx context.Context, _ Handoff) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return "Transfer successful", nil
}
