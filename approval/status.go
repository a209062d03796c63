package approval

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
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
// another: waiting, running, done, failed, interrupted, dismissed, revised, expired.
type Status struct {
	Proposal  string          `json:"proposal"`
	Action    string          `json:"action"`
	Status    string          `json:"status"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty"` // while it waits
	Reason    string          `json:"reason,omitempty"`     // why it was dismissed, or what failed, as far as that is public
	Result    json.RawMessage `json:"result,omitempty"`
	Successor string          `json:"successor,omitempty"` // the proposal that takes the place of one that was revised
}

// OwnProposals returns a read by which a session sees the state of its own proposals: those of the same model
// for the same principal. Add it to the actions of a registry whose ledger and keys are these; a proposal
// whose seal does not hold is unknown.
func OwnProposals(book ledger.Store, keys *token.Ring) *registry.Action {
	return registry.Define("proposal_status", registry.Spec[StatusQuery]{
		Title:       "State of a proposal",
		Description: "Says what became of something that needed approval: still waiting, done, dismissed with a reason, expired or failed.",
		Permission:  ReadOwnProposals, Mode: authz.Read,
	}, func(ctx context.Context, q StatusQuery) (Status, error) {
		call, _ := registry.CallFrom(ctx)
		s, err := status(ctx, book, keys, call.Session, q.Proposal, call.At)
		if errors.Is(err, ledger.ErrNotFound) {
			return Status{}, registry.Public(errors.New("there is no such proposal of yours"))
		}
		return s, err
	})
}

// Status says what became of a session's own proposal. It is for surfaces that tell a model about the past:
// the ledger knows, whatever a conversation says. The error is [ledger.ErrNotFound] for a proposal that is
// not the session's own, or the store's.
func (d *Desk) Status(ctx context.Context, s authz.Session, proposal string) (Status, error) {
	return status(ctx, d.reg.Ledger(), d.reg.Keys(), s, proposal, d.reg.Now())
}

func status(ctx context.Context, book ledger.Store, keys *token.Ring, s authz.Session, id string, now time.Time) (Status, error) {
	p, err := book.Proposal(ctx, s.Scope(), id)
	switch {
	case errors.Is(err, ledger.ErrTampered):
		return Status{}, ledger.ErrNotFound // not even a row any more
	case err != nil:
		return Status{}, err
	}
	if !own(&p, s) || ledger.CheckSeal(keys, &p) != nil {
		return Status{}, ledger.ErrNotFound
	}
	st := statusOf(&p, now)
	if next, ok := strings.CutPrefix(p.Note, supersededBy); ok && p.Decision == ledger.Dismissed {
		// Only a successor that says so itself is one: a note is what anybody may write who says no.
		if q, err := book.Proposal(ctx, s.Scope(), next); err == nil && q.Supersedes == p.ID && ledger.CheckSeal(keys, &q) == nil {
			st.Status, st.Reason, st.Successor = "revised", "a person changed it; what takes its place is decided about by itself", next
		}
	}
	return st, nil
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
