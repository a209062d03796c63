package registry

import (
	"cmp"
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
// Of several grants the first that serves is used, in the order of the facts.
//
// The error is a [*Refusal]. Where no grant covers the proposal, or none has a use left, its code is
// [ledger.NeedsApproval], and the proposal waits for a person.
func (r *Registry) RedeemStanding(ctx context.Context, scope authz.Scope, proposal string) (Result, error) {
	q, err := r.load(ctx, scope, proposal, authz.Person{})
	if err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	q.standing = true
	if final, was := decided(q.row, q.row.State(q.at)); was {
		return Result{}, r.refuse(ctx, q, final)
	}
	if err := r.admit(ctx, q); err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	grants, why := r.covering(q)
	refusal := waits(why)
	for _, g := range grants {
		q.grant, q.person = g, authz.LoggedIn(g.By) // not logged in now, but when the grant was sealed
		claim, err := "", r.approvable(ctx, q)
		if err == nil {
			claim, err = r.claim(ctx, q)
		}
		if err == nil {
			return r.redeemed(ctx, q, claim)
		}
		if refusal = err; !another(err) {
			break
		}
	}
	return Result{}, r.refuse(ctx, q, refusal)
}

// another reports whether a grant did not serve for a reason that another grant need not share: its giver may
// not approve this, it asks more of the principal, it is gone or has no use left.
func another(err error) bool {
	refusal, ok := errors.AsType[*Refusal](err)
	return ok && (refusal.Code == ledger.NeedsApproval || refusal.Code == ledger.Forbidden)
}

// covering returns the standing grants that cover an admitted request, in the order of the facts. The reason
// is that of the first grant that does not cover it, or why there are none.
func (r *Registry) covering(q *request) (grants []*authz.Standing, why authz.Reason) {
	all, why := q.view.Standing(q.session, q.index)
	if len(all) > 0 && q.inside {
		return nil, authz.ReasonInsideRun
	}
	for _, g := range all {
		if miss := r.misses(q, g); miss == "" {
			grants = append(grants, g)
		} else if why == "" {
			why = miss
		}
	}
	return grants, why
}

// misses says why a grant does not cover an admitted request; it returns the empty reason if it does.
func (r *Registry) misses(q *request, g *authz.Standing) authz.Reason {
	switch {
	case q.action.Mode != authz.Execute || r.clicked[q.action.Permission] || r.clicked[q.action.Ask]:
		return authz.ReasonClickOnly
	case authz.CheckStanding(r.keys, q.session.Scope(), q.session.Actor(), q.name, g) != nil:
		return authz.ReasonGrantInvalid
	case g.Definition != q.action.Definition:
		return authz.ReasonGrantStale
	case g.Covers(q.at, q.targets):
		return ""
	case g.Covers(q.at, []authz.Path{g.Below}):
		return authz.ReasonGrantElsewhere
	}
	return authz.ReasonGrantEnded
}

// stands asks, in the view that decides, whether the grant is still there and whether the principal has what
// it asks of them.
func (r *Registry) stands(q *request) error {
	same := func(g *authz.Standing) bool { return g.ID == q.grant.ID && g.Seal == q.grant.Seal }
	if grants, why := r.covering(q); !slices.ContainsFunc(grants, same) {
		return waits(cmp.Or(why, authz.ReasonNoGrant))
	}
	if q.grant.AskOnly || q.session.Background() {
		return nil
	}
	if d := q.view.Person(q.session.Human(), q.index, q.targets, authz.ToPerform); !d.Allowed {
		return &Refusal{Code: ledger.NeedsApproval, Reason: string(d.Reason), Err: decisionError(d)}
	}
	return nil
}

func waits(why authz.Reason) error {
	return &Refusal{Code: ledger.NeedsApproval, Reason: string(why)}
}

// Undecided reports whether err is a refusal after which the proposal it is about is open as before, so that
// a person can still approve it.
func Undecided(err error) bool {
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Proposal == nil || r.Proposal.Decision != ledger.Undecided {
		return false
	}
	switch r.Code {
	case ledger.Tampered, ledger.WasExpired, ledger.Stale, ledger.Unknown, ledger.Unavailable:
		return false
	}
	return true
}
