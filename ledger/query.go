package ledger

import (
	"time"

	"github.com/sallyport-dev/sallyport/authz"
)

// Cursor is a place in a list of proposals.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

// Query selects proposals. A field's zero value does not filter, except Scope, which is required.
type Query struct {
	Scope     authz.Scope
	States    []State // as they are at At
	At        time.Time
	Actor     authz.ID
	Principal authz.ID
	Action    string
	Run       string
	Text      string    // in the id, actor, principal, action, parameters, note or error; a to z also find A to Z
	Since     time.Time // created at or after
	Until     time.Time // created before
	Before    Cursor    // only proposals older than this place
	Window    int       // only this many, the newest that Scope, Since, Until and Before leave, are looked at
	Limit     int       // zero means DefaultPage
}

// AuditQuery selects records. A field's zero value does not filter, except Scope, which is required.
type AuditQuery struct {
	Scope     authz.Scope
	Proposal  string
	Actor     authz.ID
	Principal authz.ID
	Operator  authz.ID
	Action    string
	Run       string
	Event     Event
	Code      Code
	Text      string    // in the actor, principal, operator, action, parameters, proposal, reason or error; a to z also find A to Z
	Since     time.Time // at or after
	Until     time.Time // before
	After     int64     // only records with a higher Seq
	Before    int64     // only records with a lower Seq
	Newest    bool      // the highest Seq first
	Window    int       // only this many, the first that Scope, After and Before leave, are looked at
	Limit     int       // zero means DefaultPage
}

// DefaultPage is how many rows a list has at most if its query does not say.
const DefaultPage = 100

// TallyQuery selects what is counted: of the proposals of a scope that were created at or after Since and before
// Until, the newest Window.
type TallyQuery struct {
	Scope  authz.Scope
	At     time.Time // states are as they are at this instant
	Since  time.Time // zero means ever
	Until  time.Time // zero means ever
	Window int       // zero means DefaultWindow
}

// DefaultWindow is how many proposals are counted if a [TallyQuery] does not say.
const DefaultWindow = 10_000

// Tally counts what became of the proposals of one action.
type Tally struct {
	Action string

	Proposed, Expired, Dismissed, Executed, Interrupted int // by state; executed includes verified
	Revisions                                           int // that took the place of another proposal, which is among those dismissed
	Succeeded, Failed                                   int
	Improved, Unchanged, Worsened, Unmeasured           int
	Standing                                            int // of those claimed, the ones that a standing grant decided

	// People's decisions, which are all claims and dismissals but those by a standing grant, by how long the
	// proposal had waited: Waited[i] counts those below WaitedBelow[i] and not below the one before; the last
	// counts the rest.
	Waited [len(WaitedBelow) + 1]int
}

// WaitedBelow are the bounds of [Tally.Waited].
var WaitedBelow = [...]time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, time.Hour}
