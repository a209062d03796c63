package sqlledger_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

func TestMigrateAgain(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		want := ledgertest.NewEntry("shop", 1)
		_, err := s.Propose(t.Context(), want)
		require.NoError(t, err)
		require.NoError(t, s.Migrate(t.Context()))
		_, err = s.Proposal(t.Context(), "shop", want.Proposal.ID)
		require.NoError(t, err, "what was there before is there still")
	})
}

// TestMigrateConcurrently has several processes make the tables at once, also where the default isolation is another one.
func TestMigrateConcurrently(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		direct := s.dsn
		for _, setting := range map[sqlledger.Dialect][]string{
			sqlledger.SQLite:     {"_txlock=immediate"},
			sqlledger.PostgreSQL: {"application_name=a", "default_transaction_isolation=repeatable%20read", "default_transaction_isolation=serializable"},
			sqlledger.MySQL:      {"autocommit=1", "tx_isolation=%27SERIALIZABLE%27"},
		}[e.dialect] {
			s.unmake(t)
			s.dsn = with(setting)(direct)
			const n = 6
			errs := make([]error, n)
			var wg sync.WaitGroup
			for i := range n {
				other := e.twin(t, s, nil)
				wg.Go(func() { errs[i] = other.Migrate(context.WithoutCancel(t.Context())) })
			}
			wg.Wait()
			for _, err := range errs {
				require.NoError(t, err, setting)
			}
			_, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
			require.NoError(t, err)
		}
	})
}

// unmake removes the tables.
func (s *store) unmake(t *testing.T) {
	for _, table := range tables {
		_, err := s.exec("DROP TABLE IF EXISTS {" + table + "}")
		require.NoError(t, err)
	}
}

// TestMigrateCommits makes the tables by a connection that commits nothing by itself.
func TestMigrateCommits(t *testing.T) {
	e := engines[5]
	s := e.open(t)
	s.unmake(t)
	direct := s.dsn
	s.dsn = with("autocommit=0")(direct)
	require.NoError(t, e.twin(t, s, nil).Migrate(t.Context()))
	_, err := s.Check(t.Context())
	require.NoError(t, err, "the version is there for others")
}

func TestMigrateRefuses(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		named := func(name string) *sqlledger.Store {
			return e.twin(t, s, func(o *sqlledger.Options) { o.Environment = name })
		}
		require.NoError(t, named("").Migrate(t.Context()))
		require.NoError(t, named("production").Migrate(t.Context()), "the first name is recorded")
		require.NoError(t, named("production").Migrate(t.Context()))
		for _, name := range []string{"", "staging", "Production"} {
			require.ErrorIs(t, named(name).Migrate(t.Context()), sqlledger.ErrSchema, "environment %q", name)
			_, err := named(name).Check(t.Context())
			require.ErrorIs(t, err, sqlledger.ErrSchema, "environment %q", name)
		}
		_, err := s.exec("UPDATE {meta} SET version = 99")
		require.NoError(t, err)
		require.ErrorIs(t, named("production").Migrate(t.Context()), sqlledger.ErrSchema, "a newer schema")
		_, err = named("production").Check(t.Context())
		require.ErrorIs(t, err, sqlledger.ErrSchema, "a newer schema")
		_, err = s.exec("UPDATE {meta} SET version = 0")
		require.NoError(t, err)
		_, err = named("production").Check(t.Context())
		require.ErrorIs(t, err, sqlledger.ErrSchema, "an older schema")
		require.NoError(t, named("production").Migrate(t.Context()), "steps that were applied before do nothing")
		_, err = s.exec("DELETE FROM {meta}")
		require.NoError(t, err)
		_, err = named("production").Check(t.Context())
		require.ErrorIs(t, err, sqlledger.ErrSchema, "no version")
	})
}

func TestMigrateReportsErrors(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, s.Migrate(ctx), context.Canceled)
		_, err := s.Check(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, err = s.exec("DROP TABLE {meta}")
		require.NoError(t, err)
		_, err = s.Check(t.Context())
		require.ErrorContains(t, err, "before Migrate")
		_, err = s.exec("CREATE VIEW {meta} AS SELECT 1 AS one, 'x' AS version, '' AS environment")
		require.NoError(t, err)
		require.Error(t, s.Migrate(t.Context()), "a table that is none")
		_, err = s.exec("DROP VIEW {meta}")
		require.NoError(t, err)
		require.NoError(t, e.twin(t, s, nil).Migrate(t.Context()), "nothing is left behind, no lock and no transaction")
	})
}

// TestSchemaByHand applies what Schema prints, in a schema of its own where there are any.
func TestSchemaByHand(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		db := e.connect(t, e.address(t))
		o := options(t)
		o.Environment = "production"
		if e.dialect != sqlledger.SQLite {
			o.Prefix = strings.TrimSuffix(o.Prefix, "_") + "."
			schema := strings.TrimSuffix(o.Prefix, ".")
			_, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
			require.NoError(t, err)
			drop := map[sqlledger.Dialect]string{sqlledger.PostgreSQL: " CASCADE"}[e.dialect]
			t.Cleanup(func() {
				_, err := db.ExecContext(context.Background(), "DROP SCHEMA "+schema+drop)
				require.NoError(t, err)
			})
		}
		apply := func(statements []string, err error) {
			require.NoError(t, err)
			for _, q := range statements {
				_, err := db.ExecContext(t.Context(), q)
				require.NoError(t, err, q)
			}
		}
		apply(sqlledger.Schema(e.dialect, o))
		s, err := sqlledger.New(db, e.dialect, o)
		require.NoError(t, err)
		warnings, err := s.Check(t.Context())
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.NoError(t, s.Migrate(t.Context()), "there is nothing left to do")
		everyStatement(t, s)
		apply(sqlledger.InsertOnly(e.dialect, o))
		claimOne(t, s, 9)
	})
}

// everyStatement has a store run each of its statements.
func everyStatement(t *testing.T, s *sqlledger.Store) {
	ctx, later := t.Context(), ledgertest.At(time.Hour)
	p := claimOne(t, s, 1)
	unitCtx, unit := s.Unit(ctx)
	_, err := sqlledger.Tx(unitCtx)
	require.NoError(t, err)
	require.NoError(t, unit.Finish(ctx, ledgertest.NewFinish(p, p.CreatedAt)))
	require.NoError(t, s.Verify(ctx, ledgertest.NewVerification(p, later)))
	e := ledgertest.NewEntry("shop", 2)
	e.Limits = ledger.Limits{Session: 9, Principal: 9, Scope: 9}
	p, err = s.Propose(ctx, e)
	require.NoError(t, err)
	p, err = s.Revise(ctx, ledgertest.NewRevision(p, 3, p.CreatedAt))
	require.NoError(t, err)
	_, err = s.Dismiss(ctx, ledgertest.NewDismissal(p, later))
	require.NoError(t, err)
	p, err = s.Propose(ctx, ledgertest.NewEntry("shop", 4))
	require.NoError(t, err)
	c := ledgertest.NewClaim(p, "claim-4", p.CreatedAt)
	c.Use = &ledger.Use{Grant: "grant-1", Limit: 1, Until: later}
	_, err = s.Claim(ctx, c)
	require.NoError(t, err)
	require.NoError(t, s.Append(ctx, ledgertest.NewEntry("shop", 5).Record))
	uses, err := s.Uses(ctx, "shop", []string{"grant-1", "grant-2"})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"grant-1": 1}, uses)

	due, err := s.Due(ctx, later, 9)
	require.NoError(t, err)
	require.Len(t, due, 1)
	tally, err := s.Tally(ctx, ledger.TallyQuery{Scope: "shop", At: later})
	require.NoError(t, err)
	require.Len(t, tally, 1)
	for q, want := range map[*ledger.Query]int{
		{}: 4, {Text: "w42"}: 4, {Window: 2}: 2, {States: []ledger.State{ledger.StateProposed}, At: later}: 0, {States: []ledger.State{ledger.StateDismissed}}: 2,
	} {
		q.Scope = "shop"
		list, err := s.Proposals(ctx, *q)
		require.NoError(t, err)
		require.Len(t, list, want, "%+v", q)
	}
	for q, want := range map[*ledger.AuditQuery]int{{}: 11, {Text: "w42"}: 11, {Window: 2}: 2, {Proposal: p.ID}: 2} {
		q.Scope = "shop"
		list, err := s.Audit(ctx, *q)
		require.NoError(t, err)
		require.Len(t, list, want, "%+v", q)
	}
	gone, err := s.Purge(ctx, ledger.Purge{Scope: "shop", Before: later, Record: e.Record})
	require.NoError(t, err)
	require.Equal(t, ledger.Purged{Proposals: 3, Records: 9}, gone)
}

// claimOne proposes and claims the nth proposal of the shop.
func claimOne(t *testing.T, s ledger.Store, n int) ledger.Proposal {
	p, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", n))
	require.NoError(t, err)
	p, err = s.Claim(t.Context(), ledgertest.NewClaim(p, fmt.Sprint("claim-", n), p.CreatedAt))
	require.NoError(t, err)
	return p
}

func TestOptions(t *testing.T) {
	db := engines[0].connect(t, engines[0].address(t))
	for name, o := range map[string]sqlledger.Options{
		"upper case": {Prefix: "Audit_"}, "a quote": {Prefix: `a"`}, "a brace": {Prefix: "a{"}, "two dots": {Prefix: "a.b.c"}, "a digit first": {Prefix: "1a"},
		"too long": {Prefix: strings.Repeat("a", 33)}, "timeout": {Timeout: -1}, "environment": {Environment: "it's"},
	} {
		for _, d := range []sqlledger.Dialect{sqlledger.SQLite, sqlledger.PostgreSQL, sqlledger.MySQL} {
			_, err := sqlledger.New(db, d, o)
			require.Error(t, err, name)
			_, err = sqlledger.Schema(d, o)
			require.Error(t, err, name)
			_, err = sqlledger.InsertOnly(d, o)
			require.Error(t, err, name)
		}
	}
	_, err := sqlledger.New(db, 0, sqlledger.Options{})
	require.ErrorContains(t, err, "Dialect(0)")
	_, err = sqlledger.New(nil, sqlledger.SQLite, sqlledger.Options{})
	require.Error(t, err, "no database")
	_, err = sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{Prefix: "audit."})
	require.Error(t, err, "SQLite has no schemas")
	_, err = sqlledger.New(db, sqlledger.MySQL, sqlledger.Options{Prefix: "audit.sp_"})
	require.NoError(t, err)
}
