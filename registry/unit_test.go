package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// joint is a store whose runs share a transaction that does not commit as it should.
type joint struct {
	ledger.Store
	applied bool // the commit is kept, though it was not answered
	undone  int
}

type jointKey struct{}

func (j *joint) Unit(ctx context.Context) (context.Context, ledger.Unit) {
	return context.WithValue(ctx, jointKey{}, true), jointUnit{j}
}

type jointUnit struct{ *joint }

func (j jointUnit) Finish(ctx context.Context, f ledger.Finish) error {
	if j.applied {
		if err := j.Store.Finish(ctx, f); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: no answer", ledger.ErrUncommitted)
}

func (j jointUnit) Undo() { j.undone++ }

// TestUncommitted: after a commit that nobody answered, what is told is what happened.
func TestUncommitted(t *testing.T) {
	for _, applied := range []bool{false, true} {
		j := &joint{applied: applied}
		var f *ledgertest.Faulty
		s := open(t, func(_ *shop, p *plan) {
			p.store = func(real ledger.Store) ledger.Store {
				f = ledgertest.NewFaulty(real)
				j.Store = f
				return j
			}
		})
		s.run = func(ctx context.Context, _ Refund) (any, error) {
			require.Equal(t, true, ctx.Value(jointKey{}), "the run's context is the unit's")
			s.effects.Add(1)
			return "refunded", nil
		}
		d := s.opened(sam)
		res, err := s.desk.Approve(t.Context(), d)
		if applied {
			require.NoError(t, err)
			require.Equal(t, "refunded", res.Value)
			require.Equal(t, ledger.Succeeded, s.row(d.Proposal).Outcome)
		} else {
			require.ErrorIs(t, refusal(t, err, ledger.RunFailed, ""), ledger.ErrUncommitted)
			require.Equal(t, ledger.Failed, s.row(d.Proposal).Outcome)
		}
		require.EqualValues(t, 1, s.effects.Load(), "nothing runs again")
		require.Len(t, s.trail(ledger.AuditQuery{Proposal: d.Proposal, Event: ledger.EventFinished}), 1)
	}
}

// TestUncommittedAndUnknown: nobody can say what became of it.
func TestUncommittedAndUnknown(t *testing.T) {
	j := new(joint)
	s := open(t, func(_ *shop, p *plan) {
		p.store = func(real ledger.Store) ledger.Store {
			f := ledgertest.NewFaulty(real)
			f.Inject(ledgertest.Fault{Method: "Finish"})
			j.Store = f
			return j
		}
	})
	d := s.opened(sam)
	_, err := s.desk.Approve(t.Context(), d)
	require.ErrorIs(t, refusal(t, err, ledger.Interrupted, ""), ledger.ErrUncommitted)
	require.ErrorIs(t, err, ledgertest.ErrFault)
	require.Equal(t, ledger.Running, s.row(d.Proposal).Outcome)
}

// TestUndone: a run that fails has its transaction rolled back before its failure is recorded.
func TestUndone(t *testing.T) {
	j := new(joint)
	s := open(t, func(_ *shop, p *plan) {
		p.store = func(real ledger.Store) ledger.Store { j.Store = real; return j }
	})
	for i, run := range []func() (any, error){
		func() (any, error) { return nil, errors.New("no") },
		func() (any, error) { panic("no") },
	} {
		s.run = func(context.Context, Refund) (any, error) { return run() }
		d := s.opened(sam)
		_, err := s.desk.Approve(t.Context(), d)
		require.Equal(t, ledger.RunFailed, registry.CodeOf(err))
		require.Equal(t, i+1, j.undone)
		require.Equal(t, ledger.Failed, s.row(d.Proposal).Outcome, "recorded by the store itself")
	}
}
