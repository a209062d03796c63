// Package ledger keeps proposals and the audit trail, and lets exactly one claim win.
//
// A [Proposal] is one row: the exact parameters that a model asked for, by whom, for whom, until when. It is
// proposed once and decided once: claimed, which is recorded before the effect it allows, or dismissed. What
// became of it is derived from the row and a clock by [Proposal.State]; nothing sweeps. A [Record] is one
// line of the audit trail that humans and models share. Every change of a proposal is written together with
// its record, or not at all.
//
// A [Store] keeps both. [Memory] keeps them in memory, for tests and small programs; package
// ledger/sqlledger keeps them in a database, and package ledger/ledgertest is the suite that a store of your
// own has to pass.
//
// The ledger decides nothing about authority and never runs an action: package registry does. It trusts no
// row either: a proposal carries a seal over everything that must not change (see [Seal]), and a claim is
// refused where a decision has been recorded, whatever the row says.
package ledger

import (
	"time"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
)

// Proposal is one row of the ledger. The first group of fields is immutable and sealed; the others are what
// became of it. All times are UTC in whole microseconds.
type Proposal struct {
	ID         string // UUID version 7
	Session    authz.Session
	Action     string
	Params     canon.Object
	Targets    []authz.Path // that the parameters named when it was proposed
	Definition string       // digest of the action's definition
	Version    string       // of the targets, where the action has one
	CreatedAt  time.Time
	ExpiresAt  time.Time // a whole second; from this instant on it can no longer be claimed
	Supersedes string    // the proposal of which this is a revision
	RevisedBy  []authz.ID
	Seal       string

	Decision  Decision
	DecidedBy authz.ID
	DecidedAt time.Time
	Note      string // why it was dismissed

	Claim      string // id of the claim that won
	Grant      string // id of the standing grant that decided in its giver's name
	RunBy      time.Time
	Outcome    Outcome
	FinishedAt time.Time
	Result     []byte // JSON, of a run that succeeded
	Error      string // of a run that failed; for operators
	Told       string // what a model may read of it

	Baseline   *float64 // measured after the claim, before the run
	Unmeasured string   // why there is nothing to compare
	VerifyAt   time.Time
	Verdict    Verdict
	Measured   *float64
	VerifiedAt time.Time
}

// Decision is the one decision about a proposal. The zero Decision is none yet.
type Decision string

// The decisions.
const (
	Undecided Decision = ""
	Claimed   Decision = "claimed"
	Dismissed Decision = "dismissed"
)

// Outcome says how a claimed run ended. The zero Outcome is nothing known yet.
type Outcome string

// The outcomes.
const (
	Running   Outcome = ""
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
)

// Verdict says whether an action helped, once it was measured again.
type Verdict string

// The verdicts.
const (
	Unverified Verdict = ""
	Improved   Verdict = "improved"
	Unchanged  Verdict = "unchanged"
	Worsened   Verdict = "worsened"
	Unmeasured Verdict = "unmeasured"
)

// State is where a proposal stands at an instant. It is derived, never stored.
type State string

// The states.
const (
	StateProposed    State = "proposed"
	StateExpired     State = "expired"
	StateDismissed   State = "dismissed"
	StateExecuted    State = "executed"    // claimed; Outcome says how the run ended
	StateInterrupted State = "interrupted" // claimed, no outcome, and later than any run may last
	StateVerified    State = "verified"
)

// State returns where the proposal stands at the given instant. At ExpiresAt exactly it is expired.
func (p *Proposal) State(now time.Time) State {
	switch {
	case p.Decision == Dismissed:
		return StateDismissed
	case p.Decision == Claimed && p.Outcome == Running && !now.Before(p.RunBy):
		return StateInterrupted
	case p.Decision == Claimed && p.Verdict != Unverified:
		return StateVerified
	case p.Decision == Claimed:
		return StateExecuted
	case p.Decision != Undecided:
		return StateInterrupted // an unknown decision; shown, never claimed
	case !now.Before(p.ExpiresAt):
		return StateExpired
	}
	return StateProposed
}

// Cursor returns the place of the proposal in a list, for the next page.
func (p *Proposal) Cursor() Cursor { return Cursor{p.CreatedAt, p.ID} }

// Event says what a record is about.
type Event string

// The events.
const (
	EventProposed  Event = "proposed"
	EventDismissed Event = "dismissed" // unique per proposal, together with EventStarted
	EventStarted   Event = "started"   // durable before the change runs
	EventFinished  Event = "finished"
	EventRead      Event = "read"
	EventRefused   Event = "refused"
	EventVerified  Event = "verified"
	EventPurged    Event = "purged" // old proposals and records were removed
)

// Code says how a call, a decision or a run ended. It is one closed set for answers to models, the ledger,
// the audit trail and HTTP.
type Code string

// The codes.
const (
	Done          Code = "done"
	NeedsApproval Code = "needs_approval"
	Unknown       Code = "unknown"     // no such tool or proposal
	Unavailable   Code = "unavailable" // there is one, but not for this session; a model reads "unknown"
	Forbidden     Code = "forbidden"
	Invalid       Code = "invalid" // the parameters
	Limited       Code = "limited" // too many open proposals
	BadToken      Code = "bad_token"
	Stale         Code = "stale"    // the definition, the targets or their version changed
	Tampered      Code = "tampered" // the row is not what was sealed
	Spent         Code = "spent"    // claimed before
	WasDismissed  Code = "dismissed"
	WasExpired    Code = "expired"
	RunFailed     Code = "failed"
	Interrupted   Code = "interrupted" // it may have run; nothing says how it ended
	Unrecorded    Code = "unrecorded"  // the ledger did not take the record, so nothing ran
)

// Record is one line of the audit trail.
type Record struct {
	Seq      int64 // given by the store, ascending
	At       time.Time
	Event    Event
	Code     Code
	Reason   string // refines Code: a reason of authz, token or canon
	Session  authz.Session
	Operator authz.ID // who approved, dismissed or revised
	Action   string
	Targets  []authz.Path
	Params   canon.Object
	Proposal string
	Claim    string
	Grant    string // the standing grant that was used
	Result   []byte // JSON
	Error    string // for auditors
	Count    int    // how many equal refusals came since the last record of them; zero means one
}

// Time returns t as the ledger keeps it: UTC, whole microseconds, no monotonic reading.
func Time(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}
