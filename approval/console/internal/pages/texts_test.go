package pages_test

import (
	"context"
	"encoding/json"
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

	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// marked are words for every text, each part of which says that it is one. A part would like to be markup and a template.
func marked() map[string]string {
	own := map[string]string{}
	for _, text := range console.Texts() {
		var b strings.Builder
		from := 0
		part := func(s string) {
			if s != "" {
				b.WriteString("⟦<i>{{.}} " + s + "⟧")
			}
		}
		for _, at := range regexp.MustCompile(`\{[a-z]+\}`).FindAllStringIndex(text, -1) {
			part(text[from:at[0]])
			b.WriteString(text[at[0]:at[1]])
			from = at[1]
		}
		part(text[from:])
		own[text] = b.String()
	}
	return own
}

// ours are the words of this shop, which no host translates: they are its own, or somebody's who works with it.
var ours = []string{
	"Test & shop", "testing", "shop", "Name of", "The bot", "bot", "olga", "sam", "vera", "Pay an order back.", "for order", "cents", "Pay", "pay",
	"one customer", "by asking for it back", "balance", "W1", "Say no", "The card is gone", "viewer", "editor", "owner", "Look.", "helper", "Helper",
	"files_read", "files", "npx", "write", "description", "Write.", "odd", "d1", "payments:make",
	"superseded by", "token: malformed", // that is on record, in the words of other packages
	"Latin", "Cyrillic", "p\u0430ypal",
}

// unmarked returns what a page says in letters that is neither a text of the host's nor a word of the shop's.
func unmarked(s *shop, page string) string {
	page = regexp.MustCompile(`(?s)<(pre|code|time|textarea|script|style)\b[^>]*>.*?</(pre|code|time|textarea|script|style)>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`<(\w+)[^>]* translate="no"[^>]*>[^<]*</\w+>`).ReplaceAllString(page, "")
	var said []string
	for _, m := range regexp.MustCompile(`\s(?:aria-label|placeholder|title|alt)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		said = append(said, m[1])
	}
	said = append(said, regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, "\n"))
	text := html.UnescapeString(strings.Join(said, "\n"))
	text = regexp.MustCompile(`⟦[^⟦⟧]*⟧`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|U\+[0-9A-F]{4}|[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllString(text, "")
	words := slices.Clone(ours)
	for _, a := range s.gate.Desk().Registry().Actions() {
		words = append(words, a.Name)
	}
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, w := range words {
		text = strings.ReplaceAll(text, w, "")
	}
	return strings.Join(regexp.MustCompile(`[\p{Latin}]+`).FindAllString(text, -1), " ")
}

// gateway are the actions of one in front of two external servers.
func gateway() []*registry.Action {
	type named struct {
		Name    string `json:"name"`
		Address string `json:"address,omitempty"`
		Digest  string `json:"digest,omitempty"`
	}
	admin := registry.Spec[named]{Description: "Look.", Permission: "directory:mcp-read", Mode: authz.Read, Explicit: true}
	return []*registry.Action{
		registry.Define("mcp_list_servers", registry.Spec[struct{}]{Description: "Look.", Permission: "directory:mcp-read", Mode: authz.Read, Explicit: true},
			func(context.Context, struct{}) (any, error) {
				return []map[string]any{{"name": "files", "address": "npx", "tools": []string{"files_read"}, "unavailable": []string{"odd"}}, {"name": "files", "address": "npx"}}, nil
			}),
		registry.Define("mcp_review_server", admin, func(_ context.Context, n named) (any, error) {
			return map[string]any{"server": n.Name, "address": "npx", "digest": "d1", "accepted": n.Name != "files", "refused": []string{"odd"}, "differences": []map[string]string{
				{"tool": "write", "field": "description", "before": "Write."}, {"tool": "write", "after": "Write."},
			}}, nil
		}),
	}
}

// TestEveryTextIsTheHosts goes through every screen, every refusal and the words of the script in a language in which every
// text is marked: nothing that the console says by itself is left in English, and no mark is taken for markup.
func TestEveryTextIsTheHosts(t *testing.T) {
	own := marked()
	s := openAs(t, func(c *console.Config) { c.Lang, c.Texts, c.Reasons = "en-XA", own, nil }, gateway()...)
	seen := map[string]bool{}
	look := func(where string, code int, page string) {
		t.Helper()
		require.Contains(t, page, `<html lang="en-XA" dir="ltr">`, where)
		require.NotContains(t, page, "<i>", where)
		require.NotContains(t, page, "ZgotmplZ", where)
		require.Contains(t, page, "⟦", where)
		require.Empty(t, unmarked(s, page), where)
		for _, m := range regexp.MustCompile(`⟦[^⟦⟧]*⟧`).FindAllString(html.UnescapeString(page), -1) {
			seen[m] = true
		}
	}
	get := func(person, path string, want int) {
		t.Helper()
		code, page := s.get(person, path)
		require.Equal(t, want, code, path)
		look(path, code, page)
	}
	post := func(person, path string, form url.Values, want int) string {
		t.Helper()
		code, page := s.post(person, path, form)
		require.Equal(t, want, code, "%s %v: %s", path, form, says(page))
		if want != http.StatusSeeOther {
			look(path+"?"+form.Encode(), code, page)
		}
		return strings.TrimPrefix(page, "/ops/")
	}
	ask := func(order string, cents int) string {
		t.Helper()
		raw := fmt.Sprintf(`{"order":%s,"cents":%d}`, quote(order), cents)
		a := s.gate.Call(t.Context(), s.session(), chattools.Call{Name: "pay", Arguments: []byte(raw)})
		require.Equal(t, chattools.NeedsApproval, a.Status, a.Text)
		return a.Proposal
	}
	filled := func(person, id string) url.Values {
		form := s.form(person, id)
		form.Set("know", "1")
		return form
	}

	get("olga", "", 200) // nothing waits
	for _, path := range []string{"?mine=1", "ledger", "outcomes", "audit?text=none"} {
		get("olga", path, 200)
	}

	ran, no, broken := ask("W1", 1), ask("W1", 2), ask("W1", 3)
	first := filled("sam", ran)
	post("sam", "proposals/"+ran+"/approve", first, http.StatusSeeOther)
	post("sam", "proposals/"+ran+"/approve", first, http.StatusConflict)
	post("sam", "proposals/"+no+"/dismiss", url.Values{"text": {"Say no"}}, http.StatusSeeOther)
	s.fails = registry.Public(errors.New("The card is gone"))
	post("sam", "proposals/"+broken+"/approve", filled("sam", broken), http.StatusInternalServerError)
	s.fails = nil
	post("sam", "proposals/"+no+"/dismiss", url.Values{"text": {"Say no"}}, http.StatusConflict)
	hung := ask("W1", 4)
	now := time.UnixMicro(s.clock.Load())
	_, err := s.book.Claim(t.Context(), ledger.Claim{Scope: "shop", Proposal: hung, ID: "c", By: "sam", At: now, RunBy: now.Add(time.Second), Record: ledger.Record{
		At: now, Event: ledger.EventStarted, Session: s.session(), Operator: "sam", Action: "pay", Proposal: hung, Claim: "c",
	}})
	require.NoError(t, err)
	get("sam", "proposals/"+hung, 200)
	s.clock.Add((2 * time.Second).Microseconds())
	_ = s.book.Verify(t.Context(), ledger.Verification{Scope: "shop", Proposal: ran, At: now, Verdict: ledger.Improved, Record: ledger.Record{
		At: now, Event: ledger.EventVerified, Session: s.session(), Action: "pay", Proposal: ran,
	}})
	for _, id := range []string{ran, no, broken, hung} {
		for _, query := range []string{"", "?done=approved", "?done=dismissed"} {
			get("olga", "proposals/"+id+query, 200)
		}
	}
	post("olga", "proposals/"+hung+"/dismiss", url.Values{"text": {"Say no"}}, http.StatusConflict)

	waits, late := ask("W1", 5), ask("p\u0430ypal", 6)
	get("olga", "proposals/"+ask(strings.Repeat("1234567890", 500), 7), 200)
	get("olga", "proposals/"+ask("\u0430\u0440\u0440\u04cf\u0435", 8), 200)
	get("olga", "proposals/"+late, 200)
	form := s.form("sam", waits)
	post("sam", "proposals/"+waits+"/approve", form, http.StatusUnprocessableEntity)
	form.Set("know", "1")
	form.Set("token", "x")
	post("sam", "proposals/"+waits+"/approve", form, http.StatusForbidden)
	post("sam", "proposals/"+waits+"/dismiss", url.Values{}, http.StatusUnprocessableEntity)
	post("sam", "proposals/"+waits+"/dismiss", url.Values{"text": {strings.Repeat("1", 1<<20)}}, http.StatusRequestEntityTooLarge)
	to := post("sam", "proposals/"+waits+"/revise", url.Values{"params": {`{"order":"W1","cents":9}`}}, http.StatusSeeOther)
	get("sam", to, 200)
	post("sam", "dismiss", url.Values{}, http.StatusUnprocessableEntity)
	post("sam", "dismiss", url.Values{"id": {ask("W1", 10), no, ran}, "text": {"Say no"}}, http.StatusConflict)
	post("sam", "dismiss", url.Values{"id": {ask("W1", 11)}, "reason": {own["Not now"]}}, http.StatusSeeOther)
	background, err := authz.NewSession("shop", "bot", authz.Background())
	require.NoError(t, err)
	a := s.gate.Call(t.Context(), background.WithRun("W1").WithOrigin("W1").WithConversation("W1"), chattools.Call{Name: "pay", Arguments: []byte(`{"order":"W1","cents":12}`)})
	require.Equal(t, chattools.NeedsApproval, a.Status, a.Text)
	get("olga", "proposals/"+a.Proposal, 200)
	for _, path := range []string{"", "?mine=1", "?tool=none", "?done=several", "ledger", "ledger?text=none", "ledger?state=proposed", "audit", "audit?event=proposed"} {
		get("olga", path, 200)
	}
	get("vera", "", 200)
	form = filled("sam", late)
	s.clock.Add(time.Hour.Microseconds())
	post("sam", "proposals/"+late+"/approve", form, http.StatusGone)
	get("sam", "proposals/"+late, 200)

	// Administration, every change of it.
	require.NoError(t, s.people.Edit(t.Context(), "shop", func(f *authz.Facts) error {
		f.Actors = append(f.Actors, authz.Actor{ID: "helper", Name: "Helper", Kind: authz.Model, Roles: []string{authz.Viewer}, Overrides: []authz.Override{
			{At: authz.MustPath("/1"), Effect: authz.Deny, Of: []authz.Permission{"payments:make"}},
		}})
		return nil
	}))
	for _, form := range []url.Values{
		{"action": {"directory_set_ceiling"}, "ceiling": {"execute"}},
		{"action": {"directory_disable_tool"}, "tool": {"look"}, "disabled": {"true"}},
		{"action": {"directory_disable_tool"}, "tool": {"pay"}, "disabled": {"true"}},
		{"action": {"directory_disable_tool"}, "tool": {"pay"}, "disabled": {"false"}},
		{"action": {"directory_set_grant"}, "model": {"helper"}, "tool": {"pay"}, "effect": {"deny"}},
		{"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"1"}, "uses": {"3"}, "below": {"/"}},
		{"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"9"}, "uses": {"3"}, "below": {"/"}, "ask_only": {"true"}},
		{"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"1"}, "uses": {"0"}, "below": {"/"}, "ask_only": {"true"}},
		{"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"9"}, "uses": {"0"}, "below": {"/"}},
		{"action": {"directory_create_model"}, "id": {"d1"}, "name": {"Helper"}, "roles": {"viewer"}},
		{"action": {"directory_set_roles"}, "id": {"d1"}, "roles": {"editor"}},
		{"action": {"directory_set_active"}, "id": {"d1"}, "active": {"false"}},
		{"action": {"directory_set_active"}, "id": {"d1"}, "active": {"true"}},
	} {
		post("olga", "change", form, 200)
		form.Set("confirmed", "yes")
		get("olga", post("olga", "change", form, http.StatusSeeOther), 200)
	}
	for _, form := range []url.Values{
		{"action": {"directory_revoke_standing"}, "model": {"bot"}, "grant": {"d1"}}, {"action": {"mcp_remove_server"}, "name": {"files"}},
		{"action": {"mcp_add_server"}, "name": {"files"}, "address": {"npx"}}, {"action": {"mcp_accept_server"}, "name": {"files"}, "digest": {"d1"}},
		{"action": {"directory_switch_standing"}, "on": {"true"}}, {"action": {"directory_switch_standing"}, "on": {"false"}},
	} {
		post("olga", "change", form, 200)
	}
	get("olga", "tools/pay", 200)
	s.clock.Add((2 * time.Hour).Microseconds())
	byGrant := s.gate.Call(t.Context(), s.session(), chattools.Call{Name: "pay", Arguments: []byte(`{"order":"W1","cents":13}`)})
	require.Equal(t, chattools.Done, byGrant.Status, byGrant.Text)
	for _, path := range []string{
		"tools", "tools/pay", "tools/mcp_review_server", "models", "models?who=none", "settings", "servers", "audit", "ledger", "outcomes", "outcomes?days=1", "outcomes?days=7", "outcomes?days=30",
	} {
		get("olga", path, 200)
	}
	post("olga", "servers/review", url.Values{"name": {"files"}}, 200)
	post("olga", "servers/review", url.Values{"name": {"odd"}}, 200)
	post("olga", "change", url.Values{"action": {"directory_switch_standing"}, "on": {"false"}, "confirmed": {"yes"}}, http.StatusSeeOther)
	for _, path := range []string{"tools", "tools/pay", "settings"} {
		get("olga", path, 200)
	}

	// Refusals.
	get("", "", http.StatusUnauthorized)
	get("nobody", "", http.StatusForbidden)
	get("vera", "proposals/"+late, http.StatusNotFound)
	get("vera", "audit", http.StatusForbidden)
	get("olga", "nowhere", http.StatusNotFound)
	get("olga", "tools/none", http.StatusNotFound)
	get("olga", "?state=none", http.StatusUnprocessableEntity)
	get("olga", "change", http.StatusMethodNotAllowed)
	post("olga", "change", url.Values{"action": {"none"}}, http.StatusNotFound)
	for _, origin := range []string{"https://odd", ""} {
		r := httptest.NewRequest(http.MethodPost, "/ops/change", nil)
		r.Host = "odd"
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		code, page := s.send("olga", r)
		require.Equal(t, http.StatusForbidden, code)
		look("another site", code, strings.ReplaceAll(page, "https://", ""))
	}

	// What the script says.
	_, page := s.get("olga", "")
	m := regexp.MustCompile(` data-texts="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, m)
	var script map[string]string
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(m[1])), &script))
	require.Greater(t, len(script), 15)
	for text, says := range script {
		require.Equal(t, own[text], says)
		seen[says] = true
		for _, part := range regexp.MustCompile(`⟦[^⟦⟧]*⟧`).FindAllString(says, -1) {
			seen[part] = true
		}
	}

	// This test is worth what it looks at: most texts were there.
	var unseen []string
	for text, mine := range own {
		for _, part := range regexp.MustCompile(`⟦[^⟦⟧]*⟧`).FindAllString(mine, -1) {
			if !seen[part] {
				unseen = append(unseen, text)
				break
			}
		}
	}
	require.Less(t, len(unseen), len(own)/5, unseen)
}

// TestFromRightToLeft: in such a language pages say so, words come in the host's order, and a value keeps its own direction
// and moves nothing, in a sentence, in an attribute and in an alert alike.
func TestFromRightToLeft(t *testing.T) {
	s := openAs(t, func(c *console.Config) {
		c.Lang = "he"
		c.Texts = map[string]string{
			"It was {who}, at {time}.": "ב{time}: {who}", "Choose to dismiss: {what}": "לדחות: {what}", "{model}, for {principal}": "עבור {principal}: {model}",
		}
	})
	id := s.ask("W1", 1)
	_, page := s.get("olga", "")
	require.Contains(t, page, `<html lang="he" dir="rtl">`)
	require.Contains(t, page, "עבור <bdi>olga</bdi>: <bdi><bdi>bot</bdi></bdi>")
	require.Contains(t, page, "aria-label=\"לדחות: \u2068Pay 1 cents for order &#34;W1&#34;.\u2069\"")
	require.Contains(t, says(page), "Tools and grants", "what has no words stays English")
	form := s.form("sam", id)
	form.Set("know", "1")
	code, _ := s.post("sam", "proposals/"+id+"/approve", form)
	require.Equal(t, http.StatusSeeOther, code)
	_, page = s.post("sam", "proposals/"+id+"/approve", form)
	require.Contains(t, page, "ב\u20682026-03-02 09:00:00 UTC\u2069: \u2068sam\u2069")
}
