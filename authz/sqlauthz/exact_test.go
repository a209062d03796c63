package sqlauthz_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/authztest"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
)

func set(t testing.TB, d authz.Directory, scope authz.Scope, f authz.Facts) {
	t.Helper()
	require.NoError(t, d.Edit(t.Context(), scope, func(to *authz.Facts) error { *to = f; return nil }))
}

func facts(t testing.TB, d authz.Directory, scope authz.Scope) *authz.Facts {
	t.Helper()
	f, err := d.Facts(t.Context(), scope, nil)
	require.NoError(t, err)
	return f
}

// TestOtherProcesses: an edit is seen by every process at its next decision, and what did not change is the same
// snapshot.
func TestOtherProcesses(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		other := d.twin(t, nil)
		set(t, d, "shop", authztest.Full())
		first := facts(t, other, "shop")
		require.Equal(t, authztest.Full().Actors, first.Actors)
		require.Same(t, first, facts(t, other, "shop"), "nothing changed")
		set(t, d, "depot", authz.Facts{})
		require.Same(t, first, facts(t, other, "shop"), "nothing changed in this scope")
		for i := range 5 {
			require.NoError(t, d.Edit(t.Context(), "shop", func(f *authz.Facts) error { f.Actors[0].Active = i%2 == 1; return nil }))
			require.Equal(t, i%2 == 1, facts(t, other, "shop").Actors[0].Active)
		}
	})
}

// TestTextsComeBack keeps texts that databases like to change, and apart what they like to mix up.
func TestTextsComeBack(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		want := authz.Facts{Settings: authz.Settings{Disabled: []string{"A", "a", "a ", "ä", "a\u0308", "\x00", "\xff", "\x01", "'\"\\%_"}}}
		for _, id := range want.Settings.Disabled {
			want.Actors = append(want.Actors, authz.Actor{
				ID: authz.ID(id), Name: id, Kind: authz.Model, Roles: []string{id}, Grants: []authz.Grant{{Tool: id, Effect: authz.Allow}},
				Overrides: []authz.Override{{At: authz.MustPath("/ä/A"), Of: []authz.Permission{authz.Permission(id)}}},
			})
			want.Roles = append(want.Roles, authz.Role{Name: id, Permissions: []authz.Permission{authz.Permission(id)}})
			set(t, d, authz.Scope("scope "+id), authz.Facts{Settings: authz.Settings{Disabled: []string{id}}})
		}
		set(t, d, "shop", want)
		for _, reader := range []authz.Directory{d, d.twin(t, nil)} {
			require.Equal(t, &want, facts(t, reader, "shop"))
			for _, id := range want.Settings.Disabled {
				require.Equal(t, []string{id}, facts(t, reader, authz.Scope("scope "+id)).Settings.Disabled)
			}
		}
	})
}

func TestInstantsComeBack(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		at := time.Date(2026, 3, 29, 1, 59, 59, 999_999_000, time.UTC)
		f := authztest.Full()
		s := f.Actors[1].Grants[1].Standing
		s.Since, s.Until = at.In(time.FixedZone("east", 5*3600+1800)), at.Add(time.Microsecond)
		set(t, d, "shop", f)
		got := facts(t, d.twin(t, nil), "shop").Actors[1].Grants[1].Standing
		require.Equal(t, at, got.Since, "in UTC")
		require.Equal(t, at.Add(time.Microsecond), got.Until)
	})
}

func TestTooLong(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		set(t, d, "shop", authztest.Full())
		long := strings.Repeat("x", 256)
		for name, edit := range map[string]func(*authz.Facts){
			"an id":   func(f *authz.Facts) { f.Actors = append(f.Actors, authz.Actor{ID: authz.ID(long), Kind: authz.Human}) },
			"a tool":  func(f *authz.Facts) { f.Actors[1].Grants[0].Tool = long },
			"a giver": func(f *authz.Facts) { f.Actors[1].Grants[1].Standing.By = authz.ID(long) },
		} {
			err := d.Edit(t.Context(), "shop", func(f *authz.Facts) error { edit(f); return nil })
			require.ErrorIs(t, err, authz.ErrFacts, name)
			require.Equal(t, authztest.Full().Actors, facts(t, d.twin(t, nil), "shop").Actors, "nothing is cut, and nothing changed: %s", name)
		}
		require.ErrorIs(t, d.Edit(t.Context(), authz.Scope(long), func(*authz.Facts) error { return nil }), authz.ErrFacts)
	})
}

// TestActorsByHand: an actor made of another one's row is refused, as is one that came from another scope.
func TestActorsByHand(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		for _, c := range []struct{ scope, id, kind string }{{"shop", "mallory", "human"}, {"depot", "olga", "human"}, {"depot", "olga", "model"}} {
			set(t, d, "shop", authztest.Full())
			set(t, d, "depot", authz.Facts{})
			d.exec(t, fmt.Sprintf("INSERT INTO {actors} (scope, id, kind, ord, name, active, roles, overrides, identity)"+
				" SELECT '%s', '%s', '%s', 9, name, active, roles, overrides, identity FROM {actors} WHERE scope = 'shop' AND id = 'olga'", c.scope, c.id, c.kind))
			_, err := d.twin(t, nil).Facts(t.Context(), authz.Scope(c.scope), nil)
			require.ErrorIs(t, err, sqlauthz.ErrRow, c)
			require.ErrorContains(t, err, fmt.Sprintf("actor %q: column identity", c.id), c)
			for _, table := range []string{"{scopes}", "{actors}", "{grants}"} {
				d.exec(t, "DELETE FROM "+table)
			}
		}
	})
}

// TestRowsByHand: what nobody could have stored is refused, and the error names the place.
func TestRowsByHand(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		for statement, names := range map[string]string{
			"UPDATE {actors} SET kind = 'robot' WHERE id = 'olga'":                   `actor "olga": column kind`,
			"UPDATE {actors} SET active = 2 WHERE id = 'olga'":                       `actor "olga": column active`,
			"UPDATE {actors} SET overrides = '[{\"at\":\"x\"}]' WHERE id = 'olga'":   `actor "olga": column overrides`,
			"UPDATE {actors} SET roles = '[' WHERE id = 'olga'":                      `actor "olga": column roles`,
			"UPDATE {grants} SET effect = 'perhaps' WHERE ord = 0":                   `grant 0 of actor "assistant": column effect`,
			"UPDATE {grants} SET below = 'orders' WHERE ord = 1":                     `grant 1 of actor "assistant": column below`,
			"UPDATE {grants} SET actor = 'nobody' WHERE ord = 1":                     `grant 1 of actor "nobody"`,
			"UPDATE {grants} SET actor = 'olga' WHERE ord = 1":                       "grants are for models",
			"UPDATE {scopes} SET ceiling = 'sky'":                                    "column ceiling",
			"UPDATE {scopes} SET standing = -1":                                      "column standing",
			"UPDATE {scopes} SET roles = '[{\"name\":\"owner\"}]'":                   `role "owner"`,
			"UPDATE {actors} SET kind = 'human' WHERE id = 'assistant'":              `actor "assistant": column identity`,
			"UPDATE {actors} SET kind = 'model' WHERE id = 'olga'":                   `actor "olga": column identity`,
			"UPDATE {actors} SET kind = 'model' WHERE id = 'gone'":                   `actor "gone": column identity`,
			"UPDATE {actors} SET id = 'Olga' WHERE id = 'olga'":                      `actor "Olga": column identity`,
			"UPDATE {actors} SET id = '' WHERE id = 'olga'":                          `actor "": column identity`,
			"UPDATE {actors} SET identity = '' WHERE id = 'gone'":                    `actor "gone": column identity`,
			"UPDATE {grants} SET standing_id = 'grant-1', below = '/' WHERE ord = 0": "standing grant is no allow",
		} {
			scope := authz.Scope("the scope of " + names)
			set(t, d, scope, authztest.Full())
			before := facts(t, d, scope)
			d.exec(t, statement)
			require.Same(t, before, facts(t, d, scope), "a process that has a snapshot keeps it")
			d.exec(t, "UPDATE {scopes} SET version = version + 1")
			for _, reader := range []*sqlauthz.Directory{d.Directory, d.twin(t, nil)} {
				_, err := reader.Facts(t.Context(), scope, []authz.ID{"olga"})
				require.ErrorIs(t, err, sqlauthz.ErrRow, statement)
				require.ErrorContains(t, err, names, statement)
				called := false
				err = reader.Edit(t.Context(), scope, func(*authz.Facts) error { called = true; return nil })
				require.ErrorIs(t, err, sqlauthz.ErrRow, statement)
				require.False(t, called)
			}
			d.exec(t, "DELETE FROM {scopes}")
			d.exec(t, "DELETE FROM {actors}")
			d.exec(t, "DELETE FROM {grants}")
		}
	})
}

func TestSchema(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		set(t, d, "shop", authztest.Full())
		require.NoError(t, d.Migrate(t.Context()), "again")
		require.Len(t, facts(t, d, "shop").Actors, 3, "what was there is there still")
		named := func(name string) *sqlauthz.Directory {
			return d.twin(t, func(o *sqlauthz.Options) { o.Environment = name })
		}
		require.NoError(t, named("production").Migrate(t.Context()), "the first name is recorded")
		require.ErrorIs(t, named("staging").Migrate(t.Context()), sqlauthz.ErrSchema)
		d.exec(t, "UPDATE {meta} SET version = 99")
		require.ErrorIs(t, named("production").Migrate(t.Context()), sqlauthz.ErrSchema, "a newer schema")
		statements, err := sqlauthz.Schema(e.dialect, sqlauthz.Options{Prefix: d.prefix})
		require.NoError(t, err)
		for _, table := range []string{"meta", "scopes", "actors", "grants"} {
			d.exec(t, "DROP TABLE {"+table+"}")
		}
		for _, q := range statements { // which have their prefix
			d.exec(t, q)
		}
		require.NoError(t, d.Migrate(t.Context()), "there is nothing left to do")
		set(t, d, "shop", authztest.Full())
	})
}

// TestASchemaOfItsOwn keeps the tables in one.
func TestASchemaOfItsOwn(t *testing.T) {
	for _, e := range engines[1:] {
		if e.setting == "" {
			t.Run(e.name, func(t *testing.T) {
				db := e.connect(t, e.address(t))
				name := fmt.Sprintf("people%d", os.Getpid())
				_, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name)
				require.NoError(t, err)
				t.Cleanup(func() {
					_, err := db.ExecContext(context.Background(), "DROP SCHEMA "+name+map[string]string{"pgx": " CASCADE"}[e.driver])
					require.NoError(t, err)
				})
				d, err := sqlauthz.New(db, e.dialect, sqlauthz.Options{Prefix: name + ".sp_"})
				require.NoError(t, err)
				require.NoError(t, d.Migrate(t.Context()))
				set(t, d, "shop", authztest.Full())
				require.NoError(t, d.Edit(t.Context(), "shop", func(f *authz.Facts) error { f.Actors[1].Name = "Another"; return nil }))
				require.Equal(t, "Another", facts(t, d, "shop").Actors[1].Name)
				require.Equal(t, authztest.Full().Actors[1].Grants, facts(t, d, "shop").Actors[1].Grants)
			})
		}
	}
}

func TestMigrateConcurrently(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		for _, table := range []string{"meta", "scopes", "actors", "grants"} {
			d.exec(t, "DROP TABLE {"+table+"}")
		}
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			other := d.twin(t, nil)
			wg.Go(func() { errs[i] = other.Migrate(context.WithoutCancel(t.Context())) })
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		set(t, d, "shop", authztest.Full())
	})
}

// TestEditsOfTwoPools: no edit is lost, and each is made once.
func TestEditsOfTwoPools(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		directories := []*sqlauthz.Directory{d.Directory, d.twin(t, nil)}
		const n = 24
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				calls := 0
				errs[i] = directories[i%2].Edit(t.Context(), "shop", func(f *authz.Facts) error {
					calls++
					f.Settings.Disabled = append(f.Settings.Disabled, strings.Repeat("x", i+1))
					return nil
				})
				if calls != 1 {
					errs[i] = errors.Join(errs[i], errors.New("edit was not called once"))
				}
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.Len(t, facts(t, d, "shop").Settings.Disabled, n)
	})
}

func TestNew(t *testing.T) {
	db := engines[0].connect(t, engines[0].address(t))
	for name, o := range map[string]sqlauthz.Options{"prefix": {Prefix: "A"}, "timeout": {Timeout: -1}, "environment": {Environment: "it's"}} {
		_, err := sqlauthz.New(db, sqlauthz.SQLite, o)
		require.Error(t, err, name)
		_, err = sqlauthz.Schema(sqlauthz.SQLite, o)
		require.Error(t, err, name)
	}
	_, err := sqlauthz.New(nil, sqlauthz.SQLite, sqlauthz.Options{})
	require.Error(t, err)
	_, err = sqlauthz.New(db, 0, sqlauthz.Options{})
	require.ErrorContains(t, err, "Dialect(0)")
	require.Equal(t, "mysql", sqlauthz.MySQL.String())
	d, err := sqlauthz.New(db, sqlauthz.SQLite, sqlauthz.Options{Random: strings.NewReader("")})
	require.NoError(t, err)
	_, err = d.Facts(t.Context(), "shop", nil)
	require.Error(t, err, "there are no tables")
	require.NotErrorIs(t, err, authz.ErrUnknownScope)
	require.NoError(t, d.Migrate(t.Context()))
	require.Error(t, d.Edit(t.Context(), "shop", func(*authz.Facts) error { return nil }), "no randomness for a mark")
}
