package approval_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// pending lists what a person sees, over all pages.
func (o *office) pending(t *testing.T, person authz.Person) (ids []string, pages int) {
	t.Helper()
	var before ledger.Cursor
	for {
		list, err := o.desk.Pending(t.Context(), scope, person, before)
		require.NoError(t, err)
		require.LessOrEqual(t, len(list), ledger.DefaultPage)
		if len(list) == 0 {
			return ids, pages
		}
		pages++
		for _, p := range list {
			ids = append(ids, p.ID)
		}
		before = list[len(list)-1].Cursor()
	}
}

// Everybody sees the open ones that concern them, newest first, and none that was decided or has expired.
func TestPendingIsWhatConcernsAPerson(t *testing.T) {
	o := openOffice(t, nil)
	expired := o.propose(t, ann, "refund", "a1", 1).Proposal.ID
	o.pass(registry.DefaultLifetime)
	done := o.propose(t, ann, "refund", "a1", 2).Proposal.ID
	require.NoError(t, o.approve(t, done, sam))
	dismissed := o.propose(t, ann, "refund", "a1", 3).Proposal.ID
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, dismissed, sam, "no"))

	o.pass(time.Second)
	hers := o.propose(t, ann, "refund", "a1", 4).Proposal.ID
	o.pass(time.Second)
	his := o.propose(t, bob, "refund", "b1", 5).Proposal.ID
	o.pass(time.Second)
	revised, err := o.revise(t, o.propose(t, authz.Person{}, "refund", "a2", 6).Proposal.ID, sue, "a2", 7)
	require.NoError(t, err)
	background := revised.Proposal.ID

	all := []string{background, his, hers}
	for _, test := range []struct {
		person authz.Person
		want   []string
	}{
		{sam, all}, {sue, all}, {audra, all}, {ann, []string{hers}}, {bob, []string{his}},
		{stan, nil}, {authz.Person{}, nil}, {authz.LoggedIn("assistant"), nil}, {authz.LoggedIn("mallory"), nil},
	} {
		ids, _ := o.pending(t, test.person)
		require.Equal(t, test.want, ids, test.person.ID())
		require.NotContains(t, ids, expired)
	}

	// Who loses every right still sees what they revised, and can do nothing with it.
	o.edit(t, "sue", func(_ *authz.Facts, a *authz.Actor) { a.Roles = nil })
	ids, _ := o.pending(t, sue)
	require.Equal(t, []string{background}, ids)
	requireRefused(t, ledger.Forbidden, o.desk.Dismiss(t.Context(), scope, background, sue, "no"))
	o.edit(t, "sue", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	ids, _ = o.pending(t, sue)
	require.Empty(t, ids)
}

// However many newer proposals a person may not see, they hide none of the older ones, and pages have no gap
// and no repetition.
func TestPendingPages(t *testing.T) {
	o := openOffice(t, func(c *registry.Config) { c.Limits = new(ledger.Limits) })
	var hers []string
	for i := range 700 { // of every seven one is hers, and the newest 350 are all his
		person, order := bob, "b1"
		if i < 350 && i%7 == 0 {
			person, order = ann, "a1"
		}
		p := o.propose(t, person, "refund", order, i+1).Proposal
		if person == ann {
			hers = append([]string{p.ID}, hers...)
		}
		o.pass(time.Millisecond)
	}
	ids, pages := o.pending(t, ann)
	require.Equal(t, hers, ids)
	require.Equal(t, 1, pages)
	ids, pages = o.pending(t, sam)
	require.Len(t, ids, 700)
	require.Equal(t, 7, pages)
	seen := map[string]bool{}
	for _, id := range ids {
		require.False(t, seen[id])
		seen[id] = true
	}
	_, pages = o.pending(t, bob)
	require.Equal(t, 7, pages)
}

// The facts are gone halfway: no list, rather than one that lacks something.
func TestNoPartialPending(t *testing.T) {
	var broken bool
	o := openOffice(t, nil)
	o.rebuild(t, func(c *registry.Config) {
		c.Source = authz.SourceFunc(func(ctx context.Context, s authz.Scope, ids []authz.ID) (*authz.Facts, error) {
			if broken {
				return nil, fmt.Errorf("no database")
			}
			return o.people.Facts(ctx, s, ids)
		})
	})
	o.propose(t, ann, "refund", "a1", 1)
	broken = true
	list, err := o.desk.Pending(t.Context(), scope, sam, ledger.Cursor{})
	requireRefused(t, ledger.RunFailed, err)
	require.Nil(t, list)
}
