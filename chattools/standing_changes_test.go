package chattools_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// What can change while a call is under way, and what the model reads if it changed right after the proposal,
// when nothing is spent yet.
var underWay = []struct {
	name   string
	change func(t *testing.T, y *yard)
	early  chattools.Status
	late   ledger.Code // why a claimed proposal does not run
}{
	{"revoked", func(t *testing.T, y *yard) { y.revoke(t) }, chattools.NeedsApproval, ledger.NeedsApproval},
	{"turned off", func(t *testing.T, y *yard) {
		y.off(t, func(s *authz.Settings) { s.Standing = false })
	}, chattools.NeedsApproval, ledger.NeedsApproval},
	{"giver deactivated", func(t *testing.T, y *yard) {
		y.edit(t, "olga", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	}, chattools.NeedsApproval, ledger.Forbidden},
	{"principal only asks", func(t *testing.T, y *yard) {
		y.edit(t, "ben", func(_ *authz.Facts, a *authz.Actor) { a.Roles = []string{"asker"} })
	}, chattools.NeedsApproval, ledger.NeedsApproval},
	{"grant replaced by another", func(t *testing.T, y *yard) {
		y.revoke(t)
		y.give(t, "move", "g2", func(s *authz.Standing) { s.By = "otto" })
	}, chattools.Done, ledger.NeedsApproval},
	{"ceiling lowered", func(t *testing.T, y *yard) {
		y.off(t, func(s *authz.Settings) { s.Ceiling = authz.Read })
	}, chattools.Unknown, ledger.Unavailable},
	{"record moved out of the subtree", func(_ *testing.T, y *yard) { y.place("c1", "/gone/c1") }, chattools.Failed, ledger.Stale},
	{"record moved within the subtree", func(_ *testing.T, y *yard) { y.place("c1", "/yard/c2") }, chattools.Failed, ledger.Stale},
	{"record moved to the root", func(_ *testing.T, y *yard) { y.place("c1", "/") }, chattools.Failed, ledger.Stale},
}

func TestAChangeBetweenProposalAndClaim(t *testing.T) {
	for _, c := range underWay {
		t.Run(c.name, func(t *testing.T) {
			y := openYard(t)
			y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = 1 })
			y.book.proposed = func() { c.change(t, y) }
			a := y.call(t.Context(), y.mira(t, "ben"), "move", "c1", "")
			require.Equal(t, c.early, a.Status, "%v", y.reasons(t, "move"))
			require.Empty(t, y.used(t)["g1"])
			if c.early == chattools.Done {
				return
			}
			require.EqualValues(t, 0, y.runs.Load())
			rows := y.rows(t)
			require.Len(t, rows, 1)
			require.Equal(t, ledger.Undecided, rows[0].Decision)
			if c.early == chattools.Unknown { // exactly what a tool that does not exist gets
				require.Equal(t, y.call(t.Context(), y.mira(t, "ben"), "no_such_tool", "c1", ""), a)
			} else {
				require.Equal(t, rows[0].ID, a.Proposal)
			}
		})
	}
}

func TestAChangeBetweenCheckAndRun(t *testing.T) {
	traps := map[string]func(y *yard, f func()){
		"before the claim": func(y *yard, f func()) { y.book.claiming = f },
		"after the claim":  func(y *yard, f func()) { y.book.claimed = f },
	}
	for when, set := range traps {
		for _, c := range underWay {
			t.Run(c.name+" "+when, func(t *testing.T) {
				y := openYard(t)
				y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = 1 })
				set(y, func() { c.change(t, y) })
				a := y.call(t.Context(), y.mira(t, "ben"), "move", "c1", "")
				require.Contains(t, []chattools.Status{chattools.Failed, chattools.Forbidden, chattools.Unknown}, a.Status)
				require.EqualValues(t, 0, y.runs.Load(), "it is spent and not run")
				rows := y.rows(t)
				require.Len(t, rows, 1)
				require.Equal(t, ledger.Failed, rows[0].Outcome)
				require.Equal(t, authz.ID("olga"), rows[0].DecidedBy)
				require.Contains(t, rows[0].Error, "registry: "+string(c.late))
				require.Equal(t, map[string]int{"g1": 1}, y.used(t))
				require.Error(t, y.approve(t, rows[0].ID, "otto"), "it cannot be run by a click either")
				require.EqualValues(t, 0, y.runs.Load())
			})
		}
	}
}

// A run function is no place from which a standing grant approves anything.
func TestInsideARunAStandingGrantApprovesNothing(t *testing.T) {
	y := openYard(t)
	y.give(t, "move", "g1", nil)
	var answer chattools.Answer
	var direct, redeemed error
	waiting := y.call(t.Context(), y.mira(t, "asta"), "move", "c9", "")
	y.inside = func(ctx context.Context) {
		answer = y.call(ctx, y.mira(t, "ben"), "move", "c1", "")
		_, direct = y.reg.Invoke(ctx, registry.Call{Action: "move", Params: []byte(`{"id":"c1"}`)})
		_, redeemed = y.reg.RedeemStanding(ctx, "port", waiting.Proposal)
	}

	require.Equal(t, chattools.Done, y.call(t.Context(), y.mira(t, "ben"), "peek", "c1", "").Status)
	require.Equal(t, chattools.Forbidden, answer.Status, "a change inside a read")
	require.Empty(t, answer.Proposal)
	require.Equal(t, ledger.Forbidden, registry.CodeOf(direct))
	require.Equal(t, ledger.Forbidden, registry.CodeOf(redeemed))
	require.EqualValues(t, 0, y.runs.Load())

	drive := y.call(t.Context(), y.mira(t, "ben"), "drive", "c1", "")
	require.NoError(t, y.approve(t, drive.Proposal, "ben"))
	require.Equal(t, chattools.NeedsApproval, answer.Status, "a change inside a change that a person approved")
	require.Equal(t, ledger.NeedsApproval, registry.CodeOf(direct))
	require.Equal(t, ledger.Forbidden, registry.CodeOf(redeemed))
	require.EqualValues(t, 0, y.runs.Load())
	require.Empty(t, y.used(t))
	require.Contains(t, y.reasons(t, "move"), "proposed needs_approval inside_run")

	// Outside it is the same proposal, and the grant serves it.
	require.Equal(t, chattools.Done, y.call(t.Context(), y.mira(t, "ben"), "move", "c1", "").Status)
}
