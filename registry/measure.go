package registry

import (
	"context"
	"errors"
	"math"

	"github.com/sallyport-dev/sallyport/ledger"
)

// Measure reads the measure of a proposal's action, for its verification. The seal is checked first. The
// error says why there is no number.
func (r *Registry) Measure(ctx context.Context, p *ledger.Proposal) (float64, *MeasureInfo, error) {
	if err := ledger.CheckSeal(r.keys, p); err != nil {
		return 0, nil, err
	}
	_, a := r.find(p.Action)
	if a == nil || a.measure == nil {
		return 0, nil, errors.New("no measure defined")
	}
	if a.Definition != p.Definition {
		return 0, nil, errors.New("the action's definition changed since")
	}
	params, err := a.decode(p.Params)
	if err != nil {
		return 0, nil, err
	}
	v, err := a.readMeasure(ctx, params)
	info := *a.Measure
	return v, &info, err
}

func (a *Action) readMeasure(ctx context.Context, params any) (float64, error) {
	v, err := guarded(func() (float64, error) { return a.measure(ctx, params) })
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = errors.New("the measure is no finite number")
	}
	if err != nil {
		return 0, &clipped{err}
	}
	return v, nil
}
