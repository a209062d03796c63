package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

// change is one method that changes a proposal.
type change struct {
	name string
	do   func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error)
}

func (t *suite) changes(claim string) []change {
	at := At(time.Minute)
	return []change{
		{"Revise", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Revise(ctx, NewRevision(p, 99, at))
		}},
		{"Claim", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Claim(ctx, NewClaim(p, claim, at))
		}},
		{"Dismiss", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Dismiss(ctx, NewDismissal(p, at))
		}},
		{"Finish", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			f := NewFinish(p, at)
			f.Claim = claim
			return ledger.Proposal{}, t.store.Finish(ctx, f)
		}},
		{"Verify", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return ledger.Proposal{}, t.store.Verify(ctx, NewVerification(p, at))
		}},
	}
}

func obeysContext(t *suite) {
	open := t.fresh(entry(1), "an open one")
	won := t.claim(t.fresh(entry(2), "a claimed one"), "claim-1", At(time.Minute))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	methods := append(t.changes("claim-1"),
		change{"Propose", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return t.store.Propose(ctx, entry(3))
		}},
		change{"Append", func(ctx context.Context, p ledger.Proposal) (ledger.Proposal, error) {
			return ledger.Proposal{}, t.store.Append(ctx, entry(3).Record)
		}})
	before := t.world()
	for _, m := range methods {
		for _, p := range []ledger.Proposal{open, won} {
			_, err := m.do(ctx, p)
			require.Error(t, err, "%s under a context that has ended", m.name)
			require.Equal(t, before, t.world(), "%s under a context that has ended must change nothing", m.name)
		}
	}
	t.claim(open, "claim-2", At(time.Minute)) // nothing was left behind
}
