package chattools_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// flood makes n calls at once and counts how they were answered, and the proposals.
func flood(t *testing.T, s *shop, n int, call func(i int) (authz.Session, string)) (map[chattools.Status]int, map[string]bool) {
	t.Helper()
	const workers = 64
	var mu sync.Mutex
	statuses, proposals := map[chattools.Status]int{}, map[string]bool{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				session, arguments := call(i)
				a := s.gate.Call(t.Context(), session, chattools.Call{Name: "refund_order", Arguments: []byte(arguments)})
				mu.Lock()
				statuses[a.Status]++
				if a.Proposal != "" {
					proposals[a.Proposal] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return statuses, proposals
}

func cents(order string, n int) string { return fmt.Sprintf(`{"order":%q,"cents":%d}`, order, n) }

// Ten thousand different proposals of one conversation at once: exactly as many are taken as the session's
// limit says, the rest is told so, and nobody else is touched.
func TestTenThousandAtOnceAgainstTheSessionLimit(t *testing.T) {
	s := openShop(t, func(c *registry.Config) { c.Limits = &ledger.Limits{Session: 7, Principal: 20, Scope: 50} })
	session := sessionOf(t, "assistant", ann).WithConversation("one")
	statuses, proposals := flood(t, s, 10000, func(i int) (authz.Session, string) { return session, cents("a1", i+1) })
	require.Equal(t, map[chattools.Status]int{chattools.NeedsApproval: 7, chattools.Limited: 9993}, statuses)
	require.Len(t, proposals, 7)
	require.Equal(t, chattools.NeedsApproval, s.call(t, session.WithConversation("two"), "refund_order", cents("a1", 10001)).Status)
	require.Equal(t, chattools.NeedsApproval, s.call(t, sessionOf(t, "assistant", bob), "refund_order", cents("b1", 1)).Status)
	require.Zero(t, s.runs.Load())

	limited, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Event: ledger.EventRefused, Limit: 10000})
	require.NoError(t, err)
	require.Less(t, len(limited), 20, "equal refusals are counted, not repeated")
	total := 0
	for _, r := range limited {
		total += max(r.Count, 1)
	}
	require.Equal(t, 8192, total, "the last power of two below 9993")
}

// A model that opens one conversation after the other meets the principal's limit, and many principals meet
// the scope's.
func TestPrincipalAndScopeLimits(t *testing.T) {
	s := openShop(t, func(c *registry.Config) { c.Limits = &ledger.Limits{Session: 7, Principal: 20, Scope: 50} })
	of := func(person authz.Person, i int) authz.Session {
		return sessionOf(t, []authz.ID{"assistant", "second"}[i%2], person).WithConversation(fmt.Sprint(i % 100))
	}
	statuses, _ := flood(t, s, 3000, func(i int) (authz.Session, string) { return of(ann, i), cents("a1", i+1) })
	require.Equal(t, 20, statuses[chattools.NeedsApproval])
	require.Equal(t, 2980, statuses[chattools.Limited])

	statuses, _ = flood(t, s, 3000, func(i int) (authz.Session, string) { return of(bob, i), cents("b1", i+1) })
	require.Equal(t, 20, statuses[chattools.NeedsApproval], "another principal has all of their own")

	statuses, _ = flood(t, s, 3000, func(i int) (authz.Session, string) { return of(olga, i), cents("a1", i+1) })
	require.Equal(t, 10, statuses[chattools.NeedsApproval], "what the scope had left")
	require.Equal(t, chattools.Limited, s.call(t, sessionOf(t, "assistant", authz.Person{}), "refund_order", cents("a1", 1)).Status)
}

// Ten thousand times the same is one proposal, however it is spelled and from whichever conversation.
func TestTenThousandOfTheSameAreOne(t *testing.T) {
	s := openShop(t, func(c *registry.Config) { c.Limits = &ledger.Limits{Session: 1} })
	statuses, proposals := flood(t, s, 10000, func(i int) (authz.Session, string) {
		arguments := []string{`{"order":"a1","cents":5}`, "{ \"cents\": 5,\n\"order\": \"\\u00611\" }", `{"cents":5.0,"order":"a1"}`}[i%3]
		return sessionOf(t, "assistant", ann).WithConversation(fmt.Sprint(i % 10)), arguments
	})
	require.Equal(t, map[chattools.Status]int{chattools.NeedsApproval: 10000}, statuses)
	require.Len(t, proposals, 1)
	records, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Event: ledger.EventProposed})
	require.NoError(t, err)
	require.Len(t, records, 1)
}

// What was decided or has expired takes no place.
func TestDecidedAndExpiredFreeThePlace(t *testing.T) {
	s := openShop(t, func(c *registry.Config) { c.Limits = &ledger.Limits{Session: 1} })
	session := sessionOf(t, "assistant", ann)
	propose := func(n int) chattools.Answer { return s.call(t, session, "refund_order", cents("a1", n)) }

	dismissed := propose(1)
	require.Equal(t, chattools.Limited, propose(2).Status)
	require.NoError(t, s.desk.Dismiss(t.Context(), scope, dismissed.Proposal, ann, "no"))

	approved := propose(2)
	require.Equal(t, chattools.NeedsApproval, approved.Status)
	require.Equal(t, chattools.Limited, propose(3).Status)
	require.NoError(t, s.approve(t, approved.Proposal))

	expired := propose(3)
	require.Equal(t, chattools.NeedsApproval, expired.Status)
	s.pass(registry.DefaultLifetime - time.Microsecond)
	require.Equal(t, chattools.Limited, propose(4).Status)
	s.pass(time.Microsecond)
	require.Equal(t, chattools.NeedsApproval, propose(4).Status)

	again := propose(4)
	require.Equal(t, chattools.NeedsApproval, again.Status, "the same is no further one")
}
