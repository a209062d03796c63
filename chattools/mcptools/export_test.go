package mcptools

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-dev/sallyport/authz"
)

// Serve is ServeStdio on a transport of the test's.
func (s *Server) Serve(ctx context.Context, session authz.Session, t mcp.Transport) error {
	return s.serve(ctx, session, t)
}
