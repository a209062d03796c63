package mcptools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// Serve is ServeStdio on a transport of the test's.
func (s *Server) Serve(ctx context.Context, session authz.Session, t mcp.Transport) error {
	return s.serve(ctx, session, t)
}

// Looks reports whether the tools of clients that listen are to be compared, once.
func (s *Server) Looks() bool {
	select {
	case <-s.watch.wake:
		return true
	default:
		return false
	}
}

// Gate is the one that is served.
func (s *Server) Gate() *chattools.Gate { return s.gate.Load() }
