package registry

import (
	"context"
	"errors"
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// RedeemStanding runs a proposal on a standing grant of the model that made it, a person's approval given in
// advance, and in that person's name: the same row, the same claim, the same records as a click. Everything
// is judged at each use: that the scope's settings allow it, that the action is of mode Execute and not
// propose-only, that the grant is sealed, covers the targets, has not ended and is pinned to the action as it
// is now; that the giver may still perform the action; and that the principal, if there is one, may perform
// it too, unless the grant says that asking is enough. The claim counts the use. Runs that fail consume it.
//
// The error is a [*Refusal]. Where no grant covers the proposal, or none has a use left, its code is
// [ledger.NeedsApproval], and the proposal waits for a person.
func (r *Registry) RedeemStanding(ctx context.Context, scope authz.Scope, proposal string) (Result, error) {
	q, err := r.load(ctx, scope, proposal, authz.Person{})
	if err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	if final, was := decided(q.row, q.row.State(q.at)); was {
		return Result{}, r.refuse(ctx, q, final)
	}
	if err := r.admit(ctx, q); err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	for {
		if q.grant = r.findStanding(q); q.grant == nil {
			return Result{}, r.refuse(ctx, q, noGrant(q.row))
		}
		q.person = authz.LoggedIn(q.grant.By) // not logged in now, but when the grant was sealed
		if err := r.approvable(ctx, q); err != nil {
			return Result{}, r.refuse(ctx, q, err)
		}
		claim, err := r.claim(ctx, q)
		if errors.Is(err, ledger.ErrGrantSpent) {
			q.spent = append(q.spent, q.grant.ID) // another may have a use left
			continue
		}
		if err != nil {
			return Result{}, r.refuse(ctx, q, err)
		}
		return r.redeemed(ctx, q, claim)
	}
}

// findStanding returns the first standing grant that covers an admitted request, or nil.
func (r *Registry) findStanding(q *request) *authz.Standing {
	if q.action.Mode != authz.Execute || r.clicked[q.action.Permission] || r.clicked[q.action.Ask] {
		return nil
	}
	for _, g := range q.view.Standing(q.session, q.index) {
		if g.Definition == q.action.Definition && g.Covers(q.at, q.targets) && !slices.Contains(q.spent, g.ID) &&
			authz.CheckStanding(r.keys, q.session.Scope(), q.session.Actor(), q.name, g) == nil {
			return g
		}
	}
	return nil
}

func (r *Registry) standingID(q *request) string {
	if g := r.findStanding(q); g != nil {
		return g.ID
	}
	return ""
}

// stands asks, in the view that decides, whether the grant is still there and whether the principal has what
// it asks of them.
func (r *Registry) stands(q *request) error {
	if g := r.findStanding(q); g == nil || g.ID != q.grant.ID || g.Seal != q.grant.Seal {
		return noGrant(q.row)
	}
	if q.grant.AskOnly || q.session.Background() {
		return nil
	}
	if d := q.view.Person(q.session.Human(), q.index, q.targets, authz.ToPerform); !d.Allowed {
		return &Refusal{Code: ledger.NeedsApproval, Reason: string(d.Reason), Proposal: q.row, Err: decisionError(d)}
	}
	return nil
}

func noGrant(p *ledger.Proposal) *Refusal {
	return &Refusal{Code: ledger.NeedsApproval, Reason: "no_grant", Proposal: p}
}

// Undecided reports whether err is a refusal after which the proposal it is about can still be decided.
func Undecided(err error) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && r.Proposal != nil && r.Proposal.Decision == ledger.Undecided && r.Code != ledger.Tampered && r.Code != ledger.WasExpired
}
