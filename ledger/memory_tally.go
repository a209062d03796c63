package ledger

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Tally implements [Store].
func (m *Memory) Tally(_ context.Context, q TallyQuery) ([]Tally, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.Window <= 0 {
		q.Window = DefaultWindow
	}
	tallies := map[string]*Tally{}
	for _, p := range m.newest(q.Scope) {
		if !within(p.CreatedAt, q.Since, q.Until) {
			continue
		}
		if q.Window == 0 {
			break
		}
		q.Window--
		t := tallies[p.Action]
		if t == nil {
			t = &Tally{Action: p.Action}
			tallies[p.Action] = t
		}
		t.count(p, q.At)
	}
	var list []Tally
	for _, t := range tallies {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b Tally) int { return strings.Compare(a.Action, b.Action) })
	return list, nil
}

func (t *Tally) count(p *Proposal, at time.Time) {
	add := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	state, claimed := p.State(at), p.Decision == Claimed
	add(&t.Proposed, state == StateProposed)
	add(&t.Expired, state == StateExpired)
	add(&t.Dismissed, state == StateDismissed)
	add(&t.Executed, state == StateExecuted || state == StateVerified)
	add(&t.Interrupted, state == StateInterrupted)
	add(&t.Revisions, p.Supersedes != "")
	add(&t.Succeeded, claimed && p.Outcome == Succeeded)
	add(&t.Failed, claimed && p.Outcome == Failed)
	add(&t.Improved, claimed && p.Verdict == Improved)
	add(&t.Unchanged, claimed && p.Verdict == Unchanged)
	add(&t.Worsened, claimed && p.Verdict == Worsened)
	add(&t.Unmeasured, claimed && p.Verdict == Unmeasured)
	add(&t.Standing, claimed && p.Grant != "")
	if (claimed || p.Decision == Dismissed) && p.Grant == "" {
		waited, i := p.DecidedAt.Sub(p.CreatedAt), 0
		for i < len(WaitedBelow) && waited >= WaitedBelow[i] {
			i++
		}
		t.Waited[i]++
	}
}
