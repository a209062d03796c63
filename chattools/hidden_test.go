package chattools_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
)

// argumentsOfAllKinds are what a model may send, sensible or not.
var argumentsOfAllKinds = []chattools.Call{
	{Arguments: []byte(`{"order":"a1","cents":500}`)},
	{Arguments: []byte(`{"order":"a1"}`)},
	{Arguments: []byte(`{"order":"no such order","cents":500}`)},
	{Arguments: []byte(`{"order":`)},
	{Arguments: []byte(`null`)},
	{Arguments: []byte(``)},
	{Arguments: nil},
	{Arguments: []byte("\xff\xfe\x00")},
	{Arguments: []byte(`{"a":1,"a":2}`)},
	{Arguments: []byte(`{"order":"` + strings.Repeat("x", 400<<10) + `"}`)},
	{Arguments: []byte(strings.Repeat(`{"a":`, 5000))},
	{Arguments: []byte(`{"order":"a1","cents":500}`), Truncated: true},
	{Arguments: nil, Truncated: true},
}

// requireUnknown holds every way of calling a tool against a name that never existed, byte for byte, and
// wants nothing of the action to have been asked.
func requireUnknown(t *testing.T, s *shop, session authz.Session, name string) {
	t.Helper()
	targets, runs := s.targets.Load(), s.runs.Load()
	for _, c := range argumentsOfAllKinds {
		c.ID, c.Name = "call_1", name
		got := text(t, s.gate.Call(t.Context(), session, c))
		c.Name = "never_existed"
		require.Equal(t, text(t, s.gate.Call(t.Context(), session, c)), got, "%.40s", c.Arguments)
		require.Equal(t, `{"call_id":"call_1","status":"unknown","text":"There is no such tool."}`, got)
	}
	require.Equal(t, targets, s.targets.Load(), "a target was asked for")
	require.Equal(t, runs, s.runs.Load())
}

// Each layer that removes a tool removes it from the catalog and from the gate alike, whatever its arguments.
func TestARemovedToolIsUnknown(t *testing.T) {
	deny := func(tool string) func(*authz.Facts, *authz.Actor) {
		return func(_ *authz.Facts, a *authz.Actor) {
			a.Grants = append(a.Grants, authz.Grant{Tool: tool, Effect: authz.Deny})
		}
	}
	ceiling := func(m authz.Mode) func(*authz.Facts, *authz.Actor) {
		return func(f *authz.Facts, _ *authz.Actor) { f.Settings.Ceiling = m }
	}
	for _, test := range []struct {
		name   string
		tool   string
		model  authz.ID
		edit   func(*authz.Facts, *authz.Actor)
		narrow authz.Allowlist
	}{
		{"a change above the ceiling", "refund_order", "assistant", ceiling(authz.Read), authz.Any()},
		{"an execute above the ceiling", "add_note", "assistant", ceiling(authz.Propose), authz.Any()},
		{"disabled change", "refund_order", "assistant", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"refund_order"} }, authz.Any()},
		{"disabled read", "find_order", "assistant", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"find_order"} }, authz.Any()},
		{"a change outside the allowlist", "refund_order", "assistant", nil, authz.Only("find_order")},
		{"a read outside the allowlist", "find_order", "assistant", nil, authz.Only("refund_order")},
		{"an allowlist of nothing", "find_order", "assistant", nil, authz.Only()},
		{"a denied change", "refund_order", "assistant", deny("refund_order"), authz.Any()},
		{"a denied read", "find_order", "assistant", deny("find_order"), authz.Any()},
		{"a model without the role", "refund_order", "assistant", func(_ *authz.Facts, a *authz.Actor) { a.Roles = nil }, authz.Any()},
		{"a model's own deny everywhere", "refund_order", "assistant", func(_ *authz.Facts, a *authz.Actor) {
			a.Overrides = []authz.Override{{At: authz.Root(), Effect: authz.Deny, Of: []authz.Permission{authz.Every}}}
		}, authz.Any()},
		{"a change for a viewer", "refund_order", "watcher", nil, authz.Any()},
		{"an explicit tool without a grant", "close_shop", "boss", nil, authz.Any()},
		{"a model that was deactivated", "find_order", "assistant", func(_ *authz.Facts, a *authz.Actor) { a.Active = false }, authz.Any()},
		{"a model that never was", "find_order", "nobody", nil, authz.Any()},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openShop(t, nil)
			session := sessionOf(t, test.model, olga).WithTools(test.narrow)
			if test.edit != nil {
				require.Contains(t, s.names(t, session), test.tool)
				s.edit(t, test.model, test.edit)
			}
			require.NotContains(t, s.names(t, session), test.tool)
			requireUnknown(t, s, session, test.tool)
		})
	}
}

// A tool is unknown to a session without a scope or without facts, too.
func TestASessionOfNowhereKnowsNoTool(t *testing.T) {
	s := openShop(t, nil)
	requireUnknown(t, s, authz.Session{}, "find_order")
	elsewhere, err := authz.NewSession("elsewhere", "assistant", authz.For(olga))
	require.NoError(t, err)
	requireUnknown(t, s, elsewhere, "refund_order")
}

func TestHostileNames(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	for _, name := range []string{
		"", " ", "find_order ", " find_order", "Find_Order", "find-order", "find_order\x00", "find_order\n", "find_order/../refund_order",
		"fin\u200bd_order", "\u202efind_order", "\xff\xfe", "*", "constructor", "__proto__", strings.Repeat("a", 1<<20),
	} {
		requireUnknown(t, s, session, name)
	}
	records, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Limit: 10000})
	require.NoError(t, err)
	require.Less(t, len(records), 20, "made-up names fill the audit trail")
	for _, r := range records {
		require.Less(t, len(r.Action), 200)
	}
}

// The catalog is no proof: what it showed a moment ago is unknown once it was taken away.
func TestTheCallIsCheckedAgain(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	require.Contains(t, s.names(t, session), "refund_order")
	require.Equal(t, chattools.NeedsApproval, s.call(t, session, "refund_order", `{"order":"a1","cents":5}`).Status)
	s.edit(t, "assistant", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"refund_order"} })
	requireUnknown(t, s, session, "refund_order")
}
