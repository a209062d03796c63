package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

// useOf returns a claim by a standing grant that ends an hour after the beginning.
func useOf(p ledger.Proposal, id, grant string, limit int) ledger.Claim {
	c := NewClaim(p, id, At(time.Minute))
	c.Use = &ledger.Use{Grant: grant, Limit: limit, Until: At(time.Hour)}
	c.Record.Grant = grant
	return c
}

func countsUses(t *suite) {
	for n := 1; n <= 2; n++ {
		p := t.fresh(entry(n), "another one")
		got, err := t.store.Claim(t.Context(), useOf(p, fmt.Sprint("claim-", n), "grant-1", 2))
		require.NoError(t, err, "use %d of 2", n)
		require.Equal(t, "grant-1", got.Grant, "the row must name the grant that decided")
	}
	third := t.fresh(entry(3), "the third")
	t.refused(ledger.ErrGrantSpent, "a third use of a grant that has two", t.using(useOf(third, "claim-3", "grant-1", 2)))
	got, err := t.store.Claim(t.Context(), useOf(third, "claim-3", "grant-1", 2))
	require.ErrorIs(t, err, ledger.ErrGrantSpent, "a spent grant stays spent")
	t.same(third, got, "a spent grant must be answered with the proposal, still open")

	t.claim(third, "claim-4", At(time.Minute)) // a person decides instead
	fourth := t.fresh(entry(4), "the fourth")
	_, err = t.store.Claim(t.Context(), useOf(fourth, "claim-5", "grant-2", 1))
	require.NoError(t, err, "another grant has its own uses")
	for n := 5; n < 10; n++ {
		_, err = t.store.Claim(t.Context(), useOf(t.fresh(entry(n), "one of many"), fmt.Sprint("claim-", n, "x"), "grant-3", 0))
		require.NoError(t, err, "a grant without a limit has any number of uses")
	}
	other := t.fresh(NewEntry("elsewhere", 1), "in another scope")
	_, err = t.store.Claim(t.Context(), useOf(other, "claim-6", "grant-1", 2))
	require.NoError(t, err, "a grant of another scope is another grant, whatever its id")
}

func saysUses(t *suite) {
	for n, grant := range []string{"grant-1", "grant-1", "grant-2", "Grant-1"} {
		_, err := t.store.Claim(t.Context(), useOf(t.fresh(entry(n+1), "another one"), fmt.Sprint("claim-", n), grant, 2))
		require.NoError(t, err, "use of %s", grant)
	}
	p := t.fresh(entry(5), "one that waits")
	t.refused(ledger.ErrGrantSpent, "a third use", t.using(useOf(p, "claim-5", "grant-1", 2)))
	t.claim(p, "claim-6", At(time.Minute)) // by a person
	uses := func(grants ...string) map[string]int {
		got, err := t.store.Uses(t.Context(), shop, grants)
		require.NoError(t, err, "Uses")
		return got
	}
	require.Equal(t, map[string]int{"grant-1": 2, "grant-2": 1, "Grant-1": 1}, uses("grant-1", "never used", "grant-2", "Grant-1", "grant-2"), "what is counted")
	require.Equal(t, map[string]int{"grant-2": 1}, uses("grant-2"), "of those asked for")
	require.Empty(t, uses(), "of none")
	got, err := t.store.Uses(t.Context(), depot, []string{"grant-1"})
	require.NoError(t, err, "Uses in another scope")
	require.Empty(t, got, "another scope's grant is another one")
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprint("unknown-", i)
	}
	require.Equal(t, map[string]int{"grant-1": 2}, uses(append(many, "grant-1")...), "among many")
}

func usesUntil(t *suite) {
	p := t.fresh(entry(1), "the first")
	late := useOf(p, "claim-1", "grant-1", 1)
	for _, until := range []time.Time{late.At, late.At.Add(-time.Microsecond), {}} {
		late.Use.Until = until
		t.refused(ledger.ErrGrantSpent, "use of a grant that has ended", t.using(late))
	}
	late.Use.Until = late.At.Add(time.Microsecond)
	_, err := t.store.Claim(t.Context(), late)
	require.NoError(t, err, "a microsecond before it ends a grant can be used")
}

func countsUsesInRace(t *suite) {
	const n, limit = 24, 3
	var rows []ledger.Proposal
	for i := range n {
		rows = append(rows, t.fresh(entry(i+1), "one of many"))
	}
	errs := make([]error, n)
	race(n, func(i int) {
		_, errs[i] = t.store.Claim(t.Context(), useOf(rows[i], fmt.Sprint("claim-", i), "grant-1", limit))
	})
	applied := 0
	for _, err := range errs {
		if err == nil {
			applied++
		} else {
			require.ErrorIs(t, err, ledger.ErrGrantSpent, "who comes too late must be told that the grant is spent")
		}
	}
	require.Equal(t, limit, applied, "of %d claims that race for a grant of %d uses", n, limit)
	claimed := 0
	for _, p := range t.list(ledger.Query{Scope: shop, Limit: everything}) {
		if p.Decision == ledger.Claimed {
			claimed++
		}
	}
	require.Equal(t, limit, claimed, "as many rows must be claimed as claims were applied")
}

func countsAppliedOnly(t *suite) {
	won := t.claim(t.fresh(entry(1), "the first"), "claim-1", At(time.Minute))
	t.conflict(won, "use of a grant on a claimed proposal", t.claiming(useOf(won, "claim-2", "grant-1", 1)))
	c := useOf(t.fresh(entry(2), "the second"), "claim-3", "grant-1", 1)
	_, err := t.store.Claim(t.Context(), c)
	require.NoError(t, err, "a claim that was not applied must not have used the grant")
	_, err = t.store.Claim(t.Context(), c)
	require.NoError(t, err, "the claim that was applied is answered as applied, and uses nothing more")
	_, err = t.store.Claim(t.Context(), useOf(t.fresh(entry(3), "the third"), "claim-4", "grant-1", 1))
	require.True(t, errors.Is(err, ledger.ErrGrantSpent), "the one use is gone: %v", err)
}

// using is a claim as a change that may be refused.
func (t *suite) using(c ledger.Claim) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := t.store.Claim(ctx, c)
		return err
	}
}
