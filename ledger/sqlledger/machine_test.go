package sqlledger_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

// machine makes the same changes in memory and in a database, and compares all that both answer.
type machine struct {
	memory, sql ledger.Store
	scopes      []authz.Scope
	now         time.Time
	ids         []string
	serial      int
}

// TestMachine draws sequences of all operations, with clocks that go back too, and texts and zones that databases
// mangle. RAPID_CHECKS and RAPID_STEPS make it longer than in every run of the tests.
func TestMachine(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); os.Getenv("RAPID_CHECKS") == "" && f.Value.String() == f.DefValue {
		require.NoError(t, f.Value.Set("3"))
	}
	atOnce(t, func(t *testing.T, e engine) {
		s, memory, round := e.open(t), new(ledger.Memory), 0
		rapid.Check(t, func(rt *rapid.T) {
			round++
			m := &machine{
				memory: memory, sql: s, now: ledgertest.At(0),
				scopes: []authz.Scope{authz.Scope(fmt.Sprint("scope-", round)), authz.Scope(fmt.Sprint("SCOPE-", round))},
			}
			rt.Repeat(map[string]func(*rapid.T){
				"propose": m.propose, "propose again": m.propose, "claim": m.claim, "claim again": m.claim, "dismiss": m.dismiss,
				"revise": m.revise, "finish": m.finish, "verify": m.verify, "append": m.append, "purge": m.purge, "clock": m.clock, "": m.compare,
			})
		})
	})
}

var (
	someTexts = rapid.SampledFrom([]string{"", "a", "A", "a ", "a\x00", "\x00", "é", "e\u0301", "\xff", "\x01x", "'", `\`, "%", "🚪", "null", "{a}", "?"})
	someZones = rapid.SampledFrom([]*time.Location{
		time.UTC, time.FixedZone("", 5*3600+45*60), time.FixedZone("west", -12*3600), time.FixedZone("odd", 13*3600+7),
	})
	someWords = rapid.SampledFrom([]string{"", "refund", "REFUND", "w42", "o", "not now", "SAM"})
)

func (m *machine) scope(t *rapid.T) authz.Scope { return rapid.SampledFrom(m.scopes).Draw(t, "scope") }

// id is of a proposal that there may be.
func (m *machine) id(t *rapid.T) string {
	return rapid.SampledFrom(append(m.ids, "nothing", "NOTHING")).Draw(t, "id")
}

// at is now, in some zone.
func (m *machine) at(t *rapid.T) time.Time {
	return m.now.Add(time.Duration(rapid.IntRange(0, 999).Draw(t, "ns"))).In(someZones.Draw(t, "zone"))
}

func (m *machine) clock(t *rapid.T) {
	m.now = m.now.Add(rapid.SampledFrom([]time.Duration{
		time.Microsecond, 7 * time.Millisecond, time.Second, time.Minute, 5 * time.Minute, time.Hour, -time.Microsecond, -time.Minute, -time.Hour,
	}).Draw(t, "by"))
}

func (m *machine) session(t *rapid.T, scope authz.Scope) authz.Session {
	behalf := authz.Background()
	if rapid.Bool().Draw(t, "principal") {
		behalf = authz.For(authz.LoggedIn(authz.ID("olga" + someTexts.Draw(t, "who"))))
	}
	s, err := authz.NewSession(scope, rapid.SampledFrom([]authz.ID{"assistant", "Assistant"}).Draw(t, "model"), behalf)
	if err != nil {
		t.Skip(err) // not every text can be an id
	}
	return s.WithRun(someTexts.Draw(t, "run")).WithConversation(someTexts.Draw(t, "conversation")).WithOrigin(someTexts.Draw(t, "origin"))
}

// entry is a new proposal, or one with an id that there may be already.
func (m *machine) entry(t *rapid.T, session authz.Session) ledger.Entry {
	m.serial++
	e := ledgertest.NewEntry(session.Scope(), m.serial, func(p *ledger.Proposal) {
		p.Session, p.CreatedAt = session, m.at(t)
		p.ExpiresAt = p.CreatedAt.Truncate(time.Second).Add(time.Duration(rapid.IntRange(1, 600).Draw(t, "life")) * time.Second)
		p.Action += someTexts.Draw(t, "action")
		params, err := canon.Parse(fmt.Appendf(nil, `{"n":%d,"text":"\u0000%s"}`, rapid.IntRange(0, 2).Draw(t, "n"),
			rapid.SampledFrom([]string{"", "é", `\u0001`, `\\x00`}).Draw(t, "text")), canon.Options{})
		if err != nil {
			panic(err)
		}
		p.Params, p.Version = params, someTexts.Draw(t, "version")
	})
	if len(m.ids) > 0 && rapid.IntRange(0, 9).Draw(t, "old id") == 0 {
		e.Proposal.ID = m.id(t) // without limits: if both are in the way, the contract does not say which is told
		e.Record.Proposal = e.Proposal.ID
	} else {
		e.Limits = ledger.Limits{
			Session: rapid.IntRange(0, 3).Draw(t, "limit of a session"), Principal: rapid.IntRange(0, 4).Draw(t, "of a principal"), Scope: rapid.IntRange(0, 6).Draw(t, "of a scope"),
		}
	}
	m.ids = append(m.ids, e.Proposal.ID)
	return e
}

// both makes a change in both stores, whose answers are the same.
func (m *machine) both(t *rapid.T, change func(s ledger.Store) (any, error)) {
	want, wantErr := change(m.memory)
	got, err := change(m.sql)
	require.Equal(t, kind(wantErr), kind(err), "%v", err)
	require.Equal(t, same(want), same(got))
}

// kind is what the contract says about an error.
func kind(err error) string {
	limit := new(ledger.LimitError)
	if errors.As(err, &limit) {
		return limit.Error()
	}
	for _, known := range []error{ledger.ErrConflict, ledger.ErrNotFound, ledger.ErrGrantSpent} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprint(err)
}

type sameProposal struct {
	session authz.StoredSession
	ledger.Proposal
}

type sameRecord struct {
	session authz.StoredSession
	ledger.Record
}

// same is an answer in a form in which nothing and an empty list are the same.
func same(answer any) any {
	session := func(s authz.Session) authz.StoredSession {
		d := s.Stored()
		d.Via, d.Tools = some(d.Via), some(d.Tools)
		return d
	}
	switch a := answer.(type) {
	case ledger.Proposal:
		p := sameProposal{session(a.Session), a}
		p.Session = authz.Session{}
		p.Targets, p.RevisedBy, p.Result = some(a.Targets), some(a.RevisedBy), some(a.Result)
		return p
	case []ledger.Proposal:
		list := []any{}
		for _, p := range a {
			list = append(list, same(p))
		}
		return list
	case []ledger.Record:
		list := []any{}
		for _, r := range a {
			s := sameRecord{session(r.Session), r}
			s.Seq, s.Session, s.Targets, s.Result = 0, authz.Session{}, some(r.Targets), some(r.Result)
			list = append(list, s)
		}
		return list
	case []ledger.Tally:
		return some(a)
	}
	return answer
}

func some[T any](list []T) []T { return append([]T{}, list...) }

func (m *machine) propose(t *rapid.T) {
	e := m.entry(t, m.session(t, m.scope(t)))
	m.both(t, func(s ledger.Store) (any, error) { return s.Propose(context.Background(), e) })
}

// row is a proposal to change: as it is, or one that there is not.
func (m *machine) row(t *rapid.T) ledger.Proposal {
	scope, id := m.scope(t), m.id(t)
	p, err := m.memory.Proposal(context.Background(), scope, id)
	if err != nil {
		p = ledgertest.NewEntry(scope, 0, func(p *ledger.Proposal) { p.ID = id }).Proposal
	}
	return p
}

func (m *machine) claim(t *rapid.T) {
	c := ledgertest.NewClaim(m.row(t), rapid.SampledFrom([]string{"click", "Click", "click ", ""}).Draw(t, "claim"), m.at(t))
	if rapid.Bool().Draw(t, "by a grant") {
		c.Use = &ledger.Use{
			Grant: rapid.SampledFrom([]string{"grant", "Grant"}).Draw(t, "grant"), Limit: rapid.IntRange(0, 2).Draw(t, "uses"),
			Until: m.now.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "until")) * time.Microsecond),
		}
	}
	m.both(t, func(s ledger.Store) (any, error) { return s.Claim(context.Background(), c) })
}

func (m *machine) dismiss(t *rapid.T) {
	d := ledgertest.NewDismissal(m.row(t), m.at(t))
	d.Note += someTexts.Draw(t, "note")
	m.both(t, func(s ledger.Store) (any, error) { return s.Dismiss(context.Background(), d) })
}

func (m *machine) revise(t *rapid.T) {
	p := m.row(t)
	e := m.entry(t, p.Session)
	e.Proposal.Supersedes, e.Proposal.RevisedBy = p.ID, append(p.RevisedBy, "sam")
	if rapid.IntRange(0, 9).Draw(t, "another scope") == 0 {
		e.Proposal.Session = m.session(t, m.scope(t))
	}
	r := ledger.Revision{Dismissal: ledgertest.NewDismissal(p, m.at(t)), Entry: e}
	m.both(t, func(s ledger.Store) (any, error) { return s.Revise(context.Background(), r) })
}

func (m *machine) finish(t *rapid.T) {
	f := ledgertest.NewFinish(m.row(t), m.at(t))
	if rapid.IntRange(0, 4).Draw(t, "of another claim") == 0 {
		f.Claim = "CLICK"
	}
	f.Outcome = rapid.SampledFrom([]ledger.Outcome{ledger.Succeeded, ledger.Failed, ledger.Running}).Draw(t, "outcome")
	f.Result, f.Error, f.Told, f.Unmeasured = []byte(someTexts.Draw(t, "result")), someTexts.Draw(t, "error"), someTexts.Draw(t, "told"), someTexts.Draw(t, "unmeasured")
	f.VerifyAt = m.at(t).Add(time.Minute)
	if rapid.Bool().Draw(t, "measured") {
		v := rapid.Float64().Draw(t, "baseline")
		f.Baseline = &v
	}
	m.both(t, func(s ledger.Store) (any, error) { return nil, s.Finish(context.Background(), f) })
}

func (m *machine) verify(t *rapid.T) {
	v := ledgertest.NewVerification(m.row(t), m.at(t))
	v.Verdict = rapid.SampledFrom([]ledger.Verdict{ledger.Improved, ledger.Worsened, ledger.Unmeasured, ledger.Unverified}).Draw(t, "verdict")
	v.Why = someTexts.Draw(t, "why")
	m.both(t, func(s ledger.Store) (any, error) { return nil, s.Verify(context.Background(), v) })
}

func (m *machine) append(t *rapid.T) {
	r := ledger.Record{
		At: m.at(t), Event: ledger.EventRefused, Code: ledger.Forbidden, Reason: someTexts.Draw(t, "reason"), Session: m.session(t, m.scope(t)),
		Proposal: m.id(t), Action: someTexts.Draw(t, "action"), Count: rapid.IntRange(0, 3).Draw(t, "count"),
	}
	if rapid.Bool().Draw(t, "of no proposal") {
		r.Proposal = ""
	}
	m.both(t, func(s ledger.Store) (any, error) { return nil, s.Append(context.Background(), r) })
}

func (m *machine) purge(t *rapid.T) {
	scope := m.scope(t)
	p := ledger.Purge{Scope: scope, Before: m.at(t), Limit: rapid.IntRange(0, 3).Draw(t, "limit"), Record: ledger.Record{
		At: m.now, Event: ledger.EventPurged, Session: ledgertest.NewEntry(scope, 0).Proposal.Session,
	}}
	m.both(t, func(s ledger.Store) (any, error) { return s.Purge(context.Background(), p) })
}

// compare reads everything, and then some page of each list.
func (m *machine) compare(t *rapid.T) {
	ctx := context.Background()
	trails := map[ledger.Store][]ledger.Record{}
	for _, scope := range m.scopes {
		m.both(t, func(s ledger.Store) (any, error) { return s.Proposals(ctx, ledger.Query{Scope: scope, Limit: 1000}) })
		m.both(t, func(s ledger.Store) (any, error) {
			trail, err := s.Audit(ctx, ledger.AuditQuery{Scope: scope, Limit: 1000})
			trails[s] = trail
			return trail, err
		})
		require.True(t, slices.IsSortedFunc(trails[m.sql], func(a, b ledger.Record) int { return cmp.Compare(a.Seq, b.Seq) }))
	}
	scope := m.scopes[1] // whose trail is at hand
	p := m.row(t)
	q := ledger.Query{
		Scope: scope, At: m.at(t), Text: someWords.Draw(t, "text"), Window: rapid.IntRange(0, 5).Draw(t, "window"), Limit: rapid.IntRange(0, 4).Draw(t, "limit"),
		States: rapid.SliceOfN(rapid.SampledFrom([]ledger.State{
			ledger.StateProposed, ledger.StateExpired, ledger.StateDismissed, ledger.StateExecuted, ledger.StateInterrupted, ledger.StateVerified,
		}), 0, 3).Draw(t, "states"),
	}
	a := ledger.AuditQuery{Scope: scope, Text: q.Text, Window: q.Window, Limit: q.Limit, Newest: rapid.Bool().Draw(t, "newest")}
	either := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	if either("by actor") {
		q.Actor, a.Actor = p.Session.Actor(), p.Session.Actor()
	}
	if either("by principal") {
		q.Principal = p.Session.Human().ID()
		a.Principal = q.Principal
	}
	if either("by action") {
		q.Action, a.Action = p.Action, p.Action
	}
	if either("by run") {
		q.Run, a.Run = p.Session.Run(), p.Session.Run()
	}
	if either("of a proposal") {
		a.Proposal = p.ID
	}
	if either("by event") {
		a.Event = ledger.EventStarted
	}
	if either("in a time") {
		q.Since, q.Until = p.CreatedAt, m.at(t)
		a.Since, a.Until = q.Since, q.Until
	}
	if either("from a cursor on") {
		q.Before = p.Cursor()
	}
	m.both(t, func(s ledger.Store) (any, error) { return s.Proposals(ctx, q) })
	from, to := rapid.IntRange(-1, len(trails[m.sql])-1).Draw(t, "after"), rapid.IntRange(-1, len(trails[m.sql])-1).Draw(t, "before")
	m.both(t, func(s ledger.Store) (any, error) {
		a := a
		if from >= 0 {
			a.After = trails[s][from].Seq
		}
		if to >= 0 {
			a.Before = trails[s][to].Seq
		}
		return s.Audit(ctx, a)
	})
	m.both(t, func(s ledger.Store) (any, error) { return s.Proposal(ctx, p.Session.Scope(), p.ID) })
	m.both(t, func(s ledger.Store) (any, error) {
		due, err := s.Due(ctx, m.now, 1000)
		slices.SortStableFunc(due, func(a, b ledger.Proposal) int { // the contract does not order one id in two scopes
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Session.Scope(), b.Session.Scope()))
		})
		return due, err
	})
	m.both(t, func(s ledger.Store) (any, error) { return s.Uses(ctx, scope, []string{"grant", "Grant", "none"}) })
	m.both(t, func(s ledger.Store) (any, error) {
		return s.Tally(ctx, ledger.TallyQuery{Scope: scope, At: m.now, Since: q.Since, Until: q.Until, Window: q.Window})
	})
}
