package main

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Each kind of attack and what it has to be refused with, on each of the 750 writes.
var attacks = map[string]map[string]int{
	"one leaf altered in what was shown":      {"bad_token params_changed": 750},
	"another operator's token":                {"bad_token user_mismatch": 750},
	"another proposal's token":                {"bad_token params_changed": 750},
	"the customer approves their own request": {"forbidden no_permission": 750},
	"another customer as principal":           {"forbidden not_on_target": 750},
	"the operator lost the permission":        {"forbidden no_permission": 750},
	"the tool was disabled":                   {"unavailable disabled": 750},
	"the ceiling dropped":                     {"unavailable above_ceiling": 750},
	"the definition changed":                  {"stale": 750},
	"the target's version changed":            {"stale": 750},
	"row changed: action":                     {"tampered": 750},
	"row changed: actor":                      {"tampered": 750},
	"row changed: allowlist":                  {"tampered": 750},
	"row changed: background":                 {"tampered": 750},
	"row changed: conversation":               {"tampered": 750},
	"row changed: created at":                 {"tampered": 750},
	"row changed: definition":                 {"tampered": 750},
	"row changed: expires at":                 {"tampered": 750},
	"row changed: id":                         {"tampered": 750},
	"row changed: kind":                       {"tampered": 750},
	"row changed: one parameter":              {"tampered": 750},
	"row changed: origin":                     {"tampered": 750},
	"row changed: principal":                  {"tampered": 750},
	"row changed: revised by":                 {"tampered": 750},
	"row changed: run":                        {"tampered": 750},
	"row changed: seal":                       {"tampered": 750},
	"row changed: supersedes":                 {"tampered": 750},
	"row changed: target version":             {"tampered": 750},
	"row changed: targets":                    {"tampered": 750},
	"row changed: via":                        {"tampered": 750},
	"a dismissed proposal":                    {"dismissed": 750},
	"a dismissed row turned back to proposed": {"tampered": 750},
	"an expired token":                        {"expired": 750},
	"the same token again":                    {"spent executed": 750},
	"an executed row turned back to proposed": {"stale": 734, "tampered": 16},
}

func TestEveryAttackOnEveryWrite(t *testing.T) {
	a, err := newAttack(t.Context())
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, a.print(t.Context(), &out, tasks(t)))
	require.Empty(t, a.faults)
	require.EqualValues(t, 750, a.Office.Runs.Load(), "only what staff approved ran")
	require.ElementsMatch(t, slices.Collect(maps.Keys(attacks)), a.order)
	for kind, want := range attacks {
		require.Equal(t, 750, a.results[kind].tries, kind)
		require.Zero(t, a.results[kind].runs, kind)
		require.Equal(t, want, a.results[kind].refusals, kind)
	}
	require.Contains(t, out.String(), "approved runs in between: 750, all compared with the recording\n")
}

// Each way of tampering does change the row, or its attack would prove nothing, and breaks the seal.
func TestEveryColumnIsChanged(t *testing.T) {
	a, err := newAttack(t.Context())
	require.NoError(t, err)
	session, err := a.Session("isabella_lopez_6490", "one")
	require.NoError(t, err)
	task, err := taskOf(story)
	require.NoError(t, err)
	call := task.Actions[len(task.Actions)-1]
	p, err := a.Desk.Propose(t.Context(), registry.Call{Session: session, Action: call.Name, Params: call.Arguments})
	require.NoError(t, err)
	for column, change := range columns {
		row := p.Proposal
		change(&row)
		require.NotEqual(t, p.Proposal, row, column)
		if column != "id" {
			require.Equal(t, p.Proposal.ID, row.ID, column)
		}
		require.ErrorIs(t, ledger.CheckSeal(a.Keys, &row), ledger.ErrTampered, column)
	}
}

// brokenly runs the attacks of the first tasks against a desk that approves by approve.
func brokenly(t *testing.T, approve func(*attack) func(context.Context, registry.Redemption) (registry.Result, error)) *attack {
	t.Helper()
	a, err := newAttack(t.Context())
	require.NoError(t, err)
	a.approve = approve(a)
	var out bytes.Buffer
	_ = a.print(t.Context(), &out, tasks(t)[:1]) // a broken desk may stop it on the way
	return a
}

// The attacks notice a desk that does not look at what was shown.
func TestTheAttacksNoticeADeskThatIgnoresShown(t *testing.T) {
	a := brokenly(t, func(a *attack) func(context.Context, registry.Redemption) (registry.Result, error) {
		return func(ctx context.Context, r registry.Redemption) (registry.Result, error) {
			if row, err := a.Book.Proposal(ctx, store.Scope, r.Proposal); err == nil {
				r.Shown = row.Params.Hash()
			}
			return a.Desk.Approve(ctx, r)
		}
	})
	require.NotEmpty(t, a.faults)
	require.Contains(t, a.faults[0], "one leaf altered in what was shown: 1 runs")
	require.Equal(t, 1, a.results["one leaf altered in what was shown"].runs)
}

// They notice one that makes the operator's token itself, one that refuses for another reason, and one that
// says yes and does nothing.
func TestTheAttacksNoticeOtherBrokenDesks(t *testing.T) {
	for name, test := range map[string]struct {
		approve func(*attack) func(context.Context, registry.Redemption) (registry.Result, error)
		want    string
	}{
		"it makes the token itself": {func(a *attack) func(context.Context, registry.Redemption) (registry.Result, error) {
			return func(ctx context.Context, r registry.Redemption) (registry.Result, error) {
				if row, err := a.Book.Proposal(ctx, store.Scope, r.Proposal); err == nil {
					if b, err := registry.Binding(&row, r.Operator, a.Now()); err == nil {
						r.Token, _ = a.Keys.Sign(b)
					}
				}
				return a.Desk.Approve(ctx, r)
			}
		}, "another operator's token: 1 runs"},
		"it refuses for another reason": {func(*attack) func(context.Context, registry.Redemption) (registry.Result, error) {
			return func(context.Context, registry.Redemption) (registry.Result, error) {
				return registry.Result{}, &registry.Refusal{Code: ledger.Unrecorded}
			}
		}, "one leaf altered in what was shown: 0 runs, registry: unrecorded, expected [bad_token]"},
		"it says yes and does nothing": {func(*attack) func(context.Context, registry.Redemption) (registry.Result, error) {
			return func(context.Context, registry.Redemption) (registry.Result, error) { return registry.Result{}, nil }
		}, "one leaf altered in what was shown: 0 runs, <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			a := brokenly(t, test.approve)
			require.NotEmpty(t, a.faults)
			require.Contains(t, a.faults[0], test.want)
		})
	}
}
