package verify_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/verify"
)

func faulty(t testing.TB) (*shop, *ledgertest.Faulty) {
	var f *ledgertest.Faulty
	s := open(t, func(s *shop) {
		f = ledgertest.NewFaulty(s.memory)
		s.config.Ledger = f
	})
	return s, f
}

// A run whose end is not on record is interrupted once it cannot be going on any more, and then unmeasured.
func TestInterruptedRun(t *testing.T) {
	s, f := faulty(t)
	f.Inject(ledgertest.Fault{Method: "Finish"})
	id := s.approve()
	f.Heal()
	s.pass(registry.DefaultRunLimit - time.Microsecond)
	s.idle()
	s.pass(time.Microsecond)
	s.judged(id, ledger.Unmeasured, "the run was interrupted")
	s.pass(week)
	s.idle()
}

// A run that ends after it was judged interrupted has its outcome on record. The verdict stands: of two, the
// ledger takes one.
func TestLateFinish(t *testing.T) {
	s := open(t)
	var id string
	s.run = func() error {
		s.pass(registry.DefaultRunLimit)
		rows, err := s.memory.Due(context.Background(), s.reg.Now(), 0)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		id = rows[0].ID
		s.judged(id, ledger.Unmeasured, "the run was interrupted")
		return nil
	}
	require.Equal(t, s.approve(), id)
	row := s.row(id)
	require.Equal(t, ledger.Succeeded, row.Outcome)
	require.Equal(t, ledger.Unmeasured, row.Verdict)
	require.Equal(t, ledger.StateVerified, row.State(s.reg.Now()))
	s.pass(week)
	s.idle()
	require.Len(t, s.verdicts(id), 1)
}

// Several processes verify at once: every proposal gets one verdict, on one record.
func TestVerifiersAtOnce(t *testing.T) {
	s := open(t)
	const proposals, workers = 50, 8
	var ids []string
	for range proposals {
		ids = append(ids, s.approve())
		s.pass(time.Millisecond)
	}
	s.sells(20)
	s.pass(week)
	sums, errs := make([]verify.Summary, workers), make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { sums[i], errs[i] = verify.New(s.reg).RunDue(context.Background(), 0) })
	}
	wg.Wait()
	total := 0
	for i, sum := range sums {
		require.NoError(t, errs[i], "losing is no error")
		total += sum.Verdicts[ledger.Improved]
		require.LessOrEqual(t, len(sum.Verdicts), 1)
	}
	require.Equal(t, proposals, total)
	for _, id := range ids {
		require.Equal(t, ledger.Improved, s.row(id).Verdict)
		require.Len(t, s.verdicts(id), 1)
	}
}

// Of two that judge the same proposal, the second is told that it lost.
func TestLostVerdict(t *testing.T) {
	s := open(t)
	id := s.approve()
	s.pass(week)
	nested := false
	s.measures(func() (float64, error) {
		if !nested {
			nested = true
			s.mu.Unlock()
			defer s.mu.Lock()
			sum, err := verify.New(s.reg).RunDue(context.Background(), 0)
			require.NoError(t, err)
			require.Equal(t, map[ledger.Verdict]int{ledger.Improved: 1}, sum.Verdicts)
			return 0, nil
		}
		return 20, nil
	})
	sum, err := s.verifier.RunDue(context.Background(), 0)
	require.NoError(t, err)
	require.Equal(t, verify.Summary{Verdicts: map[ledger.Verdict]int{}, Lost: 1}, sum)
	require.Equal(t, ledger.Improved, s.row(id).Verdict)
	require.Len(t, s.verdicts(id), 1)
}

// What the store does not take stays due, and keeps nothing else from being judged.
func TestVerdictsThatCannotBeRecorded(t *testing.T) {
	s, f := faulty(t)
	var ids []string
	for range 4 {
		ids = append(ids, s.approve())
		s.pass(time.Second)
	}
	s.pass(week)
	first, third := errors.New("first"), errors.New("third")
	f.Inject(ledgertest.Fault{Method: "Verify", Nth: 1, Err: first}, ledgertest.Fault{Method: "Verify", Nth: 3, Err: third, After: true})
	sum, err := s.verifier.RunDue(context.Background(), 0)
	require.ErrorIs(t, err, first)
	require.ErrorIs(t, err, third)
	require.ErrorContains(t, err, ids[0])
	require.ErrorContains(t, err, ids[2])
	require.Equal(t, map[ledger.Verdict]int{ledger.Unchanged: 2}, sum.Verdicts)
	require.Empty(t, s.row(ids[0]).Verdict)
	f.Heal()
	s.judged(ids[0], ledger.Unchanged, "")
	require.Len(t, s.verdicts(ids[2]), 1)
	s.idle()
}

func TestDueThatCannotBeListed(t *testing.T) {
	s, f := faulty(t)
	id := s.approve()
	s.pass(week)
	f.Inject(ledgertest.Fault{Method: "Due"})
	sum, err := s.verifier.RunDue(context.Background(), 0)
	require.ErrorIs(t, err, ledgertest.ErrFault)
	require.Empty(t, sum.Verdicts)
	f.Heal()
	s.judged(id, ledger.Unchanged, "")
}

// deaf is a store that takes a verdict whether or not its caller is still there.
type deaf struct{ ledger.Store }

func (s deaf) Verify(ctx context.Context, v ledger.Verification) error {
	return s.Store.Verify(context.WithoutCancel(ctx), v)
}

// A measurement that its caller cut short says nothing about the action.
func TestCallerGoesAway(t *testing.T) {
	s := open(t, func(s *shop) { s.config.Ledger = deaf{s.memory} })
	ids := []string{s.approve(), s.approve()}
	s.pass(week)
	ctx, cancel := context.WithCancel(context.Background())
	s.measures(func() (float64, error) { cancel(); return 0, ctx.Err() })
	sum, err := s.verifier.RunDue(ctx, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, sum.Verdicts)
	for _, id := range ids {
		require.Empty(t, s.row(id).Verdict)
		require.Empty(t, s.verdicts(id))
	}
	s.sells(20)
	sum, err = s.verifier.RunDue(context.Background(), 0)
	require.NoError(t, err)
	require.Equal(t, 2, sum.Verdicts[ledger.Improved])
}

func TestLimitOfOneCall(t *testing.T) {
	s := open(t)
	var ids []string
	for range 5 {
		ids = append(ids, s.approve())
		s.pass(time.Second)
	}
	s.pass(week)
	for i, want := range []int{2, 2, 1, 0} {
		sum, err := s.verifier.RunDue(context.Background(), 2)
		require.NoError(t, err)
		require.Equal(t, want, sum.Verdicts[ledger.Unchanged], fmt.Sprint(i))
		require.Equal(t, i == 0, s.row(ids[4]).Verdict == "" && s.row(ids[1]).Verdict != "" && s.row(ids[2]).Verdict == "", "oldest first")
	}
}

// Nothing about measuring fails the action that ran.
func TestTroubleWithMeasuringFailsNoAction(t *testing.T) {
	s := open(t)
	s.measures(func() (float64, error) { panic("no meter") })
	id := s.approve()
	require.Equal(t, ledger.Succeeded, s.row(id).Outcome)
	s.measures(func() (float64, error) { panic("no meter") })
	s.pass(week)
	s.judged(id, ledger.Unmeasured, "no meter")
	require.Equal(t, ledger.Succeeded, s.row(id).Outcome)
}
