package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/ledger"
)

// answer carries out one command as the person.
func (c Config) answer(ctx context.Context, q request) (response, error) {
	desk := c.Desk()
	switch q.Command {
	case "pending":
		return c.pending(ctx, desk)
	case "show":
		o, err := desk.Open(ctx, c.Scope, q.Proposal, c.Person)
		if err != nil {
			return response{}, err
		}
		return response{Text: page(o), Shown: o.Proposal.Params.Hash().String()}, nil
	case "approve":
		return c.approve(ctx, desk, q)
	case "dismiss":
		if err := desk.Dismiss(ctx, c.Scope, q.Proposal, c.Person, q.Reason); err != nil {
			return response{}, err
		}
		return response{Text: "Dismissed. Nothing was changed."}, nil
	}
	return response{}, errors.New("there is no such command")
}

// pending lists what waits, newest first.
func (c Config) pending(ctx context.Context, desk *approval.Desk) (response, error) {
	var b strings.Builder
	n := 0
	for before := (ledger.Cursor{}); ; {
		list, err := desk.Pending(ctx, c.Scope, c.Person, before)
		if err != nil {
			return response{}, err
		}
		for _, p := range list {
			o, err := desk.Open(ctx, c.Scope, p.ID, c.Person)
			if err != nil {
				return response{}, err
			}
			fmt.Fprintf(&b, "%s  %s\n", p.ID, line(o))
			n++
			before = p.Cursor()
		}
		if len(list) < ledger.DefaultPage {
			fmt.Fprintf(&b, "%d waiting", n)
			return response{Text: b.String()}, nil
		}
	}
}

// line says what a proposal would do, in the host's words if it has any.
func line(o approval.Opening) string {
	if o.Card.Sentence != "" {
		return o.Card.Sentence
	}
	return o.Proposal.Action + " " + o.Proposal.Params.String()
}

// page is all that a person should know before they decide.
func page(o approval.Opening) string {
	var b strings.Builder
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s  %s\n", label, strings.ReplaceAll(value, "\n", "\n            "))
		}
	}
	p := o.Proposal
	row("proposal", p.ID)
	row("action", p.Action)
	row("sentence", o.Card.Sentence)
	row("asked by", p.Session.String())
	for _, target := range p.Targets {
		row("touches", canon.Quote(target.String()))
	}
	row("risk", string(o.Card.Risk))
	row("affects", o.Card.Reach)
	row("undo", o.Card.Undo)
	row("parameters", p.Params.Display(0))
	row("hash", p.Params.Hash().String())
	row("state", string(o.State))
	if o.State == ledger.StateProposed {
		row("time left", p.ExpiresAt.Sub(o.At).String())
	}
	if o.Refusal != nil {
		row("note", "you cannot approve it: "+o.Refusal.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// approve runs a proposal if its parameters are those that the person saw.
func (c Config) approve(ctx context.Context, desk *approval.Desk, q request) (response, error) {
	shown, err := canon.ParseHash(q.Shown)
	if err != nil {
		return response{}, errors.New("the hash of what you saw is missing")
	}
	o, err := desk.Open(ctx, c.Scope, q.Proposal, c.Person)
	if err == nil {
		err = o.Refusal
	}
	if err != nil {
		return response{}, err
	}
	r := o.Redemption()
	r.Shown = shown
	done, err := desk.Approve(ctx, r)
	if err != nil {
		return response{}, err
	}
	return response{Text: "Approved. It ran and returned:\n" + string(done.JSON)}, nil
}
