package ledgertest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

func limited(l ledger.Limits, e ledger.Entry) ledger.Entry {
	e.Limits = l
	return e
}

// limited makes sure that an entry is refused by the limit of the given kind.
func (t *suite) limited(of string, e ledger.Entry, why string) {
	t.Helper()
	t.refused(ledger.ErrLimit, why, func(ctx context.Context) error {
		_, err := t.store.Propose(ctx, e)
		t.limitError(err, of, why)
		return err
	})
}

func (t *suite) limitError(err error, of, why string) {
	t.Helper()
	var limit *ledger.LimitError
	require.True(t, errors.As(err, &limit), "a limit must be answered by a LimitError: %s, got %v", why, err)
	require.Equal(t, of, limit.Of, "the LimitError must say which limit it was: %s", why)
	require.Positive(t, limit.Limit, "the LimitError must say what the limit is: %s", why)
}

func limitsSession(t *suite) {
	l := ledger.Limits{Session: 2}
	t.fresh(limited(l, entry(1, inConversation("a"))), "one of two")
	t.fresh(limited(l, entry(2, inConversation("a"), inRun("r"))), "two of two")
	t.limited("session", limited(l, entry(3, inConversation("a"), inRun("s"))), "the conversation has two, whatever the run")
	t.fresh(limited(l, entry(3, inConversation("b"))), "another conversation has room")
	t.fresh(limited(l, entry(4, by("helper", "olga"), inConversation("a"))), "another model has room")
	t.fresh(limited(l, entry(5, by("assistant", "otto"), inConversation("a"))), "another principal has room")
	t.fresh(limited(l, NewEntry(depot, 1, inConversation("a"))), "another scope has room")
	t.fresh(entry(6, inConversation("a")), "a limit of zero is no limit")

	t.fresh(limited(l, entry(11, inRun("a"))), "a run is not a conversation of the same name")
	t.fresh(limited(l, entry(12, inRun("a"))), "two of two")
	t.limited("session", limited(l, entry(13, inRun("a"))), "without a conversation the run counts")
	t.fresh(limited(l, entry(13, inRun("b"))), "another run has room")
}

func limitsPrincipal(t *suite) {
	l := ledger.Limits{Principal: 2}
	t.fresh(limited(l, entry(1, inConversation("a"))), "one of two")
	t.fresh(limited(l, entry(2, by("helper", "olga"))), "two of two")
	t.limited("principal", limited(l, entry(3, inConversation("c"))), "the principal has two, whatever the model and conversation")
	t.fresh(limited(l, entry(4, by("assistant", "otto"))), "another principal has room")
	t.fresh(limited(l, entry(5, by("assistant", ""))), "the same model in the background has room")
	t.fresh(limited(l, NewEntry(depot, 1)), "the same principal in another scope has room")
}

func limitsBackground(t *suite) {
	l := ledger.Limits{Principal: 2}
	t.fresh(limited(l, entry(1, by("assistant", ""), inConversation("a"))), "one of two")
	t.fresh(limited(l, entry(2, by("assistant", ""))), "two of two")
	t.limited("principal", limited(l, entry(3, by("assistant", ""))), "the background model has two")
	t.fresh(limited(l, entry(4, by("helper", ""))), "another background model has room")
	t.fresh(limited(l, entry(5, by("assistant", "olga"))), "the same model for a person has room")
}

func limitsScope(t *suite) {
	l := ledger.Limits{Scope: 2}
	first := t.fresh(limited(l, entry(1)), "one of two")
	t.fresh(limited(l, entry(2, by("helper", "otto"))), "two of two")
	t.limited("scope", limited(l, entry(3, by("third", ""))), "the scope has two, whoever asks")
	t.same(first, t.propose(limited(l, twin(4))), "a proposal that is open already needs no room")
	t.fresh(limited(l, NewEntry(depot, 1)), "another scope has room")
}

func limitsOpenOnly(t *suite) {
	l := ledger.Limits{Session: 1, Principal: 1, Scope: 1}
	at := func(created time.Time) func(*ledger.Proposal) {
		return func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = created, created.Truncate(time.Second).Add(Life) }
	}
	first := t.fresh(limited(l, entry(1)), "the first")
	e := limited(l, entry(2, at(first.ExpiresAt.Add(-time.Microsecond))))
	t.refused(ledger.ErrLimit, "a microsecond before its expiry the first counts", func(ctx context.Context) error {
		_, err := t.store.Propose(ctx, e)
		return err
	})
	second := t.fresh(limited(l, entry(2, at(first.ExpiresAt))), "at the instant of its expiry the first does not count")
	t.dismiss(second, second.CreatedAt)
	third := t.fresh(limited(l, entry(3, at(first.ExpiresAt))), "a dismissed one does not count")
	t.claim(third, "claim-1", third.CreatedAt)
	t.fresh(limited(l, entry(4, at(first.ExpiresAt))), "a claimed one does not count")
}

func limitsInRace(t *suite) {
	const n, room = 24, 5
	for _, c := range []struct {
		of     string
		limits ledger.Limits
		scope  authz.Scope
	}{
		{"session", ledger.Limits{Session: room}, shop},
		{"scope", ledger.Limits{Scope: room}, depot},
	} {
		var mu sync.Mutex
		var applied int
		var refused []error
		race(n, func(i int) {
			_, err := t.store.Propose(t.Context(), limited(c.limits, NewEntry(c.scope, i+1)))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				applied++
			} else {
				refused = append(refused, err)
			}
		})
		require.Equal(t, room, applied, "proposals that race must fill the limit of the %s exactly", c.of)
		for _, err := range refused {
			t.limitError(err, c.of, "proposals that race")
		}
		require.Len(t, t.list(ledger.Query{Scope: c.scope}), room, "refused proposals must not be inserted")
		require.Len(t, t.audit(ledger.AuditQuery{Scope: c.scope}), room, "refused proposals must have no record")
	}
}
