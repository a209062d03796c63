package ledgertest

import (
	"fmt"
	"iter"

	"github.com/sallyport-dev/sallyport/ledger"
)

// Sweep lets a scenario, the body of the loop, run with a fault at its first call of the store, then at its
// second and so on, each time once before the call is applied and once after. It ends with the run that does
// not reach its fault any more, in which the store worked throughout. Every run has a store of its own, made
// by open, and a name that says where the fault is:
//
//	for fault, store := range ledgertest.Sweep(open) {
//		t.Run(fault, func(t *testing.T) { … })
//	}
//
// In the body, [Faulty.Hit] tells whether the fault was met, and [Faulty.Heal] ends it, so that the scenario
// can look at what is left.
func Sweep(open func() ledger.Store) iter.Seq2[string, *Faulty] {
	return func(yield func(string, *Faulty) bool) {
		for n := 1; ; n++ {
			for _, after := range []bool{false, true} {
				f := NewFaulty(open())
				f.Inject(Fault{Nth: n, After: after})
				name := fmt.Sprintf("before call %d", n)
				if after {
					name = fmt.Sprintf("after call %d", n)
				}
				if !yield(name, f) || !f.Hit() {
					return
				}
			}
		}
	}
}
