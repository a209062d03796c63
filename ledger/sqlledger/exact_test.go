package sqlledger_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

// TestIDsNeverMeet gives proposals ids that a database with another collation takes for the same.
func TestIDsNeverMeet(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		names := []string{"token-AB", "TOKEN-ab", "token-AB ", "token-AB  ", "tökén", "tokén", "toke\u0301n", "%", "_", "a\x00b", "a\xff", "\x01\"a\\x00b\""}
		for i, id := range names {
			for _, scope := range []authz.Scope{"shop", "Shop", "shop ", "sh\x00p"} {
				e := ledgertest.NewEntry(scope, i+1, func(p *ledger.Proposal) { p.ID = id })
				_, err := s.Propose(t.Context(), e)
				require.NoError(t, err, "%q in %q", id, scope)
			}
		}
		for _, scope := range []authz.Scope{"shop", "Shop", "shop ", "sh\x00p"} {
			list, err := s.Proposals(t.Context(), ledger.Query{Scope: scope})
			require.NoError(t, err)
			require.Len(t, list, len(names))
			for _, id := range names {
				p, err := s.Proposal(t.Context(), scope, id)
				require.NoError(t, err)
				require.Equal(t, id, p.ID)
				require.Equal(t, scope, p.Session.Scope())
				_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "Click", p.CreatedAt))
				require.NoError(t, err)
				for _, other := range []string{"click", "Click ", "Click\x00"} {
					_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, other, p.CreatedAt))
					require.ErrorIs(t, err, ledger.ErrConflict, "another claim id")
				}
			}
		}
		_, err := s.Proposal(t.Context(), "shop", "token-ab")
		require.ErrorIs(t, err, ledger.ErrNotFound)
		trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Proposal: "a\xff"})
		require.NoError(t, err)
		require.Len(t, trail, 2)
	})
}

// TestOrderIsByBytes lists ids of one instant which collations of languages order otherwise.
func TestOrderIsByBytes(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		want := []string{"é", "z", "a", "_", "Z", "A", "-", "!", " "} // descending
		for i, id := range want {
			_, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", i, func(p *ledger.Proposal) { p.ID, p.CreatedAt = id, ledgertest.At(0) }))
			require.NoError(t, err)
		}
		var got []string
		q := ledger.Query{Scope: "shop", Limit: 2}
		for list, err := s.Proposals(t.Context(), q); len(list) > 0; list, err = s.Proposals(t.Context(), q) {
			require.NoError(t, err)
			for _, p := range list {
				got = append(got, p.ID)
			}
			q.Before = list[len(list)-1].Cursor()
		}
		require.Equal(t, want, got)
	})
}

// TestEveryTextComesBack writes what databases refuse, cut, or take for something else.
func TestEveryTextComesBack(t *testing.T) {
	texts := []string{
		"", " ", "naïve 🚪", "a\x00b", "\x00", "\x01", "\xff\xfe", "'; DROP TABLE x; --", `\'"%_?$1`, "{a} [b]", "\r\n\t", "\u2028",
		strings.Repeat("é", 40_000), "null",
	}
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		for i, text := range texts {
			p := claimOne(t, s, i+1)
			f := ledgertest.NewFinish(p, ledgertest.At(time.Minute))
			f.Result, f.Error, f.Told, f.Unmeasured = []byte(text), text, text, text
			f.Record.Error, f.Record.Result = text, []byte(text)
			require.NoError(t, s.Finish(t.Context(), f))
			p, err := s.Proposal(t.Context(), "shop", p.ID)
			require.NoError(t, err)
			require.True(t, bytes.Equal(f.Result, p.Result), "%.20q", text)
			require.Equal(t, []string{text, text, text}, []string{p.Error, p.Told, p.Unmeasured}, "%.20q", text)
			trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Proposal: p.ID, Event: ledger.EventFinished})
			require.NoError(t, err)
			require.Equal(t, text, trail[0].Error)
			require.Equal(t, text, string(trail[0].Result))
		}
	})
}

func TestNumbersAndTimesComeBack(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		far := []time.Time{{}, time.UnixMicro(0), time.UnixMicro(-1), time.UnixMicro(1), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.FixedZone("west", -12*3600))}
		for i, f := range []float64{0, math.Copysign(0, -1), 0.1, -1e-300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
			p := claimOne(t, s, i+1)
			finish := ledgertest.NewFinish(p, far[i%len(far)])
			finish.Baseline, finish.VerifyAt = &f, far[(i+1)%len(far)]
			require.NoError(t, s.Finish(t.Context(), finish))
			got, err := s.Proposal(t.Context(), "shop", p.ID)
			require.NoError(t, err)
			require.Equal(t, math.Float64bits(f)&^1, math.Float64bits(*got.Baseline)&^1, "%v; of NaN there are many", f)
			require.Equal(t, ledger.Time(finish.At), got.FinishedAt)
			require.Equal(t, ledger.Time(finish.VerifyAt), got.VerifyAt)
		}
	})
}

// TestParametersComeBack has parameters with U+0000, which the canonical text escapes.
func TestParametersComeBack(t *testing.T) {
	params, err := canon.Parse([]byte(`{"nul":"a\u0000b","one":"\u0001","big":18446744073709551615,"e":1e300,"é":"\ud83d\udeaa"}`), canon.Options{})
	require.NoError(t, err)
	require.NotContains(t, params.String(), "\x00")
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		entry := ledgertest.NewEntry("shop", 1, func(p *ledger.Proposal) { p.Params = params })
		_, err := s.Propose(t.Context(), entry)
		require.NoError(t, err)
		p, err := s.Proposal(t.Context(), "shop", entry.Proposal.ID)
		require.NoError(t, err)
		require.Equal(t, params, p.Params)
	})
}

// TestTooLong refuses text that a column might cut, before anything begins.
func TestTooLong(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		long, longer := strings.Repeat("x", 256), strings.Repeat("x", 1<<24)
		session, err := authz.NewSession("shop", authz.ID(long), authz.Background())
		require.NoError(t, err)
		_, err = s.Propose(t.Context(), ledgertest.NewEntry("shop", 1, func(p *ledger.Proposal) { p.Session = session }))
		require.ErrorContains(t, err, "the actor is longer than 255 bytes")
		_, err = s.Propose(t.Context(), ledger.Entry{})
		require.ErrorIs(t, err, authz.ErrSession)
		p := claimOne(t, s, 1)
		open, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 2))
		require.NoError(t, err)
		_, err = s.Claim(t.Context(), ledgertest.NewClaim(open, long, open.CreatedAt))
		require.ErrorContains(t, err, "the claim is longer")
		d := ledgertest.NewDismissal(open, open.CreatedAt)
		d.Note = longer
		_, err = s.Dismiss(t.Context(), d)
		require.ErrorContains(t, err, "the note is longer")
		r := ledgertest.NewRevision(open, 3, open.CreatedAt)
		r.Dismissal.Note = longer
		_, err = s.Revise(t.Context(), r)
		require.ErrorContains(t, err, "the note is longer")
		r = ledgertest.NewRevision(open, 3, open.CreatedAt)
		r.Entry.Proposal.Action = long
		_, err = s.Revise(t.Context(), r)
		require.ErrorContains(t, err, "the action is longer")
		f := ledgertest.NewFinish(p, p.CreatedAt)
		f.Error = longer
		require.ErrorContains(t, s.Finish(t.Context(), f), "the error is longer")
		rec := ledgertest.NewEntry("shop", 1).Record
		rec.Reason = long
		require.ErrorContains(t, s.Append(t.Context(), rec), "the reason is longer")
		trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop"})
		require.NoError(t, err)
		require.Len(t, trail, 3)
	})
}

// TestRowsThatCannotBeRestored are named, as tampered, and in lists too.
func TestRowsThatCannotBeRestored(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		for _, edit := range []string{
			"params = '{ }'", "params = '{\"a\":1'", "kind = 'robot'", "kind = ''", "actor = ''", "background = 7", "background = 1", "via = '['", "tools = '{}'",
			"targets = '[\"orders\"]'", "revised_by = 'x'", "baseline = 'many'", "version = '\x01x'",
			"actor = '', kind = '', principal = ''",
		} {
			restore, err := s.Proposal(t.Context(), "shop", p.ID)
			require.NoError(t, err)
			_, err = s.exec("UPDATE {proposals} SET " + edit)
			require.NoError(t, err)
			_, err = s.Proposal(t.Context(), "shop", p.ID)
			require.ErrorIs(t, err, ledger.ErrTampered, edit)
			require.ErrorContains(t, err, p.ID, edit)
			_, err = s.Proposals(t.Context(), ledger.Query{Scope: "shop"})
			require.ErrorIs(t, err, ledger.ErrTampered, edit)
			_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
			require.ErrorIs(t, err, ledger.ErrTampered, edit)
			require.NotErrorIs(t, err, ledger.ErrConflict, edit)
			_, err = s.exec("DELETE FROM {proposals}")
			require.NoError(t, err)
			_, err = s.Propose(t.Context(), ledger.Entry{Proposal: restore, Record: ledgertest.NewEntry("shop", 1).Record})
			require.NoError(t, err)
		}
		trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Event: ledger.EventStarted})
		require.NoError(t, err)
		require.Empty(t, trail)
		_, err = s.exec("UPDATE {records} SET kind = 'robot'")
		require.NoError(t, err)
		_, err = s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop"})
		require.ErrorContains(t, err, "record")
	})
}

// TestARecordOfNobody keeps a record without a session, as a refusal of one that has none.
func TestARecordOfNobody(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		require.NoError(t, s.Append(t.Context(), ledger.Record{At: ledgertest.At(0), Event: ledger.EventRefused, Targets: []authz.Path{{}, authz.Root()}}))
		trail, err := s.Audit(t.Context(), ledger.AuditQuery{})
		require.NoError(t, err)
		require.Len(t, trail, 1)
		require.True(t, trail[0].Session.IsZero())
		require.Equal(t, []authz.Path{{}, authz.Root()}, trail[0].Targets)
	})
}

// TestAnUnknownState lists nothing, and a decision that this program does not know is shown as interrupted.
func TestAnUnknownState(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		list, err := s.Proposals(t.Context(), ledger.Query{Scope: "shop", States: []ledger.State{"open"}})
		require.NoError(t, err)
		require.Empty(t, list)
		_, err = s.exec("UPDATE {proposals} SET decision = 'postponed'")
		require.NoError(t, err)
		list, err = s.Proposals(t.Context(), ledger.Query{Scope: "shop", States: []ledger.State{ledger.StateInterrupted}})
		require.NoError(t, err)
		require.Len(t, list, 1)
		_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "claim-1", p.CreatedAt))
		require.ErrorIs(t, err, ledger.ErrConflict)
	})
}
