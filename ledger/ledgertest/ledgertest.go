// Package ledgertest tests stores of package ledger, and what hosts build on them.
//
// [TestStore] is the contract of [ledger.Store] as a suite: run it against a store of your own. [Faulty] wraps
// a store and fails where it is told to, and [Sweep] lets it fail at every call of a scenario in turn.
// [NewEntry] and the functions beside it make proposals and changes that differ only in what a test is about.
//
// Nothing here reads a clock, and what is drawn is drawn from fixed seeds; only the order of the goroutines that race
// is chance. Repeat the suite with -count for more of it.
package ledgertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

// TestStore runs the contract of [ledger.Store], one subtest for each clause. open returns an empty store
// that nothing else uses. What a row that was changed behind the ledger's back answers is tested if the store
// is a [Tamperer], and what a run writes in the ledger's transaction if it is a [Joiner].
//
//	func TestStore(t *testing.T) {
//		ledgertest.TestStore(t, func(t *testing.T) ledger.Store { return openStore(t) })
//	}
func TestStore(t *testing.T, open func(t *testing.T) ledger.Store) {
	for _, c := range clauses {
		t.Run(c.name, func(t *testing.T) {
			store := open(t)
			if _, ok := store.(Tamperer); c.tampers && !ok {
				t.Skip("rows of this store cannot be changed behind its back")
			}
			if _, ok := store.(Joiner); c.joins && !ok {
				t.Skip("no run can join a transaction of this store")
			}
			c.check(&suite{tb: t, store: store})
		})
	}
}

// clause is one sentence of the contract and how to find out whether a store keeps it.
type clause struct {
	name    string
	check   func(*suite)
	tampers bool
	joins   bool
}

// tb is what a clause needs of a *testing.T. The tests of the suite put a recorder in its place.
type tb interface {
	require.TestingT
	Helper()
	Context() context.Context
}

var clauses = []clause{
	{name: "every field of a proposal is kept", check: keepsEveryField},
	{name: "every field of a record is kept", check: keepsEveryRecordField},
	{name: "every kind of session is kept", check: keepsSessions},
	{name: "Propose keeps immutable fields only", check: keepsImmutableOnly},
	{name: "times are UTC in whole microseconds", check: keepsTimes},
	{name: "zero is kept apart from nothing", check: keepsZero},
	{name: "what is passed in is not kept", check: aliasesNothingIn},
	{name: "what is returned is the caller's own", check: aliasesNothingOut},
	{name: "an id is used once in a scope", check: usesIDsOnce},

	{name: "an identical open proposal is returned", check: collapses},
	{name: "each part of the identity tells proposals apart", check: tellsApart},
	{name: "nothing else tells proposals apart", check: tellsNothingElseApart},
	{name: "an expired proposal is not open", check: collapsesUntilExpiry},
	{name: "a decided proposal is not open", check: collapsesUntilDecided},
	{name: "what is open is judged at the caller's instant", check: collapsesAtInstant},
	{name: "identical proposals that race become one", check: collapsesInRace},

	{name: "the limit of a session is exact", check: limitsSession},
	{name: "the limit of a principal is exact", check: limitsPrincipal},
	{name: "the limit of a background model is exact", check: limitsBackground},
	{name: "the limit of a scope is exact", check: limitsScope},
	{name: "only open proposals count for the limits", check: limitsOpenOnly},
	{name: "limits hold in a race", check: limitsInRace},

	{name: "Revise dismisses and inserts in one step", check: revises},
	{name: "Revise of a decided proposal is a conflict", check: revisesUndecidedOnly},
	{name: "a revision counts without its predecessor", check: revisesWithinLimits},
	{name: "a refused revision leaves the predecessor open", check: revisesAllOrNothing},
	{name: "Revise looks for no identical proposal", check: revisesWithoutCollapse},

	{name: "Claim takes an open proposal", check: claims},
	{name: "one of many racing claims is applied", check: claimsOnce},
	{name: "Claim ends at the instant of expiry", check: claimsUntilExpiry},
	{name: "the claim that was applied is answered so again", check: claimsAgain},
	{name: "Claim of a decided proposal is a conflict", check: claimsUndecidedOnly},
	{name: "a claim without an id is refused", check: claimsNeedID},
	{name: "the uses of a standing grant are counted", check: countsUses},
	{name: "Uses says what is counted", check: saysUses},
	{name: "a standing grant ends at its instant", check: usesUntil},
	{name: "the uses of a standing grant are exact in a race", check: countsUsesInRace},
	{name: "a claim that is not applied uses nothing", check: countsAppliedOnly},
	{name: "of claims dismissals and revisions one is applied", check: decidesOnce},

	{name: "Finish records how a run ended", check: finishes},
	{name: "Finish is for the claim that was applied", check: finishesOwnClaim},
	{name: "Finish is applied once", check: finishesOnce},
	{name: "Finish is recorded after the run limit too", check: finishesLate},
	{name: "Dismiss takes an undecided proposal", check: dismisses},
	{name: "Dismiss is applied after expiry too", check: dismissesExpired},
	{name: "Dismiss of a decided proposal is a conflict", check: dismissesUndecidedOnly},
	{name: "Verify records a verdict", check: verifies},
	{name: "Verify is applied once and after a claim only", check: verifiesOnce},

	{name: "a change has its record and a refusal has none", check: recordsChanges},
	{name: "Seq is unique and ascending", check: recordsAscend},
	{name: "records without a proposal are all kept", check: recordsWithoutProposal},
	{name: "Audit filters", check: auditFilters},
	{name: "Audit pages", check: auditPages},
	{name: "Audit searches by people and text and time and reads backwards", check: auditSearches},

	{name: "Proposals filters by state at an instant", check: listsStates},
	{name: "Proposals filters by what was asked by whom", check: listsMatches},
	{name: "Proposals pages newest first", check: listsPages},
	{name: "Proposals filters by text", check: listsText},
	{name: "Proposals filters by time", check: listsTimes},
	{name: "Proposals looks no further than its window", check: listsWindow},
	{name: "Tally counts by action", check: tallies},
	{name: "Due lists what has to be verified", check: listsDue},
	{name: "Due lists all scopes oldest first up to its limit", check: listsDueInOrder},

	{name: "Purge removes what is through", check: purges},
	{name: "Purge removes records of no proposal", check: purgesRecords},
	{name: "Purge goes by its limit", check: purgesInSteps},

	{name: "another scope's proposal is not found", check: isolatesScopes},
	{name: "one id in two scopes is two proposals", check: isolatesEqualIDs},
	{name: "a context that has ended prevents the change", check: obeysContext},
	{name: "all methods are safe for concurrent use", check: concurrentUse},
	{name: "changes of a proposal are linearizable", check: linearizes},
	{name: "a decision that a row denies stands", check: standsTampering, tampers: true},

	{name: "a run's writes are there with its outcome", check: unitsFinish, joins: true},
	{name: "a run's writes are there with their record", check: unitsAppend, joins: true},
	{name: "an undone run has written nothing", check: unitsUndo, joins: true},
	{name: "a run whose outcome is refused has written nothing", check: unitsCommitTogether, joins: true},
}
