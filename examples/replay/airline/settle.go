package airline

import (
	"context"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
	"github.com/sallyport-dev/sallyport/ledger"
)

// settle holds the ledger against what was played, and the database against the ledger: a fresh copy of the
// data on which exactly the approved proposals are carried out, directly and in the order of their approval,
// must hold the same and give the same answers.
func (r *replay) settle(ctx context.Context, c Conversation) error {
	rows, err := r.book.Proposals(ctx, ledger.Query{Scope: scope, Run: c.ID, At: r.now, Limit: 1000})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b ledger.Proposal) int { return a.DecidedAt.Compare(b.DecidedAt) })
	rebuilt, err := office.Open()
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		r.Proposed++
		if who, _ := row.Session.Principal(); row.Session.Actor() != model || who != authz.ID(c.UserID) {
			r.differ("%s: proposal %s is of %s for %q", c.ID, row.ID, row.Session.Actor(), who)
		}
		switch state := row.State(r.now); {
		case state == ledger.StateExecuted && row.DecidedBy == staff:
			r.Approved++
			if err := r.again(ctx, c, rebuilt, row); err != nil {
				return fmt.Errorf("proposal %s: %w", row.ID, err)
			}
		case state == ledger.StateDismissed && row.DecidedBy == staff && row.Note != "":
			r.Dismissed++
		case state == ledger.StateExpired && r.approves == nil:
			r.Expired++
		default:
			r.differ("%s: proposal %s is %s, by %q", c.ID, row.ID, state, row.DecidedBy)
		}
	}
	if same(rebuilt.Snapshot(), r.airline.Snapshot()) {
		r.Explained++
	} else {
		r.differ("%s: the database holds something else than what was approved", c.ID)
	}
	return nil
}

// again carries out an approved proposal directly. What it answers must be what the ledger has.
func (r *replay) again(ctx context.Context, c Conversation, rebuilt *office.Airline, row *ledger.Proposal) error {
	got, err := direct(ctx, rebuilt, row.Action, []byte(row.Params.String()))
	if err != nil {
		return err
	}
	had, err := expect(row.Outcome == ledger.Succeeded, row.Result, row.Told)
	if err != nil {
		return err
	}
	if got.OK != had.OK || !sameJSON(got.Result, had.Result) {
		r.differ("%s: proposal %s came to %s, without the gate to %s", c.ID, row.ID, had.Result, got.Result)
	}
	return nil
}
