package office

import (
	"context"
	"iter"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Trail is one page of the audit trail, newest first.
type Trail struct {
	Records []ledger.Record
	Next    int64 // the Before of the next page; zero at the end
	Window  int   // how many records, the newest, were looked at; zero means all
}

// AuditFilter narrows the audit trail. A field's zero value does not filter.
type AuditFilter struct {
	Proposal, Action, Run, Text string
	Actor, Principal, Operator  authz.ID
	Event                       ledger.Event
	Code                        ledger.Code
	Since, Until                time.Time
	Before                      int64
}

func (v *Visit) auditQuery(f AuditFilter) ledger.AuditQuery {
	return ledger.AuditQuery{
		Scope: v.scope, Proposal: f.Proposal, Action: f.Action, Run: f.Run, Text: f.Text, Actor: f.Actor, Principal: f.Principal,
		Operator: f.Operator, Event: f.Event, Code: f.Code, Since: f.Since, Until: f.Until, Before: f.Before, Newest: true, Limit: PageSize,
	}
}

// Audit shows a page of the audit trail to a person who oversees the scope. A filter other than for one
// proposal looks at the newest Window records that Before leaves.
func (v *Visit) Audit(ctx context.Context, f AuditFilter) (Trail, error) {
	if err := v.oversees(ctx, "audit"); err != nil {
		return Trail{}, err
	}
	q, t := v.auditQuery(f), Trail{}
	if (f != AuditFilter{Before: f.Before}) && f.Proposal == "" {
		q.Window, t.Window = Window, Window
	}
	var err error
	if t.Records, err = v.reg.Ledger().Audit(ctx, q); err != nil {
		return Trail{}, unread(err)
	}
	if len(t.Records) == PageSize {
		t.Next = t.Records[PageSize-1].Seq
	}
	return t, nil
}

// settled is how long the newest records may take to be committed: an export ends that far in the past.
const settled = time.Minute

// MayExport refuses a person who does not oversee the scope, and exports nothing.
func (v *Visit) MayExport(ctx context.Context) error { return v.oversees(ctx, "audit_export") }

// Export streams every record that a filter selects, oldest first, to a person who oversees the scope, and
// records that it did. Records of the last minute are left out: some may not be there yet.
func (v *Visit) Export(ctx context.Context, f AuditFilter) (iter.Seq2[ledger.Record, error], error) {
	if err := v.MayExport(ctx); err != nil {
		return nil, err
	}
	now := v.reg.Now()
	rec := ledger.Record{At: now, Event: ledger.EventRead, Code: ledger.Done, Session: v.session, Operator: v.person.ID(), Action: "audit_export"}
	if err := v.reg.Ledger().Append(ctx, rec); err != nil {
		return nil, &registry.Refusal{Code: ledger.Unrecorded, Err: err}
	}
	q := v.auditQuery(f)
	q.Newest, q.Limit = false, 0
	if end := now.Add(-settled); q.Until.IsZero() || q.Until.After(end) {
		q.Until = end
	}
	return ledger.Records(ctx, v.reg.Ledger(), q), nil
}

// Outcomes counts what became of the newest proposals of the scope.
type Outcomes struct {
	At      time.Time
	Since   time.Time // zero means ever
	Window  int       // how many proposals, the newest, are counted at most
	Actions []ledger.Tally
	Total   ledger.Tally
}

// Outcomes counts for a person who oversees the scope.
func (v *Visit) Outcomes(ctx context.Context, since, until time.Time) (Outcomes, error) {
	if err := v.oversees(ctx, "outcomes"); err != nil {
		return Outcomes{}, err
	}
	out := Outcomes{At: v.reg.Now(), Since: since, Window: Window}
	var err error
	out.Actions, err = v.reg.Ledger().Tally(ctx, ledger.TallyQuery{Scope: v.scope, At: out.At, Since: since, Until: until, Window: Window})
	if err != nil {
		return Outcomes{}, unread(err)
	}
	for _, t := range out.Actions {
		out.Total = plus(out.Total, t)
	}
	return out, nil
}

func plus(a, b ledger.Tally) ledger.Tally {
	for _, pair := range [...][2]*int{
		{&a.Proposed, &b.Proposed}, {&a.Expired, &b.Expired}, {&a.Dismissed, &b.Dismissed}, {&a.Executed, &b.Executed},
		{&a.Interrupted, &b.Interrupted}, {&a.Revisions, &b.Revisions}, {&a.Succeeded, &b.Succeeded}, {&a.Failed, &b.Failed},
		{&a.Improved, &b.Improved}, {&a.Unchanged, &b.Unchanged}, {&a.Worsened, &b.Worsened}, {&a.Unmeasured, &b.Unmeasured},
		{&a.Standing, &b.Standing},
	} {
		*pair[0] += *pair[1]
	}
	for i := range a.Waited {
		a.Waited[i] += b.Waited[i]
	}
	return a
}
