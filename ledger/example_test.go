package ledger_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// A model asks for a refund. Sam and Eve click at the same time: one claim wins, and only the winner runs.
func Example() {
	ctx := context.Background()
	nine := time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return nine.Add(time.Duration(minutes) * time.Minute) }
	store := new(ledger.Memory)

	// The assistant proposes on Olga's behalf. Nothing happens to the order yet.
	session, err := authz.NewSession("shop", "assistant", authz.For(authz.LoggedIn("olga")))
	if err != nil {
		log.Fatal(err)
	}
	params, err := canon.Parse([]byte(`{"order": "W42", "cents": 1200}`), canon.Options{})
	if err != nil {
		log.Fatal(err)
	}
	id, err := ledger.NewID(at(0), bytes.NewReader([]byte("not random"))) // rand.Reader, elsewhere
	if err != nil {
		log.Fatal(err)
	}
	record := ledger.Record{At: at(0), Event: ledger.EventProposed, Session: session, Action: "refund_order", Proposal: id}
	p, err := store.Propose(ctx, ledger.Entry{
		Proposal: ledger.Proposal{
			ID: id, Session: session, Action: "refund_order", Params: params, CreatedAt: at(0), ExpiresAt: at(5),
		},
		Limits: ledger.Limits{Session: 10},
		Record: record,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Session, "asks:", p.Action, p.Params)
	fmt.Println("at 9:04 it is", p.State(at(4)), "and at 9:05", p.State(at(5)))

	// Two people claim it. The claim and its started record are written in one step, before anything runs.
	for _, who := range []authz.ID{"sam", "eve"} {
		started := record
		started.At, started.Event, started.Operator = at(1), ledger.EventStarted, who
		p, err = store.Claim(ctx, ledger.Claim{
			Scope: "shop", Proposal: id, ID: "click of " + string(who), By: who, At: at(1), RunBy: at(2), Record: started,
		})
		switch {
		case errors.Is(err, ledger.ErrConflict):
			fmt.Printf("%s is too late: %s by %s\n", who, p.Decision, p.DecidedBy)
		case err != nil:
			log.Fatal(err) // nobody knows whether it was applied, so nothing runs
		default:
			fmt.Printf("%s pays the refund\n", who)
		}
	}
	fmt.Println("at 9:01 it is", p.State(at(1)), "and, if nobody says how it went, at 9:02", p.State(at(2)))

	// The winner says how it went.
	finished := record
	finished.At, finished.Event = at(1), ledger.EventFinished
	err = store.Finish(ctx, ledger.Finish{
		Scope: "shop", Proposal: id, Claim: "click of sam", At: at(1), Outcome: ledger.Succeeded, Record: finished,
	})
	if err != nil {
		log.Fatal(err)
	}
	p, err = store.Proposal(ctx, "shop", id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("at 9:02 it is", p.State(at(2)), "and", p.Outcome)

	trail, err := store.Audit(ctx, ledger.AuditQuery{Scope: "shop", Proposal: id})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range trail {
		fmt.Printf("%s %s: %s\n", r.At.Format(time.TimeOnly), r.Event, cmp.Or(r.Operator, r.Session.Actor()))
	}
	// Output:
	// assistant for olga in shop asks: refund_order {"cents":1200,"order":"W42"}
	// at 9:04 it is proposed and at 9:05 expired
	// sam pays the refund
	// eve is too late: claimed by sam
	// at 9:01 it is executed and, if nobody says how it went, at 9:02 interrupted
	// at 9:02 it is executed and succeeded
	// 09:00:00 proposed: assistant
	// 09:01:00 started: sam
	// 09:01:00 finished: assistant
}
