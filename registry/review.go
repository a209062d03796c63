package registry

import (
	"context"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Review is what a person may know and do about a proposal now.
type Review struct {
	Proposal ledger.Proposal
	State    ledger.State
	At       time.Time // the one reading of the clock
	Card     Card
	Refusal  error // why the person could not approve it now; nil if they could
	Dismiss  bool  // whether the person may say no to it
}

// Card is what an approval shows in the words of the action's author. Nothing in it comes from a model,
// except the parameters' values, in display form.
type Card struct {
	Title    string
	Sentence string // "" if the action has none, or is gone
	Risk     Risk
	Reach    string
	Undo     string
}

// Review says what a person may know and do about a proposal. The humans behind it, who may decide about it
// and who has [ReadProposals] see it; for anybody else it does not exist. The error is a [*Refusal].
func (r *Registry) Review(ctx context.Context, scope authz.Scope, id string, person authz.Person) (Review, error) {
	q, err := r.fetch(ctx, scope, id, person)
	if err != nil {
		return Review{}, r.refuse(ctx, q, err)
	}
	v := Review{Proposal: *q.row, State: q.row.State(q.at), At: q.at}
	sees, may, err := r.stake(ctx, q.row, person)
	if err != nil {
		return Review{}, r.refuse(ctx, q, err)
	}
	if !sees {
		return Review{}, r.hide(ctx, q, nil)
	}
	v.Refusal = r.approvable(ctx, q)
	v.Dismiss = may && q.row.Decision == ledger.Undecided
	if _, a := r.find(q.row.Action); a != nil {
		v.Card = a.card(q.row)
	}
	return v, nil
}

// stake says whether a person sees a proposal, and whether they may decide about it: perform it, or say no to
// what was asked in their own name.
func (r *Registry) stake(ctx context.Context, p *ledger.Proposal, person authz.Person) (sees, decides bool, err error) {
	view, err := r.policy.View(ctx, p.Session.Scope(), person.ID())
	if err != nil {
		return false, false, r.noFacts(err)
	}
	sees, decides = r.stakeIn(view, p, person)
	return sees, decides, nil
}

func (r *Registry) stakeIn(view *authz.View, p *ledger.Proposal, person authz.Person) (sees, decides bool) {
	if !view.Human(person).Allowed {
		return false, false
	}
	oversees := view.Person(person, r.overseer, p.Targets, authz.ToPerform).Allowed
	decides = p.Session.Human() == person
	if i, a := r.find(p.Action); a != nil {
		decides = decides || view.Person(person, i, p.Targets, authz.ToPerform).Allowed
	} else {
		decides = decides || oversees // nobody else is left to put it away
	}
	return decides || oversees || slices.Contains(p.RevisedBy, person.ID()), decides
}

// hide answers somebody who may not see a proposal exactly as if it did not exist. The record says more: which
// proposal it was, and what else was wrong.
func (r *Registry) hide(ctx context.Context, q *request, err error) error {
	bare := &Refusal{Code: ledger.Unknown, Reason: "unknown_proposal"}
	_ = r.refuse(ctx, q, &Refusal{Code: bare.Code, Reason: bare.Reason, Err: err})
	return bare
}

// Visible returns those of the given proposals of a scope that a person may see, and whose seal holds. One
// that was tampered with is logged and left out: nothing in it can be believed.
func (r *Registry) Visible(ctx context.Context, scope authz.Scope, person authz.Person, rows []ledger.Proposal) ([]ledger.Proposal, error) {
	glances, err := r.Glances(ctx, scope, person, rows)
	if err != nil {
		return nil, err
	}
	var seen []ledger.Proposal
	for i := range glances {
		seen = append(seen, glances[i].Proposal)
	}
	return seen, nil
}

// Rework says whether a person may replace the parameters of a proposal: they see it, may decide about it and
// may ask for the new parameters, as may everybody for whom it was proposed. The admission is of the new
// parameters, with the proposal's session. The error is a [*Refusal].
func (r *Registry) Rework(ctx context.Context, scope authz.Scope, id string, person authz.Person, params []byte) (Admission, ledger.Proposal, error) {
	q, err := r.fetch(ctx, scope, id, person)
	if err != nil {
		return Admission{}, ledger.Proposal{}, r.refuse(ctx, q, err)
	}
	sees, may, err := r.stake(ctx, q.row, person)
	if err != nil {
		return Admission{}, ledger.Proposal{}, r.refuse(ctx, q, err)
	}
	if !sees {
		return Admission{}, ledger.Proposal{}, r.hide(ctx, q, nil)
	}
	old := *q.row
	if err = r.rework(ctx, q, may, params); err != nil {
		return Admission{}, old, r.refuse(ctx, q, err)
	}
	return r.admission(q), old, nil
}

func (r *Registry) rework(ctx context.Context, q *request, may bool, params []byte) error {
	old := *q.row
	if final, was := decided(&old, old.State(q.at)); was {
		return final
	}
	if !may {
		return &Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonNoPermission), Proposal: &old}
	}
	q.row, q.input = nil, params // the new parameters need not be what was proposed
	err := r.admit(ctx, q)
	q.row = &old
	if err != nil {
		return err
	}
	if d := q.view.Person(q.person, q.index, q.targets, authz.ToAsk); !d.Allowed {
		return denied(ledger.Forbidden, d)
	}
	old.RevisedBy = append(slices.Clone(old.RevisedBy), q.person.ID()) // the admission counts this one too
	return nil
}

// Preview tells an operator what approving a proposal would change, where the action can say. It is a read
// under the viewer's authority: whoever may not perform the action gets nothing. The error is a [*Refusal].
func (r *Registry) Preview(ctx context.Context, scope authz.Scope, id string, person authz.Person) ([]Difference, error) {
	q, err := r.fetch(ctx, scope, id, person)
	if err != nil {
		return nil, r.refuse(ctx, q, err)
	}
	sees, _, err := r.stake(ctx, q.row, person)
	if err == nil && sees {
		err = r.approvable(ctx, q)
	}
	if err != nil {
		return nil, r.refuse(ctx, q, err)
	}
	if !sees {
		return nil, r.hide(ctx, q, nil)
	}
	if q.action.preview == nil {
		return nil, nil
	}
	viewer, _ := authz.NewPersonSession(scope, person) // fetch has seen to both
	ctx = context.WithValue(ctx, frameKey{}, &frame{
		current: Current{Session: viewer, Operator: person.ID(), Action: q.name, Proposal: id, At: q.at}, view: q.view, mode: authz.Read,
	})
	lines, err := guarded(func() ([]Difference, error) { return q.action.preview(ctx, q.value) })
	if err != nil {
		return nil, &Refusal{Code: ledger.RunFailed, Reason: "preview", Err: err}
	}
	return lines, nil
}

// Refuse records a refusal on behalf of a package that decides on top of the registry, and returns it as the
// [*Refusal] it is. The record needs session, action and whatever else is known.
func (r *Registry) Refuse(ctx context.Context, rec ledger.Record, err error) error {
	q := &request{session: rec.Session, name: rec.Action, params: rec.Params, targets: rec.Targets, at: rec.At, person: authz.LoggedIn(rec.Operator)}
	if rec.Proposal != "" {
		q.row = &ledger.Proposal{ID: rec.Proposal}
	}
	return r.refuse(ctx, q, err)
}
