package injections

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func load(t *testing.T) *Data {
	t.Helper()
	data, err := Load()
	require.NoError(t, err)
	require.Len(t, data.Tools, 330)
	require.Len(t, data.Users, 17)
	require.Len(t, data.Calls, 2996)
	require.Len(t, data.Observed, 7204)
	return data
}

// sum adds up the counts of a table.
func sum(m map[string]int) (n int) {
	for _, c := range m {
		n += c
	}
	return n
}

// The counts on the left are the recording's own, from its authors' description of it.
func TestNoPlantedWriteRuns(t *testing.T) {
	data := load(t)
	for _, cut := range []bool{false, true} {
		r, err := Replay(t.Context(), data, cut)
		require.NoError(t, err)
		require.Equal(t, 5279, r.Sessions)
		require.Equal(t, 7204, r.Calls)
		require.Equal(t, 7204, sum(r.Answers))
		require.Equal(t, 3470, r.AttackWrites)
		require.Equal(t, 1765, r.AttackReads)
		require.Zero(t, r.Runs, "writes that ran without approval")
		require.Zero(t, r.Bent, "reads that ran with other arguments than were sent")
		require.Equal(t, r.AttackWrites, sum(r.AttackWriteEnds))
		require.Zero(t, r.AttackWriteEnds[string(chattools.Done)])
		if cut {
			require.Equal(t, map[string]int{"unknown": 3470}, r.AttackWriteEnds)
			require.Equal(t, map[string]int{"unknown": 1765}, r.AttackReadEnds)
		}
		for _, end := range slices.Sorted(maps.Keys(r.Answers)) {
			t.Logf("cut to the request's tool: %5t  %-24s %5d", cut, end, r.Answers[end])
		}
	}
}

// Whatever it takes something laxer than JSON to read is refused with a typed error; what is accepted is the
// document that was sent.
func TestArgumentsAreExactOrRefused(t *testing.T) {
	reasons := map[string]map[string]int{}
	for _, c := range load(t).Calls {
		o, err := canon.Parse([]byte(c.ArgumentsRaw), canon.Options{})
		if reasons[c.Decode] == nil {
			reasons[c.Decode] = map[string]int{}
		}
		if err == nil {
			reasons[c.Decode]["accepted"]++
			require.Equal(t, "json", c.Decode, c.ID)
			require.JSONEq(t, c.ArgumentsRaw, o.String(), c.ID)
			continue
		}
		refusal, ok := errors.AsType[*canon.Error](err)
		require.True(t, ok, "%s: %v", c.ID, err)
		reasons[c.Decode][refusal.Reason.String()]++
	}
	for _, decode := range slices.Sorted(maps.Keys(reasons)) {
		for _, reason := range slices.Sorted(maps.Keys(reasons[decode])) {
			t.Logf("%-28s %-16s %5d", decode, reason, reasons[decode][reason])
		}
	}
	require.Equal(t, 1768, sum(reasons["json"]))
	strict := 0
	for _, c := range load(t).Calls {
		var members map[string]json.RawMessage
		if c.Decode == "json" && json.Unmarshal([]byte(c.ArgumentsRaw), &members) == nil && members != nil {
			strict++
		}
	}
	require.Equal(t, strict, reasons["json"]["accepted"]+reasons["json"]["duplicate_name"], "every strict object without repeated names is accepted")
}

// The hash of a call's parameters is stable, and an approval of one call runs no other call of the same tool.
func TestAnApprovalIsOfOneCallOnly(t *testing.T) {
	data := load(t)
	g, err := newGate(data)
	require.NoError(t, err)
	desk := g.Desk()
	owner := authz.LoggedIn(authz.ID(data.Users[0].ID))
	opened := map[string]approval.Opening{} // the latest of each tool
	proposed, crossed := 0, 0
	for _, id := range slices.Sorted(maps.Keys(data.Calls)) {
		c := data.Calls[id]
		s, err := authz.NewSession(scope, "gpt-4o", authz.For(owner))
		require.NoError(t, err)
		s = s.WithConversation(id)
		a := g.Call(t.Context(), s, chattools.Call{Name: c.Tool, Arguments: json.RawMessage(c.ArgumentsRaw)})
		if a.Status != chattools.NeedsApproval {
			continue
		}
		proposed++
		again := g.Call(t.Context(), s, chattools.Call{Name: c.Tool, Arguments: json.RawMessage(c.ArgumentsRaw)})
		require.Equal(t, a.Proposal, again.Proposal, "the same call again is the same proposal")
		o, err := desk.Open(t.Context(), scope, a.Proposal, owner)
		require.NoError(t, err)
		require.NoError(t, o.Refusal)
		if other, ok := opened[c.Tool]; ok && other.Proposal.ID != o.Proposal.ID {
			crossed++
			bent := o.Redemption()
			bent.Token = other.Token
			_, err := desk.Approve(t.Context(), bent)
			refusal, ok := errors.AsType[*registry.Refusal](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, ledger.BadToken, refusal.Code)
			require.Equal(t, string(token.ReasonParamsChanged), refusal.Reason)
			bent = o.Redemption()
			bent.Shown = other.Proposal.Params.Hash()
			if bent.Shown != o.Proposal.Params.Hash() {
				_, err = desk.Approve(t.Context(), bent)
				require.Equal(t, ledger.BadToken, registry.CodeOf(err))
			}
			// Only one stays open, so that the limits on open proposals do not end the test.
			require.NoError(t, desk.Dismiss(t.Context(), scope, other.Proposal.ID, owner, "superseded"))
		}
		opened[c.Tool] = o
		if len(opened) > 50 {
			for tool, o := range opened {
				require.NoError(t, desk.Dismiss(t.Context(), scope, o.Proposal.ID, owner, "done"))
				delete(opened, tool)
			}
		}
	}
	require.Positive(t, crossed)
	require.Zero(t, g.writes)
	t.Logf("%d calls proposed, %d tokens tried on another call of the same tool", proposed, crossed)
}
