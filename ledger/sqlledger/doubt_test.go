package sqlledger_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// cut is what a proxy does with a client's message.
type cut int

const (
	pass   cut = iota
	before     // the connection breaks, and the message never reaches the server
	after      // the message reaches the server, and its answer is lost
	late       // the connection breaks, and the message reaches the server a while later
	stall      // nothing breaks, and the message is not answered until the proxy heals
)

// proxy stands between a client and a server and cuts connections at messages that a test chooses.
type proxy struct {
	listener net.Listener
	server   string
	choose   atomic.Pointer[func(message []byte) cut]
	cuts     atomic.Int64
	open     sync.WaitGroup
	healed   chan struct{}
	heal     func()
}

func newProxy(t *testing.T, server string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, server: server, healed: make(chan struct{})}
	p.heal = sync.OnceFunc(func() { close(p.healed) })
	p.open.Go(p.accept)
	t.Cleanup(func() {
		p.heal()
		_ = l.Close()
		p.open.Wait()
	})
	return p
}

// arm sets what is cut; nil is nothing.
func (p *proxy) arm(choose func(message []byte) cut) { p.choose.Store(&choose) }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		var lost atomic.Bool
		p.open.Go(func() { p.forward(client, server, &lost) })
		p.open.Go(func() {
			defer func() { _ = client.Close() }()
			buf := make([]byte, 64<<10)
			for {
				n, err := server.Read(buf)
				if err != nil || lost.Load() {
					return
				}
				if _, err := client.Write(buf[:n]); err != nil {
					return
				}
			}
		})
	}
}

func (p *proxy) forward(client, server net.Conn, lost *atomic.Bool) {
	defer func() { _ = server.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		what := pass
		if choose := p.choose.Load(); choose != nil && *choose != nil {
			what = (*choose)(buf[:n])
		}
		if what != pass {
			p.cuts.Add(1)
			lost.Store(true)
		}
		switch what {
		case before:
			_ = client.Close()
			return
		case stall:
			<-p.healed
			_ = client.Close()
			return
		case late:
			_ = client.Close()
			time.Sleep(100 * time.Millisecond)
		case after:
			_ = client.SetReadDeadline(time.Now().Add(5 * time.Second)) // until the answer was read and thrown away
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// through opens a Store that reaches the engine's server through a proxy.
func (e engine) through(t *testing.T, s *store) (*sqlledger.Store, *proxy) {
	address := map[sqlledger.Dialect]string{sqlledger.PostgreSQL: "@", sqlledger.MySQL: "tcp("}[e.dialect]
	_, rest, ok := strings.Cut(s.dsn, address)
	require.True(t, ok, "the DSN names a TCP address")
	host := rest[:strings.IndexAny(rest, "/)?")]
	p := newProxy(t, host)
	direct := s.dsn
	s.dsn = strings.Replace(s.dsn, host, p.listener.Addr().String(), 1)
	far := e.twin(t, s, func(o *sqlledger.Options) { o.Timeout = time.Second })
	s.dsn = direct
	return far, p
}

// commits reports whether a message has COMMIT in it, and not only the name of an isolation level.
func commits(message []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(bytes.ToLower(message), []byte("read committed"), nil), []byte("commit"))
}

// once cuts the next COMMIT.
func (p *proxy) once(what cut) {
	var done atomic.Bool
	p.arm(func(m []byte) cut {
		if commits(m) && done.CompareAndSwap(false, true) {
			return what
		}
		return pass
	})
}

func servers(t *testing.T, test func(t *testing.T, e engine)) {
	for _, e := range engines[1:] {
		if !strings.Contains(e.name, "serializable") {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				test(t, e)
			})
		}
	}
}

// TestAnswerToCommitLost loses the answer to COMMIT of every kind of change. All of them have happened, and all
// of them are answered so.
func TestAnswerToCommitLost(t *testing.T) {
	servers(t, func(t *testing.T, e engine) {
		s := e.open(t)
		far, p := e.through(t, s)
		lose := func() { p.once(after) }
		ctx := t.Context()
		for n := range 5 {
			entry := ledgertest.NewEntry("shop", n+1)
			lose()
			row, err := far.Propose(ctx, entry)
			require.NoError(t, err, "Propose")
			require.Equal(t, entry.Proposal.ID, row.ID)
			lose()
			row, err = far.Claim(ctx, ledgertest.NewClaim(row, "claim-1", row.CreatedAt))
			require.NoError(t, err, "Claim")
			require.Equal(t, "claim-1", row.Claim)
			_, err = far.Claim(ctx, ledgertest.NewClaim(row, "claim-2", row.CreatedAt))
			require.ErrorIs(t, err, ledger.ErrConflict)
			lose()
			require.NoError(t, far.Finish(ctx, ledgertest.NewFinish(row, row.CreatedAt)), "Finish")
			require.ErrorIs(t, far.Finish(ctx, ledgertest.NewFinish(row, row.CreatedAt)), ledger.ErrConflict)
			lose()
			require.NoError(t, far.Verify(ctx, ledgertest.NewVerification(row, row.CreatedAt)), "Verify")
			lose()
			require.NoError(t, far.Append(ctx, entry.Record), "Append")

			old, err := s.Propose(ctx, ledgertest.NewEntry("depot", n+1))
			require.NoError(t, err)
			lose()
			next, err := far.Revise(ctx, ledgertest.NewRevision(old, 100+n, old.CreatedAt))
			require.NoError(t, err, "Revise")
			require.Equal(t, old.ID, next.Supersedes)
			lose()
			_, err = far.Dismiss(ctx, ledgertest.NewDismissal(next, next.CreatedAt))
			require.NoError(t, err, "Dismiss")
			_, err = far.Dismiss(ctx, ledgertest.NewDismissal(next, next.CreatedAt))
			require.ErrorIs(t, err, ledger.ErrConflict)

			trail, err := s.Audit(ctx, ledger.AuditQuery{Scope: "shop", Proposal: row.ID})
			require.NoError(t, err)
			require.Len(t, trail, 5, "one record for each change")
		}
		require.EqualValues(t, 5*7, p.cuts.Load(), "every answer was lost")
	})
}

// TestCutAtEveryMessage cuts the connection at each message of a claim by a standing grant in turn, before the
// message arrives and after. Whatever the claimant is told holds, and the grant has no use too many.
func TestCutAtEveryMessage(t *testing.T) {
	servers(t, func(t *testing.T, e engine) {
		s := e.open(t)
		far, p := e.through(t, s)
		applied := 0
		for n := 1; n < 100; n++ {
			reached := false
			for _, what := range []cut{before, after, late} {
				row, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 3*n+int(what)))
				require.NoError(t, err)
				var seen atomic.Int64
				p.arm(func([]byte) cut {
					if seen.Add(1) == int64(n) {
						return what
					}
					return pass
				})
				c := ledgertest.NewClaim(row, "claim-1", row.CreatedAt)
				c.Use = &ledger.Use{Grant: "grant-1", Until: c.At.Add(time.Hour)}
				_, err = far.Claim(t.Context(), c)
				p.arm(nil)
				reached = reached || seen.Load() >= int64(n)
				applied += s.holds(t, row, "claim-1", err)
			}
			if !reached {
				break
			}
		}
		var uses int
		require.NoError(t, s.db.QueryRow(s.q("SELECT COUNT(*) FROM {uses}")).Scan(&uses))
		require.Equal(t, applied, uses, "a use for each claim")
		t.Logf("%d cuts, %d claims", p.cuts.Load(), applied)
		require.Greater(t, p.cuts.Load(), int64(8))
	})
}

// holds makes sure that what a claimant was told is so, that row and record agree, and that another claimant gets
// what is left. It returns how many claims of that id were applied.
func (s *store) holds(t *testing.T, p ledger.Proposal, id string, told error) int {
	t.Helper()
	got, err := s.Proposal(t.Context(), "shop", p.ID)
	require.NoError(t, err)
	trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Proposal: p.ID, Event: ledger.EventStarted})
	require.NoError(t, err)
	mine := 0
	if got.Claim == id {
		mine = 1
	}
	require.Len(t, trail, mine, "a claimed row has its started record, and no other has one")
	switch {
	case told == nil:
		require.Equal(t, 1, mine, "a claim that was answered as applied is there")
	case errors.Is(told, ledger.ErrConflict), errors.Is(told, ledger.ErrNotFound), errors.Is(told, ledger.ErrGrantSpent):
		require.Zero(t, mine, "a claim that was answered as refused is not there: %v", told)
	}
	_, err = s.Claim(t.Context(), ledgertest.NewClaim(p, "another", p.CreatedAt))
	require.Equal(t, mine == 0, err == nil, "another claim wins exactly if this one did not: %v", err)
	return mine
}

// TestCommitInFlight breaks the connection while COMMIT is on its way: the row still says that it is open, and a
// plain read would believe it. The second try waits for the lock.
func TestCommitInFlight(t *testing.T) {
	servers(t, func(t *testing.T, e engine) {
		s := e.open(t)
		far, p := e.through(t, s)
		row, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		p.once(late)
		_, err = far.Claim(t.Context(), ledgertest.NewClaim(row, "claim-1", row.CreatedAt))
		require.NoError(t, err)
		require.EqualValues(t, 1, p.cuts.Load())
		require.Equal(t, 1, s.holds(t, row, "claim-1", err))
	})
}

// TestServerGone cuts every connection from some message on: nothing can be learned, and nothing is claimed to be
// known.
func TestServerGone(t *testing.T) {
	servers(t, func(t *testing.T, e engine) {
		s := e.open(t)
		far, p := e.through(t, s)
		row, err := s.Propose(t.Context(), ledgertest.NewEntry("shop", 1))
		require.NoError(t, err)
		_, err = far.Proposal(t.Context(), "shop", row.ID) // a connection that is there
		require.NoError(t, err)
		gone := false
		p.arm(func(m []byte) cut {
			if gone = gone || commits(m); gone {
				return after
			}
			return pass
		})
		_, err = far.Claim(context.Background(), ledgertest.NewClaim(row, "claim-1", row.CreatedAt))
		require.ErrorIs(t, err, sqlledger.ErrInDoubt)
		p.arm(nil)
		require.Equal(t, 1, s.holds(t, row, "claim-1", err), "it had happened, but nobody could know")
	})
}
