package ledgertest

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// recorder stands in for a *testing.T and keeps what a clause complains about.
type recorder struct {
	ctx      context.Context
	failures []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) FailNow()                 { runtime.Goexit() }
func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }

// broken is a Memory of which some methods are replaced.
type broken struct {
	*ledger.Memory
	propose   func(context.Context, ledger.Entry) (ledger.Proposal, error)
	revise    func(context.Context, ledger.Revision) (ledger.Proposal, error)
	proposal  func(ledger.Proposal) ledger.Proposal // what becomes of a row that is read
	claim     func(context.Context, ledger.Claim) (ledger.Proposal, error)
	finish    func(context.Context, ledger.Finish) error
	dismiss   func(context.Context, ledger.Dismissal) (ledger.Proposal, error)
	verify    func(context.Context, ledger.Verification) error
	append    func(context.Context, ledger.Record) error
	proposals func(context.Context, ledger.Query) ([]ledger.Proposal, error)
	due       func(context.Context, time.Time, int) ([]ledger.Proposal, error)
	audit     func(context.Context, ledger.AuditQuery) ([]ledger.Record, error)
	tally     func(context.Context, ledger.TallyQuery) ([]ledger.Tally, error)
	purge     func(context.Context, ledger.Purge) (ledger.Purged, error)
	uses      func(context.Context, authz.Scope, []string) (map[string]int, error)
	joining   joining
}

func or[In, Out any](replaced, sound func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	if replaced != nil {
		return replaced
	}
	return sound
}

func orPlain[In any](replaced, sound func(context.Context, In) error) func(context.Context, In) error {
	if replaced != nil {
		return replaced
	}
	return sound
}

func (b *broken) Propose(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
	return or(b.propose, b.Memory.Propose)(ctx, e)
}

func (b *broken) Revise(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
	return or(b.revise, b.Memory.Revise)(ctx, r)
}

func (b *broken) Claim(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
	return or(b.claim, b.Memory.Claim)(ctx, c)
}

func (b *broken) Dismiss(ctx context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
	return or(b.dismiss, b.Memory.Dismiss)(ctx, d)
}

func (b *broken) Proposals(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
	return or(b.proposals, b.Memory.Proposals)(ctx, q)
}

func (b *broken) Audit(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
	return or(b.audit, b.Memory.Audit)(ctx, q)
}

func (b *broken) Tally(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
	return or(b.tally, b.Memory.Tally)(ctx, q)
}

func (b *broken) Uses(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
	if b.uses != nil {
		return b.uses(ctx, scope, grants)
	}
	return b.Memory.Uses(ctx, scope, grants)
}

func (b *broken) Purge(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
	return or(b.purge, b.Memory.Purge)(ctx, p)
}

func (b *broken) Finish(ctx context.Context, f ledger.Finish) error {
	return orPlain(b.finish, b.Memory.Finish)(ctx, f)
}

func (b *broken) Verify(ctx context.Context, v ledger.Verification) error {
	return orPlain(b.verify, b.Memory.Verify)(ctx, v)
}

func (b *broken) Append(ctx context.Context, r ledger.Record) error {
	return orPlain(b.append, b.Memory.Append)(ctx, r)
}

func (b *broken) Proposal(ctx context.Context, scope authz.Scope, id string) (ledger.Proposal, error) {
	p, err := b.Memory.Proposal(ctx, scope, id)
	if b.proposal != nil && err == nil {
		p = b.proposal(p)
	}
	return p, err
}

func (b *broken) Due(ctx context.Context, now time.Time, limit int) ([]ledger.Proposal, error) {
	if b.due != nil {
		return b.due(ctx, now, limit)
	}
	return b.Memory.Due(ctx, now, limit)
}

// failures returns what a clause has against a store.
func failures(ctx context.Context, c clause, store ledger.Store) []string {
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.check(&suite{tb: r, store: store})
	}()
	<-done
	return r.failures
}

// TestSuiteCatchesBrokenStores runs clauses against stores that break them. Every clause must have failed for
// one store at least: a clause that nothing can break says nothing.
func TestSuiteCatchesBrokenStores(t *testing.T) {
	byName := map[string]clause{}
	for _, c := range clauses {
		require.NotContains(t, byName, c.name, "names of clauses are unique")
		byName[c.name] = c
		require.Empty(t, failures(t.Context(), c, &broken{Memory: new(ledger.Memory)}), "a sound store passes")
	}
	caught := map[string]bool{}
	for _, list := range [][]flaw{decisionFlaws, useFlaws, keepingFlaws, listFlaws, searchFlaws, purgeFlaws, unitFlaws} {
		for _, f := range list {
			t.Run(f.name, func(t *testing.T) {
				for _, name := range f.breaks {
					require.Contains(t, byName, name)
					b := &broken{Memory: new(ledger.Memory)}
					f.make(b, b.Memory)
					require.NotEmpty(t, failures(t.Context(), byName[name], b), "the clause %q passes", name)
					caught[name] = true
				}
			})
		}
	}
	for _, c := range clauses {
		require.True(t, caught[c.name], "no broken store shows that the clause %q can fail", c.name)
	}
}

// flaw is a way to be broken, and the clauses that have to notice.
type flaw struct {
	name   string
	breaks []string
	make   func(*broken, *ledger.Memory)
}

// pause lets the other goroutines of a race arrive at the same place.
func pause() { time.Sleep(2 * time.Millisecond) }

// force writes a row without asking whether it may be written.
func force(m *ledger.Memory, scope authz.Scope, id string, r ledger.Record, change func(*ledger.Proposal)) (ledger.Proposal, error) {
	if err := m.Tamper(scope, id, change); err != nil {
		return ledger.Proposal{}, err
	}
	if err := m.Append(context.Background(), r); err != nil {
		return ledger.Proposal{}, err
	}
	return m.Proposal(context.Background(), scope, id)
}
