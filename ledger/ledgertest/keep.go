package ledgertest

import (
	"context"
	"reflect"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// full is an entry with every immutable field set, and text that a store might mangle.
func full(n int) ledger.Entry {
	return entry(n, func(p *ledger.Proposal) {
		s := must(authz.NewSession(shop, "planner", authz.For(authz.LoggedIn("olga Ölmann"))))
		s = must(must(s.Delegate("assistant")).Delegate("helper "))
		p.Session = s.WithRun("run-1").WithOrigin("mcp").WithConversation("Talk").WithTools(authz.Only("refund_order", "a%_'\"\\"))
		p.Params = params(`{"big":9007199254740993,"html":"<b>&amp;</b>","nul":"\u0000","text":"naïve 🚪 '; --\\"}`)
		p.Targets = []authz.Path{authz.MustPath("/orders/W42"), authz.Root(), authz.MustPath("/users/Zoë")}
		p.Version, p.Supersedes, p.RevisedBy = "7", "proposal-0", []authz.ID{"sam", "eve"}
		p.CreatedAt = p.CreatedAt.Add(123456 * time.Microsecond)
	})
}

// keepsEveryField takes proposals through everything that can become of them and compares every row with what
// was asked for. It fails where ledger.Proposal has a field that it does not know.
func keepsEveryField(t *suite) {
	known := map[string]bool{}
	check := func(want ledger.Proposal, why string) {
		t.Helper()
		t.same(want, t.get(want), why)
		v := reflect.ValueOf(want)
		for i := range v.NumField() {
			known[v.Type().Field(i).Name] = known[v.Type().Field(i).Name] || !v.Field(i).IsZero()
		}
	}
	at := func(us int) time.Time { return At(time.Minute + time.Duration(us)*time.Microsecond) }
	one, two := 1.25, -1e-300

	won := full(1).Proposal
	t.same(won, t.propose(full(1)), "Propose must return what it inserted")
	check(won, "a proposed row")

	c := NewClaim(won, "claim-1", at(1))
	c.Use = &ledger.Use{Grant: "grant-1", Limit: 1, Until: at(60)}
	won.Grant = "grant-1"
	won.Decision, won.DecidedBy, won.DecidedAt, won.Claim, won.RunBy = ledger.Claimed, "sam", at(1), "claim-1", c.RunBy
	got, err := t.store.Claim(t.Context(), c)
	require.NoError(t, err, "Claim")
	t.same(won, got, "Claim must return the row as it is afterwards")
	check(won, "a claimed row")

	f := NewFinish(won, at(2))
	f.Result, f.Baseline, f.VerifyAt, f.Unmeasured = []byte(`{"z":1, "a":[1.0]}`), &one, at(3), "no measure defined"
	won.Outcome, won.FinishedAt, won.Result = ledger.Succeeded, at(2), f.Result
	won.Baseline, won.VerifyAt, won.Unmeasured = &one, at(3), f.Unmeasured
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	check(won, "a finished row")

	v := NewVerification(won, at(4))
	v.Verdict, v.Measured, v.Why = ledger.Worsened, &two, "why"
	won.Verdict, won.Measured, won.VerifiedAt, won.Unmeasured = ledger.Worsened, &two, at(4), "why"
	require.NoError(t, t.store.Verify(t.Context(), v), "Verify")
	check(won, "a verified row")

	failed := t.claim(t.fresh(entry(2), "second"), "claim-2", at(1))
	f = NewFinish(failed, at(2))
	f.Outcome, f.Result, f.Error, f.Told = ledger.Failed, nil, "card declined: 'x'", "card declined"
	failed.Outcome, failed.FinishedAt, failed.Error, failed.Told = ledger.Failed, at(2), f.Error, f.Told
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish of a failed run")
	check(failed, "a failed row")

	no := t.fresh(entry(3), "third")
	d := NewDismissal(no, at(1))
	no.Decision, no.DecidedBy, no.DecidedAt, no.Note = ledger.Dismissed, "sam", at(1), d.Note
	got, err = t.store.Dismiss(t.Context(), d)
	require.NoError(t, err, "Dismiss")
	t.same(no, got, "Dismiss must return the row as it is afterwards")
	check(no, "a dismissed row")

	for name, set := range known {
		require.True(t, set, "the suite never sets the field %s of a proposal", name)
	}
}

func keepsEveryRecordField(t *suite) {
	p := full(1).Proposal
	want := ledger.Record{
		At: At(time.Microsecond), Event: ledger.EventRefused, Code: ledger.Forbidden, Reason: "no_permission", Session: p.Session,
		Operator: "sam", Action: p.Action, Targets: p.Targets, Params: p.Params, Proposal: p.ID, Claim: "claim-1",
		Grant: "grant-1", Result: []byte(`{"z":1, "a":2}`), Error: "for auditors only", Count: 17,
	}
	require.NoError(t, t.store.Append(t.Context(), want), "Append")
	empty := ledger.Record{Session: entry(2).Proposal.Session}
	require.NoError(t, t.store.Append(t.Context(), empty), "Append of a record with nothing but its session")
	got := t.audit(ledger.AuditQuery{Scope: shop})
	require.Len(t, got, 2, "both records must be there")
	want.Seq, empty.Seq = got[0].Seq, got[1].Seq
	require.Equal(t, flattenRecord(want), flattenRecord(got[0]), "a record with every field set")
	require.Equal(t, flattenRecord(empty), flattenRecord(got[1]), "a record with nothing but its session")
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		require.False(t, v.Field(i).IsZero(), "the suite never sets the field %s of a record", v.Type().Field(i).Name)
	}
}

func keepsSessions(t *suite) {
	model := entry(1).Proposal.Session
	background := must(authz.NewSession(shop, "assistant", authz.Background()))
	for i, s := range []authz.Session{
		model,
		model.WithTools(authz.Only("b", "a")),
		model.WithTools(authz.Only()), // no tool at all, which is not the same as any tool
		background,
		must(background.Delegate("helper")),
		must(authz.NewPersonSession(shop, authz.LoggedIn("olga"))),
	} {
		want := t.fresh(entry(i+1, func(p *ledger.Proposal) { p.Session = s }), s.String())
		t.same(want, t.get(want), "the row of "+s.String())
		got := t.audit(ledger.AuditQuery{Scope: shop, Proposal: want.ID})
		require.Len(t, got, 1, "one record of one proposal")
		require.Equal(t, flattenSession(s), flattenSession(got[0].Session), "the session of a record")
	}
}

func keepsImmutableOnly(t *suite) {
	want := entry(1).Proposal
	one := 1.0
	e := entry(1)
	p := &e.Proposal
	p.Decision, p.DecidedBy, p.DecidedAt, p.Note, p.Claim, p.RunBy = ledger.Claimed, "eve", At(1), "x", "c", At(1)
	p.Outcome, p.FinishedAt, p.Result, p.Error, p.Baseline, p.Unmeasured = ledger.Succeeded, At(1), []byte(`1`), "x", &one, "x"
	p.VerifyAt, p.Verdict, p.Measured, p.VerifiedAt = At(1), ledger.Improved, &one, At(1)
	t.same(want, t.propose(e), "Propose must ignore what a proposal says about its own fate")
	t.same(want, t.get(want), "Propose must ignore what a proposal says about its own fate")

	r := NewRevision(want, 2, At(time.Minute))
	want = r.Entry.Proposal
	p.ID, p.Params, p.CreatedAt, p.ExpiresAt = want.ID, want.Params, want.CreatedAt, want.ExpiresAt
	p.Supersedes, p.RevisedBy = want.Supersedes, want.RevisedBy
	r.Entry.Proposal = *p
	got, err := t.store.Revise(t.Context(), r)
	require.NoError(t, err, "Revise")
	t.same(want, got, "Revise must ignore what a successor says about its own fate")
	t.same(want, t.get(want), "Revise must ignore what a successor says about its own fate")
}

func keepsTimes(t *suite) {
	zone := time.FixedZone("east", 2*60*60)
	at := func(d time.Duration) time.Time { return At(d + 987654321*time.Nanosecond).In(zone) }
	e := entry(1, func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = at(0), p.ExpiresAt.In(zone) })
	p := t.propose(e)
	got := t.get(t.claim(p, "claim-1", at(time.Second)))
	f := NewFinish(got, at(2*time.Second))
	f.VerifyAt = at(3 * time.Second)
	require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
	require.NoError(t, t.store.Verify(t.Context(), NewVerification(got, at(4*time.Second))), "Verify")
	got = t.get(p)
	no := t.dismiss(t.fresh(entry(2), "second"), at(5*time.Second))
	trail := t.audit(ledger.AuditQuery{Scope: shop, Proposal: p.ID, Event: ledger.EventProposed})
	require.Len(t, trail, 1, "the proposed record")
	for _, c := range []struct {
		name      string
		want, got time.Time
	}{
		{"CreatedAt, returned", at(0), p.CreatedAt},
		{"CreatedAt", at(0), got.CreatedAt},
		{"ExpiresAt", e.Proposal.ExpiresAt, got.ExpiresAt},
		{"DecidedAt of a claim", at(time.Second), got.DecidedAt},
		{"RunBy", at(time.Second + time.Minute), got.RunBy},
		{"FinishedAt", at(2 * time.Second), got.FinishedAt},
		{"VerifyAt", at(3 * time.Second), got.VerifyAt},
		{"VerifiedAt", at(4 * time.Second), got.VerifiedAt},
		{"DecidedAt of a dismissal", at(5 * time.Second), no.DecidedAt},
		{"At of a record", at(0), trail[0].At},
	} {
		require.Equal(t, ledger.Time(c.want), c.got, "%s must be what ledger.Time returns", c.name)
	}
}

func keepsZero(t *suite) {
	zero := 0.0
	for i, baseline := range []*float64{nil, &zero} {
		p := t.claim(t.fresh(entry(i+1), "another one"), "claim", At(time.Minute))
		f := NewFinish(p, At(time.Minute))
		f.Baseline = baseline
		require.NoError(t, t.store.Finish(t.Context(), f), "Finish")
		v := NewVerification(p, At(time.Minute))
		v.Measured = baseline
		require.NoError(t, t.store.Verify(t.Context(), v), "Verify")
		got := t.get(p)
		require.Equal(t, baseline, got.Baseline, "a baseline of zero is not the same as none")
		require.Equal(t, baseline, got.Measured, "a measurement of zero is not the same as none")
		require.True(t, got.VerifyAt.IsZero(), "no time to verify must stay no time")
	}
}

func usesIDsOnce(t *suite) {
	p := t.fresh(entry(1), "the first")
	again := entry(2, func(q *ledger.Proposal) { q.ID = p.ID })
	t.refused(ledger.ErrConflict, "the scope has this id", func(ctx context.Context) error {
		_, err := t.store.Propose(ctx, again)
		return err
	})
	other := t.fresh(entry(3), "another")
	r := NewRevision(other, 4, At(time.Minute))
	r.Entry.Proposal.ID = p.ID
	t.refused(ledger.ErrConflict, "the scope has the successor's id", func(ctx context.Context) error {
		_, err := t.store.Revise(ctx, r)
		return err
	})
	r.Entry.Proposal.ID = other.ID
	t.refused(ledger.ErrConflict, "a proposal cannot supersede itself", func(ctx context.Context) error {
		_, err := t.store.Revise(ctx, r)
		return err
	})
	_, err := t.store.Proposal(t.Context(), shop, "no such id")
	require.ErrorIs(t, err, ledger.ErrNotFound, "an id that nothing has is not found")
}
