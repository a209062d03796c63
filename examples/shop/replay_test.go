package main

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// The calls that the gate refuses although the recording does not: another customer's records, and orders
// that are not there.
var refused = []string{
	"retail-test-046 call 1 get_order_details", "retail-test-046 call 2 get_order_details",
	"retail-test-047 call 1 get_order_details", "retail-test-047 call 2 get_order_details",
	"retail-test-064 call 1 get_user_details", "retail-test-064 call 2 get_order_details",
	"retail-test-064 call 3 get_order_details", "retail-test-064 call 4 get_order_details",
	"retail-test-064 call 6 exchange_delivered_order_items", "retail-test-064 call 7 modify_pending_order_items",
}

func newTestReplay(t *testing.T, approveAll bool) *replay {
	t.Helper()
	w, err := store.New(t.Context(), store.InMemory())
	require.NoError(t, err)
	return newReplay(w, approveAll)
}

func (r *replay) requireRefused(t *testing.T) {
	t.Helper()
	var got []string
	for _, line := range r.expected {
		label, _, _ := strings.Cut(line, ":")
		got = append(got, label)
	}
	require.Equal(t, refused, got)
	require.Empty(t, r.unexpected)
}

// requireTable compares what a reader of the terminal gets; nothing in it may depend on the order of a map.
func requireTable(t *testing.T, golden, table string) {
	t.Helper()
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), table)
}

// Every recorded call comes out as recorded when staff approve every proposal, except where the gate is there
// to refuse.
func TestReplayEqualsTheRecording(t *testing.T) {
	r := newTestReplay(t, true)
	var out bytes.Buffer
	require.NoError(t, r.print(t.Context(), &out))
	requireTable(t, "testdata/replay.txt", out.String())
	r.requireRefused(t)
	require.Equal(t, map[string]int{
		"tasks": 488, "reads": 211, "writes": 752, "pures": 9, "handoffs": 1,
		"compared": 963, "forbidden": 10, "proposed": 750, "succeeded": 735, "failed": 15, "now executed": 750,
	}, r.counts)
	require.EqualValues(t, 750, r.Office.Runs.Load())
	require.Len(t, r.proposals, 750)

	failed := 0
	for _, id := range r.proposals {
		p, err := r.Book.Proposal(t.Context(), store.Scope, id)
		require.NoError(t, err)
		customer, ok := p.Session.Principal()
		require.True(t, ok)
		require.Equal(t, store.Assistant, p.Session.Actor())
		require.Equal(t, ledger.Claimed, p.Decision)
		require.Equal(t, store.Sam, p.DecidedBy)
		if p.Outcome == ledger.Failed {
			failed++
			require.Contains(t, p.Told, "Error: ")
			require.Equal(t, p.Error, p.Told)
		} else {
			require.Equal(t, ledger.Succeeded, p.Outcome)
		}

		trail, err := r.Book.Audit(t.Context(), ledger.AuditQuery{Scope: store.Scope, Proposal: id})
		require.NoError(t, err)
		var events []ledger.Event
		for _, rec := range trail {
			events = append(events, rec.Event)
			require.Equal(t, store.Assistant, rec.Session.Actor())
			require.Equal(t, customer, rec.Session.Human().ID())
			require.Equal(t, p.Session.Run(), rec.Session.Run())
			require.Equal(t, p.Params, rec.Params)
			if rec.Event != ledger.EventProposed {
				require.Equal(t, store.Sam, rec.Operator)
				require.Equal(t, p.Claim, rec.Claim)
			}
		}
		require.Equal(t, []ledger.Event{ledger.EventProposed, ledger.EventStarted, ledger.EventFinished}, events)
	}
	require.Equal(t, 15, failed)
}

// Nobody approves: no run function of a write is entered, and after each task the data are what they were in a
// shop that nobody touched, to the byte.
func TestReplayWithoutApprovals(t *testing.T) {
	r := newTestReplay(t, false)
	fresh := r.Office.Shop.Load().Snapshot()
	data, text := fresh.Data(), fresh.Bytes()
	require.Greater(t, len(text), 100_000)
	for i, task := range tasks(t) {
		require.NoError(t, r.task(t.Context(), task))
		after := r.Office.Shop.Load().Snapshot()
		require.True(t, reflect.DeepEqual(data, after.Data()), task.ID)
		if i%40 == 0 { // it follows from the above, at a hundredth of the time
			require.True(t, bytes.Equal(text, after.Bytes()), task.ID)
		}
		r.count("tasks")
		r.Pass(registry.DefaultLifetime)
	}
	require.NoError(t, r.check(t.Context()))
	var out bytes.Buffer
	r.report(&out)
	requireTable(t, "testdata/replay_none.txt", out.String())
	r.requireRefused(t)
	require.Equal(t, map[string]int{
		"tasks": 488, "reads": 211, "writes": 752, "pures": 9, "handoffs": 1, "forbidden": 10, "proposed": 750, "now expired": 750,
	}, r.counts)
	require.Zero(t, r.Office.Runs.Load())
	open, err := r.Desk.Pending(t.Context(), store.Scope, authz.LoggedIn(store.Sam), ledger.Cursor{})
	require.NoError(t, err)
	require.Empty(t, open)
}
