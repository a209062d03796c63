package mcptools_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the tests of this package if they leave a goroutine behind. As a child it is a server on
// standard input and output.
func TestMain(m *testing.M) {
	if person := os.Getenv("MCPTOOLS_SERVE_STDIO"); person != "" {
		serveStdio(person)
		return
	}
	goleak.VerifyTestMain(m)
}
