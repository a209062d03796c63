package ledgertest

import (
	"context"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// useFlaws are stores that count the uses of standing grants wrongly.
var useFlaws = []flaw{
	{"uses are not counted", []string{"the uses of a standing grant are counted", "the uses of a standing grant are exact in a race"},
		func(b *broken, m *ledger.Memory) {
			b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
				return m.Claim(ctx, unlimited(c))
			}
		}},
	{"one use less is told", []string{"Uses says what is counted"}, func(b *broken, m *ledger.Memory) {
		b.uses = func(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
			uses, err := m.Uses(ctx, scope, grants)
			for g := range uses {
				uses[g]--
			}
			return uses, err
		}
	}},
	{"uses of every scope are told", []string{"Uses says what is counted"}, func(b *broken, m *ledger.Memory) {
		b.uses = func(ctx context.Context, _ authz.Scope, grants []string) (map[string]int, error) {
			return m.Uses(ctx, shop, grants)
		}
	}},
	{"unused grants are told", []string{"Uses says what is counted"}, func(b *broken, m *ledger.Memory) {
		b.uses = func(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
			uses, err := m.Uses(ctx, scope, grants)
			for _, g := range grants {
				uses[g] += 0
			}
			return uses, err
		}
	}},
	{"a grant never ends", []string{"a standing grant ends at its instant"}, func(b *broken, m *ledger.Memory) {
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			if c.Use != nil {
				use := *c.Use
				use.Until = c.At.Add(time.Hour)
				c.Use = &use
			}
			return m.Claim(ctx, c)
		}
	}},
	{"uses are checked and then counted", []string{"the uses of a standing grant are exact in a race"}, func(b *broken, m *ledger.Memory) {
		var n counter
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			if c.Use == nil {
				return m.Claim(ctx, c)
			}
			if c.Use.Limit > 0 && n.get(c.Use.Grant) >= c.Use.Limit {
				p, _ := m.Proposal(ctx, c.Scope, c.Proposal)
				return p, ledger.ErrGrantSpent
			}
			pause()
			p, err := m.Claim(ctx, unlimited(c))
			if err == nil {
				n.add(c.Use.Grant)
			}
			return p, err
		}
	}},
	{"a claim that is lost uses the grant", []string{"a claim that is not applied uses nothing"}, func(b *broken, m *ledger.Memory) {
		var n counter
		b.claim = func(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
			if c.Use == nil {
				return m.Claim(ctx, c)
			}
			if n.add(c.Use.Grant) > c.Use.Limit && c.Use.Limit > 0 {
				p, _ := m.Proposal(ctx, c.Scope, c.Proposal)
				return p, ledger.ErrGrantSpent
			}
			return m.Claim(ctx, unlimited(c))
		}
	}},
}

func unlimited(c ledger.Claim) ledger.Claim {
	if c.Use != nil {
		use := *c.Use
		use.Limit = 0
		c.Use = &use
	}
	return c
}

type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) get(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[id]
}

func (c *counter) add(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[id]++
	return c.n[id]
}
