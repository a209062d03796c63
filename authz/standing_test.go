package authz_test

import (
	"encoding/binary"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
)

var given = time.Date(2026, 3, 2, 9, 0, 0, 123456000, time.UTC)

func grantKeys(t *testing.T) *token.Ring {
	t.Helper()
	key, err := token.NewKey("k1")
	require.NoError(t, err)
	keys, err := token.NewRing("test", key)
	require.NoError(t, err)
	return keys
}

func standingGrant() authz.Standing {
	return authz.Standing{
		ID: "g1", By: "olga", Since: given, Until: given.Add(time.Hour), Uses: 3, Below: authz.MustPath("/orders"),
		Definition: "d1",
	}
}

// alter changes a value of any type that a field of a standing grant has, or could reasonably get.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = x.Add(time.Microsecond)
		return
	case *authz.Path:
		*x = authz.MustPath("/orders2")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	default:
		require.Failf(t, "this test cannot change", "a field of type %s", v.Type())
	}
}

// Every field is sealed, whatever fields there will be.
func TestEveryFieldOfAStandingGrantIsSealed(t *testing.T) {
	keys := grantKeys(t)
	sealed := standingGrant()
	require.NoError(t, authz.SealStanding(keys, "shop", "mira", "move", &sealed))
	require.NoError(t, authz.CheckStanding(keys, "shop", "mira", "move", &sealed))
	for i, field := range reflect.VisibleFields(reflect.TypeFor[authz.Standing]()) {
		changed := sealed
		alter(t, reflect.ValueOf(&changed).Elem().Field(i))
		err := authz.CheckStanding(keys, "shop", "mira", "move", &changed)
		require.ErrorIs(t, err, authz.ErrStanding, field.Name)
	}
}

func TestAStandingGrantIsForOneModelToolAndScope(t *testing.T) {
	keys := grantKeys(t)
	s := standingGrant()
	require.NoError(t, authz.SealStanding(keys, "shop", "mira", "move", &s))
	require.ErrorIs(t, authz.CheckStanding(keys, "bank", "mira", "move", &s), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(keys, "shop", "sub", "move", &s), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(keys, "shop", "mira", "lift", &s), authz.ErrStanding)
	require.ErrorIs(t, authz.CheckStanding(keys, "shop", "mir", "amove", &s), authz.ErrStanding, "no byte moves to the next field")
	require.ErrorIs(t, authz.CheckStanding(grantKeys(t), "shop", "mira", "move", &s), authz.ErrStanding, "other keys")
	require.ErrorIs(t, authz.CheckStanding(nil, "shop", "mira", "move", &s), authz.ErrStanding, "no keys")
	require.ErrorIs(t, authz.CheckStanding(keys, "shop", "mira", "move", &authz.Standing{}), authz.ErrStanding)
}

func TestWhatCannotBeSealed(t *testing.T) {
	keys := grantKeys(t)
	for name, spoil := range map[string]func(*authz.Standing){
		"no id":             func(s *authz.Standing) { s.ID = "" },
		"no giver":          func(s *authz.Standing) { s.By = "" },
		"no path":           func(s *authz.Standing) { s.Below = authz.Path{} },
		"negative uses":     func(s *authz.Standing) { s.Uses = -1 },
		"no time":           func(s *authz.Standing) { s.Until = s.Since },
		"ends before start": func(s *authz.Standing) { s.Until = s.Since.Add(-time.Second) },
		"too long":          func(s *authz.Standing) { s.Until = s.Since.Add(authz.MaxStanding + time.Microsecond) },
		"much too long":     func(s *authz.Standing) { s.Since, s.Until = time.Time{}, given },
	} {
		s := standingGrant()
		spoil(&s)
		require.ErrorIs(t, authz.SealStanding(keys, "shop", "mira", "move", &s), authz.ErrStanding, name)
		require.Empty(t, s.Seal, name)
	}
	s := standingGrant()
	require.ErrorIs(t, authz.SealStanding(nil, "shop", "mira", "move", &s), authz.ErrStanding)
	require.ErrorIs(t, authz.SealStanding(keys, "", "mira", "move", &s), authz.ErrStanding)
	s.Until = s.Since.Add(authz.MaxStanding)
	require.NoError(t, authz.SealStanding(keys, "shop", "mira", "move", &s))
}

// A holder of the keys whose own code sets no limit cannot make a grant that lasts longer either.
func TestASealedGrantThatLastsTooLongIsNone(t *testing.T) {
	keys := grantKeys(t)
	forge := func(s *authz.Standing) {
		b := []byte{1}
		for _, text := range []string{"mira", "move", s.ID, string(s.By), s.Below.String(), s.Definition} {
			b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
			b = append(b, text...)
		}
		for _, n := range []int64{s.Since.UnixMicro(), s.Until.UnixMicro(), int64(s.Uses)} {
			b = binary.BigEndian.AppendUint64(b, uint64(n))
		}
		var err error
		s.Seal, err = keys.Seal(token.PurposeGrant, "shop", append(b, 0))
		require.NoError(t, err)
	}
	s := standingGrant()
	forge(&s)
	require.NoError(t, authz.CheckStanding(keys, "shop", "mira", "move", &s))
	s.Until = s.Since.Add(authz.MaxStanding + time.Microsecond)
	forge(&s)
	require.ErrorIs(t, authz.CheckStanding(keys, "shop", "mira", "move", &s), authz.ErrStanding)
}

func TestWhatAStandingGrantCovers(t *testing.T) {
	s := standingGrant()
	paths := func(texts ...string) (list []authz.Path) {
		for _, text := range texts {
			list = append(list, authz.MustPath(text))
		}
		return list
	}
	for _, c := range []struct {
		name    string
		at      time.Time
		targets []authz.Path
		want    bool
	}{
		{"at its start", s.Since, paths("/orders/1"), true},
		{"before its start", s.Since.Add(-time.Microsecond), paths("/orders/1"), false},
		{"before its end", s.Until.Add(-time.Microsecond), paths("/orders/1"), true},
		{"at its end", s.Until, paths("/orders/1"), false},
		{"the subtree itself", s.Since, paths("/orders"), true},
		{"deep in the subtree", s.Since, paths("/orders/1/2/3"), true},
		{"the root", s.Since, paths("/"), false},
		{"a sibling", s.Since, paths("/orders2"), false},
		{"a sibling's child", s.Since, paths("/orders2/1"), false},
		{"a prefix", s.Since, paths("/order"), false},
		{"one of several outside", s.Since, paths("/orders/1", "/orders/2", "/users/1"), false},
		{"no target", s.Since, nil, false},
		{"the zero path", s.Since, []authz.Path{{}}, false},
		{"the zero path beside a good one", s.Since, append(paths("/orders/1"), authz.Path{}), false},
	} {
		require.Equal(t, c.want, s.Covers(c.at, c.targets), c.name)
	}
	require.False(t, new(authz.Standing).Covers(given, paths("/")), "the zero grant")
}

func TestAViewSaysWhyThereAreNoStandingGrants(t *testing.T) {
	people := new(authz.Memory)
	s := standingGrant()
	set := func(on bool) {
		require.NoError(t, people.Set("shop", authz.Facts{
			Settings: authz.Settings{Ceiling: authz.Execute, Standing: on},
			Actors: []authz.Actor{
				{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
				{ID: "sub", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
				{ID: "off", Kind: authz.Model, Roles: []string{authz.Editor}},
				{ID: "mira", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{
					{Tool: "move", Effect: authz.Allow, Standing: &s},
				}},
			},
		}))
	}
	policy, err := authz.NewPolicy(people, []authz.Tool{
		{Name: "move", Permission: "yard:move", Mode: authz.Execute}, {Name: "lift", Permission: "yard:lift", Mode: authz.Execute},
	}, nil)
	require.NoError(t, err)
	session := func(model authz.ID) authz.Session {
		s, err := authz.NewSession("shop", model, authz.Background())
		require.NoError(t, err)
		return s
	}
	person, err := authz.NewPersonSession("shop", authz.LoggedIn("olga"))
	require.NoError(t, err)

	for _, on := range []bool{true, false} {
		set(on)
		view, err := policy.View(t.Context(), "shop")
		require.NoError(t, err)
		for name, s := range map[string]authz.Session{"another model": session("sub"), "an inactive model": session("off"), "a person": person, "nobody": {}} {
			grants, why := view.Standing(s, 0)
			require.Empty(t, grants, name)
			require.Equal(t, authz.ReasonNoGrant, why, name)
		}
		grants, why := view.Standing(session("mira"), 1)
		require.Empty(t, grants)
		require.Equal(t, authz.ReasonNoGrant, why)
		grants, why = view.Standing(session("mira"), 0)
		if on {
			require.Len(t, grants, 1)
			require.Empty(t, why)
		} else {
			require.Empty(t, grants)
			require.Equal(t, authz.ReasonStandingOff, why)
		}
	}
}

// TestMemoryKeepsStanding: a standing grant is an allow with an id of its own, and is copied in and out.
func TestMemoryKeepsStanding(t *testing.T) {
	m, given := directory(t), standingGrant()
	give := func(id string, e authz.Effect) error {
		s := given
		s.ID = id
		return m.Edit(t.Context(), "shop", func(f *authz.Facts) error {
			f.Actors[1].Grants = append(f.Actors[1].Grants, authz.Grant{Tool: "refund", Effect: e, Standing: &s})
			return nil
		})
	}
	require.NoError(t, give("g1", authz.Allow))
	require.ErrorIs(t, give("g1", authz.Allow), authz.ErrFacts)
	require.ErrorIs(t, give("", authz.Allow), authz.ErrFacts)
	require.ErrorIs(t, give("g2", authz.Deny), authz.ErrFacts)
	require.NoError(t, give("g2", authz.Allow))

	var kept *authz.Standing
	require.NoError(t, m.Edit(t.Context(), "shop", func(f *authz.Facts) error { kept = f.Actors[1].Grants[1].Standing; return nil }))
	kept.By = "eve"
	require.Equal(t, given, *factsOf(t, m).Actors[1].Grants[1].Standing)
}
