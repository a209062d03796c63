package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// attack tries on every write whatever might make it run without, or beside, a person's approval.
type attack struct {
	*store.World
	changed *registry.Registry // the same actions with another revision, on the same ledger
	approve func(context.Context, registry.Redemption) (registry.Result, error)
	order   []string
	results map[string]*result
	faults  []string
}

// result is what became of one kind of attack.
type result struct {
	tries, runs int
	refusals    map[string]int
}

// attackAll replays all tasks, attacks each write before and after its approval, and prints a table of the
// refusals. It fails if anything ran that was not approved, or was refused for a wrong reason.
func attackAll(ctx context.Context, out io.Writer) error {
	a, err := newAttack(ctx)
	if err != nil {
		return err
	}
	tasks, err := workload.Tasks()
	if err != nil {
		return err
	}
	return a.print(ctx, out, tasks)
}

func newAttack(ctx context.Context) (*attack, error) {
	w, err := store.New(ctx, store.InMemory()) // in memory, where rows can be changed behind the ledger's back
	if err != nil {
		return nil, err
	}
	a := &attack{World: w, approve: w.Desk.Approve, results: map[string]*result{}}
	a.changed, err = w.Registry("2")
	return a, err
}

func (a *attack) print(ctx context.Context, out io.Writer, tasks []workload.Task) error {
	r := newReplay(a.World, true)
	r.attack = a
	for _, task := range tasks {
		if err := r.task(ctx, task); err != nil {
			return fmt.Errorf("%s: %w", task.ID, err)
		}
		r.Pass(time.Hour)
	}
	a.report(out, r)
	if n := len(a.faults) + len(r.unexpected); n > 0 {
		return fmt.Errorf("%d attacks or calls did not end as they must", n)
	}
	return nil
}

// try makes one attempt and expects it to be refused with one of the given codes, and to run nothing.
func (a *attack) try(kind string, attempt func() error, want ...ledger.Code) {
	res := a.results[kind]
	if res == nil {
		res = &result{refusals: map[string]int{}}
		a.results[kind] = res
		a.order = append(a.order, kind)
	}
	runs := a.Office.Runs.Load()
	err := attempt()
	ran := int(a.Office.Runs.Load() - runs)
	res.tries++
	res.runs += ran
	refusal, _ := errors.AsType[*registry.Refusal](err)
	if refusal == nil || !slices.Contains(want, refusal.Code) || ran > 0 {
		a.faults = append(a.faults, fmt.Sprintf("%s: %d runs, %v, expected %v", kind, ran, err, want))
		return
	}
	res.refusals[strings.TrimSuffix(string(refusal.Code)+" "+refusal.Reason, " ")]++
}

// redeem is an attempt at a redemption.
func (a *attack) redeem(ctx context.Context, r registry.Redemption) func() error {
	return func() error { _, err := a.approve(ctx, r); return err }
}

// before attacks a write that the model is about to propose, on proposals of its own.
func (a *attack) before(ctx context.Context, s authz.Session, c chattools.Call) error {
	if a.Reg.Mode(c.Name) <= authz.Read {
		return nil
	}
	answer := a.Gate.Call(ctx, s, c)
	if answer.Status != chattools.NeedsApproval {
		return nil // forbidden; the replay looks at that
	}
	good, err := a.Open(ctx, answer.Proposal, store.Sam)
	if err != nil {
		return err
	}
	if err := a.bend(ctx, s, c, good); err != nil {
		return err
	}
	if err := a.withdraw(ctx, good); err != nil {
		return err
	}
	if err := a.move(ctx, s, good); err != nil {
		return err
	}
	a.tamper(ctx, good)

	if err := a.Desk.Dismiss(ctx, store.Scope, good.Proposal, good.Operator, "an attack"); err != nil {
		return err
	}
	a.try("a dismissed proposal", a.redeem(ctx, good), ledger.WasDismissed)
	a.turnBack(ctx, "a dismissed row turned back to proposed", good)

	late, err := a.Open(ctx, a.Gate.Call(ctx, s, c).Proposal, store.Sam)
	if err != nil {
		return err
	}
	a.Pass(registry.DefaultLifetime)
	a.try("an expired token", a.redeem(ctx, late), ledger.WasExpired)
	return nil
}

// after attacks a write that has been approved and run.
func (a *attack) after(ctx context.Context, used registry.Redemption) {
	a.try("the same token again", a.redeem(ctx, used), ledger.Spent)
	a.turnBack(ctx, "an executed row turned back to proposed", used)
}

// bend changes what is presented.
func (a *attack) bend(ctx context.Context, s authz.Session, c chattools.Call, good registry.Redemption) error {
	arguments, err := alter(c)
	if err != nil {
		return err
	}
	params, err := canon.Parse(arguments, canon.Options{})
	if err != nil {
		return err
	}
	bent := good
	bent.Shown = params.Hash()
	a.try("one leaf altered in what was shown", a.redeem(ctx, bent), ledger.BadToken)

	bent = good
	bent.Operator = authz.LoggedIn(store.Sue)
	a.try("another operator's token", a.redeem(ctx, bent), ledger.BadToken)

	c.Arguments = arguments
	sibling, err := a.Open(ctx, a.Gate.Call(ctx, s, c).Proposal, store.Sam)
	if err != nil {
		return err
	}
	bent = good
	bent.Token = sibling.Token
	a.try("another proposal's token", a.redeem(ctx, bent), ledger.BadToken)
	if err := a.Desk.Dismiss(ctx, store.Scope, sibling.Proposal, authz.LoggedIn(store.Sam), "an attack"); err != nil {
		return err
	}

	// The customer gets hold of a token in their own name, as only a bug of the host could give them.
	row, err := a.Book.Proposal(ctx, store.Scope, good.Proposal)
	if err != nil {
		return err
	}
	bent = good
	bent.Operator = s.Human()
	binding, err := registry.Binding(&row, bent.Operator, a.Now())
	if err != nil {
		return err
	}
	if bent.Token, err = a.Keys.Sign(binding); err != nil {
		return err
	}
	a.try("the customer approves their own request", a.redeem(ctx, bent), ledger.Forbidden)
	if o, err := a.Desk.Open(ctx, store.Scope, good.Proposal, s.Human()); err != nil || !o.Token.IsZero() {
		a.faults = append(a.faults, fmt.Sprintf("the customer opens %s: token %t, %v", good.Proposal, !o.Token.IsZero(), err))
	}

	other, err := a.Session(stranger(s), s.Run())
	if err != nil {
		return err
	}
	a.try("another customer as principal", func() error {
		_, err := a.Desk.Propose(ctx, registry.Call{Session: other, Action: row.Action, Params: row.Params.Bytes()})
		return err
	}, ledger.Forbidden)
	return nil
}

// withdraw takes away rights and tools between opening and approving.
func (a *attack) withdraw(ctx context.Context, good registry.Redemption) error {
	row, err := a.Book.Proposal(ctx, store.Scope, good.Proposal)
	if err != nil {
		return err
	}
	for _, w := range []struct {
		kind string
		want ledger.Code
		edit func(*authz.Facts)
	}{
		{"the operator lost the permission", ledger.Forbidden, func(f *authz.Facts) {
			for i := range f.Actors {
				if f.Actors[i].ID == store.Sam {
					f.Actors[i].Roles = nil
				}
			}
		}},
		{"the tool was disabled", ledger.Unavailable, func(f *authz.Facts) { f.Settings.Disabled = []string{row.Action} }},
		{"the ceiling dropped", ledger.Unavailable, func(f *authz.Facts) { f.Settings.Ceiling = authz.Read }},
	} {
		was, err := a.People.Facts(ctx, store.Scope, nil)
		if err != nil {
			return err
		}
		if err := a.People.Edit(ctx, store.Scope, func(f *authz.Facts) error { w.edit(f); return nil }); err != nil {
			return err
		}
		a.try(w.kind, a.redeem(ctx, good), w.want)
		if err := a.People.Edit(ctx, store.Scope, func(f *authz.Facts) error { *f = *was.Clone(); return nil }); err != nil {
			return err
		}
	}
	a.try("the definition changed", func() error { _, err := a.changed.Redeem(ctx, good); return err }, ledger.Stale)
	return nil
}

// move changes the target between opening and approving, and changes it back.
func (a *attack) move(ctx context.Context, s authz.Session, good registry.Redemption) error {
	shop, id := a.Office.Shop.Load(), string(s.Human().ID())
	user, err := shop.GetUserDetails(ctx, backoffice.GetUser{UserID: id})
	if err != nil {
		return err
	}
	moved := user.Address
	moved.Address1 += " (moved)"
	if _, err := shop.ModifyUserAddress(ctx, backoffice.UserAddress{UserID: id, Address: moved}); err != nil {
		return err
	}
	a.try("the target's version changed", a.redeem(ctx, good), ledger.Stale)
	_, err = shop.ModifyUserAddress(ctx, backoffice.UserAddress{UserID: id, Address: user.Address})
	return err
}

// tamper changes each immutable column of the stored row in turn, as somebody with access to the database
// could.
func (a *attack) tamper(ctx context.Context, good registry.Redemption) {
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		bent := good
		var was ledger.Proposal
		_ = a.Memory.Tamper(store.Scope, good.Proposal, func(p *ledger.Proposal) {
			was = *p
			columns[column](p)
			bent.Proposal = p.ID
		})
		a.try("row changed: "+column, a.redeem(ctx, bent), ledger.Tampered)
		_ = a.Memory.Tamper(store.Scope, bent.Proposal, func(p *ledger.Proposal) { *p = was })
	}
}

// turnBack makes a decided row read as if nobody had decided it.
func (a *attack) turnBack(ctx context.Context, kind string, used registry.Redemption) {
	var was ledger.Proposal
	_ = a.Memory.Tamper(store.Scope, used.Proposal, func(p *ledger.Proposal) {
		was = *p
		p.Decision, p.DecidedBy, p.DecidedAt, p.Claim, p.Outcome, p.Note = ledger.Undecided, "", time.Time{}, "", ledger.Running, ""
	})
	a.try(kind, a.redeem(ctx, used), ledger.Tampered, ledger.Stale) // stale where the run changed the target
	_ = a.Memory.Tamper(store.Scope, used.Proposal, func(p *ledger.Proposal) { *p = was })
}

// columns changes each immutable column of a proposal. The scope is not among them: a row of another scope
// is not found at all.
var columns = map[string]func(*ledger.Proposal){
	"id":           func(p *ledger.Proposal) { p.ID = p.ID[:len(p.ID)-1] + flip(p.ID[len(p.ID)-1:]) },
	"actor":        session(func(s *authz.StoredSession) { s.Actor = "assistant-2" }),
	"principal":    session(func(s *authz.StoredSession) { s.Principal = store.Sam }),
	"background":   session(func(s *authz.StoredSession) { s.Principal, s.Background = "", true }),
	"kind":         session(func(s *authz.StoredSession) { s.Kind, s.Principal = authz.Human, "" }),
	"via":          session(func(s *authz.StoredSession) { s.Via = []authz.ID{"assistant-2"} }),
	"allowlist":    session(func(s *authz.StoredSession) { s.Restricted, s.Tools = true, []string{"cancel_pending_order"} }),
	"run":          session(func(s *authz.StoredSession) { s.Run += "x" }),
	"origin":       session(func(s *authz.StoredSession) { s.Origin += "x" }),
	"conversation": session(func(s *authz.StoredSession) { s.Conversation += "x" }),
	"action": func(p *ledger.Proposal) {
		p.Action = "modify_user_address" + map[bool]string{true: "_2"}[p.Action == "modify_user_address"]
	},
	"one parameter":  func(p *ledger.Proposal) { p.Params = altered(p) },
	"targets":        func(p *ledger.Proposal) { p.Targets = []authz.Path{authz.Root()} },
	"definition":     func(p *ledger.Proposal) { p.Definition = flip(p.Definition[:1]) + p.Definition[1:] },
	"target version": func(p *ledger.Proposal) { p.Version = flip(p.Version[:1]) + p.Version[1:] },
	"created at":     func(p *ledger.Proposal) { p.CreatedAt = p.CreatedAt.Add(time.Microsecond) },
	"expires at":     func(p *ledger.Proposal) { p.ExpiresAt = p.ExpiresAt.Add(time.Hour) },
	"supersedes":     func(p *ledger.Proposal) { p.Supersedes = p.ID },
	"revised by":     func(p *ledger.Proposal) { p.RevisedBy = append(slices.Clone(p.RevisedBy), store.Sue) },
	"seal": func(p *ledger.Proposal) {
		p.Seal = p.Seal[:len(p.Seal)-2] + flip(p.Seal[len(p.Seal)-2:len(p.Seal)-1]) + p.Seal[len(p.Seal)-1:]
	},
}

// session changes a row's session through the form in which stores keep it.
func session(edit func(*authz.StoredSession)) func(*ledger.Proposal) {
	return func(p *ledger.Proposal) {
		stored := p.Session.Stored()
		edit(&stored)
		if s, err := stored.Session(); err == nil {
			p.Session = s
		}
	}
}

// flip returns another hexadecimal digit, which is a base64url character too.
func flip(digit string) string {
	if digit == "0" {
		return "1"
	}
	return "0"
}

// altered is the row's parameters with one leaf altered.
func altered(p *ledger.Proposal) canon.Object {
	text, err := alter(chattools.Call{Name: p.Action, Arguments: p.Params.Bytes()})
	if err != nil {
		return canon.Object{}
	}
	o, err := canon.Parse(text, canon.Options{})
	if err != nil {
		return canon.Object{}
	}
	return o
}

// alter changes one leaf of a call's arguments to another value that the shop accepts.
func alter(c chattools.Call) (json.RawMessage, error) {
	var arguments map[string]any
	if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
		return nil, err
	}
	switch {
	case arguments["reason"] == "no longer needed":
		arguments["reason"] = "ordered by mistake"
	case arguments["reason"] != nil:
		arguments["reason"] = "no longer needed"
	case arguments["city"] != nil:
		arguments["city"] = fmt.Sprint(arguments["city"], " Falls")
	default:
		arguments["payment_method_id"] = fmt.Sprint(arguments["payment_method_id"], "0")
	}
	return json.Marshal(arguments)
}

// stranger is a customer who has nothing to do with a session.
func stranger(s authz.Session) string {
	if s.Human().ID() == "james_sanchez_3954" {
		return "harper_moore_6183"
	}
	return "james_sanchez_3954"
}

func (a *attack) report(out io.Writer, r *replay) {
	fmt.Fprintf(out, "%-44s %6s %5s  %s\n", "attack", "tries", "runs", "refused with")
	for _, kind := range a.order {
		res := a.results[kind]
		var refusals []string
		for _, name := range slices.Sorted(maps.Keys(res.refusals)) {
			refusals = append(refusals, fmt.Sprintf("%s (%d)", name, res.refusals[name]))
		}
		fmt.Fprintf(out, "%-44s %6d %5d  %s\n", kind, res.tries, res.runs, strings.Join(refusals, ", "))
	}
	fmt.Fprintf(out, "\napproved runs in between: %d, all compared with the recording\n", r.Office.Runs.Load())
	for _, line := range append(a.faults, r.unexpected...) {
		fmt.Fprintln(out, "  "+line)
	}
}
