package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// event is one event of a stream; a comment is one without a name.
type event struct {
	name, id, comment string
	data              struct{ Event, Proposal, State, Action string }
	raw               string
}

// client reads a stream.
type client struct {
	t      testing.TB
	header http.Header
	lines  *bufio.Scanner
	body   io.Closer
	end    func()
}

func (c *client) close() {
	c.end()
	_ = c.body.Close()
}

// listen opens a stream as somebody who has everything up to last.
func (s *shop) listen(url, as, last string) *client {
	s.t.Helper()
	return s.listenAt(url+"/api/v1/changes", as, last)
}

func (s *shop) listenAt(address, as, last string) *client {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	r, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	require.NoError(s.t, err)
	r.Header = request(s.t, as, "GET", "/changes", nil).Header
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	transport := &http.Transport{}
	res, err := (&http.Client{Transport: transport}).Do(r)
	require.NoError(s.t, err)
	require.Equal(s.t, 200, res.StatusCode)
	return &client{s.t, res.Header, bufio.NewScanner(res.Body), res.Body, func() { cancel(); transport.CloseIdleConnections() }}
}

// line reads up to the end of an event or comment; false at the end of the stream.
func (c *client) any() (e event, ok bool) {
	for c.lines.Scan() {
		text := c.lines.Text()
		switch key, value, _ := strings.Cut(text, ": "); key {
		case "":
			if text == "" {
				return e, true
			}
			e.comment = value
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.raw = value
			require.NoError(c.t, json.Unmarshal([]byte(value), &e.data))
		}
	}
	return e, false
}

// next is the next event that has a name.
func (c *client) next() event {
	c.t.Helper()
	for {
		e, ok := c.any()
		require.True(c.t, ok, "the stream ended")
		if e.name != "" {
			return e
		}
	}
}

// The first byte comes at once, before anything happens; then heartbeats; and headers keep proxies from holding
// anything back.
func TestStreamBeginsAtOnceAndBeats(t *testing.T) {
	s := open(t, nil)
	server := httptest.NewUnstartedServer(s.console)
	server.Config.WriteTimeout = 50 * time.Millisecond // which would end any other response
	server.Start()
	defer server.Close()
	c := s.listen(server.URL, "olga", "")
	defer c.close()
	require.Equal(t, "no", c.header.Get("X-Accel-Buffering"))
	require.Contains(t, c.header.Get("Cache-Control"), "no-transform")
	first, ok := c.any()
	require.True(t, ok)
	require.Equal(t, "open", first.comment)
	require.Equal(t, "ready", c.next().name)
	for range 10 { // 200 ms
		beat, ok := c.any()
		require.True(t, ok)
		require.Equal(t, "beat", beat.comment)
	}
}

// A stream says what happened to a proposal and nothing of what is in it; to those who may not see the
// proposal it says nothing.
func TestStreamTellsOnlyWhoMaySee(t *testing.T) {
	s := open(t, nil)
	server := httptest.NewServer(s.console)
	defer server.Close()
	olga, bob := s.listen(server.URL, "olga", ""), s.listen(server.URL, "bob", "")
	defer olga.close()
	defer bob.close()
	require.Equal(t, "ready", olga.next().name)
	require.Equal(t, "ready", bob.next().name)

	id := s.propose("refund", "a1", 777)
	e := olga.next()
	require.Equal(t, "change", e.name)
	require.Equal(t, id, e.data.Proposal)
	require.Equal(t, "proposed", e.data.Event)
	said := strings.ReplaceAll(e.raw, id, "") // which is random, and may have them in it
	require.NotContains(t, said, "777")
	require.NotContains(t, said, "a1")
	s.do("olga", "POST", "/proposals/"+id+"/dismiss", `{"reason":"a secret reason"}`, 204)
	e = olga.next()
	require.Equal(t, "dismissed", e.data.State)
	require.NotContains(t, e.raw, "secret")

	// Bob's first event is of his own order, which comes after everything else.
	s.do("olga", "POST", "/actions/label/invoke", `{"order":"a1","cents":1}`, 200)
	s.do("olga", "POST", "/actions/label/invoke", `{"order":"b1","cents":1}`, 200)
	e = bob.next()
	require.Contains(t, e.raw, "/customers/bob/b1")
	require.NotContains(t, e.raw, "ann")
}

// Of what administers the scope only those hear who could do it too, or oversee the scope: its target is the whole
// scope, which whoever reads the application's records may read.
func TestStreamKeepsAdministrationToItself(t *testing.T) {
	s := open(t, nil)
	server := httptest.NewServer(s.console)
	defer server.Close()
	olga, vera := s.listen(server.URL, "olga", ""), s.listen(server.URL, "vera", "")
	defer olga.close()
	defer vera.close()
	require.Equal(t, "ready", olga.next().name)
	require.Equal(t, "ready", vera.next().name)
	s.do("olga", "POST", "/actions/directory_set_active/invoke", `{"id":"assistant","active":false}`, 200)
	s.do("olga", "POST", "/actions/label/invoke", `{"order":"a1","cents":1}`, 200)
	require.Equal(t, "directory_set_active", olga.next().data.Action)
	require.Equal(t, "label", olga.next().data.Action)
	require.Equal(t, "label", vera.next().data.Action)
}

// Who loses a right hears nothing more, and who is deactivated loses the stream.
func TestStreamFollowsRights(t *testing.T) {
	s := open(t, nil)
	server := httptest.NewServer(s.console)
	defer server.Close()
	c := s.listen(server.URL, "sam", "")
	defer c.close()
	require.Equal(t, "ready", c.next().name)
	s.propose("refund", "a1", 1)
	require.Equal(t, "proposed", c.next().data.Event)
	s.do("olga", "POST", "/actions/directory_set_active/invoke", `{"id":"sam","active":false}`, 200)
	s.propose("refund", "a1", 2)
	require.Equal(t, "end", c.next().name)
	_, more := c.any()
	require.False(t, more)
	s.refused("sam", "GET", "/changes", nil, 403, "unavailable")
}

// A client that comes back gets what it missed, once, and then what happens; one that was away too long, or
// names a place that does not exist, is told to read everything anew.
func TestStreamGoesOnWhereItBroke(t *testing.T) {
	s := open(t, nil)
	server := httptest.NewServer(s.console)
	defer server.Close()
	c := s.listen(server.URL, "olga", "")
	place := c.next().id
	if place == "" { // an empty trail has no place yet
		first := s.propose("refund", "a2", 9)
		e := c.next()
		require.Equal(t, first, e.data.Proposal)
		place = e.id
	}
	c.close()
	want := []string{s.propose("refund", "a1", 1), s.propose("refund", "a1", 2)}

	c = s.listen(server.URL, "olga", place)
	for _, id := range want {
		e := c.next()
		require.Equal(t, id, e.data.Proposal)
		require.NotEmpty(t, e.id)
	}
	ready := c.next()
	require.Equal(t, "ready", ready.name)
	live := s.propose("refund", "a1", 3)
	require.Equal(t, live, c.next().data.Proposal, "nothing is sent twice")
	c.close()

	c = s.listen(server.URL, "olga", "999999999")
	require.Equal(t, "resync", c.next().name)
	c.close()

	for range 501 {
		s.do("olga", "POST", "/actions/find/invoke", `{"order":"a1"}`, 200)
	}
	c = s.listen(server.URL, "olga", place)
	require.Equal(t, "resync", c.next().name)
	require.Equal(t, "ready", c.next().name)
	c.close()
	r := request(t, "olga", "GET", "/changes", nil)
	r.Header.Set("Last-Event-ID", "x")
	require.Equal(t, 400, s.serve(r).Code)
}

// What a client that comes back was sent already is not sent again when the open streams hear of it.
func TestStreamSendsNothingTwice(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Poll = 300 * time.Millisecond })
	server := httptest.NewServer(s.console)
	defer server.Close()
	s.propose("refund", "a1", 1)
	first := s.listen(server.URL, "olga", "") // keeps the trail being read
	defer first.close()
	place := first.next().id
	id := s.propose("refund", "a1", 2)
	c := s.listen(server.URL, "olga", place)
	defer c.close()
	require.Equal(t, id, c.next().data.Proposal)
	require.Equal(t, "ready", c.next().name)
	require.Equal(t, id, first.next().data.Proposal, "the others hear of it later")
	last := s.propose("refund", "a1", 3)
	require.Equal(t, last, c.next().data.Proposal)
}

// A stream ends after its life, so that whoever it is for is asked for again; and when the console closes.
func TestStreamsEnd(t *testing.T) {
	s := open(t, func(c *console.Config) { c.StreamLife = 50 * time.Millisecond })
	server := httptest.NewServer(s.console)
	defer server.Close()
	end := func(c *client) {
		t.Helper()
		require.Equal(t, "ready", c.next().name)
		require.Equal(t, "end", c.next().name)
		_, more := c.any()
		require.False(t, more)
		c.close()
	}
	end(s.listen(server.URL, "olga", ""))

	s = open(t, nil)
	server = httptest.NewUnstartedServer(s.console)
	server.Config.RegisterOnShutdown(s.console.Close)
	server.Start()
	c := s.listen(server.URL, "olga", "")
	require.Equal(t, "ready", c.next().name)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, server.Config.Shutdown(ctx), "open streams do not hold the server up")
	require.Equal(t, "end", c.next().name)
	c.close()
	s.refused("olga", "GET", "/changes", nil, 503, "closing")
	s.console.Close()
	server.Close()
}

// There is a limit on streams, of all and of each person; a response that cannot be flushed is refused before
// anything is written.
func TestStreamsAreBounded(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Streams = 18 })
	server := httptest.NewServer(s.console)
	defer server.Close()
	for range 16 {
		defer s.listen(server.URL, "olga", "").close()
	}
	s.refused("olga", "GET", "/changes", nil, 429, "too_many_streams")
	require.Equal(t, "too_many_streams", string(s.latest().Code))
	for range 2 {
		defer s.listen(server.URL, "sam", "").close()
	}
	s.refused("ann", "GET", "/changes", nil, 429, "too_many_streams")

	s = open(t, nil)
	w := httptest.NewRecorder()
	s.console.ServeHTTP(struct{ http.ResponseWriter }{w}, request(t, "olga", "GET", "/changes", nil))
	require.Equal(t, 501, w.Code)
	require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
	s.refused("olga", "HEAD", "/changes", nil, 405, "method_not_allowed")
}

// 500 streams stay open and each hears of every one of a hundred decisions, however they come.
func TestFiveHundredStreamsAndAHundredDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("500 streams")
	}
	s := open(t, func(c *console.Config) {
		inner := c.Who
		c.Who = func(r *http.Request) (console.Caller, error) { return inner(r) }
		c.Poll, c.Heartbeat = 20*time.Millisecond, time.Second
	})
	for i := range 50 {
		require.NoError(t, s.people.Edit(t.Context(), scope, func(f *authz.Facts) error {
			f.Actors = append(f.Actors, authz.Actor{ID: id50(i), Kind: authz.Human, Active: true, Roles: []string{"staff"}})
			return nil
		}))
	}
	server := httptest.NewServer(s.console)
	defer server.Close()
	const streams, decisions = 500, 100
	var ready, heard sync.WaitGroup
	var lost atomic.Int64
	for i := range streams {
		ready.Add(1)
		heard.Go(func() {
			c := s.listen(server.URL, string(id50(i%50)), "")
			defer c.close()
			seen := map[string]bool{}
			began := false
			for len(seen) < decisions {
				e, ok := c.any()
				switch {
				case !ok:
					lost.Add(1)
					return
				case e.name == "ready":
					began = true
					ready.Done()
				case e.data.Event == "finished" && began:
					seen[e.data.Proposal] = true
				}
			}
		})
	}
	ready.Wait()
	ann := authz.LoggedIn("ann")
	session, err := authz.NewSession(scope, "assistant", authz.For(ann))
	require.NoError(t, err)
	tick := time.NewTicker(10 * time.Millisecond) // a hundred a second
	defer tick.Stop()
	for i := range decisions {
		<-tick.C
		a := s.gate.Load().Call(t.Context(), session, chattools.Call{Name: "refund", Arguments: json.RawMessage(`{"order":"a1","cents":` + itoa(i+1) + `}`)})
		require.Equal(t, chattools.NeedsApproval, a.Status)
		o, err := s.gate.Load().Desk().Open(t.Context(), scope, a.Proposal, authz.LoggedIn("sam"))
		require.NoError(t, err)
		_, err = s.gate.Load().Desk().Approve(t.Context(), o.Redemption())
		require.NoError(t, err)
	}
	heard.Wait()
	require.Zero(t, lost.Load())
}

func id50(i int) authz.ID { return authz.ID("clerk-" + itoa(i)) }

// A browser that begins anew names its place in the address, also the place before everything; the header, which it
// sends when it comes back by itself, is newer.
func TestStreamGoesOnFromAnAddress(t *testing.T) {
	s := open(t, nil)
	server := httptest.NewServer(s.console)
	defer server.Close()
	first, second := s.propose("refund", "a1", 1), s.propose("refund", "a1", 2)
	at := func(query, last string) *client { return s.listenAt(server.URL+"/api/v1/changes"+query, "olga", last) }

	c := at("?after=0", "")
	require.Equal(t, first, c.next().data.Proposal)
	e := c.next()
	require.Equal(t, second, e.data.Proposal)
	require.Equal(t, "ready", c.next().name)
	c.close()
	c = at("?after=0", e.id)
	require.Equal(t, "ready", c.next().name)
	c.close()
	c = at("?after="+e.id, "")
	require.Equal(t, "ready", c.next().name)
	c.close()
	for _, query := range []string{"?after=x", "?after=-1"} {
		s.refused("olga", "GET", "/changes"+query, nil, 400, "malformed")
	}
}
