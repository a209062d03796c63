package ledgertest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// ErrFault is what a call answers that a [Fault] without an error of its own fails.
var ErrFault = errors.New("ledgertest: injected fault")

// Fault says which call fails, and how.
type Fault struct {
	Method string // a method of ledger.Store; "" is any
	Nth    int    // which of those calls, from 1, counted since the fault was injected; 0 is every one
	After  bool   // the call is applied and its answer lost; otherwise it does not reach the store
	Err    error  // nil means ErrFault
}

// Faulty is a [ledger.Store] that passes every call on to another one, except where a fault was injected. The
// error of a fault tells the caller nothing about whether the call was applied, unless it is one of the
// contract's own. It is safe for concurrent use.
type Faulty struct {
	store  ledger.Store
	mu     sync.Mutex
	calls  map[string]int
	faults []*armed
	hit    bool
}

type armed struct {
	Fault
	seen int
}

// NewFaulty returns a Faulty over store, without faults.
func NewFaulty(store ledger.Store) *Faulty { return &Faulty{store: store, calls: map[string]int{}} }

// Inject adds faults to those that were injected before; the earliest that applies to a call fails it. It
// panics if a fault names a method that [ledger.Store] does not have, since that fault would never be seen.
func (f *Faulty) Inject(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range faults {
		if _, ok := reflect.TypeFor[ledger.Store]().MethodByName(fault.Method); !ok && fault.Method != "" {
			panic("ledgertest: ledger.Store has no method " + fault.Method)
		}
		f.faults = append(f.faults, &armed{Fault: fault})
	}
}

// Heal removes all faults. What was counted stays.
func (f *Faulty) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Calls returns how often a method was called, or with "" how often any was, failed calls included.
func (f *Faulty) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// Hit reports whether a fault has failed a call.
func (f *Faulty) Hit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

// next counts a call and returns the fault that fails it, if any.
func (f *Faulty) next(method string) *armed {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	f.calls[""]++
	var found *armed
	for _, a := range f.faults {
		if a.Method != "" && a.Method != method {
			continue
		}
		a.seen++
		if found == nil && (a.Nth == 0 || a.Nth == a.seen) {
			found, f.hit = a, true
		}
	}
	return found
}

func call[T any](f *Faulty, method string, apply func() (T, error)) (T, error) {
	fault := f.next(method)
	if fault == nil {
		return apply()
	}
	if fault.After {
		_, _ = apply() // nobody hears the answer
	}
	var nothing T
	return nothing, cmp.Or(fault.Err, ErrFault)
}

func run(f *Faulty, method string, apply func() error) error {
	_, err := call(f, method, func() (struct{}, error) { return struct{}{}, apply() })
	return err
}

// Propose implements [ledger.Store].
func (f *Faulty) Propose(ctx context.Context, e ledger.Entry) (ledger.Proposal, error) {
	return call(f, "Propose", func() (ledger.Proposal, error) { return f.store.Propose(ctx, e) })
}

// Revise implements [ledger.Store].
func (f *Faulty) Revise(ctx context.Context, r ledger.Revision) (ledger.Proposal, error) {
	return call(f, "Revise", func() (ledger.Proposal, error) { return f.store.Revise(ctx, r) })
}

// Proposal implements [ledger.Store].
func (f *Faulty) Proposal(ctx context.Context, scope authz.Scope, id string) (ledger.Proposal, error) {
	return call(f, "Proposal", func() (ledger.Proposal, error) { return f.store.Proposal(ctx, scope, id) })
}

// Claim implements [ledger.Store].
func (f *Faulty) Claim(ctx context.Context, c ledger.Claim) (ledger.Proposal, error) {
	return call(f, "Claim", func() (ledger.Proposal, error) { return f.store.Claim(ctx, c) })
}

// Finish implements [ledger.Store].
func (f *Faulty) Finish(ctx context.Context, finish ledger.Finish) error {
	return run(f, "Finish", func() error { return f.store.Finish(ctx, finish) })
}

// Dismiss implements [ledger.Store].
func (f *Faulty) Dismiss(ctx context.Context, d ledger.Dismissal) (ledger.Proposal, error) {
	return call(f, "Dismiss", func() (ledger.Proposal, error) { return f.store.Dismiss(ctx, d) })
}

// Verify implements [ledger.Store].
func (f *Faulty) Verify(ctx context.Context, v ledger.Verification) error {
	return run(f, "Verify", func() error { return f.store.Verify(ctx, v) })
}

// Append implements [ledger.Store].
func (f *Faulty) Append(ctx context.Context, r ledger.Record) error {
	return run(f, "Append", func() error { return f.store.Append(ctx, r) })
}

// Proposals implements [ledger.Store].
func (f *Faulty) Proposals(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
	return call(f, "Proposals", func() ([]ledger.Proposal, error) { return f.store.Proposals(ctx, q) })
}

// Due implements [ledger.Store].
func (f *Faulty) Due(ctx context.Context, now time.Time, limit int) ([]ledger.Proposal, error) {
	return call(f, "Due", func() ([]ledger.Proposal, error) { return f.store.Due(ctx, now, limit) })
}

// Audit implements [ledger.Store].
func (f *Faulty) Audit(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
	return call(f, "Audit", func() ([]ledger.Record, error) { return f.store.Audit(ctx, q) })
}

// Tally implements [ledger.Store].
func (f *Faulty) Tally(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
	return call(f, "Tally", func() ([]ledger.Tally, error) { return f.store.Tally(ctx, q) })
}

// Uses implements [ledger.Store].
func (f *Faulty) Uses(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
	return call(f, "Uses", func() (map[string]int, error) { return f.store.Uses(ctx, scope, grants) })
}

// Purge implements [ledger.Store].
func (f *Faulty) Purge(ctx context.Context, p ledger.Purge) (ledger.Purged, error) {
	return call(f, "Purge", func() (ledger.Purged, error) { return f.store.Purge(ctx, p) })
}

var _ ledger.Store = (*Faulty)(nil)
