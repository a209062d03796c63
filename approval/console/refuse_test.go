package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// A page of another site can send what it likes: nothing happens, the answer says why, and it is on record.
// What a browser sends for the console's own pages, and a program without a browser, are not refused.
func TestCrossSitePosts(t *testing.T) {
	s := open(t, func(c *console.Config) { c.TrustedOrigins = []string{"https://ops.example"} })
	id := s.propose("refund", "a1", 500)
	post := func(site, origin string) (int, string) {
		r := request(t, "sam", "POST", "/proposals/"+id+"/dismiss", `{"reason":"no"}`)
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := s.serve(r)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct{ site, origin string }{
		{"cross-site", "https://evil.example"}, {"same-site", "https://sibling.example.com"}, {"cross-site", "null"},
		{"", "https://evil.example"}, {"", "null"},
	} {
		code, text := post(c.site, c.origin)
		require.Equal(t, 403, code, c)
		require.Contains(t, text, `"code":"cross_site"`)
		require.Contains(t, text, "TrustedOrigins", "whoever set the proxy up learns what to do")
		require.Contains(t, text, c.origin)
		require.Equal(t, ledger.StateProposed, s.state(id))
		rec := s.latest()
		require.Equal(t, "cross_site", string(rec.Code))
		require.Equal(t, authz.ID("sam"), rec.Session.Actor())
	}
	code, _ := post("cross-site", "https://ops.example")
	require.Equal(t, 204, code)
	for _, site := range []string{"same-origin", "none", ""} {
		id = s.propose("refund", "a1", 500)
		code, _ = post(site, "")
		require.Equal(t, 204, code, site)
	}
}

func (s *shop) state(id string) ledger.State {
	s.t.Helper()
	p, err := s.book.Proposal(context.Background(), scope, id)
	require.NoError(s.t, err)
	return p.State(s.reg.Load().Now())
}

// everywhere is every route of the console, with a body that would do something, about a proposal.
func everywhere(s *shop, id string, do func(method, path string, body any)) {
	for _, pattern := range console.Patterns(s.console) {
		method, path, _ := strings.Cut(pattern, " /api/v1")
		path = strings.NewReplacer("{id}", id, "{action}", "refund").Replace(path)
		var body any
		if method == "POST" {
			o := s.open("sam", id)
			body = map[string]string{"/approve": `{"token":"` + o.Token + `","shown":"` + o.ParamsHash + `"}`, "/dismiss": `{"reason":"no"}`,
				"/revise": `{"params":{"order":"a1","cents":1}}`, "/invoke": `{"order":"a1","cents":1}`}[path[strings.LastIndex(path, "/"):]]
		}
		do(method, path, body)
	}
}

// Whoever the host does not name gets nowhere, on any route, and nobody is taken for somebody else: not an
// unknown or deactivated person, not a model that is passed for a person, not one of another scope.
func TestMissingAndForgedIdentity(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	for _, as := range []string{"", "nonsense/olga", "shop/ghost", "gus", "shop/assistant", "shop/", "/olga"} {
		everywhere(s, id, func(method, path string, body any) {
			if path == "/openapi.json" {
				return
			}
			r := request(t, as, method, path, body)
			r.AddCookie(&http.Cookie{Name: "user", Value: "olga"})
			r.Header.Set("X-User", "olga")
			r.URL.RawQuery = "user=olga&person=olga"
			w := s.serve(r)
			want := 403
			if as == "" || as == "shop/" {
				want = 401
			}
			require.Equal(t, want, w.Code, "%s %s as %q: %s", method, path, as, w.Body)
			require.Equal(t, ledger.StateProposed, s.state(id))
			if as == "shop/ghost" || as == "gus" || as == "shop/assistant" {
				require.Equal(t, ledger.EventRefused, s.latest().Event)
				require.Equal(t, ledger.Unavailable, s.latest().Code)
			}
		})
	}
	require.Contains(t, s.log.String(), "a request of nobody", "there is no scope to record it in")

	r := request(t, "olga", "GET", "/actions", nil)
	r.Header.Set("X-Broken", "1")
	w := s.serve(r)
	require.Equal(t, 401, w.Code)
	require.NotContains(t, w.Body.String(), "session store", "the host's error stays behind")
	require.Contains(t, s.log.String(), "session store")
}

// A model's credential may invoke. On every other route it is refused, on record, whatever role the model has
// and whatever it sends; through invoke it decides nothing either.
func TestModelsDecideNothing(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	for _, as := range []string{"model:assistant", "model:boss"} {
		everywhere(s, id, func(method, path string, body any) {
			switch path {
			case "/openapi.json":
				return
			case "/actions/refund/invoke":
				s.do(as, method, path, body, 202)
				return
			}
			p := s.refused(as, method, path, body, 403, "not_for_models")
			require.Contains(t, p.Detail, "People decide")
			require.Equal(t, ledger.StateProposed, s.state(id))
			require.Equal(t, "not_for_models", string(s.latest().Code))
			require.Equal(t, as, "model:"+string(s.latest().Session.Actor()))
		})
	}
	require.Zero(t, s.runs.Load())
	for _, name := range []string{"approve", "dismiss", "directory_set_active", "proposals"} {
		s.refused("model:boss", "POST", "/actions/"+name+"/invoke", `{"id":"sam","active":false}`, 404, "unknown")
	}
}

// What the gate answers a model is all that a model reads here: no rule, no role, no token, no hidden tool.
func TestModelsReadOnlyTheGatesAnswers(t *testing.T) {
	s := open(t, nil)
	read := s.do("model:assistant", "POST", "/actions/find/invoke", `{"order":"a1"}`, 200)
	require.JSONEq(t, `{"status":"done","result":"a1"}`, read.Body.String())
	hidden := s.do("model:assistant", "POST", "/actions/directory_list/invoke", `{}`, 404)
	never := s.do("model:assistant", "POST", "/actions/no_such_tool/invoke", `{}`, 404)
	require.Equal(t, never.Body.String(), hidden.Body.String())
	p := s.refused("model:assistant", "POST", "/actions/refund/invoke", `{"order":"b1","cents":1}`, 403, "forbidden")
	require.Empty(t, p.Reason)
	p = s.refused("model:assistant", "POST", "/actions/refund/invoke", `{"order":"a1","cents":0}`, 422, "invalid")
	require.Contains(t, p.Detail, "cents")
	w := s.do("model:assistant", "POST", "/actions/refund/invoke", `{"order":"a1","cents":7}`, 202)
	require.NotContains(t, w.Body.String(), "apv1.")
	require.NotContains(t, w.Body.String(), "token")

	s.run = func(context.Context, refund) (any, error) { return nil, errors.New("password of the database") }
	s.do("olga", "POST", "/actions/directory_give_standing/invoke", `{"model":"assistant","tool":"label","hours":1,"uses":0,"below":"/","ask_only":true}`, 200)
	s.do("olga", "POST", "/actions/directory_set_roles/invoke", `{"id":"ann","roles":["editor"]}`, 200)
	p = s.refused("model:assistant", "POST", "/actions/label/invoke", `{"order":"a1","cents":1}`, 500, "failed")
	require.NotContains(t, p.Detail, "password")
	require.NotEmpty(t, p.Proposal)
}

// A decision that came too late is refused with what the proposal became and who decided.
func TestDecidedAndExpired(t *testing.T) {
	s := open(t, nil)
	again := func(as, id string, approval map[string]string, status int, code, state, by string) {
		t.Helper()
		runs := s.runs.Load()
		p := s.refused(as, "POST", "/proposals/"+id+"/approve", approval, status, code)
		require.Equal(t, state, p.State)
		require.Equal(t, by, p.DecidedBy)
		require.Equal(t, id, p.Proposal)
		require.Equal(t, runs, s.runs.Load())
		require.Equal(t, ledger.EventRefused, s.latest().Event)
		require.Equal(t, code, string(s.latest().Code))
	}
	id := s.propose("refund", "a1", 500)
	sue := s.open("sue", id).approval()
	s.approve("sam", id)
	again("sue", id, sue, 409, "spent", "executed", "sam")
	s.refused("sue", "POST", "/proposals/"+id+"/dismiss", `{"reason":"late"}`, 409, "spent")
	s.refused("sue", "POST", "/proposals/"+id+"/revise", `{"params":{"order":"a1","cents":2}}`, 409, "spent")

	id = s.propose("refund", "a1", 501)
	sue = s.open("sue", id).approval()
	s.do("sam", "POST", "/proposals/"+id+"/dismiss", `{"reason":"no"}`, 204)
	again("sue", id, sue, 409, "dismissed", "dismissed", "sam")

	id = s.propose("refund", "a1", 502)
	sue = s.open("sue", id).approval()
	s.pass(5 * time.Minute)
	again("sue", id, sue, 410, "expired", "expired", "")
	o := s.open("sue", id)
	require.Equal(t, "expired", o.State)
	require.Empty(t, o.Token)
	require.Equal(t, "expired", o.Refusal.Code)
	require.True(t, o.MayDismiss, "a late no is still a no")
	s.do("sue", "POST", "/proposals/"+id+"/dismiss", `{"reason":"too late"}`, 204)
}

// The hash that is sent is of what the page showed. Another one, another person's token, none, or one that was
// made up, runs nothing.
func TestStaleAndForeignApprovals(t *testing.T) {
	s := open(t, nil)
	id, second := s.propose("refund", "a1", 500), s.propose("refund", "a1", 501)
	sam, sue, two := s.open("sam", id), s.open("sue", id), s.open("sam", second)
	for name, c := range map[string]struct {
		token, shown string
		status       int
		reason       string
	}{
		"hash of another":         {sam.Token, two.ParamsHash, 412, "params_changed"},
		"token of another person": {sue.Token, sam.ParamsHash, 403, "user_mismatch"},
		"token of another":        {two.Token, sam.ParamsHash, 412, "params_changed"},
		"cut off":                 {sam.Token[:len(sam.Token)-1], sam.ParamsHash, 403, "malformed"},
		"none":                    {"", sam.ParamsHash, 403, "malformed"},
	} {
		p := s.refused("sam", "POST", "/proposals/"+id+"/approve", map[string]string{"token": c.token, "shown": c.shown}, c.status, "bad_token")
		require.Equal(t, c.reason, p.Reason, name)
		require.Equal(t, ledger.BadToken, s.latest().Code)
		require.Equal(t, ledger.StateProposed, s.state(id))
	}
	s.refused("sam", "POST", "/proposals/"+id+"/approve", map[string]string{"token": sam.Token, "shown": "0"}, 400, "malformed")
	s.swap("2") // the action's code is another now
	p := s.refused("sam", "POST", "/proposals/"+id+"/approve", sam.approval(), 412, "stale")
	require.Contains(t, p.Detail, "changed")
	require.Zero(t, s.runs.Load())
}

// Whoever has no part in a proposal gets what a random id gets, byte for byte, and so does everybody for an id
// of another scope. Whoever may look but not decide is told so.
func TestStrangersViewersAndOtherScopes(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	sam := s.open("sam", id).approval()
	for _, as := range []string{"vera", "bob", "annex/olga", "annex/sam"} {
		for _, door := range []struct {
			method, path string
			body         any
		}{
			{"GET", "", nil}, {"POST", "/approve", sam}, {"POST", "/dismiss", `{"reason":"no"}`}, {"POST", "/revise", `{"params":{"order":"a1","cents":1}}`},
		} {
			real := s.do(as, door.method, "/proposals/"+id+door.path, door.body, 404).Body.String()
			random := s.do(as, door.method, "/proposals/"+absent+door.path, door.body, 404).Body.String()
			require.Equal(t, random, real, "%s %s", as, door.path)
			require.Equal(t, ledger.StateProposed, s.state(id))
		}
		list := s.do(as, "GET", "/proposals", nil, 200)
		require.NotContains(t, list.Body.String(), id)
	}
	var refused int
	for _, sc := range []authz.Scope{scope, other} {
		trail, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: sc, Event: ledger.EventRefused, Code: ledger.Unknown})
		require.NoError(t, err)
		refused += len(trail)
	}
	require.Positive(t, refused)

	ann := s.open("ann", id)
	require.Empty(t, ann.Token)
	require.Equal(t, "forbidden", ann.Refusal.Code)
	require.True(t, ann.MayDismiss, "whoever asked may take it back")
	p := s.refused("ann", "POST", "/proposals/"+id+"/approve", map[string]string{"token": sam["token"], "shown": sam["shown"]}, 403, "bad_token")
	require.Contains(t, p.Detail, "Nothing was run")
	for _, path := range []string{"/audit", "/audit.csv", "/audit.ndjson", "/outcomes"} {
		s.refused("vera", "GET", path, nil, 403, "forbidden")
		require.Equal(t, ledger.Forbidden, s.latest().Code)
	}
	for _, path := range []string{"/settings", "/grants", "/models"} {
		p := s.refused("vera", "GET", path, nil, 403, "unavailable")
		require.Contains(t, p.Detail, "do not have the right")
	}
}

// Four eyes: whoever is behind the request is told why they cannot approve it.
func TestFourEyesAreExplained(t *testing.T) {
	s := open(t, nil)
	s.do("olga", "POST", "/actions/directory_set_roles/invoke", `{"id":"ann","roles":["staff"]}`, 200)
	id := s.propose("pay", "a1", 5)
	o := s.open("ann", id)
	require.Empty(t, o.Token)
	require.False(t, o.MayApprove)
	require.Contains(t, o.Refusal.Detail, "second pair of eyes")
	s.approve("sam", id)
}

// Requests that are not of the form that the document describes are refused before anything is asked.
func TestMalformedRequests(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	o := s.open("sam", id)
	whole := `{"token":"` + o.Token + `","shown":"` + o.ParamsHash + `"`
	for _, body := range []string{"", "null x", whole, whole + "} {}", whole + `,"extra":1}`, whole + `,"shown":"` + o.ParamsHash + `"}`, `[]`, `{"token":1}`, "{\"token\":\"\xff\"}"} {
		s.refused("sam", "POST", "/proposals/"+id+"/approve", body, 400, "malformed")
	}
	for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"} {
		r := request(t, "sam", "POST", "/proposals/"+id+"/approve", whole+"}")
		r.Header.Set("Content-Type", media)
		require.Equal(t, 415, s.serve(r).Code, media)
	}
	s.refused("sam", "POST", "/proposals/"+id+"/dismiss", `{"reason":"`+strings.Repeat("x", 1<<20)+`"}`, 413, "too_large")
	s.refused("sam", "POST", "/proposals/"+id+"/dismiss", `{"reason":"`+strings.Repeat("x", 4097)+`"}`, 422, "invalid")
	for _, query := range []string{"?state=gone", "?since=yesterday", "?before=x", "?before=eCB5", "?stat=proposed", "?actor=a&actor=b", "?mine=maybe"} {
		s.refused("sam", "GET", "/proposals"+query, nil, 400, "malformed")
	}
	for _, query := range []string{"?before=0", "?before=x", "?state=proposed"} {
		s.refused("olga", "GET", "/audit"+query, nil, 400, "malformed")
	}
	s.refused("sam", "GET", "/nothing", nil, 404, "not_found")
	require.Equal(t, "POST", s.do("sam", "GET", "/proposals/"+id+"/approve", nil, 405).Header().Get("Allow"))
	require.Equal(t, "GET", s.do("sam", "PUT", "/settings", nil, 405).Header().Get("Allow"))
	require.Equal(t, ledger.StateProposed, s.state(id))
}

// No page and no form is for a model, for nobody, for somebody who was made up or for another site, whatever it holds.
// Each is refused with a page that explains itself, on record where there is a scope to record it in.
func TestPagesAreForPeopleAlone(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	before, err := s.people.Facts(t.Context(), scope, nil)
	require.NoError(t, err)
	for _, pattern := range console.PagePatterns(s.console) {
		method, path, _ := strings.Cut(pattern, " ")
		if path == "/assets/{file}" {
			continue
		}
		path = strings.NewReplacer("{id}", id, "{tool}", "refund", "{$}", "").Replace(path)
		o := s.open("sam", id)
		form := url.Values{
			"token": {o.Token}, "shown": {o.ParamsHash}, "know": {"1"}, "reason": {"Not now"}, "id": {id}, "params": {`{"order":"a1","cents":1}`},
			"action": {"directory_set_active"}, "active": {"false"}, "confirmed": {"yes"}, "name": {"x"},
		}
		for _, c := range []struct {
			as, site string
			status   int
			says     string
			code     ledger.Code // on record
		}{
			{"model:assistant", "", 403, "Not for models", "not_for_models"}, {"model:boss", "same-origin", 403, "Not for models", "not_for_models"},
			{"", "", 401, "Not signed in", ""}, {"ghost", "", 403, "Not available", ledger.Unavailable}, {"gus", "", 403, "Not available", ledger.Unavailable},
			{"assistant", "", 403, "Not available", ledger.Unavailable}, {"sam", "cross-site", 403, "sent from another site", "cross_site"},
			{"olga", "same-site", 403, "sent from another site", "cross_site"},
		} {
			if method == "GET" && c.code == "cross_site" {
				continue // a link from another site may lead here
			}
			r := request(t, c.as, method, "page:"+path, form.Encode())
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			s.pass(2 * time.Second)
			w := httptest.NewRecorder()
			s.console.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code, "%s as %q: %s", pattern, c.as, w.Body)
			require.Contains(t, w.Header().Get("Content-Type"), "text/html")
			require.Contains(t, w.Body.String(), c.says)
			require.Equal(t, ledger.StateProposed, s.state(id), pattern)
			after, err := s.people.Facts(t.Context(), scope, nil)
			require.NoError(t, err)
			require.Equal(t, before, after)
			if c.code != "" {
				trail, err := s.book.Audit(t.Context(), ledger.AuditQuery{Scope: scope, Event: ledger.EventRefused, Code: c.code})
				require.NoError(t, err)
				require.NotEmpty(t, trail, "%s as %q", pattern, c.as)
			}
		}
	}
	require.Zero(t, s.runs.Load())
}
