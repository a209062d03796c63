package ledgertest_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

func TestFaultyWithoutFaultsIsAStore(t *testing.T) {
	ledgertest.TestStore(t, func(*testing.T) ledger.Store { return ledgertest.NewFaulty(new(ledger.Memory)) })
}

// Every method is called through reflection, so that one that a later Store has cannot be forgotten.
func TestFaultyFailsEveryMethod(t *testing.T) {
	iface := reflect.TypeFor[ledger.Store]()
	for i := range iface.NumMethod() {
		method := iface.Method(i)
		t.Run(method.Name, func(t *testing.T) {
			for _, after := range []bool{false, true} {
				boom := errors.New("boom")
				inner := ledgertest.NewFaulty(new(ledger.Memory))
				outer := ledgertest.NewFaulty(inner)
				outer.Inject(ledgertest.Fault{Method: method.Name, Nth: 2, After: after, Err: boom})
				call := func() error {
					args := []reflect.Value{reflect.ValueOf(outer), reflect.ValueOf(context.Background())}
					for in := 1; in < method.Type.NumIn(); in++ {
						args = append(args, reflect.Zero(method.Type.In(in)))
					}
					m, _ := reflect.TypeOf(outer).MethodByName(method.Name)
					out := m.Func.Call(args)
					err, _ := out[len(out)-1].Interface().(error)
					return err
				}
				require.NotErrorIs(t, call(), boom)
				require.False(t, outer.Hit())
				require.Equal(t, boom, call())
				require.True(t, outer.Hit())
				require.NotErrorIs(t, call(), boom)
				require.Equal(t, 3, outer.Calls(method.Name))
				require.Equal(t, 3, outer.Calls(""))
				reached := 2
				if after {
					reached = 3
				}
				require.Equal(t, reached, inner.Calls(method.Name), "a call that fails before must not reach the store")
			}
		})
	}
}

func TestFaultyCountsFromInjection(t *testing.T) {
	ctx := t.Context()
	store := ledgertest.NewFaulty(new(ledger.Memory))
	add := func() error { return store.Append(ctx, ledgertest.NewEntry("shop", 1).Record) }
	require.NoError(t, add())
	store.Inject(ledgertest.Fault{Nth: 2}, ledgertest.Fault{Method: "Due"})
	require.NoError(t, add())
	require.ErrorIs(t, add(), ledgertest.ErrFault)
	require.NoError(t, add())
	for range 2 {
		_, err := store.Due(ctx, time.Time{}, 0)
		require.ErrorIs(t, err, ledgertest.ErrFault, "a fault without a number fails every call")
	}
	store.Heal()
	_, err := store.Due(ctx, time.Time{}, 0)
	require.NoError(t, err)
	require.True(t, store.Hit())
	require.Zero(t, store.Calls("Claim"))
	require.Panics(t, func() { store.Inject(ledgertest.Fault{Method: "Clam"}) }, "a fault that can never be met is a mistake")
}

func TestFaultyFailsOneOfManyAtOnce(t *testing.T) {
	store := ledgertest.NewFaulty(new(ledger.Memory))
	store.Inject(ledgertest.Fault{Nth: 10})
	errs := make([]error, 32)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = store.Append(t.Context(), ledgertest.NewEntry("shop", 1).Record) })
	}
	wg.Wait()
	var failed int
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	require.Equal(t, 1, failed)
	require.Equal(t, len(errs), store.Calls(""))
}

func TestSweepCanBeLeftEarly(t *testing.T) {
	var names []string
	for name, store := range ledgertest.Sweep(func() ledger.Store { return new(ledger.Memory) }) {
		names = append(names, name)
		_, _ = store.Due(t.Context(), time.Time{}, 0)
		if len(names) == 2 {
			break
		}
	}
	require.Equal(t, []string{"before call 1", "after call 1"}, names)
}
