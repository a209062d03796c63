package console_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
)

// TestWhoClosesThePageStopsNothing: a change that has begun goes on when the request that began it is cancelled, and how it
// ended is on record.
func TestWhoClosesThePageStopsNothing(t *testing.T) {
	s := open(t, nil)
	id := s.propose("refund", "a1", 500)
	for path, body := range map[string]any{
		"/proposals/" + id + "/approve": s.open("sam", id).approval(), "/actions/label/invoke": map[string]any{"order": "a1", "cents": 1},
	} {
		ctx, closePage := context.WithCancel(t.Context())
		s.run = func(ctx context.Context, _ refund) (any, error) {
			closePage()
			return "ran", ctx.Err()
		}
		w := httptest.NewRecorder()
		s.console.ServeHTTP(w, request(t, "sam", "POST", path, body).WithContext(ctx))
		require.Equal(t, 200, w.Code, w.Body)
		require.Equal(t, ledger.EventFinished, s.latest().Event)
		require.Equal(t, ledger.Done, s.latest().Code)
	}
	p, err := s.book.Proposal(t.Context(), scope, id)
	require.NoError(t, err)
	require.Equal(t, ledger.Succeeded, p.Outcome)
}
