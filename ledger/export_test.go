package ledger_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
)

func TestRecords(t *testing.T) {
	book := new(ledger.Memory)
	const n = 23
	for i := range n {
		require.NoError(t, book.Append(t.Context(), ledgertest.NewEntry("shop", i+1).Record))
		require.NoError(t, book.Append(t.Context(), ledgertest.NewEntry("depot", i+1).Record))
	}
	for _, newest := range []bool{false, true} {
		for _, limit := range []int{0, 1, 7, n, n + 1} {
			var seqs []int64
			for r, err := range ledger.Records(t.Context(), book, ledger.AuditQuery{Scope: "shop", Newest: newest, Limit: limit}) {
				require.NoError(t, err)
				seqs = append(seqs, r.Seq)
			}
			if newest {
				slices.Reverse(seqs)
			}
			require.Len(t, seqs, n, "every record, in pages of %d", limit)
			require.True(t, slices.IsSorted(seqs))
			require.Len(t, slices.Compact(seqs), n, "and each once")
		}
	}
	seen := 0
	for _, err := range ledger.Records(t.Context(), book, ledger.AuditQuery{Scope: "shop", Limit: 2}) {
		require.NoError(t, err)
		if seen++; seen == 3 {
			break
		}
	}
	require.Equal(t, 3, seen, "whoever has seen enough stops")
}

// TestRecordsOfAWindow has a page that is not full because of the window and not because there are no more.
func TestRecordsOfAWindow(t *testing.T) {
	book := new(ledger.Memory)
	for i := range 9 {
		r := ledgertest.NewEntry("shop", i+1).Record
		if i%4 == 0 {
			r.Event = ledger.EventRefused
		}
		require.NoError(t, book.Append(t.Context(), r))
	}
	for _, q := range []ledger.AuditQuery{{}, {Window: 2}, {Window: 2, Limit: 1}, {Window: 2, Newest: true}} {
		q.Scope, q.Event = "shop", ledger.EventRefused
		seen := 0
		for _, err := range ledger.Records(t.Context(), book, q) {
			require.NoError(t, err)
			seen++
		}
		require.Equal(t, 3, seen, "an export has every record, whatever the window: %+v", q)
	}
}

func TestRecordsEndWithAnError(t *testing.T) {
	book := ledgertest.NewFaulty(new(ledger.Memory))
	for i := range 4 {
		require.NoError(t, book.Append(t.Context(), ledgertest.NewEntry("shop", i+1).Record))
	}
	book.Inject(ledgertest.Fault{Method: "Audit", Nth: 2})
	var errs []error
	for _, err := range ledger.Records(context.Background(), book, ledger.AuditQuery{Scope: "shop", Limit: 2}) {
		errs = append(errs, err)
	}
	require.Len(t, errs, 3)
	require.NoError(t, errs[1])
	require.ErrorIs(t, errs[2], ledgertest.ErrFault)
}
