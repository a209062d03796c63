package office

import (
	"context"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Filter narrows a list of proposals. A field's zero value does not filter. Whatever has to be searched for is
// looked for in the newest Window rows that Since, Until and Before leave.
type Filter struct {
	States    []ledger.State
	Actor     authz.ID
	Principal authz.ID
	Action    string
	Run       string
	Text      string
	Since     time.Time
	Until     time.Time
	Before    ledger.Cursor
	Mine      bool // only what the person may decide now
}

// searches reports whether the ledger has to look for the rows, since no index has them in order. What is open
// is never much.
func (f *Filter) searches() bool {
	open := len(f.States) == 1 && f.States[0] == ledger.StateProposed
	return !open && (len(f.States) > 0 || f.Actor != "" || f.Principal != "" || f.Action != "" || f.Run != "" || f.Text != "")
}

// Page is one page of proposals, newest first.
type Page struct {
	At   time.Time `json:"at"` // the one reading of the clock
	Rows []Row     `json:"proposals"`
	Next string    `json:"next,omitzero"` // cursor of the next page; absent at the end

	// Window is how many rows, the newest that Since, Until and Before leave, a search looked at; zero means all.
	Window int `json:"window,omitzero"`
}

// Proposals lists the proposals that the person may see. Whoever sees only some of the scope's gets what is
// among the newest LookSize rows of the page, and so sometimes fewer rows than a page has, or none, with a
// cursor to go on.
func (v *Visit) Proposals(ctx context.Context, f Filter) (Page, error) {
	page := Page{At: v.reg.Now(), Rows: []Row{}}
	q := ledger.Query{
		Scope: v.scope, States: f.States, At: page.At, Actor: f.Actor, Principal: f.Principal, Action: f.Action, Run: f.Run,
		Text: f.Text, Since: f.Since, Until: f.Until, Before: f.Before, Limit: LookSize,
	}
	if !f.Mine && v.Oversees(ctx) {
		q.Limit = PageSize
	}
	if f.searches() {
		q.Window, page.Window = Window, Window
	}
	rows, err := v.reg.Ledger().Proposals(ctx, q)
	if err != nil {
		return Page{}, unread(err)
	}
	seen, err := v.reg.Glances(ctx, v.scope, v.person, rows)
	if err != nil {
		return Page{}, err
	}
	if len(rows) == q.Limit {
		page.Next = cursorText(rows[len(rows)-1].Cursor())
	}
	for _, g := range seen {
		r := rowOf(g, page.At)
		if f.Mine && !r.MayApprove {
			continue
		}
		if len(page.Rows) == PageSize {
			page.Next = cursorText(page.Rows[PageSize-1].Proposal.Cursor())
			break
		}
		page.Rows = append(page.Rows, r)
	}
	return page, nil
}

// Inbox is what waits: the open proposals that the person may see.
type Inbox struct {
	Page
	Mine int  // of those looked at, how many the person may decide now
	More bool // there are more open proposals than were looked at
}

// Inbox lists what waits, of the newest LookSize open proposals of the scope.
func (v *Visit) Inbox(ctx context.Context, f Filter) (Inbox, error) {
	in := Inbox{Page: Page{At: v.reg.Now(), Rows: []Row{}}}
	rows, err := v.reg.Ledger().Proposals(ctx, ledger.Query{
		Scope: v.scope, States: []ledger.State{ledger.StateProposed}, At: in.At, Actor: f.Actor, Principal: f.Principal,
		Action: f.Action, Run: f.Run, Text: f.Text, Since: f.Since, Until: f.Until, Before: f.Before, Limit: LookSize,
	})
	if err != nil {
		return Inbox{}, unread(err)
	}
	seen, err := v.reg.Glances(ctx, v.scope, v.person, rows)
	if err != nil {
		return Inbox{}, err
	}
	if in.More = len(rows) == LookSize; in.More {
		in.Next = cursorText(rows[len(rows)-1].Cursor())
	}
	for _, r := range rowsOf(seen, in.At) {
		if r.MayApprove {
			in.Mine++
		} else if f.Mine {
			continue
		}
		in.Rows = append(in.Rows, r)
	}
	return in, nil
}

// Opened is one proposal as its page shows it.
type Opened struct {
	Row
	At         time.Time
	Token      token.Token           // zero if the person may not approve it
	Refusal    *registry.Refusal     // why they may not; nil if they may
	Preview    []registry.Difference // before and after, where the action can say
	NoPreview  error                 // why there is none although the person may approve
	Last       []Row                 // the last ones of the same action, among the LookSize proposals before it
	Trail      []ledger.Record       // what happened to it, the newest TrailSize records, oldest first; error texts are for operators
	Earlier    bool                  // there may be more before them
	MayRevise  bool
	Deciders   []authz.ID // who may approve it; empty unless the person oversees the scope
	Definition *registry.Action
}

// Open shows one proposal, with a token if the person may approve it now. It changes nothing.
func (v *Visit) Open(ctx context.Context, id string) (Opened, error) {
	o, err := v.desk.Open(ctx, v.scope, id, v.person)
	if err != nil {
		return Opened{}, err
	}
	glances, err := v.reg.Glances(ctx, v.scope, v.person, []ledger.Proposal{o.Proposal})
	if err != nil {
		return Opened{}, err
	}
	if len(glances) == 0 { // rights changed between the two readings
		return Opened{}, &registry.Refusal{Code: ledger.Unknown, Reason: "unknown_proposal"}
	}
	g := glances[0]
	g.Decides, g.Dismiss = o.Refusal == nil, o.Dismiss
	out := Opened{Row: rowOf(g, o.At), At: o.At, Token: o.Token, Definition: v.reg.Lookup(o.Proposal.Action)}
	out.MayRevise = o.Dismiss && out.State == ledger.StateProposed
	if o.Refusal != nil {
		out.Refusal = refusalOf(o.Refusal)
	} else {
		out.Preview, out.NoPreview = v.reg.Preview(ctx, v.scope, id, v.person)
	}
	rows, err := v.reg.Ledger().Proposals(ctx, ledger.Query{
		Scope: v.scope, Action: o.Proposal.Action, At: o.At, Before: o.Proposal.Cursor(), Limit: LastSize, Window: LookSize,
	})
	if err != nil {
		return Opened{}, unread(err)
	}
	seen, err := v.reg.Glances(ctx, v.scope, v.person, rows)
	if err != nil {
		return Opened{}, err
	}
	out.Last = rowsOf(seen, o.At)
	if out.Trail, err = v.reg.Ledger().Audit(ctx, ledger.AuditQuery{Scope: v.scope, Proposal: id, Newest: true, Limit: TrailSize}); err != nil {
		return Opened{}, unread(err)
	}
	slices.Reverse(out.Trail)
	out.Earlier = len(out.Trail) == TrailSize
	if !g.Operates {
		for i := range out.Trail {
			out.Trail[i].Error = ""
		}
	}
	if out.State == ledger.StateProposed {
		// Whoever does not oversee the scope learns nothing of who else may decide.
		out.Deciders, _ = v.reg.WhoMay(ctx, v.person, v.scope, o.Proposal.Action, authz.ToPerform, o.Proposal.Targets...)
	}
	return out, nil
}

// Approve runs a proposal once. Shown is the hash of the parameters that the person's page showed. What has begun goes on
// when the person closes the page.
func (v *Visit) Approve(ctx context.Context, id string, t token.Token, shown canon.Hash) (registry.Result, error) {
	return v.desk.Approve(context.WithoutCancel(ctx), registry.Redemption{Scope: v.scope, Proposal: id, Operator: v.person, Token: t, Shown: shown})
}

// Dismiss says no to a proposal, with a reason that the requester may read.
func (v *Visit) Dismiss(ctx context.Context, id, reason string) error {
	return v.desk.Dismiss(ctx, v.scope, id, v.person, reason)
}

// Revise replaces the parameters of a proposal by a new proposal.
func (v *Visit) Revise(ctx context.Context, id string, params []byte) (approval.Proposed, error) {
	return v.desk.Revise(ctx, v.scope, id, v.person, params)
}
