package sqlkit_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/sallyport-dev/sallyport/internal/sqlkit"
)

var errTaken = errors.New("taken")

// notes is the schema of a store with one table, in so many versions.
func notes(version int, last string) sqlkit.Schema {
	files := fstest.MapFS{
		"schema/sqlite_0.sql": {Data: []byte("CREATE TABLE IF NOT EXISTS {notes_meta} (one INTEGER PRIMARY KEY, version INTEGER, environment TEXT);\n")},
		"schema/sqlite_1.sql": {Data: []byte("-- A table.\n\nCREATE TABLE {notes} (id TEXT PRIMARY KEY, attempt TEXT);\n\n-- An index.\nCREATE INDEX [notes_by_attempt] ON {notes} (attempt);\n")},
		"schema/sqlite_2.sql": {Data: []byte("ALTER TABLE {notes} ADD COLUMN text TEXT;\n\n" + last)},
	}
	return sqlkit.Schema{Name: "notes", Meta: "{notes_meta}", Version: version, Files: files}
}

func connect(t *testing.T, path string) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func open(t *testing.T, db *sql.DB, s sqlkit.Schema, o sqlkit.Options) *sqlkit.DB {
	k, err := sqlkit.New(db, sqlkit.SQLite, o, s, func(err error) (sqlkit.Fault, bool) { return sqlkit.Refused, errors.Is(err, errTaken) })
	require.NoError(t, err)
	return k
}

func TestMigrate(t *testing.T) {
	db := connect(t, filepath.Join(t.TempDir(), "notes.db"))
	columns := func() (names []string) {
		require.NoError(t, sqlx.NewDb(db, "sqlite").Select(&names, "SELECT name FROM pragma_table_info('sallyport_notes') ORDER BY cid"))
		return names
	}
	require.NoError(t, open(t, db, notes(1, ""), sqlkit.Options{}).Migrate(t.Context()))
	require.Equal(t, []string{"id", "attempt"}, columns())
	require.ErrorContains(t, open(t, db, notes(2, "NONSENSE;"), sqlkit.Options{}).Migrate(t.Context()), "step 2")
	require.Equal(t, []string{"id", "attempt"}, columns(), "a step that fails leaves nothing behind")
	named := sqlkit.Options{Environment: "production"}
	require.NoError(t, open(t, db, notes(2, ""), named).Migrate(t.Context()))
	require.Equal(t, []string{"id", "attempt", "text"}, columns())
	require.NoError(t, open(t, db, notes(2, ""), named).Migrate(t.Context()), "again")
	for name, k := range map[string]*sqlkit.DB{
		"an older program":    open(t, db, notes(1, ""), named),
		"another environment": open(t, db, notes(2, ""), sqlkit.Options{Environment: "staging"}),
	} {
		require.ErrorIs(t, k.Migrate(t.Context()), sqlkit.ErrSchema, name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, open(t, db, notes(2, ""), named).Migrate(ended), context.Canceled)
}

func TestStatements(t *testing.T) {
	list, err := notes(1, "").Statements(sqlkit.SQLite, sqlkit.Options{Prefix: "x_", Environment: "test"})
	require.NoError(t, err)
	require.Equal(t, []string{
		"CREATE TABLE IF NOT EXISTS x_notes_meta (one INTEGER PRIMARY KEY, version INTEGER, environment TEXT)",
		"CREATE TABLE x_notes (id TEXT PRIMARY KEY, attempt TEXT)",
		"CREATE INDEX x_notes_by_attempt ON x_notes (attempt)",
		"INSERT INTO x_notes_meta (one, version, environment) VALUES (1, 1, 'test')",
	}, list)
	require.Equal(t, "people.sp_notes, sp_notes_by", sqlkit.Names("people.sp_").Replace("{notes}, [notes_by]"), "an index has no schema")
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]sqlkit.Options{
		"upper case": {Prefix: "A"}, "a quote": {Prefix: "a'"}, "two dots": {Prefix: "a.b."}, "a digit first": {Prefix: "1a"},
		"too long": {Prefix: strings.Repeat("a", 33)}, "a negative time": {Timeout: -1}, "a quote in a name": {Environment: "it's"},
		"a long name": {Environment: strings.Repeat("a", 101)},
	} {
		_, err := o.Check(sqlkit.PostgreSQL)
		require.Error(t, err, name)
	}
	for _, prefix := range []string{"a_", "people.", "people.sp_"} {
		_, err := sqlkit.Options{Prefix: prefix}.Check(sqlkit.MySQL)
		require.NoError(t, err, prefix)
	}
	_, err := sqlkit.Options{Prefix: "people."}.Check(sqlkit.SQLite)
	require.ErrorContains(t, err, "no schemas")
	for _, d := range []sqlkit.Dialect{0, 4} {
		_, err := sqlkit.Options{}.Check(d)
		require.ErrorContains(t, err, d.String())
	}
	pg, err := sqlkit.New(new(sql.DB), sqlkit.PostgreSQL, sqlkit.Options{Prefix: "a_"}, sqlkit.Schema{}, nil)
	require.NoError(t, err)
	require.Equal(t, "SELECT $1 FROM a_notes WHERE id = $2", pg.Text("SELECT ? FROM {notes} WHERE id = ?"))
	require.Equal(t, sql.LevelReadCommitted, pg.Tx.Isolation)
	_, err = sqlkit.New(nil, sqlkit.MySQL, sqlkit.Options{}, sqlkit.Schema{}, nil)
	require.Error(t, err)
}

// TestApply answers a change by what is known of it, whatever its tries meet.
func TestApply(t *testing.T) {
	broken := errors.New("broken")
	again := &sqlkit.Failure{Fault: sqlkit.Again, Err: broken}
	final := &sqlkit.Failure{Fault: sqlkit.Final, Err: broken}
	doubt := &sqlkit.Failure{Fault: sqlkit.Doubtful, Err: broken}
	mine, notMine := func() (bool, error) { return true, nil }, func() (bool, error) { return false, nil }
	for _, c := range []struct {
		name   string
		locks  bool
		meets  []error // in try after try; then the change goes well
		mine   func() (bool, error)
		want   error // nil is applied, or said to be
		doubt  bool
		tries  int
		exists bool
	}{
		{"at once", false, nil, nil, nil, false, 1, true},
		{"after others", false, []error{again, again}, nil, nil, false, 3, true},
		{"never", false, []error{again, again, again, again, again, again, again, again, again, again}, nil, broken, false, 10, false},
		{"refused", false, []error{errTaken}, nil, errTaken, false, 1, false},
		{"final", false, []error{final}, nil, broken, false, 1, false},
		{"in doubt, and made", false, []error{doubt}, mine, nil, false, 1, false},
		{"in doubt, and not made", false, []error{doubt}, notMine, broken, true, 1, false},
		{"in doubt, and not to be learned", false, []error{doubt}, func() (bool, error) { return false, broken }, broken, true, 1, false},
		{"in doubt, and made by another try", true, []error{doubt}, nil, nil, false, 2, true},
		{"in doubt, then refused by itself", true, []error{doubt, errTaken}, mine, nil, false, 2, false},
		{"in doubt, then refused by another", true, []error{doubt, errTaken}, notMine, errTaken, false, 2, false},
		{"in doubt, then final", true, []error{doubt, final}, nil, broken, true, 2, false},
	} {
		db := connect(t, filepath.Join(t.TempDir(), "notes.db"))
		k := open(t, db, notes(1, ""), sqlkit.Options{})
		require.NoError(t, k.Migrate(t.Context()))
		attempt, err := k.Attempt()
		require.NoError(t, err)
		tries := 0
		err = k.Apply(t.Context(), &sqlkit.Change{
			Attempt: attempt, Locks: c.locks, Mine: func(context.Context) (bool, error) { return c.mine() },
			Work: func(ctx context.Context, tx *sqlx.Tx) error {
				_, err := tx.ExecContext(ctx, k.Text("INSERT INTO {notes} (id, attempt) VALUES ('n1', ?)"), attempt)
				require.NoError(t, err, c.name)
				tries++
				if tries <= len(c.meets) {
					return c.meets[tries-1]
				}
				return nil
			},
		})
		require.Equal(t, c.tries, tries, c.name)
		if c.want == nil {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorIs(t, err, c.want, c.name)
		}
		require.Equal(t, c.doubt, errors.Is(err, sqlkit.ErrInDoubt), c.name)
		var n int
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM sallyport_notes WHERE attempt = ?", attempt).Scan(&n))
		require.Equal(t, c.exists, n == 1, "%s: what a try that failed has written is not kept", c.name)
	}
}

type holder struct{ of *sql.DB }

func (h holder) Holds(db *sql.DB) bool { return db == h.of }

func TestApplyBeforeItBegins(t *testing.T) {
	db, other := connect(t, filepath.Join(t.TempDir(), "a.db")), connect(t, filepath.Join(t.TempDir(), "b.db"))
	k := open(t, db, notes(1, ""), sqlkit.Options{Timeout: 50 * time.Millisecond})
	never := &sqlkit.Change{Work: func(context.Context, *sqlx.Tx) error { panic("it began") }}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, k.Apply(ended, never), context.Canceled)
	require.ErrorIs(t, k.Apply(sqlkit.Hold(t.Context(), holder{db}), never), sqlkit.ErrHeld, "it would wait for itself")
	require.NoError(t, k.Free(sqlkit.Hold(t.Context(), holder{other})))
	conn, err := db.Conn(t.Context()) // the only one
	require.NoError(t, err)
	err = k.Apply(t.Context(), never)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, sqlkit.ErrInDoubt)
	require.NoError(t, conn.Close())
	_, err = open(t, db, notes(1, ""), sqlkit.Options{Random: strings.NewReader("short")}).Attempt()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// TestBusy: two pools on one file; the change of the one waits for the other's transaction to end.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	k, far := open(t, connect(t, path), notes(1, ""), sqlkit.Options{}), open(t, connect(t, path), notes(1, ""), sqlkit.Options{})
	require.NoError(t, k.Migrate(t.Context()))
	note := func(id string, then func()) *sqlkit.Change {
		return &sqlkit.Change{Work: func(ctx context.Context, tx *sqlx.Tx) error {
			_, err := tx.ExecContext(ctx, k.Text("INSERT INTO {notes} (id, attempt) VALUES (?, '')"), id)
			then()
			return err
		}}
	}
	answer := make(chan error, 1)
	require.NoError(t, k.Apply(t.Context(), note("n1", func() {
		go func() { answer <- far.Apply(context.WithoutCancel(t.Context()), note("n2", func() {})) }()
	})))
	require.NoError(t, <-answer)
	require.ErrorContains(t, far.Apply(t.Context(), note("n1", func() {})), "UNIQUE", "which is final")
	var n int
	require.NoError(t, k.Get(&n, "SELECT COUNT(*) FROM sallyport_notes"))
	require.Equal(t, 2, n)
}

func TestTexts(t *testing.T) {
	for _, text := range []string{"", "a", "A", "a ", "ä", "a\u0308", "\x00", "a\x00", "\xff", "\x01", "\x01\"a\"", "'\"\\%_", "😀"} {
		kept := sqlkit.Keep(text)
		require.NotContains(t, kept, "\x00")
		back, err := sqlkit.Kept(kept)
		require.NoError(t, err)
		require.Equal(t, text, back)
	}
	e, d := new(sqlkit.Encoder), new(sqlkit.Decoder)
	list := []string{"a", "\x00", "\xff", ""}
	require.Equal(t, list, sqlkit.DecodeList[string](d, "list", sqlkit.EncodeList(e, "list", list)))
	require.Empty(t, sqlkit.EncodeList[string](e, "list", nil))
	require.Nil(t, sqlkit.DecodeList[string](d, "list", ""))
	require.Equal(t, "[]", sqlkit.EncodeArray[string](e, "array", nil))
	require.Nil(t, d.Bytes("bytes", ""))
	require.Equal(t, []byte("\x00b"), d.Bytes("bytes", e.Long("bytes", "\x00b")))
	for _, set := range []bool{true, false} {
		require.Equal(t, set, d.Flag("flag", sqlkit.Flag(set)))
	}
	for _, f := range []float64{0, 0.1, -math.MaxFloat64, math.SmallestNonzeroFloat64} {
		require.Equal(t, f, *d.Number("number", sqlkit.Number(&f)))
	}
	require.Nil(t, d.Number("number", sqlkit.Number(nil)))
	at := time.Date(2026, 3, 29, 1, 59, 59, 999_999_000, time.UTC)
	require.Equal(t, at, sqlkit.Instant(sqlkit.Micros(at.In(time.FixedZone("east", 20_000)))))
	require.Equal(t, time.Time{}, sqlkit.Instant(sqlkit.Micros(time.Time{})))
	require.EqualValues(t, sqlkit.Never, sqlkit.Micros(time.Time{}))
	require.NoError(t, errors.Join(e.Err, d.Err))

	require.Len(t, e.Short("id", strings.Repeat("x", 255)), 255)
	require.NoError(t, e.Err)
	e.Short("id", strings.Repeat("\x00", 64)) // four bytes each, and more
	require.ErrorContains(t, e.Err, "id is longer than 255 bytes")
	e.Short("later", strings.Repeat("x", 256))
	require.ErrorContains(t, e.Err, "id is", "the first error is kept")
	for column, decode := range map[string]func(*sqlkit.Decoder){
		"text":   func(d *sqlkit.Decoder) { d.Text("text", "\x01broken") },
		"flag":   func(d *sqlkit.Decoder) { d.Flag("flag", 2) },
		"list":   func(d *sqlkit.Decoder) { sqlkit.DecodeList[string](d, "list", "[") },
		"number": func(d *sqlkit.Decoder) { d.Number("number", sql.NullString{String: "x", Valid: true}) },
	} {
		d := new(sqlkit.Decoder)
		decode(d)
		require.ErrorContains(t, d.Err, "column "+column)
	}
}
