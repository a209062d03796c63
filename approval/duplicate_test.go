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

// Whoever asks again for what is still open gets that proposal with the end it has, from any conversation and
// in any spelling.
func TestTheSameAgainIsTheSameProposal(t *testing.T) {
	o := openOffice(t, nil)
	first := o.propose(t, sam, "refund", "a1", 5).Proposal
	base := sessionFor(t, sam)
	for _, session := range []authz.Session{
		base, base.WithConversation("c2"), base.WithRun("r2"), base.WithOrigin("mcp"), base.WithTools(authz.Only("refund")),
	} {
		o.pass(30 * time.Second)
		for _, spelled := range []string{`{"order":"a1","cents":5}`, `{"cents":5.0, "order":"a1"}`, "{\"cents\":5e0,\n\"order\":\"\\u0061\\u0031\"}"} {
			p, err := o.desk.Propose(t.Context(), registry.Call{Session: session, Action: "refund", Params: []byte(spelled)})
			require.NoError(t, err)
			require.Equal(t, first, p.Proposal)
			require.False(t, p.Token.IsZero())
		}
	}
	require.Equal(t, []string{"proposed needs_approval "}, o.events(t, first.ID))

	// The last token ends when the first proposal does, however late it was made.
	last := o.propose(t, sam, "refund", "a1", 5)
	o.pass(first.ExpiresAt.Sub(o.now()))
	_, err := o.desk.Approve(t.Context(), registry.Redemption{
		Scope: scope, Proposal: first.ID, Operator: sam, Token: last.Token, Shown: first.Params.Hash(),
	})
	requireRefused(t, ledger.WasExpired, err)
	require.NotEqual(t, first.ID, o.propose(t, sam, "refund", "a1", 5).Proposal.ID, "a new one once it expired")
}

// What differs in anything that a person decides about is a proposal of its own.
func TestWhatDiffersIsItsOwnProposal(t *testing.T) {
	o := openOffice(t, nil)
	seen := map[string]string{}
	add := func(what string, s authz.Session, action, order string, cents int) {
		p, err := o.desk.Propose(t.Context(), call(s, action, order, cents))
		require.NoError(t, err)
		require.NotContains(t, seen, p.Proposal.ID, what)
		seen[p.Proposal.ID] = what
	}
	person, err := authz.NewPersonSession(scope, sam)
	require.NoError(t, err)
	add("the first", sessionFor(t, sam), "refund", "a1", 5)
	add("another action", sessionFor(t, sam), "pay", "a1", 5)
	add("another parameter", sessionFor(t, sam), "refund", "a1", 6)
	add("another target", sessionFor(t, sam), "refund", "a2", 5)
	add("another principal", sessionFor(t, sue), "refund", "a1", 5)
	add("another model", modelFor(t, "second", sam), "refund", "a1", 5)
	add("no principal", sessionFor(t, authz.Person{}), "refund", "a1", 5)
	add("another background model", modelFor(t, "second", authz.Person{}), "refund", "a1", 5)
	add("the person alone", person, "refund", "a1", 5)
	o.version = func() string { return "2" }
	add("another version", sessionFor(t, sam), "refund", "a1", 5)
	o.rebuild(t, func(c *registry.Config) { c.Actions = o.actions("2") })
	add("another definition", sessionFor(t, sam), "refund", "a1", 5)

	elsewhere, err := authz.NewSession("elsewhere", "assistant", authz.For(sam))
	require.NoError(t, err)
	require.NoError(t, o.people.Set("elsewhere", facts()))
	add("another scope", elsewhere, "refund", "a1", 5)
}

// A proposal that was decided does not answer for a new one.
func TestADecidedProposalIsNotReused(t *testing.T) {
	o := openOffice(t, nil)
	first := o.propose(t, sam, "refund", "a1", 5).Proposal
	require.NoError(t, o.desk.Dismiss(t.Context(), scope, first.ID, sam, "no"))
	second := o.propose(t, sam, "refund", "a1", 5).Proposal
	require.NotEqual(t, first.ID, second.ID)
	require.NoError(t, o.approve(t, second.ID, sam))
	require.NotEqual(t, second.ID, o.propose(t, sam, "refund", "a1", 5).Proposal.ID)
	require.EqualValues(t, 1, o.runs.Load())
}

// Many ask for the same at once, many approve at once: one proposal, one run, and everybody else is told
// what became of it.
func TestOneProposalOneRun(t *testing.T) {
	const n = 64
	o := openOffice(t, nil)
	var wg sync.WaitGroup
	ids := make([]string, n)
	for i := range n {
		wg.Go(func() {
			p, err := o.desk.Propose(t.Context(), call(sessionFor(t, ann), "refund", "a1", 5))
			if err == nil {
				ids[i] = p.Proposal.ID
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	codes := make([]ledger.Code, n)
	for i := range n {
		wg.Go(func() {
			by := []authz.Person{sam, sue}[i%2]
			opening, err := o.desk.Open(t.Context(), scope, ids[0], by)
			if err == nil {
				_, err = o.desk.Approve(t.Context(), opening.Redemption())
			}
			codes[i] = registry.CodeOf(err)
		})
	}
	wg.Wait()
	count := map[ledger.Code]int{}
	for _, c := range codes {
		count[c]++
	}
	require.Equal(t, map[ledger.Code]int{ledger.Done: 1, ledger.Spent: n - 1}, count)
	require.EqualValues(t, 1, o.runs.Load())
}
