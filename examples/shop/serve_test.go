package main

import (
	"bufio"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/examples/shop/store"
	"github.com/sallyport-dev/sallyport/ledger"
)

// visitor is somebody's browser, without scripts.
type visitor struct {
	t      *testing.T
	client *http.Client
	shop   string
}

func visit(t *testing.T, shop, person string) *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	v := &visitor{t, &http.Client{Jar: jar}, shop}
	if person != "" {
		code, _ := v.post("/enter", url.Values{"person": {person}})
		require.Equal(t, http.StatusOK, code)
	}
	return v
}

func (v *visitor) answer(r *http.Response, err error) (int, string) {
	v.t.Helper()
	require.NoError(v.t, err)
	body, err := io.ReadAll(r.Body)
	require.NoError(v.t, err)
	require.NoError(v.t, r.Body.Close())
	return r.StatusCode, html.UnescapeString(string(body))
}

func (v *visitor) get(path string) (int, string) { return v.answer(v.client.Get(v.shop + path)) }

func (v *visitor) post(path string, form url.Values) (int, string) {
	return v.answer(v.client.PostForm(v.shop+path, form))
}

func openSite(t *testing.T) string {
	place := store.InMemory()
	keys, err := store.KeysIn(filepath.Join(t.TempDir(), "keys"))
	require.NoError(t, err)
	w, err := store.Open(t.Context(), place, keys, 5*time.Minute)
	require.NoError(t, err)
	s, err := newSite(w, guide{}, "a script")
	require.NoError(t, err)
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.console.Close(); server.Close() })
	return server.URL
}

// TestTheShopInABrowser: a customer asks, staff decides in the console, and the chat says what became of it.
func TestTheShopInABrowser(t *testing.T) {
	shop := openSite(t)
	isabella, sam := visit(t, shop, "isabella_lopez_6490"), visit(t, shop, "sam")
	_, page := isabella.post("/chat", url.Values{"text": {"What about order W4923227?"}})
	require.Contains(t, page, "Here is what I found")
	_, page = isabella.post("/chat", url.Values{"text": {"Hello"}})
	require.Contains(t, page, "I am a script")
	_, page = isabella.post("/chat", url.Values{"text": {"Please cancel it: #W4923227"}})
	require.Contains(t, page, "I have asked the staff")

	_, inbox := sam.get("/console/")
	link := regexp.MustCompile(`/console/proposals/[0-9a-f-]+`).FindString(inbox)
	require.NotEmpty(t, link)
	_, proposal := sam.get(link)
	form := url.Values{}
	for _, m := range regexp.MustCompile(`name="(token|shown)" value="([^"]*)"`).FindAllStringSubmatch(proposal, -1) {
		form.Set(m[1], m[2])
	}
	code, page := isabella.post(link+"/approve", form)
	require.Equal(t, http.StatusForbidden, code, "who may only ask cannot approve, whatever token they hold")
	require.NotContains(t, page, "Approved")
	_, page = sam.post(link+"/approve", form)
	require.Contains(t, page, "Approved, and it ran")
	_, page = isabella.get("/")
	require.Contains(t, page, "cancel_pending_order: done")
	_, page = isabella.post("/chat", url.Values{"text": {"show #W2890441"}})
	require.Contains(t, page, "That did not work")
}

// TestHistory: a shop that nobody has used has a past, once, in which staff took their time and two requests are left.
func TestHistory(t *testing.T) {
	keys, err := store.KeysIn(filepath.Join(t.TempDir(), "keys"))
	require.NoError(t, err)
	w, err := store.Open(t.Context(), store.InMemory(), keys, 5*time.Minute)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, history(t.Context(), w, 5*time.Minute))
		rows, err := w.Book.Proposals(t.Context(), ledger.Query{Scope: store.Scope, Limit: 1000})
		require.NoError(t, err)
		require.Len(t, rows, 32)
		states := map[ledger.State]int{}
		for _, p := range rows {
			states[p.State(w.Now())]++
			if p.Decision != ledger.Undecided {
				require.Greater(t, p.DecidedAt.Sub(p.CreatedAt), 5*time.Second)
				require.True(t, p.DecidedAt.Before(w.Now()))
			}
			require.NotEqual(t, authz.ID("isabella_lopez_6490"), principalOf(t, p))
		}
		require.Equal(t, map[ledger.State]int{ledger.StateExecuted: 23, ledger.StateDismissed: 5, ledger.StateExpired: 2, ledger.StateProposed: 2}, states)
	}
}

func principalOf(t *testing.T, p ledger.Proposal) authz.ID {
	principal, ok := p.Session.Principal()
	require.True(t, ok)
	return principal
}

func TestStrangers(t *testing.T) {
	shop := openSite(t)
	stranger := visit(t, shop, "")
	_, page := stranger.get("/")
	require.Contains(t, page, "Who are you?")
	code, _ := stranger.get("/console/")
	require.Equal(t, http.StatusUnauthorized, code)
	code, _ = stranger.post("/chat", url.Values{"text": {"hello"}})
	require.Equal(t, http.StatusBadRequest, code)
	code, _ = stranger.post("/enter", url.Values{"person": {"root"}})
	require.Equal(t, http.StatusBadRequest, code)
	u, err := url.Parse(shop)
	require.NoError(t, err)
	stranger.client.Jar.SetCookies(u, []*http.Cookie{{Name: "shop", Value: "ada.forged"}})
	code, _ = stranger.get("/console/")
	require.Equal(t, http.StatusUnauthorized, code, "a cookie that the shop did not sign")

	ada := visit(t, shop, "ada")
	code, page = ada.get("/console/settings")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, "Ceiling")
	_, page = ada.get("/leave")
	require.Contains(t, page, "Sign out")
	_, page = ada.post("/leave", nil)
	require.Contains(t, page, "Who are you?")
	r, err := http.NewRequest(http.MethodPost, shop+"/leave", nil)
	require.NoError(t, err)
	r.Header.Set("Origin", "https://elsewhere.example")
	code, _ = ada.answer(ada.client.Do(r))
	require.Equal(t, http.StatusForbidden, code, "another site's form")
}

// TestServe starts the program's own way and stops it again; what was there is there the next time.
func TestServe(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		in, out := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- serve(ctx, out, options{addr: "127.0.0.1:0", life: 5 * time.Minute}) }()
		line, err := bufio.NewReader(in).ReadString('\n')
		require.NoError(t, err)
		go func() { _, _ = io.Copy(io.Discard, in) }()
		address := regexp.MustCompile(`http://[0-9.:]+`).FindString(line)
		code, _ := visit(t, address, "ada").get("/console/")
		require.Equal(t, http.StatusOK, code)
		cancel()
		require.NoError(t, <-done)
	}
	file := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "sallyport-shop", "shop.key")
	require.NoError(t, os.Chmod(file, 0o644))
	require.ErrorContains(t, serve(t.Context(), io.Discard, options{addr: "127.0.0.1:0", dsn: "memory", life: time.Minute}), "others than its owner")
}
