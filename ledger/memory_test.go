package ledger_test

import (
	"testing"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

func TestMemory(t *testing.T) {
	ledgertest.TestStore(t, func(*testing.T) ledger.Store { return new(ledger.Memory) })
}
