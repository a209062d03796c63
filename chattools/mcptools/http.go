package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
)

// sessionKey is where the SDK carries a request's session in what it knows about the token.
const sessionKey = "session"

type tokenKey struct{}

// streamable is the SDK's handler, told about every request whose token is whose.
func (s *Server) streamable() http.Handler {
	s.http = s.open(authz.Session{})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.http },
		&mcp.StreamableHTTPOptions{Stateless: !s.config.Stateful, SessionTimeout: idle})
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		info, ok := ctx.Value(tokenKey{}).(*auth.TokenInfo)
		if !ok {
			return nil, auth.ErrInvalidToken
		}
		return info, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(handler)
}

// ServeHTTP serves one request of streamable HTTP.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w = uncached{w}
	if !s.welcome(r) {
		http.Error(w, "forbidden origin", http.StatusForbidden)
		return
	}
	session, err := s.identify(r)
	if err != nil {
		if times := s.strangers.come(time.Now()); times > 0 {
			s.log().WarnContext(r.Context(), "an MCP request was not let in", "error", err, "times", times)
		}
		challenge := "Bearer"
		if s.config.Metadata != "" {
			challenge += fmt.Sprintf(" resource_metadata=%q", s.config.Metadata)
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	info := &auth.TokenInfo{UserID: user(session), Extra: map[string]any{sessionKey: session}}
	s.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, info)))
}

func (s *Server) log() *slog.Logger { return s.gate.Load().Desk().Registry().Log() }

// identify asks the host who calls.
func (s *Server) identify(r *http.Request) (session authz.Session, err error) {
	defer func() {
		if p := recover(); p != nil {
			session, err = authz.Session{}, fmt.Errorf("mcptools: Identify panicked: %v", p)
		}
	}()
	header := r.Header.Values("Authorization")
	if s.config.Identify == nil || len(header) != 1 {
		return authz.Session{}, errors.New("mcptools: no token")
	}
	fields := strings.Fields(header[0])
	if len(fields) != 2 || !strings.EqualFold(fields[0], "Bearer") {
		return authz.Session{}, errors.New("mcptools: no bearer token")
	}
	session, err = s.config.Identify(r, fields[1])
	if err != nil {
		return authz.Session{}, err
	}
	if session.Kind() != authz.Model {
		return authz.Session{}, authz.ErrSession
	}
	return session.WithOrigin(cmp.Or(session.Origin(), "mcp")), nil
}

// user names whose a session of the SDK is: it may be used by the same model for the same person only. What may
// differ between two tokens of theirs is left out.
func user(s authz.Session) string {
	return fmt.Sprintf("%q %q %q %t %q", s.Scope(), s.Actor(), s.Human().ID(), s.Background(), s.Via())
}

// welcome tells requests of programs from those of web pages. A page's own address is no proof where names are
// rebound, unless the name is loopback's.
func (s *Server) welcome(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(s.config.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host && loopback(u.Hostname())
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// uncached says that no answer may be stored, whatever the SDK says.
type uncached struct{ http.ResponseWriter }

func (w uncached) WriteHeader(status int) {
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.ResponseWriter.WriteHeader(status)
}

func (w uncached) Write(p []byte) (int, error) {
	w.Header().Set("Cache-Control", "no-store, no-transform")
	return w.ResponseWriter.Write(p)
}

// FlushError sends the headers, if nothing did before.
func (w uncached) FlushError() error {
	w.Header().Set("Cache-Control", "no-store, no-transform")
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] find the rest.
func (w uncached) Unwrap() http.ResponseWriter { return w.ResponseWriter }
