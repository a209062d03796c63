package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

// Errors of a [Store] and a [Unit]. Each but ErrUncommitted means that nothing was changed.
var (
	// ErrNotFound says that the scope has no such proposal. Another scope's proposal is not found either.
	ErrNotFound = errors.New("ledger: no such proposal")
	// ErrConflict says that the compare-and-set did not apply; the proposal returned beside it tells why.
	ErrConflict = errors.New("ledger: not applied")
	// ErrGrantSpent says that a standing grant has no use left or has ended. The proposal stays as it is.
	ErrGrantSpent = errors.New("ledger: the standing grant is spent")
	// ErrUncommitted is what a [Unit] returns whose run had joined its transaction: that was rolled back, or
	// nobody knows.
	ErrUncommitted = errors.New("ledger: the run's transaction was not committed")
	// ErrLimit is what a [LimitError] wraps.
	ErrLimit = errors.New("ledger: too many open proposals")
)

// LimitError says which limit on open proposals was reached. It matches [ErrLimit].
type LimitError struct {
	Of    string // "session", "principal" or "scope"
	Limit int
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("ledger: %d open proposals in this %s are the limit", e.Limit, e.Of)
}

// Unwrap returns [ErrLimit].
func (e *LimitError) Unwrap() error { return ErrLimit }

// Store keeps proposals and the audit trail. This comment is its contract; package ledgertest tests it.
//
// Every method that changes something either changes all of it, its record included, or nothing, and is
// durable when it returns nil. Its error means exactly one of three things: nil, it was applied;
// [ErrNotFound], [ErrConflict], [ErrLimit] or [ErrGrantSpent], it was not applied; any other error, nobody knows. A caller
// that is told "nobody knows" treats a claim as lost and does not run. A store never retries a change under
// another claim id.
//
// Changes of one proposal are linearizable. Every look-up names a scope, and what another scope has is not
// found. Instants come from the caller, who reads a clock once per decision; a store reads none. Times are
// kept as [Time] returns them. What is passed in is not kept, and what is returned is the caller's own.
// Methods are safe for concurrent use. A context that ends before a change began prevents it; later it does
// not interrupt the change. Lists are cut at their limit; a limit of zero means [DefaultPage].
type Store interface {
	// Propose inserts an undecided proposal with its record, unless an identical one is open: then it
	// inserts nothing and returns that one. Identical means equal scope, model, principal, action,
	// parameters, definition and version; open means undecided and not expired at CreatedAt. It returns a
	// LimitError if one more open proposal would exceed a limit, and ErrConflict if the scope has the id
	// already. All of this holds among concurrent proposals too.
	Propose(ctx context.Context, e Entry) (Proposal, error)

	// Revise dismisses an undecided proposal and inserts its successor, in one step; its record of the
	// dismissal comes before that of the successor. The successor counts for the limits, its predecessor no
	// longer does, and an identical open proposal is not looked for. ErrConflict comes with the proposal that
	// was decided before. Both are of one scope: for a successor of another scope the predecessor is not found.
	Revise(ctx context.Context, r Revision) (Proposal, error)

	// Proposal returns one proposal.
	Proposal(ctx context.Context, scope authz.Scope, id string) (Proposal, error)

	// Claim takes a proposal that is undecided and not expired at c.At, and on which no decision was ever
	// recorded, to claimed, with its started record. Of any number of claims one is applied. A claim with
	// the id of the one that was applied is answered as applied. ErrConflict comes with the proposal as it
	// stands; if that is neither decided nor expired, a decision was recorded and the row denies it.
	//
	// A claim by a standing grant counts one use of it in the same step: of any number of claims at most
	// Limit are ever applied for one grant of a scope. ErrGrantSpent comes with the proposal, still open, if
	// no use is left or the grant has ended at c.At. Whatever becomes of the run, the use stays counted.
	Claim(ctx context.Context, c Claim) (Proposal, error)

	// Finish records how a claimed run ended, also after a verdict that says it was interrupted, whose reason
	// then stands. ErrConflict says that the claim is not the proposal's, that an outcome is recorded already,
	// or that f has none.
	Finish(ctx context.Context, f Finish) error

	// Dismiss takes an undecided proposal to dismissed, also after it expired. ErrConflict comes with the
	// proposal as it stands.
	Dismiss(ctx context.Context, d Dismissal) (Proposal, error)

	// Verify records a verdict on a claimed proposal that has none. ErrConflict says that it has one or was
	// never claimed.
	Verify(ctx context.Context, v Verification) error

	// Append adds a record that belongs to no change of a proposal.
	Append(ctx context.Context, r Record) error

	// Proposals lists proposals of one scope, newest first.
	Proposals(ctx context.Context, q Query) ([]Proposal, error)

	// Tally counts the newest proposals of one scope by action, sorted by action.
	Tally(ctx context.Context, q TallyQuery) ([]Tally, error)

	// Uses returns how many uses of standing grants of one scope are counted. A grant without any is left out.
	Uses(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error)

	// Due lists claimed proposals of all scopes without a verdict whose time to be verified has come, or
	// whose run was interrupted, oldest first.
	Due(ctx context.Context, now time.Time, limit int) ([]Proposal, error)

	// Audit lists records of one scope in ascending order of Seq, or in descending order if the query says so.
	Audit(ctx context.Context, q AuditQuery) ([]Record, error)

	// Purge removes old proposals that are through, each with all of its records, and old records that belong
	// to no proposal; and it records that it did. A proposal is through if it was dismissed, or has an outcome
	// and a verdict. What is undecided, unverified or without an outcome stays, with its records, and so do
	// the uses of standing grants. At most p.Limit of each are removed, oldest first: call it until it removes
	// none, which is then not recorded.
	Purge(ctx context.Context, p Purge) (Purged, error)
}

// Transactor is what a [Store] may offer besides: a transaction that a run function shares with the record of
// how its run ended, where the application's data is in the same database. The claim, or the started record, is
// durable before it begins.
type Transactor interface {
	// Unit returns a unit of work for one run, and the context by which that run's function can join it. The
	// transaction begins when it does; a unit that nobody joined is none. End it by Finish, Append or Undo;
	// what comes after that is ErrConflict and changes nothing.
	Unit(ctx context.Context) (context.Context, Unit)
}

// Unit is one run's unit of work. It is for one goroutine at a time.
type Unit interface {
	// Finish is [Store.Finish], in the run's transaction, which it commits. After ErrUncommitted Store.Finish tells
	// what became of it: an outcome that it applies says that the run's writes are gone, ErrConflict that they
	// are kept. Any other error says that nobody knows what is kept of them, and records nothing.
	Finish(ctx context.Context, f Finish) error

	// Append is [Store.Append], in the run's transaction, which it commits.
	Append(ctx context.Context, r Record) error

	// Undo rolls the run's transaction back. Where there is none, or it has ended, it does nothing.
	Undo()
}

// Limits bound the open proposals. Zero means no limit.
type Limits struct {
	Session   int // of one model, principal and conversation (or run, where there is no conversation)
	Principal int // of one principal, or of one background model
	Scope     int
}

// Entry is a proposal to insert. Only its immutable fields are kept.
type Entry struct {
	Proposal Proposal
	Limits   Limits
	Record   Record
}

// Revision replaces a proposal by another one.
type Revision struct {
	Dismissal Dismissal // of the predecessor
	Entry     Entry     // of the successor; its Supersedes names the predecessor
}

// Claim asks for the right to run a proposal, once.
type Claim struct {
	Scope    authz.Scope
	Proposal string
	ID       string // unique to this attempt; run functions get it as an idempotency key
	By       authz.ID
	At       time.Time
	RunBy    time.Time // the run is interrupted if nothing says until then how it ended
	Use      *Use      // of a standing grant; nil for a decision made now
	Record   Record    // EventStarted
}

// Use is one use of a standing grant.
type Use struct {
	Grant string    // its id, unique in the scope for ever
	Limit int       // how many uses it has; zero means any number
	Until time.Time // from this instant on it has ended
}

// Finish closes a claim.
type Finish struct {
	Scope      authz.Scope
	Proposal   string
	Claim      string
	At         time.Time
	Outcome    Outcome
	Result     []byte
	Error      string
	Told       string
	Baseline   *float64
	Unmeasured string
	VerifyAt   time.Time
	Record     Record // EventFinished
}

// Dismissal says no to a proposal.
type Dismissal struct {
	Scope    authz.Scope
	Proposal string
	By       authz.ID
	At       time.Time
	Note     string
	Record   Record // EventDismissed
}

// Verification is a verdict and what it rests on.
type Verification struct {
	Scope    authz.Scope
	Proposal string
	At       time.Time
	Verdict  Verdict
	Why      string // for Unmeasured
	Measured *float64
	Record   Record // EventVerified
}

// Purge removes what is older than a time.
type Purge struct {
	Scope  authz.Scope
	Before time.Time // proposals created, and records of no proposal written, before
	Limit  int       // proposals, and records of none; zero means DefaultPurge
	Record Record    // EventPurged
}

// DefaultPurge is how many proposals one purge removes at most if it does not say.
const DefaultPurge = 1000

// Purged says how much a purge removed.
type Purged struct {
	Proposals int
	Records   int // with those of the proposals
}
