package approval

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// ReadOwnProposals is the permission of [OwnProposals]: to learn what became of what one asked for oneself.
const ReadOwnProposals authz.Permission = "proposals:own"

// StatusQuery is what [OwnProposals] takes.
type StatusQuery struct {
	Proposal string `json:"proposal" jsonschema:"maxLength=36" jsonschema_description:"The id that a needs_approval answer gave"`
}

// Status is what became of a proposal, in the words of the ledger. No two of these can be mistaken for one
// another: waiting, expired, dismissed, running, done, failed, interrupted.
type Status struct {
	Proposal  string          `json:"proposal"`
	Action    string          `json:"action"`
	Status    string          `json:"status"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty"` // while it waits
	Reason    string          `json:"reason,omitempty"`     // why it was dismissed, or what failed, as far as that is public
	Result    json.RawMessage `json:"result,omitempty"`
}

// OwnProposals returns a read by which a session sees the state of its own proposals: those of the same model
// for the same principal. Add it to the actions of a registry whose ledger is book.
func OwnProposals(book ledger.Store) *registry.Action {
	return registry.Define("proposal_status", registry.Spec[StatusQuery]{
		Title:       "State of a proposal",
		Description: "Says what became of something that needed approval: still waiting, done, dismissed with a reason, expired or failed.",
		Permission:  ReadOwnProposals, Mode: authz.Read,
	}, func(ctx context.Context, q StatusQuery) (Status, error) {
		call, _ := registry.CallFrom(ctx)
		p, err := book.Proposal(ctx, call.Session.Scope(), q.Proposal)
		if err == nil && !own(&p, call.Session) {
			err = ledger.ErrNotFound
		}
		if errors.Is(err, ledger.ErrNotFound) {
			return Status{}, registry.Public(errors.New("there is no such proposal of yours"))
		}
		if err != nil {
			return Status{}, err
		}
		return statusOf(&p, call.At), nil
	})
}

func own(p *ledger.Proposal, s authz.Session) bool {
	return p.Session.Scope() == s.Scope() && p.Session.Actor() == s.Actor() && p.Session.Human() == s.Human() && p.Session.Background() == s.Background()
}

func statusOf(p *ledger.Proposal, now time.Time) Status {
	s := Status{Proposal: p.ID, Action: p.Action}
	switch state := p.State(now); {
	case state == ledger.StateProposed:
		s.Status, s.ExpiresAt = "waiting", &p.ExpiresAt
	case state == ledger.StateDismissed:
		s.Status, s.Reason = "dismissed", p.Note
	case state == ledger.StateExpired:
		s.Status, s.Reason = "expired", "nobody decided in time; it can be proposed again"
	case state == ledger.StateInterrupted:
		s.Status, s.Reason = "interrupted", "it was approved, and nothing is known about how it ended"
	case p.Outcome == ledger.Succeeded:
		s.Status, s.Result = "done", p.Result
	case p.Outcome == ledger.Failed:
		s.Status, s.Reason = "failed", strings.ToValidUTF8(p.Told, "\uFFFD")
	default:
		s.Status = "running"
	}
	return s
}
