package registry

import (
	"context"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Explain tells an operator why a session may or may not use an action, also one that is hidden from it: on
// the given targets, or without any, at all. It names rules, roles and people, so the operator needs
// [ReadProposals] on the whole scope. The error is a [*Refusal]; nothing is recorded.
func (r *Registry) Explain(ctx context.Context, operator authz.Person, s authz.Session, action string, targets ...authz.Path) (authz.Explanation, error) {
	i, v, err := r.oversee(ctx, operator, s.Scope(), action, s.Actors()...)
	if err != nil {
		return authz.Explanation{}, err
	}
	q := authz.ToAsk
	if r.actions[i].Mode == authz.Read {
		q = authz.ToPerform
	}
	return v.Explain(s, i, targets, q), nil
}

// WhoMay tells an operator who could perform an action on the given targets, and so approve it; with
// [authz.ToAsk], who could ask for it. It knows the actors whom the source returns beside those asked for.
func (r *Registry) WhoMay(ctx context.Context, operator authz.Person, scope authz.Scope, action string, q authz.Question, targets ...authz.Path) ([]authz.ID, error) {
	i, v, err := r.oversee(ctx, operator, scope, action)
	if err != nil {
		return nil, err
	}
	return v.WhoMay(i, targets, q), nil
}

// Below tells an operator which actions an actor could use on some target at or below a path.
func (r *Registry) Below(ctx context.Context, operator authz.Person, scope authz.Scope, actor authz.ID, path authz.Path) ([]string, error) {
	_, v, err := r.oversee(ctx, operator, scope, "", actor)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, i := range v.Below(actor, path) {
		if i != r.overseer {
			names = append(names, r.actions[i].Name)
		}
	}
	return names, nil
}

// oversee finds an action, if one is named, for an operator who may look behind the decisions of a scope.
func (r *Registry) oversee(ctx context.Context, operator authz.Person, scope authz.Scope, action string, actors ...authz.ID) (int, *authz.View, error) {
	v, err := r.policy.View(ctx, scope, append(actors, operator.ID())...)
	if err != nil {
		return 0, nil, r.noFacts(err)
	}
	if d := v.Person(operator, r.overseer, []authz.Path{authz.Root()}, authz.ToPerform); !d.Allowed {
		return 0, nil, denied(ledger.Forbidden, d)
	}
	i, a := r.find(action)
	if a == nil && action != "" {
		return 0, nil, &Refusal{Code: ledger.Unknown, Reason: string(authz.ReasonUnknownTool)}
	}
	return i, v, nil
}
