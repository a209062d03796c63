package bfcl

import (
	"context"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/ledger"
)

// Replay plays every task, one after another, in a session of its own.
func Replay(ctx context.Context, data *Data) (*Report, error) {
	g, err := newGate(data)
	if err != nil {
		return nil, err
	}
	return g.replay(ctx)
}

func (g *gate) replay(ctx context.Context) (*Report, error) {
	for _, task := range g.data.Tasks {
		c, err := g.begin(ctx, task)
		if err != nil {
			return nil, fmt.Errorf("bfcl: %s: %w", task.ID, err)
		}
		if err := c.play(ctx); err != nil {
			return nil, fmt.Errorf("bfcl: %s: %w", task.ID, err)
		}
		g.report.Tasks++
		g.now = g.now.Add(time.Hour)
	}
	g.report.Runs = g.runs
	return &g.report, g.settle(ctx)
}

// settle holds the ledger against what was played.
func (g *gate) settle(ctx context.Context) error {
	for q := (ledger.Query{Scope: scope, At: g.now, Limit: 1000}); ; {
		page, err := g.book.Proposals(ctx, q)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			p := &page[i]
			if state := p.State(g.now); state != ledger.StateExecuted || p.Outcome == ledger.Running || p.DecidedBy != operator {
				g.differ("proposal %s of %s is %s by %q, outcome %q", p.ID, p.Action, state, p.DecidedBy, p.Outcome)
				continue
			}
			g.report.Executed++
		}
		q.Before = page[len(page)-1].Cursor()
	}
}
