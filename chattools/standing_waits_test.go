package chattools_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// denied is one way in which a standing grant of olga's to mira for a tool does not hold. Whatever is left
// out means: the tool is move, mira works for ben, the container is c1, and the call waits for a person.
type denied struct {
	name   string
	tool   string
	id     string
	seal   func(*authz.Standing)       // before the grant is sealed
	forge  func(*authz.Standing)       // after it was sealed
	change func(t *testing.T, y *yard) // afterwards
	as     func(t *testing.T, y *yard) authz.Session
	status chattools.Status
	record string // event, code and reason
}

func (y *yard) off(t *testing.T, change func(*authz.Settings)) {
	y.edit(t, "olga", func(f *authz.Facts, _ *authz.Actor) { change(&f.Settings) })
}

func below(path string) func(*authz.Standing) {
	return func(s *authz.Standing) { s.Below = authz.MustPath(path) }
}

const (
	elsewhere = "proposed needs_approval grant_elsewhere"
	invalid   = "proposed needs_approval grant_invalid"
)

var deniedGrants = []denied{
	{name: "target beside the subtree", seal: below("/yard/orders"), record: elsewhere},
	{name: "target above the subtree", seal: below("/yard/c1/box"), record: elsewhere},
	{name: "look-alike sibling, longer", id: "orders2", seal: below("/yard/orders"), record: elsewhere},
	{name: "look-alike sibling, shorter", id: "order", seal: below("/yard/orders"), record: elsewhere},
	{name: "look-alike sibling, Cyrillic", id: "оrders", seal: below("/yard/orders"), record: elsewhere},
	{name: "look-alike sibling, case", id: "Orders", seal: below("/yard/orders"), record: elsewhere},
	{name: "the same segment elsewhere", id: "x", seal: below("/yard/orders"), record: elsewhere,
		change: func(_ *testing.T, y *yard) { y.place("x", "/other/orders") }},
	{name: "hostile segment, up", id: "../orders", seal: below("/yard/orders"), status: chattools.Forbidden, record: "refused forbidden no_target"},
	{name: "hostile segment, down", id: "orders/../c1", seal: below("/yard/orders"), status: chattools.Forbidden, record: "refused forbidden no_target"},
	{name: "hostile segment, encoded", id: "..%2forders", status: chattools.Forbidden, record: "refused forbidden no_target"},
	{name: "no segment", id: "", status: chattools.Forbidden, record: "refused forbidden no_target"},
	{name: "no target", id: "nowhere", seal: below("/"), status: chattools.Forbidden, record: "refused forbidden no_target"},
	{name: "a target that is no path", id: "zero", seal: below("/"), status: chattools.Forbidden, record: "refused forbidden no_target"},
	{name: "principal who may only ask", as: func(t *testing.T, y *yard) authz.Session { return y.mira(t, "asta") },
		record: "refused needs_approval no_permission"},
	{name: "changed definition", change: func(t *testing.T, y *yard) { y.rebuild(t, "2") }, record: "proposed needs_approval grant_stale"},
	{name: "giver lost the right", record: "refused forbidden no_permission", change: func(t *testing.T, y *yard) {
		y.edit(t, "olga", func(_ *authz.Facts, a *authz.Actor) { a.Roles = []string{"asker"} })
	}},
	{name: "giver denied the target", record: "refused forbidden deny_override", change: func(t *testing.T, y *yard) {
		y.edit(t, "olga", func(_ *authz.Facts, a *authz.Actor) {
			a.Overrides = []authz.Override{{At: authz.MustPath("/yard/c1"), Of: []authz.Permission{"yard:move"}}}
		})
	}},
	{name: "giver is inactive", record: "refused forbidden inactive", change: func(t *testing.T, y *yard) {
		y.edit(t, "olga", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	}},
	{name: "giver is unknown", seal: func(s *authz.Standing) { s.By = "oleg" }, record: "refused forbidden unknown_actor"},
	{name: "giver is a model", seal: func(s *authz.Standing) { s.By = "sub" }, record: "refused forbidden wrong_kind"},
	{name: "giver is the model itself", seal: func(s *authz.Standing) { s.By = "mira" }, record: "refused forbidden wrong_kind"},
	{name: "lowered ceiling", status: chattools.Unknown, record: "refused unavailable above_ceiling", change: func(t *testing.T, y *yard) {
		y.off(t, func(s *authz.Settings) { s.Ceiling = authz.Propose })
	}},
	{name: "disabled tool", status: chattools.Unknown, record: "refused unavailable disabled", change: func(t *testing.T, y *yard) {
		y.off(t, func(s *authz.Settings) { s.Disabled = []string{"move"} })
	}},
	{name: "deny grant beside it", status: chattools.Unknown, record: "refused unavailable deny_grant", change: func(t *testing.T, y *yard) {
		y.edit(t, "mira", func(_ *authz.Facts, a *authz.Actor) { a.Grants = append(a.Grants, authz.Grant{Tool: "move"}) })
	}},
	{name: "outside the session's allowlist", status: chattools.Unknown, record: "refused unavailable not_listed",
		as: func(t *testing.T, y *yard) authz.Session { return y.mira(t, "ben").WithTools(authz.Only("lift")) }},
	{name: "model is inactive", status: chattools.Unknown, record: "refused unavailable inactive", change: func(t *testing.T, y *yard) {
		y.edit(t, "mira", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	}},
	{name: "standing grants are off", record: "proposed needs_approval standing_off", change: func(t *testing.T, y *yard) {
		y.off(t, func(s *authz.Settings) { s.Standing = false })
	}},
	{name: "exactly at its end", record: "proposed needs_approval grant_ended", change: func(_ *testing.T, y *yard) {
		y.clock.Store(time.Hour.Microseconds())
	}},
	{name: "just before its start", record: "proposed needs_approval grant_ended", change: func(_ *testing.T, y *yard) { y.clock.Store(-1) }},
	{name: "made longer", forge: func(s *authz.Standing) { s.Until = s.Since.Add(31 * 24 * time.Hour) }, record: invalid},
	{name: "given more uses", forge: func(s *authz.Standing) { s.Uses = 9 }, record: invalid},
	{name: "moved to the root", seal: below("/yard/orders"), forge: below("/"), record: invalid},
	{name: "given in another name", forge: func(s *authz.Standing) { s.By = "otto" }, record: invalid},
	{name: "sealed by nobody", forge: func(s *authz.Standing) { s.Seal = "" }, record: invalid},
	{name: "tool of mode propose", tool: "sell", record: "proposed needs_approval click_only"},
	{name: "four eyes, and the giver is the principal", tool: "seal", record: "refused forbidden same_person",
		as: func(t *testing.T, y *yard) authz.Session { return y.mira(t, "olga") }},
	{name: "delegated to a model without one", record: "proposed needs_approval ", as: func(t *testing.T, y *yard) authz.Session {
		s, err := y.mira(t, "ben").Delegate("sub")
		require.NoError(t, err)
		return s
	}},
	{name: "revoked", record: "proposed needs_approval ", change: func(t *testing.T, y *yard) { y.revoke(t) }},
}

func TestWhereAStandingGrantDoesNotHold(t *testing.T) {
	for _, c := range deniedGrants {
		t.Run(c.name, func(t *testing.T) {
			y := openYard(t)
			tool, status := c.tool, c.status
			if tool == "" {
				tool = "move"
			}
			if status == "" {
				status = chattools.NeedsApproval
			}
			s := y.give(t, tool, "g1", c.seal)
			if c.forge != nil {
				y.revoke(t)
				c.forge(s)
				y.grant(t, "port", "mira", tool, s)
			}
			if c.change != nil {
				c.change(t, y)
			}
			session := y.mira(t, "ben")
			if c.as != nil {
				session = c.as(t, y)
			}
			id := c.id
			if id == "" && c.name != "no segment" {
				id = "c1"
			}
			a := y.call(t.Context(), session, tool, id, "")
			require.Equal(t, status, a.Status, "%v", y.reasons(t, tool))
			require.EqualValues(t, 0, y.runs.Load())
			require.Empty(t, y.used(t))
			require.Contains(t, y.reasons(t, tool), c.record)
			if status == chattools.NeedsApproval {
				require.Equal(t, ledger.Undecided, y.row(t, a.Proposal).Decision)
				require.NoError(t, y.approve(t, a.Proposal, "otto"), "a person may still say yes")
				require.EqualValues(t, 1, y.runs.Load())
			}
		})
	}
}

// What is near the edge of the table above, and holds.
func TestWhereAStandingGrantHolds(t *testing.T) {
	for _, c := range []denied{
		{name: "in the subtree", seal: below("/yard/c1")},
		{name: "below the subtree", id: "x", seal: below("/yard/orders"), change: func(_ *testing.T, y *yard) { y.place("x", "/yard/orders/W42") }},
		{name: "everywhere", seal: below("/")},
		{name: "at its start", seal: func(s *authz.Standing) { s.Since = yardOpens }},
		{name: "just before its end", change: func(_ *testing.T, y *yard) { y.clock.Store(time.Hour.Microseconds() - 1) }},
		{name: "the longest", seal: func(s *authz.Standing) { s.Until = s.Since.Add(authz.MaxStanding) },
			change: func(_ *testing.T, y *yard) { y.clock.Store(authz.MaxStanding.Microseconds() - 1) }},
		{name: "principal who may only ask", seal: func(s *authz.Standing) { s.AskOnly = true },
			as: func(t *testing.T, y *yard) authz.Session { return y.mira(t, "asta") }},
		{name: "in the background", as: func(t *testing.T, y *yard) authz.Session { return y.mira(t, "") }},
		{name: "the giver is the principal", as: func(t *testing.T, y *yard) authz.Session { return y.mira(t, "olga") }},
		{name: "four eyes", tool: "seal"},
		{name: "delegated to the model that has it", as: func(t *testing.T, y *yard) authz.Session {
			s, err := authz.NewSession("port", "sub", authz.For(authz.LoggedIn("ben")))
			require.NoError(t, err)
			s, err = s.Delegate("mira")
			require.NoError(t, err)
			return s
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := openYard(t)
			tool, id, session := c.tool, c.id, y.mira(t, "ben")
			if tool == "" {
				tool = "move"
			}
			if id == "" {
				id = "c1"
			}
			y.give(t, tool, "g1", c.seal)
			if c.change != nil {
				c.change(t, y)
			}
			if c.as != nil {
				session = c.as(t, y)
			}
			a := y.call(t.Context(), session, tool, id, "")
			require.Equal(t, chattools.Done, a.Status, "%v", y.reasons(t, tool))
			require.EqualValues(t, 1, y.runs.Load())
		})
	}
}

// A grant is for one model, one tool and one scope. Copied to another it is no grant.
func TestACopiedGrantIsNone(t *testing.T) {
	session := func(t *testing.T, scope authz.Scope, model authz.ID) authz.Session {
		s, err := authz.NewSession(scope, model, authz.For(authz.LoggedIn("ben")))
		require.NoError(t, err)
		return s
	}
	for _, c := range []struct {
		name  string
		scope authz.Scope
		model authz.ID
		tool  string
	}{
		{"to another model", "port", "sub", "move"},
		{"to another tool", "port", "mira", "lift"},
		{"to another scope", "harbour", "mira", "move"},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := openYard(t)
			s := y.give(t, "move", "g1", nil)
			if c.scope == "port" {
				y.revoke(t)
			}
			if c.tool == "lift" { // even if it names the other tool's definition
				s.Definition = y.reg.Lookup("lift").Definition
			}
			y.grant(t, c.scope, c.model, c.tool, s)
			a := y.call(t.Context(), session(t, c.scope, c.model), c.tool, "c1", "")
			require.Equal(t, chattools.NeedsApproval, a.Status)
			require.EqualValues(t, 0, y.runs.Load())
			trail, err := y.book.Audit(t.Context(), ledger.AuditQuery{Scope: c.scope, Proposal: a.Proposal})
			require.NoError(t, err)
			require.Equal(t, string(authz.ReasonGrantInvalid), trail[0].Reason)
		})
	}
	t.Run("nowhere", func(t *testing.T) { // the grant of one scope does not show in another
		y := openYard(t)
		y.give(t, "move", "g1", nil)
		a := y.call(t.Context(), session(t, "harbour", "mira"), "move", "c1", "")
		require.Equal(t, chattools.NeedsApproval, a.Status)
		require.EqualValues(t, 0, y.runs.Load())
	})
}

// A permission that takes a click can have no tool that a standing grant could serve.
func TestAProposeOnlyPermissionHasNoToolOfModeExecute(t *testing.T) {
	y := openYard(t)
	for _, only := range []authz.Permission{"yard:move", "yard:ask"} {
		_, err := registry.New(registry.Config{
			Actions: y.reg.Actions(), ProposeOnly: []authz.Permission{only}, Source: y.people, Ledger: y.book, Keys: y.keys,
		})
		require.ErrorContains(t, err, "is execute, but \""+string(only)+"\" is propose-only")
	}
}
