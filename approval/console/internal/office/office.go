// Package office is what one person sees and does at the console, once for all of its surfaces.
//
// An [Office] stands on the host's gate. [Office.Enter] lets in one person for one request and gives a
// [Visit], which has a method for every screen and for every decision. A visit keeps the registry that it
// began with, so that a registry which is swapped meanwhile changes nothing half-way.
//
// Nothing here decides about authority: every view asks the registry what the person may see, and every
// change is the desk's, or an action that is invoked in the person's own name. A view costs a constant number
// of queries, whatever the ledger holds. Errors are [*registry.Refusal].
package office

import (
	"context"
	"errors"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// Origin is the origin of what a person does here, in the audit trail.
const Origin = "console"

// What a view looks at, at most. The views say so where it was not enough.
const (
	PageSize  = 50     // rows of a page
	LookSize  = 500    // rows that are looked at for one page, by somebody who sees only some of them
	Window    = 10_000 // the newest rows that a search for text and the outcomes look at
	LastSize  = 5      // earlier proposals that are shown beside one
	TrailSize = 200    // records of one proposal
	Recent    = 1_000  // the newest records in which the last activity of models is looked for
)

// Office lets people in. It is safe for concurrent use.
type Office struct{ gate func() *chattools.Gate }

// New returns the office behind a gate. The function is called once for each visit.
func New(gate func() *chattools.Gate) *Office { return &Office{gate} }

// Visit is one person's request. It is for one goroutine at a time.
type Visit struct {
	gate    *chattools.Gate
	desk    *approval.Desk
	reg     *registry.Registry
	scope   authz.Scope
	person  authz.Person
	session authz.Session
}

// Enter lets a person into a scope. Who is not known there as an active human is refused.
func (o *Office) Enter(ctx context.Context, scope authz.Scope, person authz.Person) (*Visit, error) {
	s, err := authz.NewPersonSession(scope, person)
	if err != nil {
		return nil, &registry.Refusal{Code: ledger.Unavailable, Reason: string(authz.ReasonInvalidSession), Err: err}
	}
	gate := o.gate()
	v := &Visit{gate: gate, desk: gate.Desk(), reg: gate.Desk().Registry(), scope: scope, person: person, session: s.WithOrigin(Origin)}
	if err := v.reg.Known(ctx, scope, person); err != nil {
		return nil, v.refuse(ctx, "console", err)
	}
	return v, nil
}

// Scope returns the scope that is visited.
func (v *Visit) Scope() authz.Scope { return v.scope }

// Person returns who is visiting.
func (v *Visit) Person() authz.Person { return v.person }

// Session returns the person's own session.
func (v *Visit) Session() authz.Session { return v.session }

// Registry returns the registry that the visit began with.
func (v *Visit) Registry() *registry.Registry { return v.reg }

// Oversees reports whether the person may read everything that happened in the scope.
func (v *Visit) Oversees(ctx context.Context) bool {
	return v.reg.Oversees(ctx, v.scope, v.person) == nil
}

// oversees refuses a person who does not, on record.
func (v *Visit) oversees(ctx context.Context, what string) error {
	if err := v.reg.Oversees(ctx, v.scope, v.person); err != nil {
		return v.refuse(ctx, what, err)
	}
	return nil
}

// refuse records a refusal of the person, and returns it.
func (v *Visit) refuse(ctx context.Context, what string, err error) error {
	return v.reg.Refuse(ctx, ledger.Record{At: v.reg.Now(), Session: v.session, Action: what, Operator: v.person.ID()}, err)
}

// Refuse records that something else was refused to the person, such as a form that came from another site.
func (v *Visit) Refuse(ctx context.Context, what string, err error) error {
	return v.refuse(ctx, what, err)
}

// unread is the refusal of a view whose rows could not be read.
func unread(err error) error {
	return &registry.Refusal{Code: ledger.RunFailed, Reason: "ledger", Err: err}
}

// Invoke does something in the person's own name: a read, or a change that they may make themselves, which goes on when
// the person closes the page.
func (v *Visit) Invoke(ctx context.Context, action string, params []byte) (registry.Result, error) {
	if v.reg.Mode(action) != authz.Read {
		ctx = context.WithoutCancel(ctx)
	}
	return v.reg.Invoke(ctx, registry.Call{Session: v.session, Action: action, Params: params})
}

// listing reads who there is in the scope and what its settings are, as the person.
func (v *Visit) listing(ctx context.Context) (directory.Listing, error) {
	res, err := v.Invoke(ctx, "directory_list", []byte("{}"))
	if err != nil {
		return directory.Listing{}, err
	}
	list, ok := res.Value.(directory.Listing)
	if !ok {
		return directory.Listing{}, &registry.Refusal{Code: ledger.RunFailed, Err: errors.New("directory_list is not that of registry/directory")}
	}
	return list, nil
}

// Actions are what the person may do themselves or ask for, sorted by name.
func (v *Visit) Actions(ctx context.Context) ([]*registry.Action, error) {
	indexes, err := v.reg.AppendTools(ctx, nil, v.session)
	if err != nil {
		return nil, err
	}
	all := v.reg.Actions()
	list := make([]*registry.Action, len(indexes))
	for i, n := range indexes {
		list[i] = all[n]
	}
	return list, nil
}
