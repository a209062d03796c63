package changes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

// A record that is committed behind a newer one is read all the same, every record is read once, and what is
// old enough is not read again.
func TestTrailReadsLateRecordsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var committed []int64
		asked := 0
		after := func(_ context.Context, seq int64, limit int) (list []ledger.Record, err error) {
			slices.Sort(committed)
			for _, n := range committed {
				if n > seq && len(list) < limit {
					list = append(list, ledger.Record{Seq: n})
				}
			}
			asked += len(list)
			return list, nil
		}
		trail := NewTrail(10)
		read := func() (got []int64) {
			list, err := trail.Read(t.Context(), after)
			require.NoError(t, err)
			for _, r := range list {
				got = append(got, r.Seq)
			}
			return got
		}
		committed = []int64{9, 10, 11, 13}
		require.Equal(t, []int64{11, 13}, read())
		committed = append(committed, 12)
		require.Equal(t, []int64{12}, read(), "it appeared behind 13")
		require.Empty(t, read())
		time.Sleep(overlap + time.Second)
		require.Empty(t, read())
		asked = 0
		require.Empty(t, read())
		require.Zero(t, asked, "what has settled is not read again")
		for n := range int64(2500) {
			committed = append(committed, 100+n)
		}
		require.Len(t, read(), 2500)
	})
}

// What was read before an error is read again after it.
func TestTrailLosesNothingToAnError(t *testing.T) {
	trail, fail := NewTrail(0), true
	after := func(_ context.Context, seq int64, limit int) ([]ledger.Record, error) {
		if seq > 0 && fail {
			return nil, errors.New("gone")
		}
		var list []ledger.Record
		for n := seq + 1; n <= 1500 && len(list) < limit; n++ {
			list = append(list, ledger.Record{Seq: n})
		}
		return list, nil
	}
	_, err := trail.Read(t.Context(), after)
	require.Error(t, err)
	fail = false
	list, err := trail.Read(t.Context(), after)
	require.NoError(t, err)
	require.Len(t, list, 1500)
}
