package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/ledger"
)

// notices runs notices of a shop until the test ends.
func (s *shop) notices(to console.Notifier) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	n := console.Notices{
		Gate: s.gate.Load, Scope: scope, To: to, Poll: time.Millisecond,
		Link: func(id string) string { return "https://shop.example/console/proposals/" + id },
	}
	var done sync.WaitGroup
	done.Go(func() { _ = n.Run(ctx) })
	s.t.Cleanup(func() { cancel(); done.Wait() })
}

// People elsewhere are told of what waits, and of what became of it, with a link and without a token. What
// cannot be delivered is logged, and concerns no proposal.
func TestNotices(t *testing.T) {
	s := open(t, nil)
	s.propose("refund", "a2", 1) // before anybody listened
	got := make(chan console.Notice, 10)
	var broken atomic.Bool
	s.notices(console.NotifierFunc(func(_ context.Context, n console.Notice) error {
		got <- n
		if broken.Load() {
			return errors.New("the receiver is down")
		}
		return nil
	}))
	id := s.eventuallyNoticed(got)
	s.approve("sam", id)
	n := <-got
	require.Equal(t, id, n.Proposal)
	require.Equal(t, ledger.StateExecuted, n.State)
	require.Equal(t, ledger.Succeeded, n.Outcome)
	require.NotEqual(t, id+".proposed", n.ID)

	s.run = func(context.Context, refund) (any, error) { return nil, errors.New("the bank is closed") }
	id = s.propose("refund", "a1", 98)
	require.Equal(t, ledger.Outcome(""), (<-got).Outcome)
	s.refused("sam", "POST", "/proposals/"+id+"/approve", s.open("sam", id).approval(), 500, "failed")
	n = <-got
	require.Equal(t, ledger.StateExecuted, n.State)
	require.Equal(t, ledger.Failed, n.Outcome, "what was approved and failed is not told as a success")

	broken.Store(true)
	id = s.propose("refund", "a1", 99)
	require.Equal(t, id, (<-got).Proposal)
	s.do("sam", "POST", "/proposals/"+id+"/dismiss", `{"reason":"no"}`, 204)
	require.Equal(t, ledger.StateDismissed, (<-got).State)
	require.Eventually(t, func() bool { return strings.Contains(s.log.String(), "the receiver is down") }, 5*time.Second, time.Millisecond)
}

// eventuallyNoticed proposes until a notice comes, since notices begin with what happens after them.
func (s *shop) eventuallyNoticed(got <-chan console.Notice) string {
	s.t.Helper()
	for i := 1; ; i++ {
		require.Less(s.t, i, 5000)
		id := s.propose("refund", "a1", i)
		select {
		case n := <-got:
			for n.Proposal != id { // earlier ones of this loop
				n = <-got
			}
			require.Equal(s.t, ledger.StateProposed, n.State)
			require.Equal(s.t, "https://shop.example/console/proposals/"+id, n.Link)
			require.Contains(s.t, n.Sentence, "cents for")
			require.Equal(s.t, "assistant", string(n.Actor))
			require.Equal(s.t, "ann", string(n.Principal))
			require.Equal(s.t, id+".proposed", n.ID)
			text, err := json.Marshal(n)
			require.NoError(s.t, err)
			require.NotContains(s.t, string(text), "apv1.")
			require.NotContains(s.t, string(text), "token")
			return id
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestNoticesNeedEverything(t *testing.T) {
	require.ErrorContains(t, console.Notices{}.Run(t.Context()), "console: ")
}

// The webhook is signed as Standard Webhooks says: their own library accepts it, and refuses it changed. It is
// sent again to a receiver that is down, under the same id, and not to one that says it is wrong.
func TestWebhook(t *testing.T) {
	secret := []byte("a webhook secret of 32 bytes 012")
	var statuses []int
	var headers []http.Header
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers, bodies = append(headers, r.Header), append(bodies, string(body))
		w.Header().Set("Location", "http://evil.example/")
		w.WriteHeader(statuses[len(headers)-1])
	}))
	defer server.Close()
	hook, err := console.NewWebhook(server.URL+"/a-secret-path", secret, server.Client())
	require.NoError(t, err)
	console.Hurry(hook)
	send := func(status ...int) error {
		statuses, headers, bodies = status, nil, nil
		return hook.Notify(t.Context(), console.Notice{ID: "n1", Proposal: "p1", State: ledger.StateProposed, Sentence: "<&>"})
	}
	require.NoError(t, send(204))
	check, err := standardwebhooks.NewWebhookRaw(secret)
	require.NoError(t, err)
	require.NoError(t, check.Verify([]byte(bodies[0]), headers[0]))
	require.Error(t, check.Verify([]byte(bodies[0]+" "), headers[0]))
	require.Equal(t, "n1", headers[0].Get("webhook-id"))
	var got struct {
		Type string
		Data console.Notice
	}
	require.NoError(t, json.Unmarshal([]byte(bodies[0]), &got))
	require.Equal(t, "proposal.proposed", got.Type)
	require.Equal(t, "<&>", got.Data.Sentence)

	require.NoError(t, send(503, 429, 200))
	require.Len(t, headers, 3)
	require.Equal(t, headers[0].Get("webhook-id"), headers[2].Get("webhook-id"))
	require.NoError(t, check.Verify([]byte(bodies[2]), headers[2]))
	require.ErrorContains(t, send(500, 500, 500), "500")
	require.ErrorContains(t, send(400), "400")
	require.ErrorContains(t, send(307), "307")

	server.Close()
	err = hook.Notify(t.Context(), console.Notice{ID: "n1"})
	require.ErrorContains(t, err, "console: webhook")
	require.NotContains(t, err.Error(), "a-secret-path")
	for _, address := range []string{"", "shop.example", "ftp://shop.example", "://"} {
		_, err := console.NewWebhook(address, secret, nil)
		require.Error(t, err, address)
	}
	_, err = console.NewWebhook("https://shop.example", secret[:23], nil)
	require.ErrorContains(t, err, "24 bytes")
}
