// Package verify finds out, some time after an action ran, whether it helped.
//
// An action may declare a measure: a number and which way is better. The registry reads it after the claim
// and right before the run. [Verifier.RunDue] reads it again once the action's delay has passed (seven days
// by default), compares, and records a verdict on the proposal. Where there is nothing to compare, because
// no measure is defined, because one could not be read, or because the run failed or was interrupted, the
// verdict is [ledger.Unmeasured] with the reason, and never anything else.
//
// Several processes may call RunDue at once: of all verdicts on one proposal the ledger takes one. Call it
// from whatever runs things on time in the host; nothing is lost if it is late.
package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Verifier judges proposals whose time has come. It is safe for concurrent use.
type Verifier struct{ reg *registry.Registry }

// New returns the verifier of a registry's proposals.
func New(reg *registry.Registry) *Verifier { return &Verifier{reg} }

// Summary says what one call of RunDue recorded.
type Summary struct {
	Verdicts map[ledger.Verdict]int
	Lost     int // judged by somebody else in the meantime
}

// RunDue judges up to limit proposals that are due; zero means [ledger.DefaultPage]. It goes on after a
// proposal whose verdict could not be recorded, which stays due, and returns all such errors joined.
func (v *Verifier) RunDue(ctx context.Context, limit int) (Summary, error) {
	s := Summary{Verdicts: map[ledger.Verdict]int{}}
	rows, err := v.reg.Ledger().Due(ctx, v.reg.Now(), limit)
	if err != nil {
		return s, fmt.Errorf("verify: due proposals: %w", err)
	}
	var errs []error
	for i := range rows {
		if err := ctx.Err(); err != nil {
			errs = append(errs, err)
			break
		}
		verdict, err := v.judge(ctx, &rows[i])
		switch {
		case err == nil:
			s.Verdicts[verdict]++
		case errors.Is(err, ledger.ErrConflict):
			s.Lost++
		default:
			errs = append(errs, fmt.Errorf("verify: proposal %s: %w", rows[i].ID, err))
		}
	}
	return s, errors.Join(errs...)
}

// judge measures one proposal and records the verdict.
func (v *Verifier) judge(ctx context.Context, p *ledger.Proposal) (ledger.Verdict, error) {
	measured, verdict, why := v.compare(ctx, p)
	if err := ctx.Err(); err != nil {
		return "", err // a measurement that was cut short says nothing about the action
	}
	now := v.reg.Now()
	return verdict, v.reg.Ledger().Verify(ctx, ledger.Verification{
		Scope: p.Session.Scope(), Proposal: p.ID, At: now, Verdict: verdict, Why: why, Measured: measured,
		Record: ledger.Record{
			At: now, Event: ledger.EventVerified, Code: ledger.Done, Reason: string(verdict), Session: p.Session, Action: p.Action,
			Targets: p.Targets, Params: p.Params, Proposal: p.ID, Claim: p.Claim, Error: why,
		},
	})
}

func (v *Verifier) compare(ctx context.Context, p *ledger.Proposal) (measured *float64, verdict ledger.Verdict, why string) {
	switch {
	case p.Outcome == ledger.Running:
		return nil, ledger.Unmeasured, "the run was interrupted"
	case p.Outcome != ledger.Succeeded:
		return nil, ledger.Unmeasured, "the run failed"
	case p.Unmeasured != "":
		return nil, ledger.Unmeasured, p.Unmeasured
	case p.Baseline == nil:
		return nil, ledger.Unmeasured, "there is no baseline"
	}
	value, measure, err := v.reg.Measure(ctx, p)
	if err != nil {
		return nil, ledger.Unmeasured, "the measure could not be read again: " + err.Error()
	}
	gain := value - *p.Baseline
	if measure.Better == registry.Lower {
		gain = -gain
	}
	switch {
	case gain > measure.Tolerance:
		return &value, ledger.Improved, ""
	case gain < -measure.Tolerance:
		return &value, ledger.Worsened, ""
	}
	return &value, ledger.Unchanged, ""
}
