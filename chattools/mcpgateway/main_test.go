package mcpgateway_test

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the hostile server and the client for the conformance suite: the test binary runs itself as one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("SALLYPORT_TEST_HOSTILE"); mode != "" {
		hostile(mode)
		os.Exit(0)
	}
	if os.Getenv("SALLYPORT_TEST_CONFORM") != "" && len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "http://") {
		conform(os.Args[1])
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
