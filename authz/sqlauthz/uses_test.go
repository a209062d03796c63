package sqlauthz_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const childVariable = "SALLYPORT_TEST_CHILD"

func TestMain(m *testing.M) {
	if task := os.Getenv(childVariable); task != "" {
		fmt.Fprintln(os.Stderr, child(strings.Split(task, "\n")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

type note struct {
	Text string `json:"text"`
}

// office is an application on both stores whose one action appends a line to a file, which is its effect.
type office struct {
	reg     *registry.Registry
	desk    *approval.Desk
	book    *sqlledger.Store
	keys    *token.Ring
	action  *registry.Action
	session authz.Session
}

func openOffice(db *sql.DB, dialect sqlauthz.Dialect, prefix, effects string) (*office, error) {
	people, err := sqlauthz.New(db, dialect, sqlauthz.Options{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	o := &office{}
	if o.book, err = sqlledger.New(db, sqlledger.Dialect(dialect), sqlledger.Options{Prefix: prefix}); err != nil {
		return nil, err
	}
	if o.keys, err = token.NewRing("test", token.Key{ID: "k1", Secret: bytes.Repeat([]byte{9}, 32)}); err != nil {
		return nil, err
	}
	write := registry.Define("write", registry.Spec[note]{Description: "Write.", Permission: "notes:edit", Mode: authz.Execute, On: authz.MustPath("/notes")},
		func(_ context.Context, n note) (string, error) {
			f, err := os.OpenFile(effects, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return "", err
			}
			defer func() { _ = f.Close() }()
			_, err = fmt.Fprintln(f, n.Text)
			return "written", err
		})
	if o.session, err = authz.NewSession("shop", "bot", authz.For(authz.LoggedIn("olga"))); err != nil {
		return nil, err
	}
	o.reg, err = registry.New(registry.Config{
		Actions: []*registry.Action{write}, Source: people, Ledger: o.book, Keys: o.keys, Limits: &ledger.Limits{},
	})
	if err != nil {
		return nil, err
	}
	o.desk, o.action = approval.NewDesk(o.reg), o.reg.Lookup("write")
	return o, nil
}

// ask lets the bot write a note, at once if the grant allows it.
func (o *office) ask(ctx context.Context, text string) (ledger.Proposal, error) {
	p, err := o.desk.Propose(ctx, registry.Call{Session: o.session, Action: "write", Params: fmt.Appendf(nil, `{"text":%q}`, text)})
	if err != nil {
		return ledger.Proposal{}, err
	}
	_, err = o.reg.RedeemStanding(ctx, "shop", p.Proposal.ID)
	return p.Proposal, err
}

// staffed gives the bot a standing grant for three notes.
func (d *directory) staffed(t *testing.T, effects string) *office {
	book, err := sqlledger.New(d.db, sqlledger.Dialect(d.engine.dialect), sqlledger.Options{Prefix: d.prefix})
	require.NoError(t, err)
	require.NoError(t, book.Migrate(t.Context()))
	if d.engine.env != "" {
		t.Cleanup(func() {
			for _, table := range []string{"proposals", "records", "scopes", "grants", "uses", "meta"} {
				_, err := d.db.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+d.prefix+table)
				require.NoError(t, err)
			}
		})
	}
	o, err := openOffice(d.db, d.engine.dialect, d.prefix, effects)
	require.NoError(t, err)
	set(t, d, "shop", authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute, Standing: true}, Actors: []authz.Actor{
		{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
		{ID: "bot", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: o.grant(t, "grant-1")},
	}})
	return o
}

func lines(t *testing.T, file string) int {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return bytes.Count(text, []byte("\n"))
}

// child calls from 32 goroutines until it is killed.
func child(task []string) error {
	for _, e := range engines {
		if e.name != task[0] {
			continue
		}
		db, err := sql.Open(e.driver, task[1])
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(map[bool]int{true: 8, false: 1}[e.env != ""])
		o, err := openOffice(db, e.dialect, task[2], task[3])
		if err != nil {
			return err
		}
		fmt.Println("ready")
		var callers sync.WaitGroup
		for i := range 32 {
			callers.Go(func() {
				for n := 0; ; n++ {
					_, _ = o.ask(context.Background(), fmt.Sprint("note ", os.Getpid(), " ", i, " ", n)) // refused, or not; the file tells
				}
			})
		}
		callers.Wait()
	}
	return fmt.Errorf("there is no engine %q", task[0])
}

// callers starts two processes with 32 callers each, and kills them as soon as what a test waits for has come about.
func (d *directory) callers(t *testing.T, effects string, come func() bool) {
	t.Helper()
	var running []*exec.Cmd
	for range 2 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{d.engine.name, d.dsn, d.prefix, effects}, "\n"))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // where the test has failed
		running = append(running, cmd)
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
	}
	for end := time.Now().Add(time.Minute); !come(); time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(end), "it has not come about")
	}
	for _, cmd := range running {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "killed")
	}
}

// count counts the rows of one of the ledger's tables.
func (d *directory) count(t *testing.T, rows string) (n int) {
	t.Helper()
	require.NoError(t, d.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+d.prefix+rows).Scan(&n))
	return n
}

// TestUsesOfKilledProcesses: 64 callers in two processes use a grant for three exactly three times, and no more than
// that if they are killed at a use or at a run and started again. Nobody else uses it before it is spent.
func TestUsesOfKilledProcesses(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		effects := filepath.Join(t.TempDir(), "effects")
		o := d.staffed(t, effects)
		for _, c := range []struct {
			killed     string
			uses, runs int // of which as many are waited for, before the first kill
		}{{"never", 0, 0}, {"at a use", 1, 0}, {"at a run", 0, 1}, {"at the second use", 2, 0}} {
			grant, ran := "grant "+c.killed, lines(t, effects)
			uses := func() int { return d.count(t, "uses WHERE grant_id = '"+grant+"'") }
			runs := func() int { return lines(t, effects) - ran }
			require.NoError(t, d.Edit(t.Context(), "shop", func(f *authz.Facts) error {
				f.Actors[1].Grants = o.grant(t, grant)
				return nil
			}))
			if c.killed != "never" {
				d.callers(t, effects, func() bool { return uses() >= c.uses && runs() >= c.runs })
			}
			waiting := -1 // proposals since the grant was spent
			d.callers(t, effects, func() bool {
				if uses() < 3 || c.killed == "never" && runs() < 3 {
					return false
				}
				n := d.count(t, "proposals")
				if waiting < 0 {
					waiting = n
				}
				return n >= waiting+64
			})
			_, err := o.ask(t.Context(), "too late: "+grant)
			require.Equal(t, ledger.NeedsApproval, registry.CodeOf(err), "of a process that was not killed")
			require.Equal(t, 3, uses(), "every use is on record, also that of a run that was killed")
			if c.killed == "never" {
				require.Equal(t, 3, runs(), "runs")
			}
			require.LessOrEqual(t, runs(), 3, "runs")
			t.Logf("killed %s: %d uses, %d runs", c.killed, uses(), runs())
		}
	})
}

// TestGrantsByHand: a standing grant that somebody changed or inserted in the database approves nothing.
func TestGrantsByHand(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		effects := filepath.Join(t.TempDir(), "effects")
		o := d.staffed(t, effects)
		_, err := o.ask(t.Context(), "one")
		require.NoError(t, err, "as it was given it serves")
		require.Equal(t, 1, lines(t, effects))
		for _, change := range []string{
			"standing_id = 'grant-2'", "given_by = 'bot'", "begins_at = begins_at - 1", "ends_at = ends_at + 1", "uses = 4", "uses = 0", "below = '/notes'", "below = ''", "tool = 'read'",
			"definition = 'x'", "ask_only = 1", "seal = ''", "seal = 'k1.x'", "actor = 'bot2'", "ends_at = 9000000000000000",
		} {
			d.staffedAgain(t, o)
			d.exec(t, "UPDATE {grants} SET "+change+" WHERE standing_id = 'grant-1'")
			d.exec(t, "UPDATE {scopes} SET version = version + 1")
			p, err := o.ask(t.Context(), "by hand: "+change)
			require.Error(t, err, change)
			if p.ID != "" {
				row, err := o.book.Proposal(t.Context(), "shop", p.ID)
				require.NoError(t, err)
				require.Equal(t, ledger.Undecided, row.Decision, change)
			}
			require.Equal(t, 1, lines(t, effects), change)
		}
		d.staffedAgain(t, o)
		d.exec(t, "INSERT INTO {grants} (scope, actor, ord, tool, effect, standing_id, given_by, begins_at, ends_at, uses, below, definition, ask_only, seal)"+
			" SELECT scope, actor, 7, tool, effect, 'grant-9', given_by, begins_at, ends_at, uses, below, definition, ask_only, seal FROM {grants}")
		d.exec(t, "DELETE FROM {grants} WHERE standing_id = 'grant-1'")
		d.exec(t, "UPDATE {scopes} SET version = version + 1")
		_, err = o.ask(t.Context(), "inserted")
		require.Equal(t, ledger.NeedsApproval, registry.CodeOf(err))
		require.Equal(t, 1, lines(t, effects))
		d.staffedAgain(t, o)
		_, err = o.ask(t.Context(), "as it was")
		require.NoError(t, err, "the grant itself is still good")
	})
}

// staffedAgain puts the grant back as it was given.
func (d *directory) staffedAgain(t *testing.T, o *office) {
	d.exec(t, "DELETE FROM {grants}")
	d.exec(t, "UPDATE {scopes} SET version = version + 1")
	require.NoError(t, d.Edit(t.Context(), "shop", func(f *authz.Facts) error {
		f.Actors[1].Grants = o.grant(t, "grant-1")
		return nil
	}))
}

// grant seals a standing grant for three notes.
func (o *office) grant(t *testing.T, id string) []authz.Grant {
	now := time.Now()
	s := &authz.Standing{ID: id, By: "olga", Since: now.Add(-time.Minute), Until: now.Add(time.Hour), Uses: 3, Below: authz.Root(), Definition: o.action.Definition}
	require.NoError(t, authz.SealStanding(o.keys, "shop", "bot", "write", s))
	return []authz.Grant{{Tool: "write", Effect: authz.Allow, Standing: s}}
}
