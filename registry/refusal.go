package registry

import (
	"errors"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry/internal/params"
)

// Refusal is the one error of registry, approval and chattools for a call that was not carried out, or whose
// run failed. Its text is for operators and logs; a model gets what package chattools makes of it.
type Refusal struct {
	Code     ledger.Code
	Reason   string           // refines Code: a reason of authz, token or canon; may be empty
	Proposal *ledger.Proposal // as it stands, where one is concerned
	Err      error            // the cause; may be nil
}

// Error names code, reason and cause.
func (r *Refusal) Error() string {
	var b strings.Builder
	b.WriteString("registry: ")
	b.WriteString(string(r.Code))
	if r.Reason != "" {
		b.WriteString(" (" + r.Reason + ")")
	}
	if r.Err != nil {
		b.WriteString(": " + r.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// CodeOf returns the code of the Refusal that err is or wraps: [ledger.Done] for nil, [ledger.RunFailed] for
// any other error.
func CodeOf(err error) ledger.Code {
	if err == nil {
		return ledger.Done
	}
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Code
	}
	return ledger.RunFailed
}

// ParamError is a fault in parameters that have a canonical form but do not fit the action: where, and what
// was expected there. It is the cause of a Refusal with the code [ledger.Invalid], as [canon.Error] is for
// parameters without a canonical form.
type ParamError = params.Error

// ErrNoTarget is what a Target returns for a record that does not exist. It is answered exactly as a record
// on which the caller has no rights.
var ErrNoTarget = errors.New("registry: no such target")

// Public marks an error of a run function as fit for a model to read. The text of any other error stays with
// operators and auditors.
func Public(err error) error {
	if err == nil {
		return nil
	}
	return &publicError{err}
}

type publicError struct{ err error }

func (e *publicError) Error() string { return e.err.Error() }
func (e *publicError) Unwrap() error { return e.err }

// PublicText returns the text that [Public] marked as fit for a model, and whether there is one.
func PublicText(err error) (string, bool) {
	if e, ok := errors.AsType[*publicError](err); ok {
		return e.err.Error(), true
	}
	return "", false
}

func denied(code ledger.Code, d authz.Decision) *Refusal {
	return &Refusal{Code: code, Reason: string(d.Reason), Err: decisionError(d)}
}

// decisionError says for operators whose authority refused what.
func decisionError(d authz.Decision) error {
	switch {
	case d.Who == "":
		return nil
	case d.Target.IsZero():
		return errors.New(string(d.Who))
	}
	return errors.New(string(d.Who) + " on " + d.Target.String())
}

// invalid gives the refusal of parameters its reason.
func invalid(err error) *Refusal {
	r := &Refusal{Code: ledger.Invalid, Err: err}
	if e, ok := errors.AsType[*canon.Error](err); ok {
		r.Reason = e.Reason.String()
	}
	return r
}

func badToken(err error) *Refusal {
	r := &Refusal{Code: ledger.BadToken, Err: err}
	if e, ok := errors.AsType[*token.Error](err); ok {
		r.Reason = string(e.Reason)
		if e.Reason == token.ReasonExpired {
			r.Code = ledger.WasExpired
		}
	}
	return r
}

// decided is the refusal of a proposal that was decided before, or false if it can still be.
func decided(p *ledger.Proposal, state ledger.State) (*Refusal, bool) {
	switch state {
	case ledger.StateProposed:
		return nil, false
	case ledger.StateDismissed:
		return &Refusal{Code: ledger.WasDismissed, Proposal: p}, true
	case ledger.StateExpired:
		return &Refusal{Code: ledger.WasExpired, Proposal: p}, true
	}
	return &Refusal{Code: ledger.Spent, Reason: string(state), Proposal: p}, true
}

// Undecidable is the refusal of a decision that the ledger did not apply, from its error and from the
// proposal it returned: the final state, or that nothing was recorded.
func Undecidable(p ledger.Proposal, at time.Time, err error) error {
	if !errors.Is(err, ledger.ErrConflict) {
		return &Refusal{Code: ledger.Unrecorded, Err: err}
	}
	if final, was := decided(&p, p.State(at)); was {
		return final
	}
	return &Refusal{Code: ledger.Tampered, Proposal: &p, Err: errors.New("a decision is on record that the row denies")}
}
