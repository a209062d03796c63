package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/examples/shop/workload"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// replay plays recorded tasks through the gate and compares everything with the recording.
type replay struct {
	*store.World
	approveAll bool
	counts     map[string]int
	expected   []string // differences that the gate is there to make
	unexpected []string
	proposals  []string
	heard      func([]byte) // gets every byte that the model could read
	attack     *attack      // on every write, if there is one
}

func (r *replay) count(what string) { r.counts[what]++ }

func (r *replay) differ(format string, args ...any) {
	r.unexpected = append(r.unexpected, fmt.Sprintf(format, args...))
}

// replayAll replays every task, prints a table and fails on any difference that it does not list.
func replayAll(ctx context.Context, out io.Writer, approveAll bool, dsn string) error {
	return in(ctx, dsn, func(w *store.World) error { return newReplay(w, approveAll).print(ctx, out) })
}

func newReplay(w *store.World, approveAll bool) *replay {
	return &replay{World: w, approveAll: approveAll, counts: map[string]int{}}
}

func (r *replay) print(ctx context.Context, out io.Writer) error {
	if err := r.all(ctx); err != nil {
		return err
	}
	r.report(out)
	if len(r.unexpected) > 0 {
		return fmt.Errorf("%d differences", len(r.unexpected))
	}
	return nil
}

func (r *replay) all(ctx context.Context) error {
	tasks, err := workload.Tasks()
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if err := r.task(ctx, task); err != nil {
			return fmt.Errorf("%s: %w", task.ID, err)
		}
		r.count("tasks")
		r.Pass(time.Hour) // longer than any proposal lives
	}
	return r.check(ctx)
}

// task plays one task on a fresh copy of the data.
func (r *replay) task(ctx context.Context, task workload.Task) error {
	if err := r.Office.Reset(ctx); err != nil {
		return err
	}
	session, err := r.Session(task.UserID, task.ID)
	if err != nil {
		return err
	}
	start, err := r.holds(ctx)
	if err != nil {
		return err
	}
	changed, foreign := map[string]string{}, false
	for i, action := range task.Actions {
		before, err := r.holds(ctx)
		if err != nil {
			return err
		}
		call := chattools.Call{ID: fmt.Sprint("call_", i), Name: action.Name, Arguments: action.Arguments}
		got, err := r.play(ctx, session, call)
		if err != nil {
			return err
		}
		after, err := r.holds(ctx)
		if err != nil {
			return err
		}
		records, changes := backoffice.Diff(before, after)
		for _, c := range records {
			changed[c.Collection+"/"+c.ID] = c.AfterSHA256
		}
		r.count(string(action.Effect) + "s")
		label := fmt.Sprintf("%s call %d %s", task.ID, i, action.Name)
		switch {
		case got.Status == chattools.Forbidden:
			foreign = foreign || action.RecordOwner != ""
			r.forbidden(label, task, action)
		case !r.approveAll:
			r.unapproved(label, action, got, records)
		default:
			r.compare(label, action, got, records, changes)
		}
	}
	end, err := r.holds(ctx)
	if err != nil {
		return err
	}
	switch altered, _ := backoffice.Diff(start, end); {
	case !r.approveAll && len(altered) > 0:
		r.differ("%s: %d records changed", task.ID, len(altered))
	case r.approveAll && !foreign && !sameFinal(task.Final, changed):
		r.differ("%s: the final records differ", task.ID)
	}
	return nil
}

// holds returns what the shop holds now.
func (r *replay) holds(ctx context.Context) (backoffice.Snapshot, error) {
	shop, err := r.Office.Now(ctx)
	if err != nil {
		return backoffice.Snapshot{}, err
	}
	return shop.Snapshot(), nil
}

// play makes one call as the model, and has staff approve what it proposes. The answer is the gate's, or
// what the approved run came to.
func (r *replay) play(ctx context.Context, s authz.Session, c chattools.Call) (chattools.Answer, error) {
	if r.attack != nil {
		if err := r.attack.before(ctx, s, c); err != nil {
			return chattools.Answer{}, err
		}
	}
	a := r.Gate.Call(ctx, s, c)
	text, err := json.Marshal(a)
	if err != nil {
		return a, err
	}
	if r.heard != nil {
		r.heard(text)
	}
	if a.Status != chattools.NeedsApproval {
		return a, nil
	}
	r.count("proposed")
	r.proposals = append(r.proposals, a.Proposal)
	if !r.approveAll {
		return a, nil
	}
	redemption, err := r.Open(ctx, a.Proposal, store.Sam)
	if err != nil {
		return a, err
	}
	res, err := r.Desk.Approve(ctx, redemption)
	if r.attack != nil {
		r.attack.after(ctx, redemption)
	}
	told, public := registry.PublicText(err)
	switch {
	case err == nil:
		r.count("succeeded")
		return chattools.Answer{Status: chattools.Done, Result: res.JSON, Proposal: a.Proposal}, nil
	case registry.CodeOf(err) == ledger.RunFailed && public:
		r.count("failed")
		return chattools.Answer{Status: chattools.Failed, Text: told, Proposal: a.Proposal}, nil
	}
	return a, err
}

// compare holds what happened against the recording.
func (r *replay) compare(label string, action workload.Action, got chattools.Answer, records []backoffice.RecordChange, changes []backoffice.Change) {
	result, _ := json.Marshal(got.Text)
	if got.Status == chattools.Done {
		result = got.Result
	}
	want := action.Expect
	if ok := got.Status == chattools.Done; ok != want.OK || !workload.SameJSON(result, want.Result) {
		r.differ("%s: answered %s %s, recorded %s", label, got.Status, result, want.Result)
	}
	if !slices.Equal(records, want.Records) {
		r.differ("%s: changed records %v, recorded %v", label, records, want.Records)
	}
	if !slices.EqualFunc(changes, want.Changes, sameChange) {
		r.differ("%s: changes %s, recorded %s", label, changes, want.Changes)
	}
	r.count("compared")
}

func sameChange(a, b backoffice.Change) bool {
	return a.Op == b.Op && a.Path == b.Path && sameOrAbsent(a.Before, b.Before) && sameOrAbsent(a.After, b.After)
}

func sameOrAbsent(a, b json.RawMessage) bool {
	return len(a)+len(b) == 0 || workload.SameJSON(a, b)
}

// unapproved holds a call of a run without approvals against what it may be.
func (r *replay) unapproved(label string, action workload.Action, got chattools.Answer, records []backoffice.RecordChange) {
	if waits := got.Status == chattools.NeedsApproval; waits != (action.Effect == workload.Write) || len(records) > 0 {
		r.differ("%s: answered %s and changed %d records", label, got.Status, len(records))
	}
}

// forbidden lists a refusal that the recording does not have, if it is right: the record is another
// customer's, or there is none.
func (r *replay) forbidden(label string, task workload.Task, action workload.Action) {
	switch {
	case action.RecordOwner != "" && action.RecordOwner != task.UserID:
		r.count("forbidden")
		r.expected = append(r.expected, label+": forbidden, the record is "+action.RecordOwner+"'s, not "+task.UserID+"'s")
	case action.RecordOwner == "" && !action.Expect.OK:
		r.count("forbidden")
		r.expected = append(r.expected, label+": forbidden, as if the unknown order were another customer's")
	default:
		r.differ("%s: forbidden", label)
	}
}

// check holds the ledger and the audit trail against what was played.
func (r *replay) check(ctx context.Context) error {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(r.proposals))) {
		p, err := r.Book.Proposal(ctx, store.Scope, id)
		if err != nil {
			return err
		}
		trail, err := r.Book.Audit(ctx, ledger.AuditQuery{Scope: store.Scope, Proposal: id})
		if err != nil {
			return err
		}
		r.count("now " + string(p.State(r.Now())))
		events := map[ledger.Event]int{}
		customer, _ := p.Session.Principal()
		for _, rec := range trail {
			events[rec.Event]++
			principal, _ := rec.Session.Principal()
			if rec.Session.Actor() != store.Assistant || principal != customer || customer == "" {
				r.differ("%s: record %d does not name model and customer", id, rec.Seq)
			}
			if decided := rec.Event == ledger.EventStarted || rec.Event == ledger.EventFinished; decided && (rec.Operator != store.Sam || rec.Claim != p.Claim) {
				r.differ("%s: record %d does not name approver and claim", id, rec.Seq)
			}
		}
		want := map[ledger.Event]int{ledger.EventProposed: 1}
		if r.approveAll {
			want[ledger.EventStarted], want[ledger.EventFinished] = 1, 1
		}
		if !maps.Equal(events, want) {
			r.differ("%s: its records are %v", id, events)
		}
	}
	return nil
}

func sameFinal(want workload.Final, got map[string]string) bool {
	recorded := map[string]string{}
	for id, record := range want.ChangedRecords {
		recorded[id] = record.SHA256
	}
	return maps.Equal(recorded, got)
}

// report prints the table.
func (r *replay) report(out io.Writer) {
	c := r.counts
	row := func(what string, n int) { fmt.Fprintf(out, "%-44s %6d\n", what, n) }
	row("tasks", c["tasks"])
	row("calls: reads", c["reads"])
	row("calls: writes", c["writes"])
	row("calls: others", c["pures"]+c["handoffs"])
	row("answered as recorded, with equal changes", c["compared"])
	row("writes proposed", c["proposed"])
	row("writes run: succeeded", c["succeeded"])
	row("writes run: failed with the recorded text", c["failed"])
	row("run functions of writes entered", int(r.Office.Runs.Load()))
	for _, s := range []ledger.State{ledger.StateExecuted, ledger.StateExpired, ledger.StateProposed, ledger.StateDismissed, ledger.StateInterrupted} {
		if n := c["now "+string(s)]; n > 0 {
			row("proposals now "+string(s), n)
		}
	}
	fmt.Fprintf(out, "\ndifferences that the gate is there to make: %d\n", len(r.expected))
	for _, line := range r.expected {
		fmt.Fprintln(out, "  "+line)
	}
	fmt.Fprintf(out, "other differences: %d\n", len(r.unexpected))
	for _, line := range r.unexpected {
		fmt.Fprintln(out, "  "+line)
	}
}
