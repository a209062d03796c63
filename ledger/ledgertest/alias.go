package ledgertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

func aliasesNothingIn(t *suite) {
	measured := []float64{1, 2}
	e := full(1)
	p := t.propose(e)
	scribble(&e.Proposal)
	scribbleRecord(&e.Record)

	c := NewClaim(p, "claim-1", At(time.Minute))
	_, err := t.store.Claim(t.Context(), c)
	require.NoError(t, err, "Claim")
	scribbleRecord(&c.Record)
	p = t.get(p)
	f := NewFinish(p, At(time.Minute))
	f.Baseline = &measured[0]
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	v := NewVerification(p, At(time.Minute))
	v.Measured = &measured[1]
	require.NoError(t, t.store.Verify(t.Context(), v), "Verify")
	a := full(2).Record
	a.Result = []byte(`{"a":1}`)
	require.NoError(t, t.store.Append(t.Context(), a), "Append")
	before := t.world()
	copy(f.Result, "XXXX")
	scribbleRecord(&f.Record)
	scribbleRecord(&v.Record)
	scribbleRecord(&a)
	measured[0], measured[1] = -1, -1
	require.Equal(t, before, t.world(), "a store must not keep the slices and pointers that it is given")
	want, got := full(1).Proposal, t.get(p)
	require.Equal(t, want.Targets, got.Targets, "Propose must not keep the slices that it is given")
	require.Equal(t, want.RevisedBy, got.RevisedBy, "Propose must not keep the slices that it is given")
}

func aliasesNothingOut(t *suite) {
	// Each round takes everything that comes out of the store, scribbles on it and looks whether it stayed outside.
	p := t.propose(full(1))
	scribble(&p)
	again := t.propose(full(1))
	t.same(full(1).Proposal, again, "what Propose returns must be the caller's own")
	scribble(&again)
	p = full(1).Proposal
	read := func() {
		t.Helper()
		before := t.world()
		got := t.get(p)
		scribble(&got)
		for _, got := range t.list(ledger.Query{Scope: shop}) {
			scribble(&got)
		}
		due, err := t.store.Due(t.Context(), At(time.Hour), 0)
		require.NoError(t, err, "Due")
		for _, got := range due {
			scribble(&got)
		}
		for _, r := range t.audit(ledger.AuditQuery{Scope: shop}) {
			scribbleRecord(&r)
		}
		require.Equal(t, before, t.world(), "what a store returns must be the caller's own")
	}
	read()
	changed := func(why string, change func(context.Context) (ledger.Proposal, error)) {
		t.Helper()
		got, _ := change(t.Context())
		require.NotEmpty(t, got.Targets, "%s must return the proposal", why)
		before := t.world()
		scribble(&got)
		require.Equal(t, before, t.world(), "what %s returns must be the caller's own", why)
	}
	claim := func(ctx context.Context) (ledger.Proposal, error) {
		return t.store.Claim(ctx, NewClaim(p, "claim-1", At(time.Minute)))
	}
	changed("Claim", claim)
	changed("Claim again", claim)
	f := NewFinish(t.get(p), At(time.Minute))
	one := 1.0
	f.Baseline, f.VerifyAt = &one, At(time.Minute)
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	read()
	require.NoError(t, t.store.Verify(t.Context(), NewVerification(p, At(time.Minute))), "Verify")
	read()
	changed("a refused Dismiss", func(ctx context.Context) (ledger.Proposal, error) {
		return t.store.Dismiss(ctx, NewDismissal(p, At(time.Minute)))
	})
	old := t.propose(full(2))
	changed("Revise", func(ctx context.Context) (ledger.Proposal, error) {
		return t.store.Revise(ctx, NewRevision(old, 3, At(time.Minute)))
	})
	changed("a refused Revise", func(ctx context.Context) (ledger.Proposal, error) {
		return t.store.Revise(ctx, NewRevision(old, 4, At(time.Minute)))
	})
	changed("Dismiss", func(ctx context.Context) (ledger.Proposal, error) {
		return t.store.Dismiss(ctx, NewDismissal(NewRevision(old, 3, At(time.Minute)).Entry.Proposal, At(time.Minute)))
	})
}

// scribble overwrites what a proposal shares with its copies.
func scribble(p *ledger.Proposal) {
	for i := range p.Targets {
		p.Targets[i] = authz.MustPath("/scribbled")
	}
	for i := range p.RevisedBy {
		p.RevisedBy[i] = "scribbled"
	}
	for i := range p.Result {
		p.Result[i] = 'X'
	}
	for _, f := range []*float64{p.Baseline, p.Measured} {
		if f != nil {
			*f = -99
		}
	}
}

func scribbleRecord(r *ledger.Record) {
	for i := range r.Targets {
		r.Targets[i] = authz.MustPath("/scribbled")
	}
	for i := range r.Result {
		r.Result[i] = 'X'
	}
}
