package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
)

// Wherever a host mounts it, the console answers below that path and sends nobody out of it.
func TestMounts(t *testing.T) {
	get := func(h http.Handler, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("X-Test-User", "shop/olga")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	stripped := func(prefix string) http.Handler {
		s, mux := open(t, nil), http.NewServeMux()
		mux.Handle(prefix+"/", http.StripPrefix(prefix, s.console))
		mux.Handle(prefix, http.StripPrefix(prefix, s.console))
		return mux
	}
	behindProxy := func(seen string) http.Handler { // which strips the path that browsers see
		s := open(t, func(c *console.Config) { c.BasePath = seen + "/" })
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inner := r.Clone(r.Context())
			inner.URL.Path = strings.TrimPrefix(r.URL.Path, seen)
			inner.RequestURI = inner.URL.Path
			s.console.ServeHTTP(w, inner)
		})
	}
	mounts := map[string]struct {
		base string
		h    http.Handler
	}{
		"the root":                {"", open(t, nil).console},
		"a prefix":                {"/console", stripped("/console")},
		"two levels":              {"/ops/console", stripped("/ops/console")},
		"a stripping proxy":       {"/desk", behindProxy("/desk")},
		"a base path by itself":   {"/own", open(t, func(c *console.Config) { c.BasePath = "/own" }).console},
		"a prefix with an escape": {"/a%20b", http.StripPrefix("/a b", open(t, nil).console)},
	}
	for name, m := range mounts {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, 200, get(m.h, m.base+"/api/v1/actions").Code)
			require.Equal(t, 404, get(m.h, m.base+"/api/v1/").Code)
			if m.base != "" {
				w := get(m.h, m.base)
				require.Equal(t, 307, w.Code)
				require.Equal(t, m.base+"/", w.Header().Get("Location"))
			}
			for _, path := range []string{"/api//v1/actions", "/api/v1/x/../actions", "/api/v1", "//evil.example/x"} {
				w := get(m.h, m.base+path)
				if location := w.Header().Get("Location"); location != "" {
					require.True(t, strings.HasPrefix(location, m.base+"/") && !strings.HasPrefix(location, "//"), location)
				}
			}
		})
	}
}

// Every answer, of whatever kind, has the headers that keep browsers from doing anything else with it.
func TestHeaders(t *testing.T) {
	s := open(t, nil)
	nonces := map[string]bool{}
	for _, path := range []string{"/actions", "/nothing", "/openapi.json", "/audit.csv"} {
		h := s.serve(request(t, "olga", "GET", path, nil)).Header()
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
			require.Contains(t, policy, part)
		}
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "script-src 'self'")
		nonces[policy] = true
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		require.Equal(t, "same-origin", h.Get("Referrer-Policy"), "no-referrer would make Origin null, and posts be refused")
		require.Equal(t, "no-store", h.Get("Cache-Control"))
		require.Empty(t, h.Get("Access-Control-Allow-Origin"))
	}
	require.Len(t, nonces, 4, "a nonce is used once")
}

// What a configuration lacks or contradicts is an error, never a panic or a default.
func TestConfig(t *testing.T) {
	good := open(t, nil).config
	for name, change := range map[string]func(*console.Config){
		"no gate":         func(c *console.Config) { c.Gate = nil },
		"nobody says who": func(c *console.Config) { c.Who = nil },
		"relative base":   func(c *console.Config) { c.BasePath = "console" },
		"another host":    func(c *console.Config) { c.BasePath = "//evil.example" },
		"unescaped base":  func(c *console.Config) { c.BasePath = "/a b" },
		"bad origin":      func(c *console.Config) { c.TrustedOrigins = []string{"ops.example/path"} },
		"negative time":   func(c *console.Config) { c.Heartbeat = -1 },
		"negative number": func(c *console.Config) { c.Streams = -1 },
	} {
		c := good
		change(&c)
		_, err := console.New(c)
		require.ErrorContains(t, err, "console: ", name)
	}
}

// A host may swap the registry: the next request is of the new one, whatever the console was made with.
func TestTheRegistryIsSwapped(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 1)
	s.swap("2")
	o := s.open("sam", id)
	require.Equal(t, "stale", o.Refusal.Code)
	s.approve("sam", s.propose("refund", "a1", 2))
}
