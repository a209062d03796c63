// Package mcptools serves a gate over the Model Context Protocol: the tools of an application, for any MCP client.
//
// A [Server] is an [http.Handler] for streamable HTTP, and [Server.ServeStdio] serves one local client. It
// translates and decides nothing. Who calls is found out anew for every request, from the bearer token that the
// host verifies; neither an open session nor a connection stands for anybody. tools/list is the session's
// catalog at that moment, whole, in its stable order and never to be cached for others; tools/call is one call
// of the gate, whatever was listed before. Arguments reach the gate byte for byte; only where there are none,
// the protocol's default stands, which is {}.
//
// A change is answered with the proposal's id, a sentence and the host's link to it, as a result that is no
// error, so that clients do not repeat it. People approve elsewhere: what a client sends along with a call
// (inputResponses, requestState) is never taken for consent. No tool has an output schema, since no answer of
// the gate may break one. The status of every answer is in its _meta under [StatusKey], where no result can
// imitate it.
//
// The tools of a client that listens change when settings, grants, roles or the gate do, and it is told. The
// others learn at their next list, and at the latest at the call.
//
// Served are the revisions of the protocol up to 2026-07-28. There are no prompts and no resources; logging,
// completion, sampling, elicitation and tasks are not offered.
package mcptools

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// Config says what is served, and to whom. Gate is required.
type Config struct {
	Gate *chattools.Gate // Swap puts another one in its place

	// Identify verifies the bearer token of a request and returns the model's session. It is asked for every
	// request, may be called concurrently, and is the only source of identity. An error answers the request
	// with status 401 and goes to the log; so do a panic and a session that is not a model's. Without Identify
	// no HTTP request is let in.
	Identify func(r *http.Request, token string) (authz.Session, error)

	// Link returns the address of the page on which people decide about a proposal, for the model to pass on.
	// Without it there is none.
	Link func(s authz.Session, proposal string) string

	Name, Version string // of the server; default sallyport and the version "0"
	Instructions  string // to models, on how to use the tools

	// Stateful keeps a session for each client, which speaks the revisions before 2026-07-28 only and is bound to
	// the user who opened it. Clients of those revisions are told about changes in this mode only. A session that is
	// not used for half an hour ends, and so does the oldest of more than 64 of one user.
	Stateful bool

	// Origins are those of web pages that may call, such as https://inspector.example. Without it no web page
	// may, except one from the same loopback address.
	Origins []string

	// Metadata is the address of the protected resource metadata (RFC 9728), which answers with status 401
	// name, so that clients find where to log in.
	Metadata string

	// Poll is how often the tools of clients that listen are compared with what they were, to find changes
	// that this process did not make; its own are noticed at once. Default 10 seconds.
	Poll time.Duration

	// MaxResult is how many bytes of a result a client gets, default 1 MiB. A longer one is cut, and says so.
	MaxResult int
}

// StatusKey is where the _meta of a result has the [chattools.Status] of the answer.
const StatusKey = "sallyport.dev/status"

// Server serves a gate. It is safe for concurrent use.
type Server struct {
	config    Config
	gate      atomic.Pointer[chattools.Gate] // watch.follow puts it there
	http      *mcp.Server
	handler   http.Handler
	watch     watch
	kept      sessions
	strangers strangers
}

// NewServer returns a server. The error says what the configuration lacks.
func NewServer(c Config) (*Server, error) {
	if c.Gate == nil {
		return nil, errors.New("mcptools: a server needs a gate")
	}
	c.Name, c.Version = cmp.Or(c.Name, "sallyport"), cmp.Or(c.Version, "0")
	c.Poll, c.MaxResult = cmp.Or(c.Poll, 10*time.Second), cmp.Or(c.MaxResult, 1<<20)
	if c.Poll < 0 || c.MaxResult < 0 {
		return nil, errors.New("mcptools: Poll and MaxResult must not be negative")
	}
	s := &Server{config: c}
	s.watch.init(s)
	s.Swap(c.Gate)
	s.handler = s.streamable()
	return s, nil
}

// Swap puts another gate in the place of the one that is served, for a registry that changes at run time. Calls
// that have begun end at the old one.
func (s *Server) Swap(gate *chattools.Gate) {
	s.watch.follow(gate)
}

// Close ends what is open: sessions that are kept, and subscriptions, which hold up the shutdown of an HTTP server.
// New ones can still come.
func (s *Server) Close() error {
	var errs []error
	for client := range s.http.Sessions() {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// ServeStdio serves one client on standard input and output, for a session that the host chose, until the client
// goes away, which returns nil, or ctx ends. Nothing else may write to standard output meanwhile.
func (s *Server) ServeStdio(ctx context.Context, session authz.Session) error {
	return s.serve(ctx, session, &mcp.StdioTransport{})
}

func (s *Server) serve(ctx context.Context, session authz.Session, t mcp.Transport) error {
	if session.Kind() != authz.Model {
		return authz.ErrSession
	}
	return s.open(session.WithOrigin(cmp.Or(session.Origin(), "mcp"))).Run(ctx, t)
}
