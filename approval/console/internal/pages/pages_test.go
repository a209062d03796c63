package pages_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/registry"
)

// hostile is text that would like to be more than text.
const hostile = "<script>alert(1)</script>{{.}}\u202e\u200b\u2066\u0007\"'&\n=1+1"

// TestEveryScreen renders every screen with hostile text in every field that somebody else fills.
func TestEveryScreen(t *testing.T) {
	s := open(t)
	require.NoError(t, s.people.Edit(t.Context(), "shop", func(f *authz.Facts) error {
		f.Actors = append(f.Actors, authz.Actor{ID: authz.ID("m" + hostile), Name: "n" + hostile, Kind: authz.Model, Active: true, Roles: []string{authz.Viewer}})
		return nil
	}))
	done := s.ask("a"+hostile, 1)
	form := s.form("olga", done)
	form.Set("know", "1")
	code, to := s.post("olga", "proposals/"+done+"/approve", form)
	require.Equal(t, http.StatusSeeOther, code, to)
	failed := s.ask("b"+hostile, 2)
	s.fails = errors.New("boom " + hostile)
	form = s.form("sam", failed)
	form.Set("know", "1")
	code, _ = s.post("sam", "proposals/"+failed+"/approve", form)
	require.NotEqual(t, http.StatusSeeOther, code)
	no := s.ask("c"+hostile, 3)
	code, _ = s.post("sam", "proposals/"+no+"/dismiss", url.Values{"text": {"because " + hostile}})
	require.Equal(t, http.StatusSeeOther, code)
	long := s.ask(strings.Repeat("x"+hostile, 3000), 4)
	waits := s.ask("d"+hostile, 5)

	filter := "?text=" + url.QueryEscape(hostile) + "&tool=" + url.QueryEscape(hostile)
	for path, want := range map[string]string{
		"": "Pay 5 cents", "?mine=1": "Pay 5 cents", filter: "Nothing waits", "ledger": "Pay 3 cents", "ledger" + filter: "No proposals here", "ledger?state=dismissed": "Dismissed",
		"proposals/" + done: "paid <script>", "proposals/" + failed: "Failed", "proposals/" + no: "because <script>", "proposals/" + waits: "Before and after",
		"proposals/" + long: "I have read all", "tools": "Effective rights", "tools/pay": "Approve in advance", "models": "m<script>", "settings": "Disabled tools",
		"audit": "because <script>", "audit?event=proposed": "no.", "audit" + filter: "No records here", "outcomes": "What became of proposals", "outcomes?days=7": "7 days",
		"ledger?since=2026-03-02&until=2026-03-02": "Pay 3 cents", "ledger?since=2026-03-03": "No proposals here",
	} {
		code, page := s.get("olga", path)
		require.Equal(t, http.StatusOK, code, path)
		require.Contains(t, says(page), want, path)
		require.NotContains(t, page, "<script>alert", "%s: nothing runs", path)
		shown := regexp.MustCompile(`<input type="hidden"[^>]*>`).ReplaceAllString(page, "") // what a form sends back is exact
		for _, r := range "\u202e\u200b\u2066\u0007" {
			require.NotContains(t, shown, string(r), "%s: nothing hides", path)
		}
		require.NotContains(t, page, "ZgotmplZ", path)
		require.Contains(t, says(page), "Test & shop", path)
		require.Contains(t, page, `<html lang="en" dir="ltr">`, path)
		require.NotRegexp(t, `<[^>]*\s(style|on[a-z]+)=`, page, "%s: nothing that the policy would stop", path)
	}
	_, page := s.get("olga", "proposals/"+long)
	require.GreaterOrEqual(t, strings.Count(page, "=1&#43;1"), 3000, "nothing is cut")
}

func TestSignedOutAndUnknown(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	code, page := s.get("", "")
	require.Equal(t, http.StatusUnauthorized, code)
	require.Contains(t, page, `href="/in"`)
	code, page = s.get("nobody", "")
	require.Equal(t, http.StatusForbidden, code)
	require.Contains(t, says(page), "Not")
	code, _ = s.get("vera", "proposals/"+id)
	require.Equal(t, http.StatusNotFound, code, "what one may not see does not exist")
	for _, path := range []string{"audit", "outcomes", "tools", "models", "settings"} {
		code, page := s.get("vera", path)
		require.Equal(t, http.StatusForbidden, code, path)
		require.Contains(t, says(page), "Not", path)
	}
	for path, want := range map[string]int{
		"?state=odd": 422, "?before=x": 422, "ledger?since=yesterday": 422, "audit?event=odd": 422, "audit?before=-1": 422, "audit?until=x": 422,
		"outcomes?days=9": 422, "tools/none": 404, "assets/none.css": 404, "nothing": 404,
	} {
		code, _ := s.get("olga", path)
		require.Equal(t, want, code, path)
	}
}

func TestDecisions(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	form := s.form("sam", id)
	require.Equal(t, "1", form.Get("must_know"), "what is of high risk asks for one more tick")
	code, page := s.post("sam", "proposals/"+id+"/approve", form)
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, says(page), "Tick what the form asks for first")
	form.Set("know", "1")
	for field, bad := range map[string]string{"token": "x", "shown": "x"} {
		broken := url.Values{"token": form["token"], "shown": form["shown"], "know": {"1"}}
		broken.Set(field, bad)
		code, page := s.post("sam", "proposals/"+id+"/approve", broken)
		require.Equal(t, http.StatusForbidden, code, field)
		require.Contains(t, says(page), "Nothing was run")
	}
	code, page = s.post("olga", "proposals/"+id+"/approve", form)
	require.Equal(t, http.StatusForbidden, code, "a token is good for one person")
	require.Contains(t, says(page), "not yours")
	require.Zero(t, s.runs.Load())
	code, to := s.post("sam", "proposals/"+id+"/approve", form)
	require.Equal(t, http.StatusSeeOther, code)
	require.Equal(t, "/ops/proposals/"+id+"?done=approved", to)
	_, page = s.get("sam", strings.TrimPrefix(to, "/ops/"))
	require.Contains(t, says(page), "Approved, and it ran")
	code, page = s.post("sam", "proposals/"+id+"/approve", form)
	require.Equal(t, http.StatusConflict, code)
	require.Contains(t, says(page), "Already approved")
	require.Contains(t, says(page), "It was sam")
	require.EqualValues(t, 1, s.runs.Load())

	id = s.ask("W2", 2)
	_, page = s.get("sam", "proposals/"+id)
	require.Contains(t, page, "<option>Ask Olga &lt;b&gt;first&lt;/b&gt;</option>", "the reasons are the host's own")
	code, page = s.post("sam", "proposals/"+id+"/dismiss", url.Values{"reason": {"made up"}})
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, says(page), "Give a reason")
	code, page = s.post("sam", "proposals/"+id+"/revise", url.Values{"params": {`{"order":"W2"}`}})
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, page, `{&#34;order&#34;:&#34;W2&#34;}`, "the draft is not lost")
	require.Contains(t, says(page), "cents", "and the place of the fault is named")
	code, to = s.post("sam", "proposals/"+id+"/revise", url.Values{"params": {`{"order":"W2","cents":3}`}})
	require.Equal(t, http.StatusSeeOther, code)
	_, page = s.get("sam", strings.TrimPrefix(to, "/ops/"))
	require.Contains(t, says(page), "revised by sam")
	next := strings.TrimSuffix(strings.TrimPrefix(to, "/ops/proposals/"), "?done=revised")
	s.clock.Add(time.Hour.Microseconds())
	code, page = s.post("sam", "proposals/"+next+"/approve", url.Values{"token": form["token"], "shown": form["shown"], "know": {"1"}})
	require.Equal(t, http.StatusGone, code)
	require.Contains(t, says(page), "Expired")
	code, _ = s.post("sam", "proposals/"+next+"/dismiss", url.Values{"reason": {"Not needed"}, "text": {"any more"}})
	require.Equal(t, http.StatusSeeOther, code, "a late no is still a no")
	row, err := s.book.Proposal(t.Context(), "shop", next)
	require.NoError(t, err)
	require.Equal(t, "Not needed: any more", row.Note)
}

func TestDismissSeveral(t *testing.T) {
	s := open(t)
	ids := []string{s.ask("W1", 1), s.ask("W2", 2), s.ask("W3", 3)}
	code, _ := s.post("sam", "dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusUnprocessableEntity, code, "none is chosen")
	code, _ = s.post("sam", "dismiss", url.Values{"id": ids, "reason": {"odd"}})
	require.Equal(t, http.StatusUnprocessableEntity, code, "no reason is chosen")
	code, _ = s.post("sam", "proposals/"+ids[1]+"/dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	code, page := s.post("sam", "dismiss", url.Values{"id": ids, "reason": {"Wrong details"}})
	require.Equal(t, http.StatusConflict, code)
	require.Contains(t, says(page), "2 of 3 were dismissed", "one that was dismissed meanwhile keeps nobody from the others")
	for i, want := range []string{"Wrong details", "Not now", "Wrong details"} {
		row, err := s.book.Proposal(t.Context(), "shop", ids[i])
		require.NoError(t, err)
		require.Equal(t, want, row.Note)
	}
	code, to := s.post("sam", "dismiss", url.Values{"id": {s.ask("W5", 5), s.ask("W6", 6)}, "reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	require.Equal(t, "/ops/?done=several", to)
	code, _ = s.post("vera", "dismiss", url.Values{"id": {s.ask("W4", 4)}, "reason": {"Not now"}})
	require.Equal(t, http.StatusNotFound, code)
}

// TestChanges makes every change of directory and settings: a first click asks, a second one makes it.
func TestChanges(t *testing.T) {
	s := open(t)
	var grant string
	for _, c := range []struct {
		form url.Values
		says string
		ok   func(*authz.Facts) bool
	}{
		{url.Values{"action": {"directory_set_ceiling"}, "ceiling": {"propose"}}, "“propose”", func(f *authz.Facts) bool { return f.Settings.Ceiling == authz.Propose }},
		{url.Values{"action": {"directory_set_ceiling"}, "ceiling": {"execute"}}, "“execute”", func(f *authz.Facts) bool { return f.Settings.Ceiling == authz.Execute }},
		{url.Values{"action": {"directory_disable_tool"}, "tool": {"pay"}, "disabled": {"true"}}, "Disable the tool “pay”", func(f *authz.Facts) bool { return slices.Contains(f.Settings.Disabled, "pay") }},
		{url.Values{"action": {"directory_disable_tool"}, "tool": {"pay"}, "disabled": {"false"}}, "Enable the tool “pay” again", func(f *authz.Facts) bool { return len(f.Settings.Disabled) == 0 }},
		{url.Values{"action": {"directory_switch_standing"}, "on": {"false"}}, "every change waits", func(f *authz.Facts) bool { return !f.Settings.Standing }},
		{url.Values{"action": {"directory_switch_standing"}, "on": {"true"}}, "runs without a click", func(f *authz.Facts) bool { return f.Settings.Standing }},
		{url.Values{"action": {"directory_set_grant"}, "model": {"bot"}, "tool": {"pay"}, "effect": {"deny"}}, "“deny”", func(f *authz.Facts) bool { return len(f.Actors[3].Grants) == 1 }},
		{url.Values{"action": {"directory_set_grant"}, "model": {"bot"}, "tool": {"pay"}, "effect": {"none"}}, "“none”", func(f *authz.Facts) bool { return len(f.Actors[3].Grants) == 0 }},
		{url.Values{"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"2"}, "uses": {"3"}, "below": {"/"}, "ask_only": {"true"}}, "3 times, for 2 hours",
			func(f *authz.Facts) bool {
				grant = f.Actors[3].Grants[0].Standing.ID
				return f.Actors[3].Grants[0].Standing.Uses == 3 && f.Actors[3].Grants[0].Standing.AskOnly
			}},
		{url.Values{"action": {"directory_create_model"}, "id": {"helper"}, "name": {"Helper"}, "roles": {"viewer, editor"}}, "“helper”",
			func(f *authz.Facts) bool { return slices.Equal(f.Actors[4].Roles, []string{"viewer", "editor"}) }},
		{url.Values{"action": {"directory_set_roles"}, "id": {"helper"}, "roles": {"viewer"}}, "exactly the roles", func(f *authz.Facts) bool { return slices.Equal(f.Actors[4].Roles, []string{"viewer"}) }},
		{url.Values{"action": {"directory_set_active"}, "id": {"helper"}, "active": {"false"}}, "Deactivate", func(f *authz.Facts) bool { return !f.Actors[4].Active }},
		{url.Values{"action": {"directory_set_active"}, "id": {"helper"}, "active": {"true"}}, "Activate", func(f *authz.Facts) bool { return f.Actors[4].Active }},
	} {
		before, err := s.people.Facts(t.Context(), "shop", nil)
		require.NoError(t, err)
		code, page := s.post("olga", "change", c.form)
		require.Equal(t, http.StatusOK, code, c.form)
		require.Contains(t, says(page), c.says)
		now, err := s.people.Facts(t.Context(), "shop", nil)
		require.NoError(t, err)
		require.Same(t, before, now, "the first click changes nothing: %v", c.form)
		c.form.Set("confirmed", "yes")
		code, page = s.post("olga", "change", c.form)
		require.Equal(t, http.StatusSeeOther, code, "%v: %s", c.form, says(page))
		now, err = s.people.Facts(t.Context(), "shop", nil)
		require.NoError(t, err)
		require.True(t, c.ok(now), c.form)
	}
	_, page := s.get("olga", "tools/pay")
	require.Contains(t, says(page), "Standing grant by olga: 0 of 3 times used")
	code, _ := s.post("olga", "change", url.Values{"action": {"directory_revoke_standing"}, "model": {"bot"}, "grant": {grant}, "confirmed": {"yes"}})
	require.Equal(t, http.StatusSeeOther, code)

	for name, form := range map[string]url.Values{
		"no such change": {"action": {"directory_list"}}, "a truth that is none": {"action": {"directory_switch_standing"}, "on": {"perhaps"}},
		"hours that are none": {"action": {"directory_give_standing"}, "hours": {"x"}}, "uses that are none": {"action": {"directory_give_standing"}, "hours": {"1"}, "uses": {"x"}},
		"a ceiling that is none": {"action": {"directory_set_ceiling"}, "ceiling": {"sky"}, "confirmed": {"yes"}},
	} {
		code, _ := s.post("olga", "change", form)
		require.Contains(t, []int{http.StatusNotFound, http.StatusUnprocessableEntity}, code, name)
	}
	code, page = s.post("sam", "change", url.Values{"action": {"directory_set_ceiling"}, "ceiling": {"read"}, "confirmed": {"yes"}})
	require.Equal(t, http.StatusForbidden, code, "an editor administers nothing")
	require.Contains(t, says(page), "Not")
}

// TestPages: what does not fit on one page is on the next.
func TestPages(t *testing.T) {
	s := open(t)
	for n := range 60 {
		s.clock.Add(time.Minute.Microseconds())
		id := s.ask("W", n+1)
		if n%2 == 0 {
			code, _ := s.post("sam", "proposals/"+id+"/dismiss", url.Values{"reason": {"Not now"}})
			require.Equal(t, http.StatusSeeOther, code)
		}
	}
	for _, path := range []string{"ledger", "audit"} {
		code, page := s.get("olga", path)
		require.Equal(t, http.StatusOK, code)
		next := regexp.MustCompile(`href="/ops/(` + path + `\?before=[^"]*)">Older`).FindStringSubmatch(page)
		require.NotNil(t, next, path)
		code, older := s.get("olga", html.UnescapeString(next[1]))
		require.Equal(t, http.StatusOK, code)
		require.NotEqual(t, page, older)
		require.Contains(t, older, "sam", path)
	}
}

// TestManyPeople: a page shows some of them, says so, and finds the others.
func TestManyPeople(t *testing.T) {
	s := open(t)
	require.NoError(t, s.people.Edit(t.Context(), "shop", func(f *authz.Facts) error {
		for n := range 150 {
			f.Actors = append(f.Actors, authz.Actor{ID: authz.ID(fmt.Sprintf("person-%03d", n)), Name: "Somebody", Kind: authz.Human, Active: true})
		}
		return nil
	}))
	_, page := s.get("olga", "models")
	require.Contains(t, says(page), "53 more match and are not shown")
	require.NotContains(t, page, "person-149")
	_, page = s.get("olga", "models?who=PERSON-149")
	require.Contains(t, page, "person-149")
	require.NotContains(t, page, "person-000")
	require.Contains(t, page, "The bot")
	_, page = s.get("olga", "models?who=nowhere")
	require.Contains(t, page, "Nobody here")
}

// TestServers: what a gateway in front of external servers offers its owner.
func TestServers(t *testing.T) {
	type named struct {
		Name    string `json:"name"`
		Address string `json:"address,omitempty"`
		Digest  string `json:"digest,omitempty"`
	}
	var did []string
	change := func(name string) *registry.Action {
		return registry.Define(name, registry.Spec[named]{Description: name, Permission: "directory:mcp", Mode: authz.Propose, Explicit: true},
			func(_ context.Context, n named) (string, error) {
				did = append(did, name+" "+n.Name+" "+n.Address+n.Digest)
				return "done", nil
			})
	}
	look := registry.Spec[named]{Description: "Review.", Permission: "directory:mcp-read", Mode: authz.Read, Explicit: true}
	s := open(t, change("mcp_add_server"), change("mcp_accept_server"), change("mcp_remove_server"),
		registry.Define("mcp_list_servers", registry.Spec[struct{}]{Description: "List.", Permission: "directory:mcp-read", Mode: authz.Read, Explicit: true},
			func(context.Context, struct{}) (any, error) {
				return []map[string]any{{"name": "files", "address": "npx " + hostile, "tools": []string{"files_read"}, "unavailable": []string{"files_write: " + hostile}}}, nil
			}),
		registry.Define("mcp_review_server", look, func(_ context.Context, n named) (any, error) {
			return map[string]any{"server": n.Name, "address": "npx", "digest": "d1", "accepted": n.Name != "files", "refused": []string{"odd"}, "differences": []map[string]string{
				{"tool": "write", "field": "description", "before": "Write.", "after": "Write. " + hostile},
			}}, nil
		}))
	_, page := s.get("olga", "servers")
	require.Contains(t, says(page), "files_read")
	require.Contains(t, says(page), "files_write: <script>")
	require.NotContains(t, page, "<script>alert")
	code, page := s.post("olga", "servers/review", url.Values{"name": {"files"}})
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, says(page), "Accept this form")
	require.NotContains(t, page, "<script>alert")
	_, page = s.post("olga", "servers/review", url.Values{"name": {"mail"}})
	require.NotContains(t, says(page), "Accept this form")
	for _, form := range []url.Values{
		{"action": {"mcp_add_server"}, "name": {"mail"}, "address": {"npx mail"}}, {"action": {"mcp_accept_server"}, "name": {"files"}, "digest": {"d1"}},
		{"action": {"mcp_remove_server"}, "name": {"mail"}},
	} {
		code, page := s.post("olga", "change", form)
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, says(page), "Are you sure?")
		form.Set("confirmed", "yes")
		code, to := s.post("olga", "change", form)
		require.Equal(t, http.StatusSeeOther, code, says(to))
	}
	require.Equal(t, []string{"mcp_add_server mail npx mail", "mcp_accept_server files d1", "mcp_remove_server mail "}, did)
	code, _ = s.get("vera", "servers")
	require.Equal(t, http.StatusForbidden, code)
	code, _ = open(t).get("olga", "servers")
	require.Equal(t, http.StatusNotFound, code)
	code, _ = open(t).post("olga", "servers/review", nil)
	require.Equal(t, http.StatusNotFound, code)
}

func TestAssets(t *testing.T) {
	s := open(t)
	_, page := s.get("olga", "")
	files := regexp.MustCompile(`/ops/assets/[a-z]+-[0-9a-f]{12}\.(css|js|svg)`).FindAllString(page, -1)
	require.Len(t, files, 3)
	for _, file := range files {
		r := httptest.NewRequest(http.MethodGet, file, nil)
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, "nobody needs to be signed in for a style sheet")
		require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
		require.NotEmpty(t, w.Body.String())
	}
}
