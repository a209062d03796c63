package browsertest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// stripping is a proxy that strips a path before it asks a server, and answers nothing outside of it but /in.
func stripping(t *testing.T, server, path string) string {
	t.Helper()
	to, err := url.Parse(server)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = r.In.Host }}
	mux := http.NewServeMux()
	mux.Handle(path+"/", http.StripPrefix(path, proxy))
	mux.Handle(path, http.StripPrefix(path, proxy))
	mux.Handle("/in", proxy)
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// TestBehindAProxy walks through the console behind a proxy that strips its path, from an address without the slash at its
// end on: with a script, and without.
func TestBehindAProxy(t *testing.T) {
	w := create(t, "/team/desk")
	sam := w.enter("sam")
	sam.shop = w.url + "/team/desk"
	inside := func() {
		t.Helper()
		here, err := chromedp.Run(sam.ctx, chromedp.Location())
		require.NoError(t, err)
		require.True(t, here == sam.shop || strings.HasPrefix(here, sam.shop+"/"), here)
	}
	sam.go_("")
	inside()
	sam.says("Nothing waits")
	w.ask("one")
	sam.says("1 change since this page was made")
	sam.press("#news a", "Show it")
	sam.press("a.what", "Pay order")
	js[bool](sam, `(document.querySelector("input[name=know]").checked = true)`)
	sam.press("button.main", "Approve and run it once")
	sam.says("Approved, and it ran")
	inside()
	for _, screen := range []string{"Ledger", "Inbox"} {
		sam.press(".side a", screen)
		inside()
		require.Equal(t, screen, js[string](sam, `document.querySelector("h1").textContent`))
	}

	w.ask("two")
	_, err := chromedp.Call(sam.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	require.NoError(t, err)
	sam.go_("")
	for _, selector := range []string{"a.what", "button.no"} {
		_, err := chromedp.RunResponse(sam.ctx, chromedp.Click(chromedp.CSS(selector)))
		require.NoError(t, err)
		inside()
	}
	notice, err := chromedp.Run(sam.ctx, chromedp.Text(chromedp.CSS(".say.good")))
	require.NoError(t, err)
	require.Contains(t, notice, "Dismissed. The requester can read the reason.")
}
