// Package approval is the people's side: proposals are made, opened, approved, dismissed and revised.
//
// A [Desk] stands on a registry. [Desk.Propose] writes what a model asked for into the ledger. A person who
// may approve it opens it with [Desk.Open], which gives them a token of their own, and [Desk.Approve] hands
// token, proposal and the hash of what they saw to the registry, which checks everything again, claims the
// proposal and runs it once. [Desk.Dismiss] says no, [Desk.Revise] replaces the parameters by a new proposal.
//
// The desk decides nothing about authority by itself: it writes rows and issues tokens, the registry admits,
// claims and runs. People enter as [authz.Person], which only a host's login makes; no string from a model
// can stand for one. A token is for people's surfaces: nothing that a model reads has one in it.
//
// Canonical parameters are in package approval/canon, tokens and keys in approval/token.
package approval

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Desk is where proposals are made and decided. It is safe for concurrent use.
type Desk struct{ reg *registry.Registry }

// NewDesk returns the desk of a registry.
func NewDesk(reg *registry.Registry) *Desk { return &Desk{reg} }

// Registry returns the registry on which the desk stands.
func (d *Desk) Registry() *registry.Registry { return d.reg }

// Proposed is an open proposal. The token is the principal's own, and zero unless the principal may approve.
// Give it to nobody but the principal. Standing names a standing grant that covers the proposal, if one does:
// [registry.Registry.RedeemStanding] uses it.
type Proposed struct {
	Proposal ledger.Proposal
	Token    token.Token
	Standing string
}

// Opening is what a person finds when they open a proposal. The token is zero if they may only look: then
// Refusal says why, as a [*registry.Refusal].
type Opening struct {
	registry.Review
	Token    token.Token
	operator authz.Person
}

// Redemption returns what [Desk.Approve] takes, for an approval in the same process. A web page carries
// token, proposal and hash through its form instead.
func (o Opening) Redemption() registry.Redemption {
	return registry.Redemption{
		Scope: o.Proposal.Session.Scope(), Proposal: o.Proposal.ID, Operator: o.operator, Token: o.Token, Shown: o.Proposal.Params.Hash(),
	}
}

// Available says whether a session could propose an action at all, before anybody spends effort on its
// parameters. The error is a [*registry.Refusal].
func (d *Desk) Available(ctx context.Context, s authz.Session, action string) error {
	return d.reg.Available(ctx, s, action)
}

// Propose records what a session asks for. An identical proposal that is still open is returned as it is,
// with the end it has. The error is a [*registry.Refusal]: [ledger.Limited] if too many are open.
func (d *Desk) Propose(ctx context.Context, c registry.Call) (Proposed, error) {
	a, err := d.reg.Admit(ctx, c, c.Session.Human())
	if err != nil {
		return Proposed{}, err
	}
	entry, err := d.entry(a, ledger.Proposal{})
	if err == nil {
		var p ledger.Proposal
		if p, err = d.reg.Ledger().Propose(ctx, entry); err == nil {
			return d.proposed(ctx, p, a, a.Session.Human()), nil
		}
	}
	return Proposed{}, d.reg.Refuse(ctx, record(ledger.EventRefused, a, authz.Person{}), unwritten(err))
}

// entry makes the row of an admitted call. Row has what a revision adds.
func (d *Desk) entry(a registry.Admission, row ledger.Proposal) (ledger.Entry, error) {
	if a.Action.Mode == authz.Read {
		return ledger.Entry{}, &registry.Refusal{Code: ledger.Invalid, Err: errors.New("a read needs no approval")}
	}
	id, err := d.reg.NewID(a.At)
	if err != nil {
		return ledger.Entry{}, err
	}
	row.ID, row.Session, row.Action, row.Params, row.Targets = id, a.Session, a.Action.Name, a.Params, a.Targets
	row.Definition, row.Version, row.CreatedAt, row.ExpiresAt = a.Action.Definition, a.Version, a.At, a.ExpiresAt
	if err := ledger.Seal(d.reg.Keys(), &row); err != nil {
		return ledger.Entry{}, err
	}
	rec := record(ledger.EventProposed, a, authz.Person{})
	rec.Code, rec.Reason, rec.Proposal = ledger.NeedsApproval, a.Waits, id
	return ledger.Entry{Proposal: row, Limits: a.Limits, Record: rec}, nil
}

// proposed adds the person's token to a proposal that is in the ledger. If there can be none, the proposal
// stands all the same, and opening it says why.
func (d *Desk) proposed(ctx context.Context, p ledger.Proposal, a registry.Admission, person authz.Person) Proposed {
	out := Proposed{Proposal: p, Standing: a.Standing}
	if a.MayDecide {
		var err error
		if out.Token, err = d.sign(&p, person, a.At); err != nil {
			d.reg.Log().ErrorContext(ctx, "a token could not be signed", "proposal", p.ID, "error", err)
		}
	}
	return out
}

func (d *Desk) sign(p *ledger.Proposal, person authz.Person, at time.Time) (token.Token, error) {
	b, err := registry.Binding(p, person, at)
	if err != nil {
		return token.Token{}, err
	}
	return d.reg.Keys().Sign(b)
}

// Open shows a proposal to a person who may see it, with a token of their own if they may approve it now.
// The token ends when the proposal does. The error is a [*registry.Refusal]: a proposal that the person may
// not see is as unknown as one that never was.
func (d *Desk) Open(ctx context.Context, scope authz.Scope, proposal string, person authz.Person) (Opening, error) {
	v, err := d.reg.Review(ctx, scope, proposal, person)
	if err != nil {
		return Opening{}, err
	}
	o := Opening{Review: v, operator: person}
	if v.Refusal == nil {
		if o.Token, err = d.sign(&v.Proposal, person, v.At); err != nil {
			return Opening{}, &registry.Refusal{Code: ledger.RunFailed, Reason: "token", Err: err}
		}
	}
	return o, nil
}

// Approve runs a proposal, once, by [registry.Registry.Redeem].
func (d *Desk) Approve(ctx context.Context, r registry.Redemption) (registry.Result, error) {
	return d.reg.Redeem(ctx, r)
}

// Dismiss says no to a proposal, with a reason that the requester may read. Who may approve it may dismiss
// it, and so may the person in whose name it was asked; also when the action is no longer available, and
// after it expired. A reason has at most 4 KiB. The error is a [*registry.Refusal] with the final state if it
// was decided before.
func (d *Desk) Dismiss(ctx context.Context, scope authz.Scope, proposal string, person authz.Person, reason string) error {
	v, err := d.reg.Review(ctx, scope, proposal, person)
	if err != nil {
		return err
	}
	p := v.Proposal
	reason = strings.ToValidUTF8(reason, "\uFFFD") // or the status of the proposal would have no JSON form
	rec := ledger.Record{
		At: v.At, Event: ledger.EventDismissed, Code: ledger.WasDismissed, Session: p.Session, Operator: person.ID(),
		Action: p.Action, Targets: p.Targets, Params: p.Params, Proposal: p.ID, Error: reason,
	}
	if len(reason) > maxReason {
		rec.Error = ""
		return d.reg.Refuse(ctx, rec, &registry.Refusal{Code: ledger.Invalid, Proposal: &p, Err: registry.Public(errors.New("the reason is longer than 4 KiB"))})
	}
	if !v.Dismiss {
		refusal := v.Refusal
		if p.Decision == ledger.Undecided {
			refusal = &registry.Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonNoPermission), Proposal: &p}
		}
		return d.reg.Refuse(ctx, rec, refusal)
	}
	now, err := d.reg.Ledger().Dismiss(ctx, ledger.Dismissal{
		Scope: scope, Proposal: p.ID, By: person.ID(), At: v.At, Note: reason, Record: rec,
	})
	if err != nil {
		return d.reg.Refuse(ctx, rec, registry.Undecidable(now, v.At, err))
	}
	return nil
}

// Revise replaces an open proposal by one with other parameters, in one step: the old one is dismissed as
// superseded. The new proposal keeps its session and adds the person to those behind it, so that four eyes
// count the reviser too. Everything is checked anew. The token is the reviser's, if they may approve.
func (d *Desk) Revise(ctx context.Context, scope authz.Scope, proposal string, person authz.Person, params []byte) (Proposed, error) {
	a, old, err := d.reg.Rework(ctx, scope, proposal, person, params)
	if err != nil {
		return Proposed{}, err
	}
	rec := record(ledger.EventDismissed, a, person)
	rec.Code, rec.Params, rec.Targets, rec.Proposal = ledger.WasDismissed, old.Params, old.Targets, old.ID
	entry, err := d.entry(a, ledger.Proposal{Supersedes: old.ID, RevisedBy: append(old.RevisedBy, person.ID())})
	if err != nil {
		return Proposed{}, d.reg.Refuse(ctx, rec, unwritten(err))
	}
	entry.Record.Operator, rec.Error = person.ID(), supersededBy+entry.Proposal.ID
	p, err := d.reg.Ledger().Revise(ctx, ledger.Revision{
		Dismissal: ledger.Dismissal{Scope: scope, Proposal: old.ID, By: person.ID(), At: a.At, Note: rec.Error, Record: rec},
		Entry:     entry,
	})
	switch {
	case errors.Is(err, ledger.ErrConflict):
		return Proposed{}, d.reg.Refuse(ctx, rec, registry.Undecidable(p, a.At, err))
	case err != nil:
		return Proposed{}, d.reg.Refuse(ctx, rec, unwritten(err))
	}
	return d.proposed(ctx, p, a, person), nil
}

const maxReason = 4096

// supersededBy begins the note on a proposal that was revised; the successor's id follows.
const supersededBy = "superseded by "

// Pending lists the open proposals of a scope that a person may see, newest first, at most
// [ledger.DefaultPage] of those older than the cursor; the zero cursor starts at the newest. Fewer than that
// are all there are: what the person may not see takes no place in the list.
func (d *Desk) Pending(ctx context.Context, scope authz.Scope, person authz.Person, before ledger.Cursor) ([]ledger.Proposal, error) {
	q := ledger.Query{Scope: scope, States: []ledger.State{ledger.StateProposed}, At: d.reg.Now(), Before: before, Limit: ledger.DefaultPage}
	var list []ledger.Proposal
	for {
		rows, err := d.reg.Ledger().Proposals(ctx, q)
		if err != nil {
			return nil, &registry.Refusal{Code: ledger.RunFailed, Reason: "ledger", Err: err}
		}
		seen, err := d.reg.Visible(ctx, scope, person, rows)
		if err != nil {
			return nil, err
		}
		list = append(list, seen...)
		if len(list) >= q.Limit {
			return list[:q.Limit], nil
		}
		if len(rows) < q.Limit {
			return list, nil
		}
		q.Before = rows[len(rows)-1].Cursor()
	}
}

func record(event ledger.Event, a registry.Admission, operator authz.Person) ledger.Record {
	return ledger.Record{
		At: a.At, Event: event, Session: a.Session, Operator: operator.ID(), Action: a.Action.Name, Targets: a.Targets, Params: a.Params,
	}
}

// unwritten is the refusal of a proposal that is not in the ledger.
func unwritten(err error) error {
	if _, ok := errors.AsType[*registry.Refusal](err); ok {
		return err
	}
	if limit, ok := errors.AsType[*ledger.LimitError](err); ok {
		return &registry.Refusal{Code: ledger.Limited, Reason: limit.Of, Err: err}
	}
	return &registry.Refusal{Code: ledger.Unrecorded, Err: err}
}
