package authz_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

var olga = authz.LoggedIn("olga")

// modelSession is the session of the assistant for olga in the shop.
func modelSession(t testing.TB) authz.Session {
	t.Helper()
	s, err := authz.NewSession("shop", "assistant", authz.For(olga))
	require.NoError(t, err)
	return s
}

// delegated returns the session of s handed on to further models.
func delegated(t testing.TB, s authz.Session, models ...authz.ID) authz.Session {
	t.Helper()
	for _, id := range models {
		var err error
		s, err = s.Delegate(id)
		require.NoError(t, err)
	}
	return s
}

func TestSessionConstructorsRefuse(t *testing.T) {
	tests := []struct {
		name   string
		scope  authz.Scope
		model  authz.ID
		behalf authz.Behalf
	}{
		{"no scope", "", "assistant", authz.For(olga)},
		{"no model", "shop", "", authz.For(olga)},
		{"for nobody", "shop", "assistant", authz.For(authz.Person{})},
		{"for a person without an id", "shop", "assistant", authz.For(authz.LoggedIn(""))},
		{"neither for a person nor in the background", "shop", "assistant", authz.Behalf{}},
		{"a model for itself", "shop", "olga", authz.For(olga)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := authz.NewSession(tt.scope, tt.model, tt.behalf)
			require.ErrorIs(t, err, authz.ErrSession)
			require.True(t, s.IsZero())
		})
	}
	for _, tt := range []struct {
		scope  authz.Scope
		person authz.Person
	}{{"", olga}, {"shop", authz.Person{}}, {"", authz.Person{}}} {
		s, err := authz.NewPersonSession(tt.scope, tt.person)
		require.ErrorIs(t, err, authz.ErrSession)
		require.True(t, s.IsZero())
	}
}

func TestSessionAccessors(t *testing.T) {
	s := modelSession(t).WithRun("r1").WithOrigin("chat").WithConversation("c1")
	principal, ok := s.Principal()
	require.True(t, ok)
	require.Equal(t, authz.ID("olga"), principal)
	require.Equal(t, olga, s.Human())
	require.False(t, s.Background())
	require.Equal(t, authz.Model, s.Kind())
	require.Equal(t, authz.Scope("shop"), s.Scope())
	require.Equal(t, []string{"r1", "chat", "c1"}, []string{s.Run(), s.Origin(), s.Conversation()})
	require.Equal(t, []authz.ID{"assistant", "olga"}, s.Actors())
	require.Equal(t, "assistant for olga in shop", s.String())

	night, err := authz.NewSession("shop", "night", authz.Background())
	require.NoError(t, err)
	_, ok = night.Principal()
	require.False(t, ok)
	require.True(t, night.Background())
	require.True(t, night.Human().IsZero())
	require.Equal(t, []authz.ID{"night"}, night.Actors())
	require.Equal(t, "night in the background in shop", night.String())

	own, err := authz.NewPersonSession("shop", olga)
	require.NoError(t, err)
	_, ok = own.Principal()
	require.False(t, ok)
	require.Equal(t, authz.Human, own.Kind())
	require.Equal(t, olga, own.Human())
	require.False(t, own.Background())
	require.Equal(t, []authz.ID{"olga"}, own.Actors())
	require.Equal(t, "olga in shop", own.String())

	require.Equal(t, "no session", authz.Session{}.String())
}

func TestWithToolsOnlyNarrows(t *testing.T) {
	names := func(s authz.Session) []string {
		list, restricted := s.Tools().Names()
		require.True(t, restricted)
		return list
	}
	s := modelSession(t)
	_, restricted := s.Tools().Names()
	require.False(t, restricted, "a new session is not narrowed")
	require.True(t, s.Tools().Has("whatever"))

	two := s.WithTools(authz.Only("find", "refund", "find"))
	require.Equal(t, []string{"find", "refund"}, names(two))
	require.Equal(t, []string{"find", "refund"}, names(two.WithTools(authz.Any())), "nothing widens")
	require.Equal(t, []string{"refund"}, names(two.WithTools(authz.Only("refund", "delete"))))
	require.Empty(t, names(two.WithTools(authz.Only("delete"))))
	require.Empty(t, names(two.WithTools(authz.Only())))
	require.Empty(t, names(two.WithTools(authz.Allowlist{})))
	require.Equal(t, []string{"find"}, names(two.WithTools(authz.Only("find")).WithTools(authz.Only("find", "refund"))))
	require.Equal(t, []string{"find", "refund"}, names(two), "the session is a value")
	require.False(t, two.Tools().Has("fin"), "no prefixes")
	require.False(t, two.Tools().Has("FIND"), "no other spelling")
	require.False(t, two.Tools().Has(""))

	given := []string{"refund", "find"}
	list := authz.Only(given...)
	given[0] = "delete"
	require.False(t, list.Has("delete"))
	require.Equal(t, "delete", given[0])
	got, _ := list.Names()
	got[0] = "delete"
	require.False(t, list.Has("delete"))
}

func TestDelegate(t *testing.T) {
	s := modelSession(t).WithRun("r1").WithTools(authz.Only("find"))
	two := delegated(t, s, "helper")
	require.Equal(t, authz.ID("helper"), two.Actor())
	require.Equal(t, []authz.ID{"assistant"}, two.Via())
	three := delegated(t, two, "checker")
	require.Equal(t, []authz.ID{"helper", "assistant"}, three.Via())
	require.Equal(t, []authz.ID{"checker", "helper", "assistant", "olga"}, three.Actors())
	require.Equal(t, "checker via helper via assistant for olga in shop", three.String())
	require.Equal(t, olga, three.Human())
	require.Equal(t, "r1", three.Run())
	require.Equal(t, s.Tools(), three.Tools(), "delegation does not widen")
	require.Empty(t, s.Via(), "the session is a value")

	// Two delegations of one session do not share what they append.
	a, b := delegated(t, two, "a"), delegated(t, two, "b")
	require.Equal(t, authz.ID("a"), a.Actor())
	require.Equal(t, authz.ID("b"), b.Actor())
	via := three.Via()
	via[0] = "mallory"
	require.Equal(t, []authz.ID{"helper", "assistant"}, three.Via())

	for _, id := range []authz.ID{"", "checker", "helper", "assistant", "olga"} {
		got, err := three.Delegate(id)
		require.ErrorIs(t, err, authz.ErrSession, "%q", id)
		require.True(t, got.IsZero())
	}
	own, err := authz.NewPersonSession("shop", olga)
	require.NoError(t, err)
	for _, s := range []authz.Session{own, {}} {
		_, err = s.Delegate("helper")
		require.ErrorIs(t, err, authz.ErrSession)
	}
}

func TestWithin(t *testing.T) {
	session := func(scope authz.Scope, model authz.ID, behalf authz.Behalf) authz.Session {
		s, err := authz.NewSession(scope, model, behalf)
		require.NoError(t, err)
		return s.WithRun("r1")
	}
	outer := delegated(t, session("shop", "assistant", authz.For(olga)), "helper")
	own, err := authz.NewPersonSession("shop", authz.LoggedIn("helper"))
	require.NoError(t, err)
	inside := map[string]authz.Session{
		"itself":               outer,
		"a delegation":         delegated(t, outer, "checker"),
		"two delegations":      delegated(t, outer, "checker", "second"),
		"narrowed":             outer.WithTools(authz.Only("find")),
		"of another surface":   outer.WithOrigin("mcp"),
		"another conversation": outer.WithConversation("c2"),
	}
	outside := map[string]authz.Session{
		"its giver":         session("shop", "assistant", authz.For(olga)),
		"without the chain": session("shop", "helper", authz.For(olga)),
		"another chain":     delegated(t, session("shop", "night", authz.For(olga)), "helper"),
		"between":           delegated(t, session("shop", "assistant", authz.For(olga)), "checker", "helper"),
		"another principal": delegated(t, session("shop", "assistant", authz.For(authz.LoggedIn("sam"))), "helper"),
		"in the background": delegated(t, session("shop", "assistant", authz.Background()), "helper"),
		"another scope":     delegated(t, session("mall", "assistant", authz.For(olga)), "helper"),
		"another run":       outer.WithRun("r2"),
		"a person":          own.WithRun("r1"),
		"zero":              {},
	}
	for name, s := range inside {
		require.True(t, s.Within(outer), name)
	}
	for name, s := range outside {
		require.False(t, s.Within(outer), name)
	}
	require.False(t, authz.Session{}.Within(authz.Session{}), "nobody acts inside a session that is none")
}

func TestStoredRoundTrip(t *testing.T) {
	night, err := authz.NewSession("shop", "night", authz.Background())
	require.NoError(t, err)
	own, err := authz.NewPersonSession("shop", olga)
	require.NoError(t, err)
	base := modelSession(t)
	for name, s := range map[string]authz.Session{
		"for a person":    base,
		"background":      night,
		"a person's":      own,
		"narrowed":        base.WithTools(authz.Only("refund", "find")),
		"empty allowlist": base.WithTools(authz.Only()),
		"delegated":       delegated(t, base, "helper", "checker").WithTools(authz.Only("find")),
		"delegated night": delegated(t, night, "helper"),
		"with its trail":  base.WithRun("r1").WithOrigin("chat").WithConversation("c1"),
	} {
		t.Run(name, func(t *testing.T) {
			b, err := json.Marshal(s.Stored())
			require.NoError(t, err)
			var stored authz.StoredSession
			require.NoError(t, json.Unmarshal(b, &stored))
			back, err := stored.Session()
			require.NoError(t, err)
			require.Equal(t, s.Stored(), back.Stored())
			require.Equal(t, s.String(), back.String())
			require.Equal(t, s.Tools().Has("find"), back.Tools().Has("find"))
			require.Equal(t, s.Tools().Has("other"), back.Tools().Has("other"))
			require.True(t, s.Within(back) && back.Within(s))
		})
	}
}

// TestStoredContradictions refuses the stored forms that no constructor could have built: rows that were
// changed by hand, cut short, or written by something else.
func TestStoredContradictions(t *testing.T) {
	good := delegated(t, modelSession(t), "helper", "checker").Stored()
	own, err := authz.NewPersonSession("shop", olga)
	require.NoError(t, err)
	person := own.Stored()
	for name, tt := range map[string]struct {
		from authz.StoredSession
		edit func(*authz.StoredSession)
	}{
		"zero":                        {authz.StoredSession{}, func(*authz.StoredSession) {}},
		"no scope":                    {good, func(d *authz.StoredSession) { d.Scope = "" }},
		"no actor":                    {good, func(d *authz.StoredSession) { d.Actor = "" }},
		"no kind":                     {good, func(d *authz.StoredSession) { d.Kind = 0 }},
		"unknown kind":                {good, func(d *authz.StoredSession) { d.Kind = 3 }},
		"nobody's model":              {good, func(d *authz.StoredSession) { d.Principal = "" }},
		"for a person and background": {good, func(d *authz.StoredSession) { d.Background = true }},
		"its own principal":           {good, func(d *authz.StoredSession) { d.Principal = d.Actor }},
		"principal in the chain":      {good, func(d *authz.StoredSession) { d.Principal = "helper" }},
		"principal first in chain":    {good, func(d *authz.StoredSession) { d.Principal = "assistant" }},
		"actor in the chain":          {good, func(d *authz.StoredSession) { d.Via = []authz.ID{"helper", "checker"} }},
		"twice in the chain":          {good, func(d *authz.StoredSession) { d.Via = []authz.ID{"helper", "helper"} }},
		"nameless in the chain":       {good, func(d *authz.StoredSession) { d.Via = []authz.ID{"helper", ""} }},
		"nameless in the middle":      {good, func(d *authz.StoredSession) { d.Via = []authz.ID{"", "assistant"} }},
		"tools without a restriction": {good, func(d *authz.StoredSession) { d.Tools = []string{"find"} }},
		"a person with a principal":   {person, func(d *authz.StoredSession) { d.Principal = "sam" }},
		"a person in the background":  {person, func(d *authz.StoredSession) { d.Background = true }},
		"a person in a chain":         {person, func(d *authz.StoredSession) { d.Via = []authz.ID{"assistant"} }},
		"a person without a scope":    {person, func(d *authz.StoredSession) { d.Scope = "" }},
		"nobody":                      {person, func(d *authz.StoredSession) { d.Actor = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			d := tt.from
			tt.edit(&d)
			s, err := d.Session()
			require.ErrorIs(t, err, authz.ErrSession)
			require.True(t, s.IsZero())
		})
	}
	_, err = good.Session()
	require.NoError(t, err)
	_, err = person.Session()
	require.NoError(t, err)
	d := good
	d.Via = append([]authz.ID(nil), good.Via...)
	s, err := d.Session()
	require.NoError(t, err)
	d.Via[0] = "mallory"
	require.Equal(t, []authz.ID{"helper", "assistant"}, s.Via(), "the session keeps a copy")
}
