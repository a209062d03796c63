package verify_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/verify"
)

var sam = authz.LoggedIn("sam")

type Price struct {
	Article string `json:"article"`
	Cents   int64  `json:"cents"`
}

// shop sells articles. A new price is measured by how many were sold.
type shop struct {
	t        testing.TB
	now      atomic.Int64
	memory   *ledger.Memory
	people   *authz.Memory
	spec     registry.Spec[Price]
	config   registry.Config
	reg      *registry.Registry
	desk     *approval.Desk
	verifier *verify.Verifier

	mu   sync.Mutex
	sold func() (float64, error) // the measure
	run  func() error
}

func open(t testing.TB, changes ...func(*shop)) *shop {
	s := &shop{t: t, memory: new(ledger.Memory), people: new(authz.Memory)}
	s.now.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	s.sells(10)
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a secret of at least 32 bytes....")})
	require.NoError(t, err)
	require.NoError(t, s.people.Set("shop", authz.Facts{
		Settings: authz.Settings{Ceiling: authz.Propose},
		Actors: []authz.Actor{
			{ID: "sam", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
			{ID: "bot", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		},
	}))
	s.spec = registry.Spec[Price]{
		Description: "Change a price.", Mode: authz.Propose, Permission: "prices:edit",
		Measure: registry.Measure[Price]{Better: registry.Higher, Tolerance: 1, Read: func(context.Context, Price) (float64, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.sold()
		}},
	}
	s.config = registry.Config{Source: s.people, Ledger: s.memory, Keys: keys, Now: func() time.Time { return time.UnixMicro(s.now.Load()).UTC() }}
	for _, change := range changes {
		change(s)
	}
	s.release()
	return s
}

// release makes the registry anew, as a release of the host would.
func (s *shop) release() {
	s.config.Actions = []*registry.Action{registry.Define("set_price", s.spec, func(context.Context, Price) (bool, error) {
		if s.run != nil {
			return false, s.run()
		}
		return true, nil
	})}
	var err error
	s.reg, err = registry.New(s.config)
	require.NoError(s.t, err)
	s.desk, s.verifier = approval.NewDesk(s.reg), verify.New(s.reg)
}

func (s *shop) sells(n float64) { s.measures(func() (float64, error) { return n, nil }) }

func (s *shop) measures(f func() (float64, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sold = f
}

func (s *shop) pass(d time.Duration) { s.now.Add(d.Microseconds()) }

// approve has a price changed and returns the id of the proposal.
func (s *shop) approve() string {
	session, err := authz.NewSession("shop", "bot", authz.For(sam))
	require.NoError(s.t, err)
	p, err := s.desk.Propose(context.Background(), registry.Call{Session: session, Action: "set_price", Params: []byte(`{"article":"tea","cents":250}`)})
	require.NoError(s.t, err)
	o, err := s.desk.Open(context.Background(), "shop", p.Proposal.ID, sam)
	require.NoError(s.t, err)
	if _, err = s.desk.Approve(context.Background(), o.Redemption()); err != nil {
		require.NotEqual(s.t, ledger.Undecided, s.row(p.Proposal.ID).Decision, err)
	}
	return p.Proposal.ID
}

// errRun is how a run fails.
var errRun = errors.New("label printer is out of paper")

func (s *shop) row(id string) ledger.Proposal {
	p, err := s.memory.Proposal(context.Background(), "shop", id)
	require.NoError(s.t, err)
	return p
}

// judged runs what is due and expects one verdict, on record with the proposal.
func (s *shop) judged(id string, want ledger.Verdict, why string) ledger.Proposal {
	s.t.Helper()
	sum, err := s.verifier.RunDue(context.Background(), 0)
	require.NoError(s.t, err)
	require.Equal(s.t, verify.Summary{Verdicts: map[ledger.Verdict]int{want: 1}}, sum)
	row := s.row(id)
	require.Equal(s.t, want, row.Verdict)
	require.Equal(s.t, s.reg.Now(), row.VerifiedAt)
	require.Equal(s.t, want == ledger.Unmeasured, row.Measured == nil)
	require.Equal(s.t, want == ledger.Unmeasured, row.Unmeasured != "")
	require.Contains(s.t, row.Unmeasured, why)
	records := s.verdicts(id)
	require.Len(s.t, records, 1)
	r := records[0]
	require.Equal(s.t, []string{string(want), row.Unmeasured, row.Claim, "set_price", "bot"}, []string{r.Reason, r.Error, r.Claim, r.Action, string(r.Session.Actor())})
	require.Equal(s.t, ledger.Done, r.Code)
	require.Equal(s.t, s.reg.Now(), r.At)
	require.Equal(s.t, row.Params, r.Params)
	return row
}

func (s *shop) verdicts(id string) []ledger.Record {
	list, err := s.memory.Audit(context.Background(), ledger.AuditQuery{Scope: "shop", Proposal: id, Event: ledger.EventVerified, Limit: 1000})
	require.NoError(s.t, err)
	return list
}

// idle expects that nothing is due.
func (s *shop) idle() {
	s.t.Helper()
	sum, err := s.verifier.RunDue(context.Background(), 0)
	require.NoError(s.t, err)
	require.Empty(s.t, sum.Verdicts)
	require.Zero(s.t, sum.Lost)
}
