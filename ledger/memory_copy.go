package ledger

import "slices"

// fresh returns a copy with only the immutable fields set.
func (p *Proposal) fresh() *Proposal {
	return &Proposal{
		ID: p.ID, Session: p.Session, Action: p.Action, Params: p.Params, Targets: slices.Clone(p.Targets),
		Definition: p.Definition, Version: p.Version, CreatedAt: Time(p.CreatedAt), ExpiresAt: Time(p.ExpiresAt),
		Supersedes: p.Supersedes, RevisedBy: slices.Clone(p.RevisedBy), Seal: p.Seal,
	}
}

func (p *Proposal) clone() Proposal {
	if p == nil {
		return Proposal{}
	}
	c := *p
	c.Targets, c.RevisedBy, c.Result = slices.Clone(p.Targets), slices.Clone(p.RevisedBy), slices.Clone(p.Result)
	c.Baseline, c.Measured = clonePtr(p.Baseline), clonePtr(p.Measured)
	return c
}

func (r *Record) clone() Record {
	c := *r
	c.Targets, c.Result = slices.Clone(r.Targets), slices.Clone(r.Result)
	return c
}

func clonePtr(f *float64) *float64 {
	if f == nil {
		return nil
	}
	v := *f
	return &v
}
