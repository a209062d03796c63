package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const (
	decided = 30 // proposals of the day before
	waiting = 2  // proposals of just now
)

// history gives a shop that nobody has used yet a day in the past, of recorded tasks, so that there is something to look
// at: staff approved most of what customers asked for, said no to some and missed some, and the last ones wait.
func history(ctx context.Context, w *store.World, life time.Duration) error {
	had, err := w.Book.Audit(ctx, ledger.AuditQuery{Scope: store.Scope, Limit: 1})
	if err != nil || len(had) > 0 {
		return err
	}
	tasks, err := workload.Tasks()
	if err != nil {
		return err
	}
	w.Stop(w.Now().Add(-24 * time.Hour))
	defer w.Stop(time.Time{})
	asked := 0
	for _, task := range tasks {
		if task.UserID == string(people[0].ID) { // whose orders are for the visitor
			continue
		}
		session, err := w.Session(task.UserID, task.ID)
		if err != nil {
			return err
		}
		for i, action := range task.Actions {
			a := w.Gate.Call(ctx, session.WithOrigin("chat"), chattools.Call{ID: fmt.Sprint("call_", i), Name: action.Name, Arguments: action.Arguments})
			if a.Status != chattools.NeedsApproval {
				continue
			}
			if asked++; asked == decided+waiting {
				return nil
			}
			if asked > decided {
				continue
			}
			if err := decide(ctx, w, a.Proposal, asked, life); err != nil {
				return err
			}
			if w.Pass(20 * time.Minute); asked == decided {
				w.Stop(time.Time{})
			}
		}
	}
	return nil
}

// decide has staff decide about the nth proposal, after some of its life. What the shop then refuses to do is history too.
func decide(ctx context.Context, w *store.World, proposal string, n int, life time.Duration) error {
	staff := []authz.ID{store.Sam, store.Sue}[n%2]
	w.Pass(life * time.Duration(2+n*37%60) / 100)
	switch {
	case n%11 == 0:
		w.Pass(life) // nobody looked in time
		return nil
	case n%6 == 0:
		return w.Desk.Dismiss(ctx, store.Scope, proposal, authz.LoggedIn(staff), "Wrong details: please call us, and we will find a way.")
	}
	redemption, err := w.Open(ctx, proposal, staff)
	if err != nil {
		return err
	}
	_, err = w.Desk.Approve(ctx, redemption)
	if _, public := registry.PublicText(err); public {
		return nil
	}
	return err
}
