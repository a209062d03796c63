package sqlledger_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // whatever the machine has

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// TestTimesInEveryZone writes instants around the changes to and from summer time, in zones of both hemispheres, over
// connections that have zones of their own. Each comes back to the microsecond, in UTC, and is stored as one number.
func TestTimesInEveryZone(t *testing.T) {
	var instants []time.Time
	for _, name := range []string{"UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		instants = append(instants,
			time.Date(2026, 3, 8, 2, 30, 0, 123456789, zone), time.Date(2026, 3, 29, 2, 59, 59, 999999999, zone), time.Date(2026, 4, 5, 1, 45, 0, 1000, zone),
			time.Date(2026, 10, 25, 2, 30, 0, 999, zone), time.Date(2026, 11, 1, 1, 30, 0, 500000, zone), time.Date(2011, 12, 30, 0, 0, 0, 1, zone),
		)
	}
	zones := map[sqlledger.Dialect][]string{
		sqlledger.SQLite:     {"_time_format=sqlite", "_timezone=Asia%2FKathmandu"},
		sqlledger.PostgreSQL: {"timezone=UTC", "timezone=Asia%2FKathmandu"},
		sqlledger.MySQL: {
			"parseTime=true&loc=UTC", "parseTime=true&loc=" + url.QueryEscape("America/New_York") + "&time_zone=" + url.QueryEscape("'+05:45'"),
			"timeTruncate=1s",
		},
	}
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		direct := s.dsn
		n := 0
		for _, zone := range zones[e.dialect] {
			s.dsn = with(zone)(direct)
			far := e.twin(t, s, nil)
			s.dsn = direct
			for _, at := range instants {
				n++
				want := time.UnixMicro(at.UnixMicro()).UTC()
				entry := ledgertest.NewEntry("shop", n, func(p *ledger.Proposal) { p.CreatedAt, p.ExpiresAt = at, at.Truncate(time.Second).Add(time.Hour) })
				_, err := far.Propose(t.Context(), entry)
				require.NoError(t, err)
				for _, reader := range []*sqlledger.Store{s.Store, far} {
					p, err := reader.Proposal(t.Context(), "shop", entry.Proposal.ID)
					require.NoError(t, err)
					require.Equal(t, want, p.CreatedAt, "%v over %s", at, zone)
					require.Equal(t, entry.Proposal.ExpiresAt.UTC(), p.ExpiresAt)
				}
				var number int64
				require.NoError(t, s.db.QueryRow(s.q("SELECT created_at FROM {proposals} WHERE id = ?"), entry.Proposal.ID).Scan(&number))
				require.Equal(t, want.UnixMicro(), number)
				list, err := far.Proposals(t.Context(), ledger.Query{Scope: "shop", Since: at, Until: at.Add(time.Microsecond), Limit: 1000})
				require.NoError(t, err)
				require.True(t, slices.ContainsFunc(list, func(p ledger.Proposal) bool { return p.ID == entry.Proposal.ID }), "the instant finds it")
			}
		}
	})
}

// dump returns what the tables hold, column by column in the order of their names.
func (s *store) dump(t *testing.T) string {
	var b strings.Builder
	for _, table := range []string{"proposals", "records", "scopes", "grants", "uses", "meta"} {
		columns, err := s.queryNone("SELECT * FROM {" + table + "}")
		require.NoError(t, err)
		slices.Sort(columns)
		rows, err := s.db.Query(s.q("SELECT " + strings.Join(columns, ", ") + " FROM {" + table + "}"))
		require.NoError(t, err)
		defer rows.Close()
		var lines []string
		for rows.Next() {
			values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			require.NoError(t, rows.Scan(into...))
			line := table
			for i, v := range values {
				line += fmt.Sprintf(" %s=%q %v", columns[i], v.String, v.Valid)
			}
			lines = append(lines, line)
		}
		require.NoError(t, rows.Err())
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return b.String()
}

// TestStoredTheSame makes the same changes on every engine, with texts that one or the other would mangle: the tables
// hold the same afterwards, byte for byte, and the canonical parameters as they are.
func TestStoredTheSame(t *testing.T) {
	params, err := canon.Parse([]byte(`{"nul":"a\u0000b","one":"\u0001","big":18446744073709551615,"e":1e300,"z":0.1,"é":"\ud83d\udeaa","sp":"a  ","q":"'\"\\%_?"}`), canon.Options{})
	require.NoError(t, err)
	work := func(t *testing.T, e engine) string {
		s := e.open(t)
		far := e.twin(t, s, func(o *sqlledger.Options) { o.Random = bytes.NewReader(make([]byte, 10_000)) })
		ctx := t.Context()
		for i, text := range []string{"", " ", "a", "A", "a\x00b", "\x00", "\xff\xfe", "\x01\"a\"", "naïve 🚪", "'; --", `\'"%_?$1`, "{a} [b]", "\r\n\t"} {
			session, err := authz.NewSession(authz.Scope("shop"+text), authz.ID("model"+text), authz.For(authz.LoggedIn(authz.ID("olga"+text))))
			require.NoError(t, err)
			session = session.WithRun(text).WithConversation(text).WithOrigin(text)
			entry := ledgertest.NewEntry("shop", i+1, func(p *ledger.Proposal) {
				p.Session, p.Params, p.Version, p.Action, p.RevisedBy = session, params, text, "action"+text, []authz.ID{authz.ID("sam" + text)}
			})
			p, err := far.Propose(ctx, entry)
			require.NoError(t, err)
			var stored string
			require.NoError(t, s.db.QueryRow(s.q("SELECT params FROM {proposals} WHERE id = ?"), p.ID).Scan(&stored))
			require.Equal(t, params.String(), stored)
			c := ledgertest.NewClaim(p, "claim"+text, p.CreatedAt)
			c.Use = &ledger.Use{Grant: "grant" + text, Limit: 1, Until: c.At.Add(time.Hour)}
			p, err = far.Claim(ctx, c)
			require.NoError(t, err)
			f := ledgertest.NewFinish(p, p.CreatedAt)
			f.Result, f.Error, f.Told, f.Unmeasured = []byte(text), text, text, text
			require.NoError(t, far.Finish(ctx, f))
			v := ledgertest.NewVerification(p, p.CreatedAt)
			v.Why = text
			require.NoError(t, far.Verify(ctx, v))
			entry = ledgertest.NewEntry("shop", 100+i, func(p *ledger.Proposal) { p.Session = session })
			p, err = far.Propose(ctx, entry)
			require.NoError(t, err)
			d := ledgertest.NewDismissal(p, p.CreatedAt)
			d.Note = text
			_, err = far.Dismiss(ctx, d)
			require.NoError(t, err)
		}
		return s.dump(t)
	}
	want := work(t, engines[0])
	require.Contains(t, want, `note="\x01\"a\\x00b\""`)
	each(t, func(t *testing.T, e engine) {
		if e.dialect != sqlledger.SQLite {
			require.Equal(t, want, work(t, e))
		}
	})
}
