package ledgertest

import (
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Life is how long the proposals of [NewEntry] live.
const Life = 5 * time.Minute

// At returns the instant that lies d after the beginning of every test, 2026-01-05 09:00:00 UTC.
func At(d time.Duration) time.Time {
	return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC).Add(d)
}

// NewEntry returns the nth proposal of a scope, with its record and without limits: the model "assistant"
// works for "olga" and asks for refund_order with parameters that no other n has, n seconds after the
// beginning. The changes are applied before the record is made. It panics if the scope is empty.
func NewEntry(scope authz.Scope, n int, changes ...func(*ledger.Proposal)) ledger.Entry {
	at := At(time.Duration(n) * time.Second)
	ms := at.UnixMilli()
	p := ledger.Proposal{
		ID:         fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n),
		Session:    must(authz.NewSession(scope, "assistant", authz.For(authz.LoggedIn("olga")))),
		Action:     "refund_order",
		Params:     must(canon.Stored(fmt.Sprintf(`{"cents":%d,"order":"W42"}`, n))),
		Targets:    []authz.Path{authz.MustPath("/orders/W42")},
		Definition: "definition-1",
		CreatedAt:  at,
		ExpiresAt:  at.Add(Life),
		Seal:       "k1.seal",
	}
	for _, change := range changes {
		change(&p)
	}
	return ledger.Entry{Proposal: p, Record: record(&p, ledger.EventProposed, ledger.NeedsApproval, p.CreatedAt)}
}

// NewClaim returns a claim of p by "sam" whose run may last a minute.
func NewClaim(p ledger.Proposal, id string, at time.Time) ledger.Claim {
	r := record(&p, ledger.EventStarted, ledger.Done, at)
	r.Operator, r.Claim = "sam", id
	return ledger.Claim{
		Scope: p.Session.Scope(), Proposal: p.ID, ID: id, By: "sam", At: at, RunBy: at.Add(time.Minute), Record: r,
	}
}

// NewFinish returns the success of the claim that p holds, with nothing to verify.
func NewFinish(p ledger.Proposal, at time.Time) ledger.Finish {
	r := record(&p, ledger.EventFinished, ledger.Done, at)
	r.Claim, r.Result = p.Claim, []byte(`{"refunded":true}`)
	return ledger.Finish{
		Scope: p.Session.Scope(), Proposal: p.ID, Claim: p.Claim, At: at,
		Outcome: ledger.Succeeded, Result: []byte(`{"refunded":true}`), Record: r,
	}
}

// NewDismissal returns the dismissal of p by "sam".
func NewDismissal(p ledger.Proposal, at time.Time) ledger.Dismissal {
	r := record(&p, ledger.EventDismissed, ledger.WasDismissed, at)
	r.Operator = "sam"
	return ledger.Dismissal{
		Scope: p.Session.Scope(), Proposal: p.ID, By: "sam", At: at, Note: "not now", Record: r,
	}
}

// NewRevision returns the revision of p by "sam" at the given instant; its successor is the nth proposal of
// the scope, with p's session and action.
func NewRevision(p ledger.Proposal, n int, at time.Time) ledger.Revision {
	e := NewEntry(p.Session.Scope(), n, func(next *ledger.Proposal) {
		next.Session, next.Action, next.Targets = p.Session, p.Action, p.Targets
		next.CreatedAt, next.ExpiresAt = at, at.Truncate(time.Second).Add(Life)
		next.Supersedes, next.RevisedBy = p.ID, append(p.RevisedBy[:len(p.RevisedBy):len(p.RevisedBy)], "sam")
	})
	e.Record.Operator = "sam"
	return ledger.Revision{Dismissal: NewDismissal(p, at), Entry: e}
}

// NewVerification returns the verdict that p improved what it is measured by, which is 2 now.
func NewVerification(p ledger.Proposal, at time.Time) ledger.Verification {
	two := 2.0
	return ledger.Verification{
		Scope: p.Session.Scope(), Proposal: p.ID, At: at, Verdict: ledger.Improved, Measured: &two,
		Record: record(&p, ledger.EventVerified, ledger.Done, at),
	}
}

func record(p *ledger.Proposal, event ledger.Event, code ledger.Code, at time.Time) ledger.Record {
	return ledger.Record{
		At: at, Event: event, Code: code, Session: p.Session, Action: p.Action, Targets: p.Targets, Params: p.Params, Proposal: p.ID,
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic("ledgertest: " + err.Error())
	}
	return v
}
