package pages_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
)

// TestExportHasTheScreensFilter follows the links to the exports as a browser does: what the screen leaves out, the file
// leaves out too.
func TestExportHasTheScreensFilter(t *testing.T) {
	s := open(t)
	yes, no := s.ask("W1", 1), s.ask("W2", 2)
	form := s.form("sam", yes)
	form.Set("know", "1")
	code, _ := s.post("sam", "proposals/"+yes+"/approve", form)
	require.Equal(t, http.StatusSeeOther, code)
	code, _ = s.post("sam", "proposals/"+no+"/dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	s.clock.Add((2 * time.Minute).Microseconds()) // exports leave out what may not be committed yet
	for query, want := range map[string]int{
		"": 5, "?event=dismissed": 1, "?tool=pay&for=olga": 5, "?actor=bot&event=proposed": 2, "?operator=sam&event=started": 1,
		"?since=2026-03-02&until=2026-03-02&event=finished": 1, "?since=2026-03-03": 0, "?proposal=" + no: 2, "?tool=" + url.QueryEscape("a&b=c %"): 0,
	} {
		_, page := s.get("olga", "audit"+query)
		links := regexp.MustCompile(`href="(/ops/api/v1/audit\.(?:csv|ndjson)[^"]*)"`).FindAllStringSubmatch(page, -1)
		require.Len(t, links, 2, query)
		for _, link := range links {
			r := httptest.NewRequest(http.MethodGet, html.UnescapeString(link[1]), nil)
			code, body := s.send("olga", r)
			require.Equal(t, http.StatusOK, code, "%s: %s", link[1], body)
			if strings.Contains(link[1], "ndjson") {
				require.Equal(t, want, strings.Count(body, `"proposal":"`), "%s: %s", query, body)
			}
		}
	}
}

// TestNoticesAreTrue: an address that says that something was done does not make it so.
func TestNoticesAreTrue(t *testing.T) {
	s := open(t)
	waits, expires, no := s.ask("W1", 1), s.ask("W2", 2), s.ask("W3", 3)
	code, _ := s.post("sam", "proposals/"+no+"/dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	_, page := s.get("sam", "proposals/"+waits+"?done=dismissed")
	require.NotContains(t, says(page), "Dismissed. The requester")
	_, page = s.get("sam", "proposals/"+waits+"?done=revised")
	require.NotContains(t, says(page), "revised proposal")
	for _, id := range []string{waits, no} {
		_, page := s.get("sam", "proposals/"+id+"?done=approved")
		require.NotContains(t, says(page), "Approved, and it ran")
	}
	s.clock.Add(time.Hour.Microseconds())
	_, page = s.get("sam", "proposals/"+expires+"?done=approved")
	require.NotContains(t, says(page), "Approved, and it ran")
	for _, path := range []string{"settings", "models", "tools", "servers", "", "ledger"} {
		_, page := s.get("olga", path+"?done=approved")
		require.NotContains(t, says(page), "Approved, and it ran", path)
	}
}

// TestDismissSeveralSaysWhatHappened: what somebody else decided meanwhile was not dismissed by this form.
func TestDismissSeveralSaysWhatHappened(t *testing.T) {
	s := open(t)
	ran, gone, waits := s.ask("W1", 1), s.ask("W2", 2), s.ask("W3", 3)
	form := s.form("olga", ran)
	form.Set("know", "1")
	code, _ := s.post("olga", "proposals/"+ran+"/approve", form)
	require.Equal(t, http.StatusSeeOther, code)
	code, _ = s.post("olga", "proposals/"+gone+"/dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	code, page := s.post("sam", "dismiss", url.Values{"id": {ran, gone, waits}, "reason": {"Not needed"}})
	require.Equal(t, http.StatusConflict, code)
	text := says(page)
	require.Contains(t, text, "1 of 3 was dismissed")
	require.Contains(t, text, "Pay 1 cents for order \"W1\". Already approved, by olga")
	require.Contains(t, text, "Pay 2 cents for order \"W2\". Already dismissed, by olga")
}

// TestWayBackFromARefusal: a page that answers a form is at an address that only takes forms, so its own links lead
// elsewhere.
func TestWayBackFromARefusal(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	_, page := s.post("sam", "proposals/"+id+"/approve", s.form("sam", id))
	to := regexp.MustCompile(`<div id="news"[^>]*>.*?<a href="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, to)
	require.Equal(t, "/ops/proposals/"+id, to[1])
}

// TestLongSentences: a sentence with a value of the largest size pushes nothing away, says how long it is, and is whole
// on the proposal's page.
func TestLongSentences(t *testing.T) {
	s := open(t)
	id := s.ask("begin "+strings.Repeat("x", 200_000)+" end", 1)
	for _, path := range []string{"", "ledger"} {
		_, page := s.get("sam", path)
		require.Less(t, len(page), 20_000, path)
		require.Contains(t, page, "(195 KiB in all)", path)
	}
	_, page := s.get("sam", "proposals/"+id)
	for _, tag := range []string{"title", "h1"} {
		text := regexp.MustCompile("<" + tag + ">([^<]*)</" + tag + ">").FindStringSubmatch(page)
		require.NotNil(t, text, tag)
		require.Less(t, len(text[1]), 500, tag)
		require.Contains(t, text[1], "(195 KiB in all)", tag)
	}
	require.Contains(t, says(page), "The whole sentence, 195 KiB")
	require.Equal(t, 3, strings.Count(page, strings.Repeat("x", 200_000)+" end"), "the sentence, the parameters and the draft of a revision are whole")
}

// TestWhoWroteTheParameters: what a person changed is not called a model's.
func TestWhoWroteTheParameters(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	_, page := s.get("sam", "proposals/"+id)
	require.Contains(t, says(page), "Written by a model, and unchecked")
	_, to := s.post("sam", "proposals/"+id+"/revise", url.Values{"params": {`{"order":"W1","cents":2}`}})
	_, page = s.get("sam", strings.TrimPrefix(to, "/ops/"))
	require.Contains(t, says(page), "Written by a model, changed by sam, and unchecked")
}

// TestConfirmationSaysAll: what is approved in advance is confirmed with everything that widens it.
func TestConfirmationSaysAll(t *testing.T) {
	s := open(t)
	form := url.Values{"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"8"}, "uses": {"00"}, "below": {"/"}}
	_, page := s.post("olga", "change", form)
	require.Contains(t, says(page), "below “/” any number of times, for 8 hours, for people who may do it themselves.")
	form.Set("uses", "3")
	form.Set("ask_only", "true")
	_, page = s.post("olga", "change", form)
	require.Contains(t, says(page), "below “/” 3 times, for 8 hours, also for people who may only ask for it.")
}

// TestStandingGrantsOnScreens: a tool of which a standing grant covers some is not shown as one that runs, nor one whose
// grant is spent as one that may, and what ran
// by it is not counted among what people approved.
func TestStandingGrantsOnScreens(t *testing.T) {
	s := open(t)
	code, to := s.post("olga", "change", url.Values{
		"action": {"directory_give_standing"}, "model": {"bot"}, "tool": {"pay"}, "hours": {"8"}, "uses": {"1"}, "below": {"/"}, "confirmed": {"yes"},
	})
	require.Equal(t, http.StatusSeeOther, code, to)
	_, page := s.get("olga", "tools")
	require.Contains(t, says(page), "Asks or runs 1 standing")
	_, page = s.get("olga", "tools/pay")
	require.Contains(t, says(page), "Asks, but for standing grants")
	require.Contains(t, says(page), "0 of 1 times used")
	require.NotContains(t, says(page), "It is spent.")

	a := s.gate.Call(t.Context(), s.session(), chattools.Call{Name: "pay", Arguments: []byte(`{"order":"W1","cents":1}`)})
	require.Equal(t, chattools.Done, a.Status, a.Text)
	_, page = s.get("olga", "tools")
	require.Contains(t, says(page), "Asks 1 standing")
	require.NotContains(t, says(page), "Asks or runs")
	_, page = s.get("olga", "tools/pay")
	require.Contains(t, says(page), "Asks each time")
	require.Contains(t, says(page), "1 of 1 times used below / , until")
	require.Contains(t, says(page), "It is spent.")
	code, _ = s.post("sam", "proposals/"+s.ask("W2", 2)+"/dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	_, page = s.get("olga", "outcomes")
	require.Contains(t, says(page), "0 % approved, of those that people decided")
	require.Contains(t, says(page), "1 by standing grants")
}

// TestFormsThatAreTooLarge: a form that was cut is refused as that, and not taken for one that lacks something.
func TestFormsThatAreTooLarge(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	for _, path := range []string{"proposals/" + id + "/approve", "proposals/" + id + "/dismiss", "proposals/" + id + "/revise", "dismiss", "change"} {
		code, page := s.post("sam", path, url.Values{"id": {id}, "reason": {"Not now"}, "text": {strings.Repeat("x", 3<<20)}})
		require.Equal(t, http.StatusRequestEntityTooLarge, code, path)
		require.Contains(t, says(page), "larger than this address takes", path)
	}
	code, page := s.post("sam", "proposals/"+id+"/dismiss", url.Values{"text": {strings.Repeat("x", 5000)}})
	require.Equal(t, http.StatusUnprocessableEntity, code)
	require.Contains(t, says(page), "the reason is longer than 4 KiB")
}

// TestDecidedProposals: the page of what was decided asks for no decision, and says nothing twice.
func TestDecidedProposals(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	_, page := s.get("sam", "proposals/"+id)
	require.Contains(t, says(page), "Your decision")
	form := s.form("sam", id)
	form.Set("know", "1")
	code, _ := s.post("sam", "proposals/"+id+"/approve", form)
	require.Equal(t, http.StatusSeeOther, code)
	_, page = s.get("sam", "proposals/"+id)
	require.Contains(t, says(page), "This was approved before, and runs once only. sam, ")
	require.NotContains(t, says(page), "Your decision")
	require.NotContains(t, says(page), "What will happen")
}

// TestLongTrail: many refusals do not push the end of a proposal's story out of its page.
func TestLongTrail(t *testing.T) {
	s := open(t)
	id := s.ask("W1", 1)
	for range 210 { // equal ones are counted together, within a minute
		require.NoError(t, s.book.Append(t.Context(), ledger.Record{
			At: time.UnixMicro(s.clock.Load()), Event: ledger.EventRefused, Code: ledger.Forbidden, Session: s.session(), Action: "pay", Proposal: id,
		}))
	}
	code, _ := s.post("sam", "proposals/"+id+"/dismiss", url.Values{"reason": {"Not now"}})
	require.Equal(t, http.StatusSeeOther, code)
	_, page := s.get("sam", "proposals/"+id)
	require.Contains(t, says(page), "dismissed dismissed sam")
	require.Contains(t, says(page), "These are the newest 200 records.")
}
