package approval_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func TestWhoMayDismiss(t *testing.T) {
	for _, test := range []struct {
		name      string
		principal authz.Person
		action    string
		person    authz.Person
		code      ledger.Code
	}{
		{"who may approve it", ann, "refund", sue, ledger.Done},
		{"in whose name it was asked", ann, "refund", ann, ledger.Done},
		{"the requester under four eyes", sam, "pay", sam, ledger.Done},
		{"who only oversees", ann, "refund", audra, ledger.Forbidden},
		{"another customer", ann, "refund", bob, ledger.Unknown},
		{"who has no rights", ann, "refund", stan, ledger.Unknown},
		{"of a background model: staff", authz.Person{}, "refund", sue, ledger.Done},
		{"of a background model: a customer", authz.Person{}, "refund", ann, ledger.Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOffice(t, nil)
			id := o.propose(t, test.principal, test.action, "a1", 5).Proposal.ID
			err := o.desk.Dismiss(t.Context(), scope, id, test.person, "not today")
			require.Equal(t, test.code, registry.CodeOf(err))
			row := o.row(t, id)
			if test.code != ledger.Done {
				requireRefused(t, test.code, err)
				require.Equal(t, ledger.Undecided, row.Decision)
				return
			}
			require.Equal(t, ledger.StateDismissed, row.State(o.now()))
			require.Equal(t, test.person.ID(), row.DecidedBy)
			require.Equal(t, o.now(), row.DecidedAt)
			require.Equal(t, "not today", row.Note)
			require.Equal(t, []string{"proposed needs_approval ", "dismissed dismissed " + string(test.person.ID())}, o.events(t, id))
		})
	}
}

// A late no is still a no, and it never turns into anything else.
func TestALateNo(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	o.pass(24 * time.Hour)
	require.Equal(t, ledger.StateExpired, o.open(t, id, sam).State)
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, "too late anyway"))
	require.Equal(t, ledger.StateDismissed, o.open(t, id, sam).State)
	require.Equal(t, "too late anyway", o.row(t, id).Note)
}

// What was decided stays decided: a no after that is answered with what became of it, to everybody who sees
// the proposal.
func TestDismissingWhatWasDecided(t *testing.T) {
	o := openOffice(t, nil)
	run := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	require.NoError(t, o.approve(t, run, sam))
	gone := o.propose(t, ann, "refund", "a1", 6).Proposal.ID
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, gone, sam, "the first no"))
	for _, person := range []authz.Person{sam, sue, ann, audra} {
		spent := requireRefused(t, ledger.Spent, o.desk.Dismiss(t.Context(), scope, run, person, "no"))
		require.Equal(t, ledger.Succeeded, spent.Proposal.Outcome)
		was := requireRefused(t, ledger.WasDismissed, o.desk.Dismiss(t.Context(), scope, gone, person, "another no"))
		require.Equal(t, "the first no", was.Proposal.Note)
	}
	requireRefused(t, ledger.Unknown, o.desk.Dismiss(t.Context(), scope, run, bob, "no"))
	require.Equal(t, "the first no", o.row(t, gone).Note)
	require.Equal(t, ledger.Claimed, o.row(t, run).Decision)
}

// A dismissed proposal never runs, whatever token somebody kept.
func TestADismissedProposalNeverRuns(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	kept := o.open(t, id, sue).Redemption()
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, "no"))
	_, err := o.desk.Approve(t.Context(), kept)
	requireRefused(t, ledger.WasDismissed, err)
	requireRefused(t, ledger.WasDismissed, o.open(t, id, sue).Refusal)
	require.Zero(t, o.runs.Load())
}

// A yes, a no and a revision at once: one of them happens, the ledger and the effect agree about which, and
// the others learn it.
func TestDecisionsRace(t *testing.T) {
	o := openOffice(t, nil)
	for i := range 200 {
		id := o.propose(t, ann, "refund", "a1", i+1).Proposal.ID
		redemption, runs := o.open(t, id, sam).Redemption(), o.runs.Load()
		var yes, no, revise error
		var wg sync.WaitGroup
		wg.Go(func() { _, yes = o.desk.Approve(t.Context(), redemption) })
		wg.Go(func() { no = o.desk.Dismiss(t.Context(), scope, id, sue, "no") })
		wg.Go(func() { _, revise = o.desk.Revise(t.Context(), scope, id, sue, params("a2", i+1)) })
		wg.Wait()

		row := o.row(t, id)
		applied := 0
		for _, err := range []error{yes, no, revise} {
			switch {
			case err == nil:
				applied++
			case row.Decision == ledger.Claimed:
				requireRefused(t, ledger.Spent, err)
			default:
				requireRefused(t, ledger.WasDismissed, err)
			}
		}
		require.Equal(t, 1, applied)
		require.Equal(t, yes == nil, row.Decision == ledger.Claimed)
		require.Equal(t, yes == nil, o.runs.Load() == runs+1)
		o.pass(time.Hour)
	}
}

// A reason that is no text of Unicode is kept as far as it is, and its proposal still has a status.
func TestAReasonThatIsNoText(t *testing.T) {
	o := openOffice(t, nil)
	id := o.propose(t, ann, "refund", "a1", 5).Proposal.ID
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, id, sam, "not\xff today"))
	require.Equal(t, "not\uFFFD today", o.row(t, id).Note)
	require.Equal(t, "not\uFFFD today", o.status(t, sessionFor(t, ann), id).Reason)
}
