package registry

import (
	"context"
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Glance is what a list tells a person about a proposal, without asking the application about its targets.
type Glance struct {
	Proposal ledger.Proposal
	Card     Card
	Decides  bool // as far as rights say, the person may approve it; [Registry.Review] asks everything
	Dismiss  bool // the person may say no to it, while it is undecided
	Operates bool // the person may perform the action, or oversees: they may read what is for operators
}

// Glances returns those of the given proposals of a scope that a person may see, by one reading of the facts,
// and what a list says of each. One that was tampered with is logged and left out: nothing in it can be
// believed.
func (r *Registry) Glances(ctx context.Context, scope authz.Scope, person authz.Person, rows []ledger.Proposal) ([]Glance, error) {
	view, err := r.policy.View(ctx, scope, person.ID())
	if err != nil {
		return nil, r.noFacts(err)
	}
	var seen []Glance
	for i := range rows {
		p := &rows[i]
		if err := ledger.CheckSeal(r.keys, p); err != nil || p.Session.Scope() != scope {
			r.log.ErrorContext(ctx, "a proposal was tampered with", "proposal", p.ID, "error", err)
			continue
		}
		sees, decides := r.stakeIn(view, p, person)
		if !sees {
			continue
		}
		g := Glance{
			Proposal: *p, Dismiss: decides && p.Decision == ledger.Undecided,
			Operates: view.Person(person, r.overseer, p.Targets, authz.ToPerform).Allowed,
		}
		if n, a := r.find(p.Action); a != nil {
			q := &request{session: p.Session, person: person, row: p, view: view, index: n, action: a, targets: p.Targets}
			g.Card, g.Decides = a.card(p), p.Decision == ledger.Undecided && q.mayDecide().Allowed
			g.Operates = g.Operates || view.Person(person, n, p.Targets, authz.ToPerform).Allowed
		}
		seen = append(seen, g)
	}
	return seen, nil
}

// card says in the words of the action's author what a proposal asks for.
func (a *Action) card(p *ledger.Proposal) Card {
	return Card{a.Title, a.sentence.say(p.Params), a.Risk, a.Reach, a.Undo}
}

// Card says in the words of its action's author what a proposal asks for; the zero Card if the action is gone.
// It is for a host's own messages to people: parameters' values are in it.
func (r *Registry) Card(p *ledger.Proposal) Card {
	if _, a := r.find(p.Action); a != nil {
		return a.card(p)
	}
	return Card{}
}

// Oversees says whether a person has [ReadProposals] on the whole scope: they may read its audit trail, count
// its outcomes and look behind its decisions. The error is a [*Refusal]; nothing is recorded.
func (r *Registry) Oversees(ctx context.Context, scope authz.Scope, person authz.Person) error {
	_, _, err := r.oversee(ctx, person, scope, "")
	return err
}

// Known says whether a person is a known and active human of a scope. The error is a [*Refusal]; nothing is
// recorded.
func (r *Registry) Known(ctx context.Context, scope authz.Scope, person authz.Person) error {
	view, err := r.policy.View(ctx, scope, person.ID())
	if err != nil {
		return r.noFacts(err)
	}
	if d := view.Human(person); !d.Allowed {
		return denied(ledger.Unavailable, d)
	}
	return nil
}

// Shows says whether a session may know that an action changed what is at these paths, as for a [Subscription]: some
// read's permission is held by everybody behind it on each of them. That an explicit action, or one that is gone, was
// run it may know only if it could use that action too, or has [ReadProposals] on the whole scope: such an action
// administers a scope, its target is often the whole of it, and tells nothing of who may know. The error is a
// [*Refusal].
func (r *Registry) Shows(ctx context.Context, s authz.Session, action string, paths []authz.Path) (bool, error) {
	if s.IsZero() {
		return false, denied(ledger.Unavailable, authz.Decision{Reason: authz.ReasonInvalidSession})
	}
	view, err := r.policy.View(ctx, s.Scope(), s.Actors()...)
	if err != nil {
		return false, r.noFacts(err)
	}
	return r.shows(view, s, action, paths), nil
}

func (r *Registry) shows(v *authz.View, s authz.Session, action string, paths []authz.Path) bool {
	if slices.ContainsFunc(paths, func(p authz.Path) bool { return !v.MayRead(s, p) }) {
		return false
	}
	i, a := r.find(action)
	return a != nil && (!a.Explicit || v.Could(s, i)) || v.May(s, ReadProposals, authz.Root())
}

// Matrix tells an operator, by one reading of the facts, which of the given models could use which actions and
// why: for each model one explanation per action, in the order of [Registry.Actions]. The operator needs
// [ReadProposals] on the whole scope. The error is a [*Refusal]; nothing is recorded.
func (r *Registry) Matrix(ctx context.Context, operator authz.Person, scope authz.Scope, models ...authz.ID) ([][]authz.Explanation, error) {
	_, v, err := r.oversee(ctx, operator, scope, "", models...)
	if err != nil {
		return nil, err
	}
	table := make([][]authz.Explanation, len(models))
	for i, id := range models {
		s, err := authz.NewSession(scope, id, authz.Background())
		if err != nil {
			return nil, &Refusal{Code: ledger.Invalid, Reason: string(authz.ReasonInvalidSession), Err: err}
		}
		for n := range r.actions {
			table[i] = append(table[i], v.Explain(s, n, nil, authz.ToAsk))
		}
	}
	return table, nil
}
