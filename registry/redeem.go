package registry

import (
	"context"
	"errors"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Redeem runs what a proposal recorded, once, on the approval of an operator. Checks come in this order: the
// operator is an active human; the row is what was sealed and is undecided; the action exists; it is still
// available to the session that proposed it, with the definition, the targets and the version that were
// proposed; the token is the operator's for exactly this proposal; model and principal may still ask; the
// operator may perform it; the claim. After the claim, availability and rights are read once more: if they
// changed, the proposal is spent and does not run.
//
// The error is a [*Refusal]. If the proposal was decided before, or while this call was under way, the
// refusal is what it became and carries it: of any number of callers one runs it, and all others get its
// final state. For an operator who may not see the proposal and holds no token for it, it does not exist.
// Redeem refuses to be called by a run function.
func (r *Registry) Redeem(ctx context.Context, d Redemption) (Result, error) {
	q, err := r.fetch(ctx, d.Scope, d.Proposal, d.Operator)
	if err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	sees, _, err := r.stake(ctx, q.row, d.Operator)
	if err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	if !sees {
		// Whoever holds a token of their own has seen the proposal, also once that has ended.
		if err := r.verify(q, d.Token, q.row.ExpiresAt.Add(-time.Second)); err != nil {
			return Result{}, r.hide(ctx, q, err)
		}
	}
	q.redemption = &d
	if err := r.approvable(ctx, q); err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	claim, err := r.claim(ctx, q)
	if err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	return r.redeemed(ctx, q, claim)
}

// fetch loads a proposal for a person who is logged in, known, human and active; for anybody else it makes no
// difference whether there is such a proposal. The request is never nil.
func (r *Registry) fetch(ctx context.Context, scope authz.Scope, id string, person authz.Person) (*request, error) {
	q, err := r.load(ctx, scope, id, person)
	if frameOf(ctx) != nil {
		return q, err
	}
	view, noView := r.policy.View(ctx, scope, person.ID())
	if noView != nil {
		return q, r.noFacts(noView)
	}
	if d := view.Human(person); !d.Allowed {
		return q, denied(ledger.Forbidden, d)
	}
	return q, err
}

// load reads a proposal, and believes it only after its seal. The request is never nil.
func (r *Registry) load(ctx context.Context, scope authz.Scope, id string, person authz.Person) (*request, error) {
	q := &request{person: person, question: authz.ToAsk, at: r.Now()}
	q.session, _ = authz.NewPersonSession(scope, person) // for the record, until the row says whose it was
	if f := frameOf(ctx); f != nil {
		q.session = f.current.Session
		return q, &Refusal{Code: ledger.Forbidden, Reason: string(authz.ReasonInsideRun)}
	}
	row, err := r.book.Proposal(ctx, scope, id)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return q, &Refusal{Code: ledger.Unknown, Reason: "unknown_proposal"}
	case errors.Is(err, ledger.ErrTampered):
		return q, &Refusal{Code: ledger.Tampered, Err: err} // not even a row any more
	case err != nil:
		return q, &Refusal{Code: ledger.RunFailed, Reason: "ledger", Err: err}
	}
	q.row = &row
	if err := ledger.CheckSeal(r.keys, &row); err != nil || row.Session.Scope() != scope || row.ID != id {
		return q, &Refusal{Code: ledger.Tampered, Err: err} // without the row: nothing in it can be believed
	}
	q.session, q.name = row.Session, row.Action
	return q, nil
}

// approvable goes through every check short of the claim.
func (r *Registry) approvable(ctx context.Context, q *request) error {
	if final, was := decided(q.row, q.row.State(q.at)); was {
		return final
	}
	return r.permitted(ctx, q)
}

// permitted goes through the checks that hold before and after the claim.
func (r *Registry) permitted(ctx context.Context, q *request) error {
	if err := r.admit(ctx, q); err != nil {
		return err
	}
	if d := q.mayDecide(); !d.Allowed {
		return denied(ledger.Forbidden, d)
	}
	if q.grant != nil {
		if err := r.stands(q); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return &Refusal{Code: ledger.RunFailed, Reason: "cancelled", Err: err} // a caller who has gone claims nothing
	}
	return nil
}

// claim takes the proposal, with its started record.
func (r *Registry) claim(ctx context.Context, q *request) (string, error) {
	id, err := r.NewID(q.at)
	if err != nil {
		return "", &Refusal{Code: ledger.Unrecorded, Err: err}
	}
	rec := q.record(ledger.EventStarted, ledger.Done)
	rec.Claim = id
	c := ledger.Claim{
		Scope: q.session.Scope(), Proposal: q.row.ID, ID: id, By: q.person.ID(), At: q.at,
		RunBy: q.at.Add(r.runLimit), Record: rec,
	}
	if g := q.grant; g != nil {
		c.Use = &ledger.Use{Grant: g.ID, Limit: g.Uses, Until: g.Until}
	}
	row, err := r.book.Claim(ctx, c)
	if errors.Is(err, ledger.ErrGrantSpent) {
		return "", waits(authz.ReasonGrantSpent)
	}
	if err != nil {
		return "", Undecidable(row, q.at, err)
	}
	q.row = &row
	return id, nil
}

// redeemed runs a claimed proposal and records how it ended.
func (r *Registry) redeemed(ctx context.Context, q *request, claim string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, r.runLimit)
	defer cancel()
	calm := context.WithoutCancel(ctx)
	limited, stop := context.WithTimeout(calm, r.runLimit)
	defer stop()
	f := ledger.Finish{Scope: q.session.Scope(), Proposal: q.row.ID, Claim: claim}
	settle := func(out outcome, unit ledger.Unit) error {
		f.At, f.Outcome, f.Result = r.Now(), ledger.Succeeded, out.JSON
		f.Record = q.record(ledger.EventFinished, ledger.Done)
		f.Record.At, f.Record.Claim = f.At, claim
		out.describe(&f.Record)
		f.Error = f.Record.Error
		f.Told, _ = PublicText(out.err)
		f.VerifyAt = f.At
		switch {
		case out.err != nil:
			f.Outcome, f.Unmeasured = ledger.Failed, "the run failed"
		case f.Unmeasured == "":
			f.VerifyAt = f.At.Add(q.action.Measure.After)
		}
		return unit.Finish(calm, f)
	}
	before := func(out outcome) error { return settle(out, plain{r.book}) }
	checked := false
	defer settleExit(&checked, before) // a host's look-ups may end the goroutine as well
	again := &request{
		session: q.session, name: q.name, question: q.question, person: q.person, at: q.at,
		row: q.row, grant: q.grant, params: q.params, proved: true,
	}
	if err := r.permitted(limited, again); err != nil {
		checked = true
		err := errors.Join(err, before(outcome{err: err}))
		refusal, _ := errors.AsType[*Refusal](err)
		return Result{}, &Refusal{Code: refusal.Code, Reason: refusal.Reason, Proposal: q.row, Err: err}
	}
	f.Baseline, f.Unmeasured = r.baseline(limited, again)
	checked = true
	res, err := r.settled(ctx, again, Current{Operator: q.person.ID(), Proposal: q.row.ID, Claim: claim}, settle)
	res.Proposal = q.row.ID
	return res, err
}

// baseline measures before the run, or says why it could not.
func (r *Registry) baseline(ctx context.Context, q *request) (value *float64, why string) {
	if q.action.measure == nil {
		return nil, "no measure defined"
	}
	v, err := q.action.readMeasure(ctx, q.value)
	if err != nil {
		return nil, "the baseline could not be measured: " + err.Error()
	}
	return &v, ""
}
