package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Invoke runs what a session may do by itself: a person's call, or a model's read. A model's change is
// refused with [ledger.NeedsApproval], whoever asks. The error is a [*Refusal]; every refusal and every run
// is recorded. Inside a run function the call must be its caller's own: a zero Session stands for it.
func (r *Registry) Invoke(ctx context.Context, c Call) (Result, error) {
	q := &request{session: c.Session, name: c.Action, input: c.Params, at: r.Now()}
	if c.Session.Kind() == authz.Model {
		q.question = authz.ToAsk
	}
	err := r.admit(ctx, q)
	if err == nil && q.action.Mode != authz.Read && q.session.Kind() != authz.Human {
		err = &Refusal{Code: ledger.NeedsApproval}
	}
	if err != nil {
		return Result{}, r.refuse(ctx, q, err)
	}
	if q.action.Mode == authz.Read {
		return r.read(ctx, q)
	}
	return r.change(ctx, q)
}

// read runs a read and records it afterwards; what could not be recorded is not returned.
func (r *Registry) read(ctx context.Context, q *request) (Result, error) {
	var c Current
	if q.session.Kind() == authz.Human {
		c.Operator = q.session.Actor()
	}
	settle := func(out outcome) error {
		if !r.reads {
			return nil
		}
		rec := q.record(ledger.EventRead, ledger.Done)
		if out.err != nil {
			rec.Code, rec.Error = ledger.RunFailed, clip(out.err.Error())
		}
		return r.book.Append(context.WithoutCancel(ctx), rec)
	}
	done := false
	defer settleExit(&done, settle)
	out := r.run(ctx, q, c)
	done = true
	if out.err == nil {
		out.err = out.unencodable
	}
	if err := settle(out); err != nil {
		return Result{}, &Refusal{Code: ledger.Unrecorded, Err: err}
	}
	if out.err != nil {
		return Result{}, &Refusal{Code: ledger.RunFailed, Err: out.err}
	}
	return out.Result, nil
}

// change runs a person's own change between its two records.
func (r *Registry) change(ctx context.Context, q *request) (res Result, err error) {
	id, err := r.NewID(q.at)
	if err != nil {
		return Result{}, &Refusal{Code: ledger.Unrecorded, Err: err}
	}
	rec := q.record(ledger.EventStarted, ledger.Done)
	rec.Operator, rec.Claim = q.session.Actor(), id
	if err := r.book.Append(ctx, rec); err != nil {
		return Result{}, &Refusal{Code: ledger.Unrecorded, Err: err}
	}
	settle := func(out outcome, unit ledger.Unit) error {
		out.describe(&rec)
		rec.At = r.Now()
		return unit.Append(context.WithoutCancel(ctx), rec)
	}
	return r.settled(ctx, q, Current{Operator: q.session.Actor(), Claim: id}, settle)
}

// plain is the unit of work of a run that shares no transaction with the ledger: the store itself.
type plain struct{ ledger.Store }

func (plain) Undo() {}

// unit returns a unit of work for a run and the context of its function.
func (r *Registry) unit(ctx context.Context) (context.Context, ledger.Unit) {
	if t, ok := r.book.(ledger.Transactor); ok {
		return t.Unit(ctx)
	}
	return ctx, plain{r.book}
}

// settleExit records the end of a run that ended its goroutine before it was done. Call it deferred.
func settleExit(done *bool, settle func(outcome) error) {
	if !*done {
		_ = settle(outcome{err: errors.New("the run ended its goroutine")})
	}
}

// settled runs a change whose start is on record and records how it ended, also if the run ends its
// goroutine. What a run wrote in the ledger's transaction is kept only together with the record of its success.
func (r *Registry) settled(ctx context.Context, q *request, c Current, settle func(outcome, ledger.Unit) error) (Result, error) {
	done, book := false, plain{r.book}
	joined, unit := r.unit(ctx)
	defer settleExit(&done, func(out outcome) error {
		unit.Undo()
		return settle(out, book)
	})
	out := r.run(joined, q, c)
	done = true
	var err error
	if out.err == nil {
		err = settle(out, unit)
	} else {
		unit.Undo()
		err = settle(out, book)
	}
	if c.Proposal != "" && errors.Is(err, ledger.ErrUncommitted) {
		out, err = uncommitted(out, err, settle, book)
	}
	if err != nil {
		return Result{}, &Refusal{Code: ledger.Interrupted, Proposal: q.row, Err: errors.Join(out.err, err)}
	}
	if out.err != nil {
		return Result{}, &Refusal{Code: ledger.RunFailed, Proposal: q.row, Err: out.err}
	}
	r.announce(q, c)
	return out.Result, nil
}

// uncommitted finds out whether a run's transaction whose commit failed is kept: only one outcome of a claim is
// ever recorded, so a failure can be recorded if and only if the success was not.
func uncommitted(out outcome, failed error, settle func(outcome, ledger.Unit) error, book ledger.Unit) (outcome, error) {
	undone := outcome{err: fmt.Errorf("what the run wrote was not committed: %w", failed)}
	switch err := settle(undone, book); {
	case err == nil:
		return undone, nil
	case errors.Is(err, ledger.ErrConflict):
		return out, nil
	default:
		return out, errors.Join(failed, err)
	}
}

// outcome is how a run ended.
type outcome struct {
	Result
	err         error
	unencodable error // it succeeded, but what it returned has no JSON form
}

// describe completes the finished record.
func (o *outcome) describe(rec *ledger.Record) {
	rec.Event, rec.Code, rec.Result = ledger.EventFinished, ledger.Done, o.JSON
	if o.unencodable != nil {
		rec.Error = clip(o.unencodable.Error())
	}
	if o.err != nil {
		rec.Code, rec.Error = ledger.RunFailed, clip(o.err.Error())
	}
}

// run calls the run function, with parameters decoded afresh, under the limit on runs. A panic is an error.
func (r *Registry) run(ctx context.Context, q *request, c Current) (out outcome) {
	c.Session, c.Action, c.At = q.session, q.action.Name, q.at
	ctx, cancel := context.WithTimeout(ctx, r.runLimit)
	defer cancel()
	ctx = context.WithValue(ctx, frameKey{}, &frame{current: c, view: q.view, mode: q.action.Mode})
	defer func() {
		if p := recover(); p != nil {
			out = outcome{err: fmt.Errorf("panic: %v", p)}
			r.log.ErrorContext(ctx, "a run function panicked", "action", q.action.Name, "stack", string(debug.Stack()))
		}
	}()
	value, err := q.action.again(q.params)
	if err == nil {
		value, err = q.action.run(ctx, value)
	}
	if err != nil {
		return outcome{err: err}
	}
	out.Value = value
	out.JSON, out.unencodable = encode(value)
	return out
}

// encode returns the JSON form of a result. One that encodes itself badly, or panics, has none: that does not
// undo the run.
func encode(value any) ([]byte, error) {
	raw, ok := value.(json.RawMessage)
	switch {
	case !ok:
	case len(raw) == 0:
		return []byte("null"), nil
	case jsontext.Value(raw).IsValid():
		return raw, nil
	default:
		return nil, errors.New("the result has no JSON form: it is raw text that is no JSON")
	}
	text, err := guarded(func() ([]byte, error) { return jsonv2.Marshal(value, jsonv2.Deterministic(true)) })
	if err != nil {
		return nil, fmt.Errorf("the result has no JSON form: %w", err)
	}
	return text, nil
}

// record starts a record about the request.
func (q *request) record(event ledger.Event, code ledger.Code) ledger.Record {
	rec := ledger.Record{
		At: q.at, Event: event, Code: code, Session: q.session, Action: clipName(q.name), Targets: q.targets, Params: q.params,
	}
	if !q.asked {
		rec.Operator = q.person.ID()
	}
	if q.row != nil {
		rec.Proposal = q.row.ID
	}
	if q.grant != nil {
		rec.Grant = q.grant.ID
	}
	return rec
}

// refuse records a refusal and gives it its type. A proposal that was decided in the meantime is refused with
// what it became, and for no other reason.
func (r *Registry) refuse(ctx context.Context, q *request, err error) error {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		refusal = &Refusal{Code: ledger.RunFailed, Err: err}
	}
	calm := context.WithoutCancel(ctx)
	if (q.redemption != nil || q.standing) && refusal.Proposal == nil {
		row, err := r.book.Proposal(calm, q.session.Scope(), q.row.ID)
		if err == nil {
			if final, was := decided(&row, row.State(q.at)); was {
				refusal = final
			} else {
				refusal.Proposal = &row
			}
		}
	}
	rec := q.record(ledger.EventRefused, refusal.Code)
	rec.Reason = refusal.Reason
	if refusal.Err != nil {
		rec.Error = clip(refusal.Err.Error())
	}
	if rec.Count = r.flood.count(&rec, q.row != nil || r.Mode(q.name) != 0); rec.Count == 0 {
		return refusal
	}
	if err := r.book.Append(calm, rec); err != nil {
		r.log.ErrorContext(ctx, "a refusal could not be recorded", "code", refusal.Code, "error", err)
	}
	return refusal
}

const (
	maxErrorText = 4096
	maxNameText  = 128
)

// clip bounds an error's text; a mark says that it was cut.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxErrorText {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:maxErrorText], ""), len(s))
}

// clipped is a host's error whose text goes on record.
type clipped struct{ err error }

func (e *clipped) Error() string { return clip(e.err.Error()) }
func (e *clipped) Unwrap() error { return e.err }

// clipName bounds a name that a model made up.
func clipName(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxNameText {
		return s
	}
	return strings.ToValidUTF8(s[:maxNameText], "") + "…"
}
