package approval_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// A token comes only to a principal who could approve that very proposal.
func TestProposeGivesATokenOnlyToWhoMayApprove(t *testing.T) {
	person := func(p authz.Person) authz.Session {
		s, err := authz.NewPersonSession(scope, p)
		require.NoError(t, err)
		return s
	}
	for _, test := range []struct {
		name    string
		session authz.Session
		action  string
		token   bool
	}{
		{"a model for staff", sessionFor(t, sam), "refund", true},
		{"a model for a customer who may only ask", sessionFor(t, ann), "refund", false},
		{"a model in the background", sessionFor(t, authz.Person{}), "refund", false},
		{"four eyes: a model for staff", sessionFor(t, sam), "pay", false},
		{"staff themselves", person(sam), "refund", true},
		{"a customer themselves", person(ann), "refund", false},
		{"four eyes: staff themselves", person(sam), "pay", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOffice(t, nil)
			p, err := o.desk.Propose(t.Context(), call(test.session, test.action, "a1", 5))
			require.NoError(t, err)
			require.Equal(t, test.token, !p.Token.IsZero())
			require.Equal(t, ledger.StateProposed, p.Proposal.State(o.now()))
			require.Equal(t, []string{"proposed needs_approval "}, o.events(t, p.Proposal.ID))
			require.Zero(t, o.runs.Load())
			if test.token {
				_, err := o.desk.Approve(t.Context(), registry.Redemption{
					Scope: scope, Proposal: p.Proposal.ID, Operator: test.session.Human(), Token: p.Token, Shown: p.Proposal.Params.Hash(),
				})
				require.NoError(t, err)
				require.EqualValues(t, 1, o.runs.Load())
			}
		})
	}
}

// A customer who may only ask proposes without any model, and a member of staff approves.
func TestACustomerProposesWithoutAModel(t *testing.T) {
	o := openOffice(t, nil)
	var seen registry.Current
	o.run = func(ctx context.Context, p refundParams) (any, error) {
		seen, _ = registry.CallFrom(ctx)
		return p.Cents, nil
	}
	session, err := authz.NewPersonSession(scope, ann)
	require.NoError(t, err)
	_, err = o.reg.Invoke(t.Context(), call(session, "refund", "a1", 5))
	requireRefused(t, ledger.Forbidden, err)
	p, err := o.desk.Propose(t.Context(), call(session, "refund", "a1", 5))
	require.NoError(t, err)
	requireRefused(t, ledger.Forbidden, o.open(t, p.Proposal.ID, ann).Refusal)
	require.NoError(t, o.approve(t, p.Proposal.ID, sam))
	require.Equal(t, ann.ID(), seen.Session.Actor())
	require.Equal(t, sam.ID(), seen.Operator)
	require.Equal(t, p.Proposal.ID, seen.Proposal)
}

func TestProposeRefuses(t *testing.T) {
	faulty := func(method string, err error) func(*registry.Config) {
		return func(c *registry.Config) {
			f := ledgertest.NewFaulty(c.Ledger)
			f.Inject(ledgertest.Fault{Method: method, Err: err})
			c.Ledger = f
		}
	}
	noRandom := func(c *registry.Config) { c.Random = strings.NewReader("") }
	for _, test := range []struct {
		name   string
		call   registry.Call
		code   ledger.Code
		reason string
		change func(*registry.Config)
	}{
		{"no session", call(authz.Session{}, "refund", "a1", 5), ledger.Unavailable, "invalid_session", nil},
		{"no such action", call(sessionFor(t, ann), "refunds", "a1", 5), ledger.Unknown, "unknown_tool", nil},
		{"an unknown model", call(modelFor(t, "nobody", ann), "refund", "a1", 5), ledger.Unavailable, "unknown_actor", nil},
		{"outside the allowlist", call(sessionFor(t, ann).WithTools(authz.Only("find")), "refund", "a1", 5), ledger.Unavailable, "not_listed", nil},
		{"somebody else's record", call(sessionFor(t, ann), "refund", "b1", 5), ledger.Forbidden, "not_on_target", nil},
		{"no record", call(sessionFor(t, ann), "refund", "none", 5), ledger.Forbidden, "no_target", nil},
		{"no permission at all", call(sessionFor(t, stan), "refund", "a1", 5), ledger.Forbidden, "no_permission", nil},
		{"invalid parameters", call(sessionFor(t, ann), "refund", "a1", 0), ledger.Invalid, "", nil},
		{"a read", registry.Call{Session: sessionFor(t, sam), Action: "find", Params: []byte(`{"order":"a1"}`)}, ledger.Invalid, "", nil},
		{"the session's limit", call(sessionFor(t, ann), "refund", "a1", 5), ledger.Limited, "session", faulty("Propose", &ledger.LimitError{Of: "session", Limit: 1})},
		{"the ledger fails", call(sessionFor(t, ann), "refund", "a1", 5), ledger.Unrecorded, "", faulty("Propose", nil)},
		{"no randomness", call(sessionFor(t, ann), "refund", "a1", 5), ledger.Unrecorded, "", noRandom},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOffice(t, test.change)
			p, err := o.desk.Propose(t.Context(), test.call)
			require.Equal(t, test.reason, requireRefused(t, test.code, err).Reason)
			require.Equal(t, approval.Proposed{}, p)
			rows, err := o.book.Proposals(t.Context(), ledger.Query{Scope: scope})
			require.NoError(t, err)
			require.Empty(t, rows)
			if test.call.Session.IsZero() {
				return
			}
			records, err := o.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope})
			require.NoError(t, err)
			require.Len(t, records, 1)
			require.Equal(t, ledger.EventRefused, records[0].Event)
			require.Equal(t, test.code, records[0].Code)
		})
	}
}

// Available answers before anybody writes parameters, and records nothing.
func TestAvailable(t *testing.T) {
	o := openOffice(t, nil)
	o.edit(t, "sam", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Disabled = []string{"label"} })
	for _, test := range []struct {
		name    string
		session authz.Session
		action  string
		code    ledger.Code
	}{
		{"a customer may ask", sessionFor(t, ann), "refund", ledger.Done},
		{"a read", sessionFor(t, sam), "find", ledger.Done},
		{"in the background", sessionFor(t, authz.Person{}), "refund", ledger.Done},
		{"a person without the permission", sessionFor(t, stan), "refund", ledger.Forbidden},
		{"a disabled tool", sessionFor(t, sam), "label", ledger.Unavailable},
		{"no such tool", sessionFor(t, sam), "labels", ledger.Unknown},
		{"no session", authz.Session{}, "refund", ledger.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.code, registry.CodeOf(o.desk.Available(t.Context(), test.session, test.action)))
		})
	}
	records, err := o.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope})
	require.NoError(t, err)
	require.Empty(t, records)
	require.Same(t, o.reg, o.desk.Registry())
}

// A principal whose id no token can hold has proposed all the same: others may approve, and opening it says
// why they cannot.
func TestAProposalWithoutAPossibleToken(t *testing.T) {
	long := authz.LoggedIn(authz.ID(strings.Repeat("x", 300)))
	o := openOffice(t, nil)
	o.edit(t, "sam", func(f *authz.Facts, a *authz.Actor) {
		again := *a
		again.ID = long.ID()
		f.Actors = append(slices.Clone(f.Actors), again)
	})
	p := o.propose(t, long, "refund", "a1", 5)
	require.True(t, p.Token.IsZero())
	_, err := o.desk.Open(t.Context(), scope, p.Proposal.ID, long)
	require.Equal(t, "token", requireRefused(t, ledger.RunFailed, err).Reason)
	require.NoError(t, o.approve(t, p.Proposal.ID, sam))
}

// The end is a whole second, five minutes on, and the same for proposal and token.
func TestTheEndOfAProposal(t *testing.T) {
	o := openOffice(t, nil)
	p := o.propose(t, sam, "refund", "a1", 5).Proposal
	require.Equal(t, time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC), p.ExpiresAt)
	redemption := o.open(t, p.ID, sam).Redemption()
	o.pass(p.ExpiresAt.Sub(o.now()) - time.Microsecond)
	require.NotNil(t, o.open(t, p.ID, sam).Redemption())
	o.pass(time.Microsecond)
	_, err := o.desk.Approve(t.Context(), redemption)
	require.Equal(t, p.ID, requireRefused(t, ledger.WasExpired, err).Proposal.ID)
	requireRefused(t, ledger.WasExpired, o.open(t, p.ID, sam).Refusal)
	require.Zero(t, o.runs.Load())
}
