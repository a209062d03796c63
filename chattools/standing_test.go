package chattools_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/verify"
)

// together starts n goroutines at once and waits for them.
func together(n int, do func(i int)) {
	var ready, done sync.WaitGroup
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			do(i)
		})
	}
	done.Wait()
}

// requireCounted compares what the run functions counted with the ledger and the answers.
func requireCounted(t *testing.T, y *yard, answers []chattools.Answer, limit int) {
	t.Helper()
	var done, claimed int
	for _, a := range answers {
		p := y.row(t, a.Proposal)
		switch a.Status {
		case chattools.Done:
			done++
			require.Equal(t, ledger.Succeeded, p.Outcome)
		case chattools.NeedsApproval:
			require.Equal(t, ledger.Undecided, p.Decision)
		case chattools.Failed: // revoked after the claim: spent, not run
			require.Equal(t, ledger.Failed, p.Outcome)
		default:
			require.Fail(t, "no such answer was expected", "%+v", a)
		}
		if p.Decision == ledger.Claimed {
			claimed++
		}
	}
	require.EqualValues(t, done, y.runs.Load(), "answers and runs")
	require.LessOrEqual(t, claimed, limit)
	for id, n := range y.moved {
		require.Equal(t, 1, n, id)
	}
}

func TestAStandingGrantIsUsedAtMostAsOftenAsItSays(t *testing.T) {
	const callers, limit = 64, 3
	for _, revoked := range []bool{false, true} {
		for round := range 8 {
			t.Run(fmt.Sprintf("revoked %t, round %d", revoked, round), func(t *testing.T) {
				y := openYard(t)
				y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = limit })
				session := y.mira(t, "ben")
				answers := make([]chattools.Answer, callers)
				together(callers, func(i int) {
					if revoked && i < 2 {
						y.revoke(t)
					}
					answers[i] = y.call(t.Context(), session, "move", fmt.Sprintf("c%d", i), "")
				})
				requireCounted(t, y, answers, limit)
				if !revoked {
					require.EqualValues(t, limit, y.runs.Load())
					require.Equal(t, map[string]int{"g1": limit}, y.used(t))
				}

				// Whatever waits can still be approved by a person, once.
				for i, a := range answers {
					if a.Status != chattools.NeedsApproval {
						continue
					}
					before := y.runs.Load()
					require.NoError(t, y.approve(t, a.Proposal, "ben"))
					require.Equal(t, before+1, y.runs.Load())
					if i > 8 {
						break
					}
				}
				a := y.call(t.Context(), session, "move", "late", "")
				require.Equal(t, chattools.NeedsApproval, a.Status)
				require.Equal(t, 0, y.moved["late"])
			})
		}
	}
}

// One call that is repeated by many at once is one proposal and one use.
func TestEqualCallsAtOnceAreOneUse(t *testing.T) {
	y := openYard(t)
	y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = 64 })
	var mu sync.Mutex
	byProposal := map[string]int{}
	together(64, func(int) {
		a := y.call(t.Context(), y.mira(t, "ben"), "move", "c1", "")
		if a.Status == chattools.Done {
			mu.Lock()
			byProposal[a.Proposal]++
			mu.Unlock()
		}
	})
	for id, n := range byProposal {
		require.Equal(t, 1, n, id)
	}
	require.EqualValues(t, len(byProposal), y.runs.Load())
	require.Equal(t, len(byProposal), y.used(t)["g1"])
}

func TestARunThatFailsConsumesItsUse(t *testing.T) {
	y := openYard(t)
	faulty := ledgertest.NewFaulty(y.book.Store)
	y.book.Store = faulty
	y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = 4 })
	session := y.mira(t, "ben")

	require.Equal(t, chattools.Failed, y.call(t.Context(), session, "move", "c1", "fail").Status)
	require.Equal(t, chattools.Failed, y.call(t.Context(), session, "move", "c2", "panic").Status)
	together(1, func(int) { y.call(t.Context(), session, "move", "c3", "exit") })
	faulty.Inject(ledgertest.Fault{Method: "Finish", Nth: 1})
	interrupted := y.call(t.Context(), session, "move", "c4", "")
	require.Equal(t, chattools.Failed, interrupted.Status)
	require.EqualValues(t, 4, y.runs.Load())
	require.Equal(t, map[string]int{"g1": 4}, y.used(t))

	a := y.call(t.Context(), session, "move", "c5", "")
	require.Equal(t, chattools.NeedsApproval, a.Status)
	require.EqualValues(t, 4, y.runs.Load())
	refused := y.audit(t, ledger.AuditQuery{Proposal: a.Proposal, Event: ledger.EventRefused})
	require.Len(t, refused, 1)
	require.Equal(t, string(authz.ReasonGrantSpent), refused[0].Reason)
	require.Equal(t, "g1", refused[0].Grant)
	require.NoError(t, y.approve(t, a.Proposal, "olga"))
	require.EqualValues(t, 5, y.runs.Load())

	y.clock.Add(registry.DefaultRunLimit.Microseconds())
	p := y.row(t, interrupted.Proposal)
	require.Equal(t, ledger.StateInterrupted, p.State(y.reg.Now()))
}

// A claim that the ledger lost an answer about is not run, and the use may be gone.
func TestAClaimThatNobodyKnowsOfRunsNothing(t *testing.T) {
	for _, after := range []bool{false, true} {
		y := openYard(t)
		faulty := ledgertest.NewFaulty(y.book.Store)
		y.book.Store = faulty
		y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = 1 })
		faulty.Inject(ledgertest.Fault{Method: "Claim", Nth: 1, After: after})
		a := y.call(t.Context(), y.mira(t, "ben"), "move", "c1", "")
		require.EqualValues(t, 0, y.runs.Load())
		want, left := chattools.NeedsApproval, chattools.Done
		if after {
			want, left = chattools.Failed, chattools.NeedsApproval
		}
		require.Equal(t, want, a.Status, "applied: %t", after)
		require.Equal(t, left, y.call(t.Context(), y.mira(t, "ben"), "move", "c2", "").Status)
	}
}

func TestTheNextGrantIsUsed(t *testing.T) {
	spoil := map[string]func(*authz.Standing){
		"spent":                func(s *authz.Standing) { s.Uses = 1 },
		"of an unknown giver":  func(s *authz.Standing) { s.By = "nobody" },
		"of a powerless giver": func(s *authz.Standing) { s.By = "asta" },
		"elsewhere":            func(s *authz.Standing) { s.Below = authz.MustPath("/yard2") },
		"ended":                func(s *authz.Standing) { s.Since, s.Until = yardOpens.Add(-time.Hour), yardOpens },
		"of another action":    func(s *authz.Standing) { s.Definition = "x" },
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			y := openYard(t)
			y.give(t, "move", "g1", change)
			y.give(t, "move", "g2", func(s *authz.Standing) { s.Uses, s.By = 2, "otto" })
			first := 0
			if name == "spent" {
				first = 1
			}
			session := y.mira(t, "ben")
			for i := range first + 2 {
				a := y.call(t.Context(), session, "move", fmt.Sprintf("c%d", i), "")
				require.Equal(t, chattools.Done, a.Status, "%d: %v", i, y.reasons(t, "move"))
			}
			require.Equal(t, chattools.NeedsApproval, y.call(t.Context(), session, "move", "late", "").Status)
			require.Equal(t, first, y.used(t)["g1"])
			require.Equal(t, 2, y.used(t)["g2"])
			require.EqualValues(t, first+2, y.runs.Load())
		})
	}
}

func TestTwoGrantsAtOnceGiveTheSumOfTheirUses(t *testing.T) {
	y := openYard(t)
	y.give(t, "move", "g1", func(s *authz.Standing) { s.Uses = 1 })
	y.give(t, "move", "g2", func(s *authz.Standing) { s.Uses = 2 })
	answers := make([]chattools.Answer, 64)
	together(64, func(i int) { answers[i] = y.call(t.Context(), y.mira(t, ""), "move", fmt.Sprintf("c%d", i), "") })
	requireCounted(t, y, answers, 3)
	require.Equal(t, map[string]int{"g1": 1, "g2": 2}, y.used(t))
	require.EqualValues(t, 3, y.runs.Load())
}

func TestAStandingGrantLeavesTheRecordsOfAClick(t *testing.T) {
	y := openYard(t)
	clicked := y.call(t.Context(), y.mira(t, "ben"), "move", "c1", "")
	require.Equal(t, chattools.NeedsApproval, clicked.Status)
	require.NoError(t, y.approve(t, clicked.Proposal, "olga"))
	y.give(t, "move", "g1", nil)
	standing := y.call(t.Context(), y.mira(t, "ben"), "move", "c2", "")
	require.Equal(t, chattools.Done, standing.Status)
	require.JSONEq(t, `"c2 moved"`, string(standing.Result))

	a, b := y.row(t, clicked.Proposal), y.row(t, standing.Proposal)
	require.Equal(t, authz.ID("olga"), b.DecidedBy)
	require.Equal(t, "g1", b.Grant)
	require.Empty(t, a.Grant)
	require.Equal(t, ledger.StateExecuted, b.State(y.reg.Now()))
	require.NotNil(t, b.Baseline)
	require.NotEmpty(t, b.Claim)
	require.NoError(t, ledger.CheckSeal(y.keys, &b))
	for _, p := range []*ledger.Proposal{&a, &b} { // what must differ
		p.ID, p.Params, p.Targets, p.Seal, p.Claim, p.Grant, p.Result = "", a.Params, nil, "", "", "", nil
	}
	require.Equal(t, a, b)

	trail := func(proposal string) (list []ledger.Record) {
		for _, r := range y.audit(t, ledger.AuditQuery{Proposal: proposal}) {
			if r.Event == ledger.EventStarted || r.Event == ledger.EventFinished {
				require.Equal(t, authz.ID("olga"), r.Operator)
				require.Equal(t, proposal == standing.Proposal, r.Grant == "g1")
				require.NotEmpty(t, r.Claim)
			}
			r.Seq, r.Proposal, r.Claim, r.Grant, r.Params, r.Targets, r.Result = 0, "", "", "", a.Params, nil, nil
			list = append(list, r)
		}
		return list
	}
	require.Len(t, trail(standing.Proposal), 3)
	require.Equal(t, trail(clicked.Proposal), trail(standing.Proposal))

	y.level.Store(7)
	y.clock.Add(registry.DefaultVerifyAfter.Microseconds())
	sum, err := verify.New(y.reg).RunDue(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, map[ledger.Verdict]int{ledger.Improved: 2}, sum.Verdicts)
	b = y.row(t, standing.Proposal)
	require.Equal(t, ledger.StateVerified, b.State(y.reg.Now()))
	require.Equal(t, 0.0, *b.Baseline)
	require.Equal(t, 7.0, *b.Measured)
}
