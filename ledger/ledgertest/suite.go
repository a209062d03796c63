package ledgertest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// The scopes of the suite.
const (
	shop  authz.Scope = "shop"
	depot authz.Scope = "depot"
)

// everything is the limit of lists that a clause reads whole.
const everything = 10_000

// suite is one clause at work on one store.
type suite struct {
	tb
	store ledger.Store
}

func entry(n int, changes ...func(*ledger.Proposal)) ledger.Entry {
	return NewEntry(shop, n, changes...)
}

// twin returns the nth entry, which asks for the same as the first one, unless a change says otherwise.
func twin(n int, changes ...func(*ledger.Proposal)) ledger.Entry {
	same := func(p *ledger.Proposal) { p.Params = entry(1).Proposal.Params }
	return entry(n, append([]func(*ledger.Proposal){same}, changes...)...)
}

func session(change func(authz.Session) authz.Session) func(*ledger.Proposal) {
	return func(p *ledger.Proposal) { p.Session = change(p.Session) }
}

func inConversation(id string) func(*ledger.Proposal) {
	return session(func(s authz.Session) authz.Session { return s.WithConversation(id) })
}

func inRun(id string) func(*ledger.Proposal) {
	return session(func(s authz.Session) authz.Session { return s.WithRun(id) })
}

func by(model, principal authz.ID) func(*ledger.Proposal) {
	behalf := authz.Background()
	if principal != "" {
		behalf = authz.For(authz.LoggedIn(principal))
	}
	return func(p *ledger.Proposal) { p.Session = must(authz.NewSession(p.Session.Scope(), model, behalf)) }
}

func params(text string) canon.Object { return must(canon.Stored(text)) }

func (t *suite) propose(e ledger.Entry) ledger.Proposal {
	t.Helper()
	p, err := t.store.Propose(t.Context(), e)
	require.NoError(t, err, "Propose of a proposal that nothing forbids")
	return p
}

// fresh proposes and makes sure that the proposal was inserted.
func (t *suite) fresh(e ledger.Entry, why string) ledger.Proposal {
	t.Helper()
	p := t.propose(e)
	require.Equal(t, e.Proposal.ID, p.ID, "a new proposal must be inserted: %s", why)
	return p
}

func (t *suite) claim(p ledger.Proposal, id string, at time.Time) ledger.Proposal {
	t.Helper()
	p, err := t.store.Claim(t.Context(), NewClaim(p, id, at))
	require.NoError(t, err, "Claim of an open proposal")
	return p
}

func (t *suite) dismiss(p ledger.Proposal, at time.Time) ledger.Proposal {
	t.Helper()
	p, err := t.store.Dismiss(t.Context(), NewDismissal(p, at))
	require.NoError(t, err, "Dismiss of an undecided proposal")
	return p
}

func (t *suite) get(p ledger.Proposal) ledger.Proposal {
	t.Helper()
	p, err := t.store.Proposal(t.Context(), p.Session.Scope(), p.ID)
	require.NoError(t, err, "Proposal of a proposal that was inserted")
	return p
}

func (t *suite) list(q ledger.Query) []ledger.Proposal {
	t.Helper()
	list, err := t.store.Proposals(t.Context(), q)
	require.NoError(t, err, "Proposals")
	return list
}

func (t *suite) audit(q ledger.AuditQuery) []ledger.Record {
	t.Helper()
	list, err := t.store.Audit(t.Context(), q)
	require.NoError(t, err, "Audit")
	return list
}

// events returns what the audit trail has about a proposal, sorted by name.
func (t *suite) events(p ledger.Proposal) []ledger.Event {
	t.Helper()
	var events []ledger.Event
	for _, r := range t.audit(ledger.AuditQuery{Scope: p.Session.Scope(), Proposal: p.ID, Limit: everything}) {
		events = append(events, r.Event)
	}
	slices.Sort(events)
	return events
}

// same compares two proposals; a list without elements is the same as no list.
func (t *suite) same(want, got ledger.Proposal, why string) {
	t.Helper()
	require.Equal(t, flatten(want), flatten(got), why)
}

// flatProposal is a proposal in a form that can be compared and shares nothing with the store.
type flatProposal struct {
	Session authz.StoredSession
	Rest    ledger.Proposal
}

func flatten(p ledger.Proposal) flatProposal {
	s := flattenSession(p.Session)
	p.Session = authz.Session{}
	p.Targets, p.RevisedBy, p.Result = orNil(p.Targets), orNil(p.RevisedBy), orNil(p.Result)
	for _, f := range []**float64{&p.Baseline, &p.Measured} {
		if *f != nil {
			v := **f
			*f = &v
		}
	}
	return flatProposal{s, p}
}

// flatRecord is the same for a record.
type flatRecord struct {
	Session authz.StoredSession
	Rest    ledger.Record
}

func flattenRecord(r ledger.Record) flatRecord {
	s := flattenSession(r.Session)
	r.Session = authz.Session{}
	r.Targets, r.Result = orNil(r.Targets), orNil(r.Result)
	return flatRecord{s, r}
}

func flattenSession(s authz.Session) authz.StoredSession {
	d := s.Stored()
	d.Via, d.Tools = orNil(d.Via), orNil(d.Tools)
	return d
}

// orNil returns a copy of a list, and nil for one without elements.
func orNil[T any](list []T) []T { return append([]T(nil), list...) }

type world struct {
	Proposals []flatProposal
	Records   []flatRecord
}

// world reads all that the store holds in the scopes of the suite.
func (t *suite) world() world {
	t.Helper()
	var w world
	for _, scope := range []authz.Scope{shop, depot} {
		for _, p := range t.list(ledger.Query{Scope: scope, Limit: everything}) {
			w.Proposals = append(w.Proposals, flatten(p))
		}
		for _, r := range t.audit(ledger.AuditQuery{Scope: scope, Limit: everything}) {
			w.Records = append(w.Records, flattenRecord(r))
		}
	}
	return w
}

// refused makes sure that a change fails with the given error and changes nothing.
func (t *suite) refused(target error, why string, change func(context.Context) error) {
	t.Helper()
	before := t.world()
	err := change(t.Context())
	require.ErrorIs(t, err, target, why)
	require.Equal(t, before, t.world(), "a refused change must change nothing, neither a proposal nor the audit trail: %s", why)
}

// conflict makes sure that a change is refused as a conflict, and that the proposal as it stands comes with it.
func (t *suite) conflict(stands ledger.Proposal, why string, change func(context.Context) (ledger.Proposal, error)) {
	t.Helper()
	t.refused(ledger.ErrConflict, why, func(ctx context.Context) error {
		got, err := change(ctx)
		t.same(stands, got, "a conflict must come with the proposal as it stands: "+why)
		return err
	})
}

// race runs do in n goroutines at once.
func race(n int, do func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

func ids(list []ledger.Proposal) []string {
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}
