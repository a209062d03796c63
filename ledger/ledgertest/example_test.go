package ledgertest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

// The answer to a claim is lost. Nobody knows whether it was applied, so nothing runs; the same claim asked
// again gets the answer.
func ExampleFaulty() {
	ctx := context.Background()
	store := ledgertest.NewFaulty(new(ledger.Memory))
	p, err := store.Propose(ctx, ledgertest.NewEntry("shop", 1))
	if err != nil {
		log.Fatal(err)
	}

	store.Inject(ledgertest.Fault{Method: "Claim", Nth: 1, After: true})
	claim := ledgertest.NewClaim(p, "claim-1", ledgertest.At(time.Minute))
	_, err = store.Claim(ctx, claim)
	fmt.Println("first:", err)

	p, err = store.Claim(ctx, claim)
	fmt.Println("again:", p.Decision, "by", p.Claim, err)
	fmt.Println("calls:", store.Calls("Claim"))
	// Output:
	// first: ledgertest: injected fault
	// again: claimed by claim-1 <nil>
	// calls: 2
}

// A run counts as allowed only if its claim was answered. Whichever call fails, the refund is paid at most
// once, and never without a record that was there before.
func ExampleSweep() {
	ctx := context.Background()
	for fault, store := range ledgertest.Sweep(func() ledger.Store { return new(ledger.Memory) }) {
		paid := 0
		refund := func() error {
			p, err := store.Propose(ctx, ledgertest.NewEntry("shop", 1))
			if err != nil {
				return err
			}
			p, err = store.Claim(ctx, ledgertest.NewClaim(p, "claim-1", ledgertest.At(time.Minute)))
			if err != nil {
				return err
			}
			paid++
			return store.Finish(ctx, ledgertest.NewFinish(p, ledgertest.At(time.Minute)))
		}
		err := refund()

		store.Heal()
		started, auditErr := store.Audit(ctx, ledger.AuditQuery{Scope: "shop", Event: ledger.EventStarted})
		if auditErr != nil {
			log.Fatal(auditErr)
		}
		fmt.Printf("%s: paid %d, started %d, failed %v\n", fault, paid, len(started), errors.Is(err, ledgertest.ErrFault))
	}
	// Output:
	// before call 1: paid 0, started 0, failed true
	// after call 1: paid 0, started 0, failed true
	// before call 2: paid 0, started 0, failed true
	// after call 2: paid 0, started 1, failed true
	// before call 3: paid 1, started 1, failed true
	// after call 3: paid 1, started 1, failed true
	// before call 4: paid 1, started 1, failed false
}
