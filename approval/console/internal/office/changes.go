package office

import (
	"context"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// Change is one thing that happened. It says what to read anew, and nothing of what is there to read.
type Change struct {
	Seq      int64        `json:"-"`
	Event    ledger.Event `json:"event"`
	Proposal string       `json:"proposal,omitzero"`
	State    ledger.State `json:"state,omitzero"` // of the proposal
	Action   string       `json:"action"`
	Targets  []authz.Path `json:"targets,omitempty"` // of a change that was no proposal
	At       time.Time    `json:"at"`

	row ledger.Proposal
}

// Happening makes changes of records, whoever may see them: use Sees before anybody does. It reads each
// proposal once.
func (v *Visit) Happening(ctx context.Context, records []ledger.Record) ([]Change, error) {
	var list []Change
	rows := map[string]ledger.Proposal{}
	now := v.reg.Now()
	for _, r := range records {
		c := Change{Seq: r.Seq, Event: r.Event, Action: r.Action, At: r.At}
		switch {
		case r.Event == ledger.EventRead || r.Event == ledger.EventRefused || r.Event == ledger.EventPurged:
			continue
		case r.Proposal == "" && (r.Event != ledger.EventFinished || r.Code != ledger.Done):
			continue
		case r.Proposal == "":
			c.Targets = r.Targets
		default:
			p, ok := rows[r.Proposal]
			if !ok {
				var err error
				if p, err = v.reg.Ledger().Proposal(ctx, v.scope, r.Proposal); err != nil {
					return nil, unread(err)
				}
				rows[r.Proposal] = p
			}
			c.Proposal, c.State, c.row = r.Proposal, p.State(now), p
		}
		list = append(list, c)
	}
	return list, nil
}

// Sees returns those changes that the person may see now: of proposals that they see, and those that
// [registry.Registry.Shows] them.
func (v *Visit) Sees(ctx context.Context, list []Change) ([]Change, error) {
	var rows []ledger.Proposal
	for _, c := range list {
		if c.Proposal != "" {
			rows = append(rows, c.row)
		}
	}
	visible, err := v.reg.Visible(ctx, v.scope, v.person, rows)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, p := range visible {
		known[p.ID] = true
	}
	var seen []Change
	for _, c := range list {
		ok := known[c.Proposal]
		if c.Proposal == "" {
			if ok, err = v.reg.Shows(ctx, v.session, c.Action, c.Targets); err != nil {
				return nil, err
			}
		}
		if ok {
			seen = append(seen, c)
		}
	}
	return seen, nil
}

// After returns up to limit records of the scope after a place in the audit trail, for Happening only.
func (v *Visit) After(ctx context.Context, seq int64, limit int) ([]ledger.Record, error) {
	list, err := v.reg.Ledger().Audit(ctx, ledger.AuditQuery{Scope: v.scope, After: seq, Limit: limit})
	if err != nil {
		return nil, unread(err)
	}
	return list, nil
}

// Head returns the newest place in the audit trail of the scope.
func (v *Visit) Head(ctx context.Context) (int64, error) {
	list, err := v.reg.Ledger().Audit(ctx, ledger.AuditQuery{Scope: v.scope, Newest: true, Limit: 1})
	if err != nil {
		return 0, unread(err)
	}
	if len(list) == 0 {
		return 0, nil
	}
	return list[0].Seq, nil
}
