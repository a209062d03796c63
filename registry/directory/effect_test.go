package directory_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

const one = `{"id":"1"}`

// What a change does to the next call of the writer, and what its opposite does to the one after.
func TestAChangeHoldsFromTheNextCallOn(t *testing.T) {
	for _, c := range []struct {
		name, action, params string
		want                 chattools.Status
		undo                 string // parameters of the same action
	}{
		{"ceiling", "directory_set_ceiling", `{"ceiling":"propose"}`, chattools.Unknown, `{"ceiling":"execute"}`},
		{"disabled tool", "directory_disable_tool", `{"tool":"file","disabled":true}`, chattools.Unknown, `{"tool":"file","disabled":false}`},
		{"standing switch", "directory_switch_standing", `{"on":false}`, chattools.NeedsApproval, `{"on":true}`},
		{"deny grant", "directory_set_grant", `{"model":"writer","tool":"file","effect":"deny"}`, chattools.Unknown,
			`{"model":"writer","tool":"file","effect":"none"}`},
		{"activity of the model", "directory_set_active", `{"id":"writer","active":false}`, chattools.Unknown, `{"id":"writer","active":true}`},
		{"activity of the principal", "directory_set_active", `{"id":"ed","active":false}`, chattools.Forbidden, `{"id":"ed","active":true}`},
		{"roles of the model", "directory_set_roles", `{"id":"writer","roles":["viewer"]}`, chattools.Unknown, `{"id":"writer","roles":["editor"]}`},
		{"roles of the principal", "directory_set_roles", `{"id":"ed","roles":["viewer"]}`, chattools.Forbidden, `{"id":"ed","roles":["clerk"]}`},
		{"overrides", "directory_set_overrides", `{"id":"writer","overrides":[{"at":"/docs/1","effect":"deny","of":["docs:file"]}]}`,
			chattools.Forbidden, `{"id":"writer","overrides":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := openOffice(t)
			o.must(t, "directory_give_standing", `{"model":"writer","tool":"file","hours":1,"uses":0,"below":"/docs","ask_only":false}`)
			writer := modelSession(t, "writer", "ed")
			require.Equal(t, chattools.Done, o.call(t, writer, "file", one).Status)
			o.must(t, c.action, c.params)
			require.Equal(t, c.want, o.call(t, writer, "file", one).Status)
			require.EqualValues(t, 1, o.filed.Load())
			o.must(t, c.action, c.undo)
			require.Equal(t, chattools.Done, o.call(t, writer, "file", one).Status)
			require.EqualValues(t, 2, o.filed.Load())
		})
	}
}

func TestAStandingGrantFromTheDirectory(t *testing.T) {
	o := openOffice(t)
	o.must(t, "directory_give_standing", giveWriter)
	writer := modelSession(t, "writer", "ed")
	a := o.call(t, writer, "file", one)
	require.Equal(t, chattools.Done, a.Status)
	p, err := o.book.Proposal(t.Context(), "east", a.Proposal)
	require.NoError(t, err)
	require.Equal(t, authz.ID("olga"), p.DecidedBy)
	require.Equal(t, o.grantOf(t), p.Grant)

	o.must(t, "directory_revoke_standing", `{"model":"writer","grant":"`+o.grantOf(t)+`"}`)
	require.Equal(t, chattools.NeedsApproval, o.call(t, writer, "file", one).Status, "revoked at once")
	o.must(t, "directory_give_standing", giveWriter)
	require.NotEqual(t, p.Grant, o.grantOf(t), "an id is used once")
	o.clock.Add(int64((8 * time.Hour).Seconds()))
	require.Equal(t, chattools.NeedsApproval, o.call(t, writer, "file", one).Status, "ended")
	require.EqualValues(t, 1, o.filed.Load())
}

// What a model proposed is given in the name of the person who approved it, for the time from then on.
func TestTheGiverIsWhoApproves(t *testing.T) {
	o := openOffice(t)
	addOwner(t, o)
	o.must(t, "directory_set_grant", `{"model":"boss","tool":"directory_give_standing","effect":"allow"}`)
	a := o.call(t, modelSession(t, "boss", "olga"), "directory_give_standing", `{"model":"writer","tool":"file","hours":720,"uses":1,"below":"/docs","ask_only":true}`)
	require.Equal(t, chattools.NeedsApproval, a.Status)
	o.clock.Add(60)
	page, err := o.desk.Open(t.Context(), "east", a.Proposal, authz.LoggedIn("otto"))
	require.NoError(t, err)
	_, err = o.desk.Approve(t.Context(), page.Redemption())
	require.NoError(t, err)
	s := o.actor(t, "writer").Grants[0].Standing
	require.Equal(t, authz.ID("otto"), s.By)
	require.Equal(t, opened.Add(time.Minute), s.Since)
	require.Equal(t, s.Since.Add(authz.MaxStanding), s.Until)
	require.True(t, s.AskOnly)
	require.NoError(t, authz.CheckStanding(o.keys, "east", "writer", "file", s))
}

// Setting the plain grant of a tool leaves the standing ones alone, and the reverse.
func TestPlainAndStandingGrantsAreApart(t *testing.T) {
	o := openOffice(t)
	o.must(t, "directory_give_standing", giveWriter)
	id := o.grantOf(t)
	for _, effect := range []string{"allow", "deny", "allow", "none"} {
		o.must(t, "directory_set_grant", `{"model":"writer","tool":"file","effect":"`+effect+`"}`)
		require.Equal(t, id, o.grantOf(t), effect)
		require.LessOrEqual(t, len(o.actor(t, "writer").Grants), 2, effect)
	}
	o.must(t, "directory_set_grant", `{"model":"writer","tool":"file","effect":"deny"}`)
	o.must(t, "directory_revoke_standing", `{"model":"writer","grant":"`+id+`"}`)
	require.Equal(t, []authz.Grant{{Tool: "file", Effect: authz.Deny}}, o.actor(t, "writer").Grants)
}

// A name that stands in the settings though no tool has it any more can be taken out.
func TestAToolThatIsGoneCanBeEnabled(t *testing.T) {
	o := openOffice(t)
	o.edit(t, func(f *authz.Facts) { f.Settings.Disabled = []string{"gone", "file"} })
	o.must(t, "directory_disable_tool", `{"tool":"gone","disabled":false}`)
	o.must(t, "directory_disable_tool", `{"tool":"file","disabled":true}`)
	require.Equal(t, []string{"file"}, o.facts(t, "east").Settings.Disabled, "once, though it was set twice")
}

func TestListShowsEverything(t *testing.T) {
	o := openOffice(t)
	for _, c := range changes {
		if c.action != "directory_revoke_standing" {
			o.must(t, c.action, c.with(t, o))
		}
	}
	o.must(t, "directory_set_grant", `{"model":"boss","tool":"directory_list","effect":"allow"}`)
	res, err := o.do(t, "olga", "directory_list", `{}`)
	require.NoError(t, err)
	l := res.Value.(directory.Listing)
	require.Equal(t, "propose", l.Ceiling)
	require.Equal(t, []string{"file"}, l.Disabled)
	require.False(t, l.Standing)
	byID := map[string]directory.ActorEntry{}
	for _, a := range l.Actors {
		byID[a.ID] = a
	}
	require.Len(t, byID, 6)
	require.Equal(t, directory.ActorEntry{
		ID: "ed", Name: "Edward", Kind: "human", Roles: []string{"editor"}, Overrides: []directory.OverrideEntry{
			{At: "/docs/x", Effect: "deny", Of: []string{"docs:file"}}, {At: "/", Effect: "allow", Of: []string{"*"}},
		},
	}, byID["ed"])
	require.Equal(t, directory.ActorEntry{
		ID: "writer", Name: "Writer", Kind: "model", Active: true, Roles: []string{"viewer"}, Grants: []directory.GrantEntry{
			{Tool: "file", Effect: "deny"},
			{Tool: "file", Effect: "allow", Standing: &directory.StandingEntry{
				ID: o.grantOf(t), By: "olga", Since: opened, Until: opened.Add(8 * time.Hour), Uses: 2, Below: "/docs",
			}},
		},
	}, byID["writer"])
	require.Equal(t, "New", byID["new"].Name)

	// An owner model with a grant reads it too, as JSON without nulls.
	a := o.call(t, modelSession(t, "boss", "olga"), "directory_list", `{}`)
	require.Equal(t, chattools.Done, a.Status)
	require.NotContains(t, string(a.Result), "null")
	require.NotContains(t, string(a.Result), o.actor(t, "writer").Grants[1].Standing.Seal)
	var again directory.Listing
	require.NoError(t, json.Unmarshal(a.Result, &again))
	require.Len(t, again.Actors, 6)
}

func TestListOfAScopeWithoutSettings(t *testing.T) {
	o := openOffice(t)
	o.edit(t, func(f *authz.Facts) { f.Settings = authz.Settings{} })
	res, err := o.do(t, "olga", "directory_list", `{}`)
	require.NoError(t, err)
	require.Equal(t, "read", res.Value.(directory.Listing).Ceiling)
}

// The same person in two scopes changes the one of the session.
func TestTheScopeIsTheCallers(t *testing.T) {
	o := openOffice(t)
	west, err := authz.NewPersonSession("west", authz.LoggedIn("olga"))
	require.NoError(t, err)
	o.edit(t, func(f *authz.Facts) { f.Actors[0].Roles = nil })
	_, err = o.do(t, "olga", "directory_set_ceiling", `{"ceiling":"read"}`)
	require.Equal(t, ledger.Unavailable, registry.CodeOf(err))
	east := o.facts(t, "east")
	_, err = o.reg.Invoke(t.Context(), registry.Call{Session: west, Action: "directory_set_ceiling", Params: []byte(`{"ceiling":"read"}`)})
	require.NoError(t, err)
	require.Equal(t, authz.Read, o.facts(t, "west").Settings.Ceiling)
	require.Same(t, east, o.facts(t, "east"))
}
