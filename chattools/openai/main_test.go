package openai_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the tests of this package if they leave a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
