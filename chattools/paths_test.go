package chattools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Segments that try to be more, or other, than one child of /yard/own.
var hostileIDs = []string{
	"", ".", "..", "../own", "../../etc", "/", "/own", "own/", "own/1", "own//1", "own/../../x", `..\own`, `own\1`,
	"%2e%2e", "..%2fown", "own%00", "own\x00", "own\n", " own", "own ", "own\t", "\u00a0own",
	"o\u0308wn", "own\u200b", "own\u202e", "own\u00ad", "\ufeffown", "own\u2028", "own\ufffd", strings.Repeat("o", 256),
}

// Segments that look like the one below which everything is allowed, and are others.
var lookAlikes = []string{"own2", "ow", "Own", "OWN", "оwn", "own.", "own-", "ｏwn", "own1", "wn"}

// openFence opens a yard in which mira may act below /yard/own only, with a standing grant for everywhere.
func openFence(t *testing.T) *yard {
	t.Helper()
	y := openYard(t)
	y.give(t, "move", "g1", below("/"))
	y.edit(t, "mira", func(_ *authz.Facts, a *authz.Actor) {
		a.Roles = nil
		a.Overrides = []authz.Override{{At: authz.MustPath("/yard/own"), Effect: authz.Allow, Of: []authz.Permission{
			"yard:move", "yard:sell", "yard:peek",
		}}}
	})
	return y
}

// Whatever a parameter names outside its place, the answer is the one for a record that does not exist, byte
// for byte, and nothing runs.
func TestNoSegmentLeavesItsPlace(t *testing.T) {
	for _, tool := range []string{"move", "sell", "peek"} {
		y := openFence(t)
		y.inside = nil // peek would panic if it ran
		session := y.mira(t, "ben")
		want, err := json.Marshal(y.call(t.Context(), session, tool, "unknown", ""))
		require.NoError(t, err)
		require.Contains(t, string(want), `"forbidden"`)
		for _, id := range append(append(hostileIDs, lookAlikes...), "nowhere", "zero", "c1") {
			got, err := json.Marshal(y.call(t.Context(), session, tool, id, ""))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "%s %q", tool, id)
		}
		require.EqualValues(t, 0, y.runs.Load())
		require.Empty(t, y.rows(t), "nothing was proposed either")
	}
	y := openFence(t)
	require.Equal(t, chattools.Done, y.call(t.Context(), y.mira(t, "ben"), "move", "own", "").Status)
}

// One target outside is enough, wherever it stands among those inside.
func TestEveryTargetHasToBeInside(t *testing.T) {
	y := openFence(t)
	session := y.mira(t, "ben")
	for _, place := range []string{"/yard", "/", "/yard/own2", "/yard/own2/own", "/own", "/yard/x/own", "/yard/ow"} {
		y.place("x", place)
		require.Equal(t, chattools.Forbidden, y.call(t.Context(), session, "move", "x", "").Status, place)
	}
	for _, place := range []string{"/yard/own", "/yard/own/x", "/yard/own/x/y"} {
		y.place("x", place)
		require.Equal(t, chattools.Done, y.call(t.Context(), session, "move", "x", "").Status, place)
	}
	require.EqualValues(t, 3, y.runs.Load())
}

// A record that moves on its way through proposal, approval and claim is not acted upon where it went, whoever
// approves and however far they may reach.
func TestARecordThatMovesIsNotFollowed(t *testing.T) {
	const inside = "/yard/own/x"
	for _, place := range []string{"/yard/own2/x", "/elsewhere", "/", "/yard/own/y", "../x"} {
		outside := place != "/yard/own/y"
		steps := map[string]func(y *yard) error{
			"before the page": func(y *yard) error {
				a := y.call(t.Context(), y.mira(t, "ben"), "sell", "x", "")
				y.place("x", place)
				return y.approve(t, a.Proposal, "olga")
			},
			"between page and click": func(y *yard) error {
				a := y.call(t.Context(), y.mira(t, "ben"), "sell", "x", "")
				page, err := y.desk.Open(t.Context(), "port", a.Proposal, authz.LoggedIn("olga"))
				require.NoError(t, err)
				require.NoError(t, page.Refusal)
				y.place("x", place)
				_, err = y.desk.Approve(t.Context(), page.Redemption())
				return err
			},
			"between check and claim": func(y *yard) error {
				a := y.call(t.Context(), y.mira(t, "ben"), "sell", "x", "")
				y.book.claiming = func() { y.place("x", place) }
				return y.approve(t, a.Proposal, "olga")
			},
			"between claim and run": func(y *yard) error {
				a := y.call(t.Context(), y.mira(t, "ben"), "sell", "x", "")
				y.book.claimed = func() { y.place("x", place) }
				return y.approve(t, a.Proposal, "olga")
			},
		}
		for when, step := range steps {
			t.Run(place+" "+when, func(t *testing.T) {
				y := openFence(t)
				y.place("x", inside)
				err := step(y)
				require.Contains(t, []ledger.Code{ledger.Stale, ledger.Forbidden}, registry.CodeOf(err), "%v", err)
				require.EqualValues(t, 0, y.runs.Load())

				// Even back in its place it does not run twice or late: it was spent, or it is as it was.
				y.place("x", inside)
				p := y.rows(t)[0]
				spent := p.Decision == ledger.Claimed
				require.Equal(t, strings.Contains(when, "claim"), spent)
				err = y.approve(t, p.ID, "olga")
				require.Equal(t, spent, err != nil)
				if spent {
					require.EqualValues(t, 0, y.runs.Load())
				}
			})
		}
		// A proposal for the new place is judged anew.
		y := openFence(t)
		y.place("x", place)
		status := y.call(t.Context(), y.mira(t, "ben"), "sell", "x", "").Status
		require.Equal(t, outside, status == chattools.Forbidden, place)
	}
}
