package sqlledger_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// settings returns what Check warns about, by the beginning of each line.
func settings(t *testing.T, s *sqlledger.Store) []string {
	t.Helper()
	warnings, err := s.Check(t.Context())
	require.NoError(t, err)
	var list []string
	for _, w := range warnings {
		require.NotEmpty(t, w.Risk, w.Setting)
		require.NotEmpty(t, w.Fix, w.Setting)
		require.Contains(t, w.String(), w.Fix)
		list = append(list, w.Setting)
	}
	return list
}

func TestCheckSQLite(t *testing.T) {
	for _, c := range []struct {
		name, pragmas string
		pool          int
		want          []string
	}{
		{"as it should be", "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)", 1, nil},
		{"a pool on WAL", "&_pragma=journal_mode(WAL)&_pragma=synchronous(EXTRA)&_pragma=busy_timeout(5000)", 4, nil},
		{"synchronous NORMAL", "&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)", 1, []string{"synchronous = 1"}},
		{"a pool on a rollback journal", "&_pragma=synchronous(FULL)", 4, []string{"journal_mode = delete", "busy_timeout = 0"}},
		{"no journal", "&_pragma=journal_mode(OFF)&_pragma=busy_timeout(5000)", 1, []string{"journal_mode = off"}},
		{"UTF-16", "&_pragma=encoding('UTF-16')&_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)", 1, []string{"encoding = UTF-16le"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := engines[0].connect(t, "file:"+filepath.Join(t.TempDir(), "ledger.db")+"?_time_format=sqlite"+c.pragmas)
			db.SetMaxOpenConns(c.pool)
			s, err := sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{})
			require.NoError(t, err)
			require.NoError(t, s.Migrate(t.Context()))
			require.Equal(t, c.want, settings(t, s))
		})
	}
	t.Run("in memory", func(t *testing.T) {
		db, err := sql.Open("sqlite", ":memory:?_pragma=busy_timeout(5000)")
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		db.SetMaxOpenConns(1)
		s, err := sqlledger.New(db, sqlledger.SQLite, sqlledger.Options{})
		require.NoError(t, err)
		require.NoError(t, s.Migrate(t.Context()))
		require.Equal(t, []string{"journal_mode = memory"}, settings(t, s))
	})
}

func TestCheckPostgreSQL(t *testing.T) {
	e := engines[1]
	s := e.open(t)
	require.Empty(t, settings(t, s.Store))
	s.dsn = with("synchronous_commit=off")(s.dsn)
	require.Equal(t, []string{"synchronous_commit = off"}, settings(t, e.twin(t, s, nil)))
}

func TestCheckMariaDB(t *testing.T) {
	e := engines[5]
	s := e.open(t)
	require.Empty(t, settings(t, s.Store))
	dsn := s.dsn
	s.dsn = with("sql_mode=%27%27&autocommit=0&charset=latin1")(dsn)
	require.Equal(t, []string{"autocommit = 0", "sql_mode = ", "character_set_client = latin1"}, settings(t, e.twin(t, s, nil)))
	s.dsn = dsn
	_, err := s.exec("ALTER TABLE {proposals} DROP COLUMN due_at, DROP KEY party, MODIFY claim VARCHAR(255) NOT NULL, ENGINE=MyISAM")
	require.NoError(t, err)
	require.Equal(t, []string{"columns of " + s.prefix + "proposals = claim varchar(255)", "engine of " + s.prefix + "proposals = MyISAM"}, settings(t, s.Store))
}
