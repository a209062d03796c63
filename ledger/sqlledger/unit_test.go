package sqlledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type Payment struct {
	Order string `json:"order"`
	Cents int64  `json:"cents"`
}

// till is an application whose payments are in the ledger's database.
type till struct {
	t       *testing.T
	s       *store
	reg     *registry.Registry
	desk    *approval.Desk
	runs    atomic.Int64
	instead func(context.Context) error // what a run does after it has paid
}

var sam = authz.LoggedIn("sam")

// openTill opens it over a store, which may be another way to the tables of s.
func openTill(t *testing.T, s *store, book *sqlledger.Store) *till {
	c := &till{t: t, s: s}
	_, err := s.exec("CREATE TABLE {uses_payments} (claim VARCHAR(64) PRIMARY KEY, cents BIGINT NOT NULL)")
	require.NoError(t, err)
	t.Cleanup(func() {
		if s.dialect != sqlledger.SQLite { // whose file goes away
			_, err := s.db.ExecContext(context.Background(), "DROP TABLE "+s.payments())
			require.NoError(t, err)
		}
	})
	people := new(authz.Memory)
	require.NoError(t, people.Set("shop", authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute}, Actors: []authz.Actor{
		{ID: "sam", Kind: authz.Human, Active: true, Roles: []string{authz.Editor}},
		{ID: "bot", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
	}}))
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	pay := registry.Define("pay", registry.Spec[Payment]{Description: "Pay.", Permission: "payments:make", Mode: authz.Execute}, c.pay)
	look := registry.Define("look", registry.Spec[Payment]{Description: "Look.", Permission: "payments:see", Mode: authz.Read},
		func(ctx context.Context, _ Payment) (string, error) {
			_, err := sqlledger.Tx(ctx)
			return fmt.Sprint(errors.Is(err, sqlledger.ErrNoUnit)), nil
		})
	c.reg, err = registry.New(registry.Config{Actions: []*registry.Action{pay, look}, Source: people, Ledger: book, Keys: keys})
	require.NoError(t, err)
	c.desk = approval.NewDesk(c.reg)
	return c
}

func (s *store) payments() string { return s.prefix + "uses_payments" }

func (c *till) pay(ctx context.Context, p Payment) (string, error) {
	c.runs.Add(1)
	tx, err := sqlledger.Tx(ctx)
	if err != nil {
		return "", err
	}
	call, _ := registry.CallFrom(ctx)
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (claim, cents) VALUES ('%s', %d)", c.s.payments(), call.Claim, p.Cents)); err != nil {
		return "", err
	}
	again, err := sqlledger.Tx(ctx)
	require.NoError(c.t, err)
	require.Same(c.t, tx, again, "a run has one transaction")
	if c.instead != nil {
		return "", c.instead(ctx)
	}
	return "paid", nil
}

// paid counts payments that are committed.
func (c *till) paid() (n int) {
	require.NoError(c.t, c.s.db.QueryRowContext(c.t.Context(), "SELECT COUNT(*) FROM "+c.s.payments()).Scan(&n))
	return n
}

// approve lets the bot ask for a payment and Sam approve it.
func (c *till) approve() (registry.Result, ledger.Proposal, error) {
	s, err := authz.NewSession("shop", "bot", authz.For(sam))
	require.NoError(c.t, err)
	ctx := c.t.Context()
	p, err := c.desk.Propose(ctx, registry.Call{Session: s, Action: "pay", Params: fmt.Appendf(nil, `{"order":"W1","cents":%d}`, time.Now().UnixNano())})
	require.NoError(c.t, err)
	o, err := c.desk.Open(ctx, "shop", p.Proposal.ID, sam)
	require.NoError(c.t, err)
	res, err := c.desk.Approve(ctx, o.Redemption())
	row, e := c.s.Proposal(ctx, "shop", p.Proposal.ID)
	require.NoError(c.t, e)
	return res, row, err
}

func (c *till) events(q ledger.AuditQuery) (events []ledger.Event) {
	q.Scope = "shop"
	list, err := c.s.Audit(c.t.Context(), q)
	require.NoError(c.t, err)
	for _, r := range list {
		events = append(events, r.Event)
	}
	return events
}

// TestUnit: what a run writes, the record of how it ended and the outcome are there together, or none of them.
func TestUnit(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		c := openTill(t, s, s.Store)
		res, row, err := c.approve()
		require.NoError(t, err)
		require.Equal(t, "paid", res.Value)
		require.Equal(t, ledger.Succeeded, row.Outcome)
		require.Equal(t, 1, c.paid())
		require.Equal(t, []ledger.Event{ledger.EventProposed, ledger.EventStarted, ledger.EventFinished}, c.events(ledger.AuditQuery{Proposal: row.ID}))

		for name, instead := range map[string]func(context.Context) error{
			"an error": func(context.Context) error { return errors.New("no") },
			"a panic":  func(context.Context) error { panic("no") },
			"a statement that fails": func(ctx context.Context) error {
				tx, err := sqlledger.Tx(ctx)
				require.NoError(t, err)
				_, err = tx.ExecContext(ctx, "no such statement")
				return err
			},
		} {
			c.instead = instead
			_, row, err = c.approve()
			require.Equal(t, ledger.RunFailed, registry.CodeOf(err), name)
			require.Equal(t, ledger.Failed, row.Outcome, name)
			require.Equal(t, 1, c.paid(), "%s undoes what the run wrote", name)
		}
		c.instead = func(context.Context) error { runtime.Goexit(); return nil }
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = c.approve()
		}()
		<-done
		require.Equal(t, 1, c.paid(), "the end of the goroutine undoes what the run wrote")
		failed, err := s.Proposals(t.Context(), ledger.Query{Scope: "shop", Limit: 1})
		require.NoError(t, err)
		require.Equal(t, ledger.Failed, failed[0].Outcome)

		own, err := authz.NewPersonSession("shop", sam)
		require.NoError(t, err)
		call := registry.Call{Session: own, Action: "pay", Params: []byte(`{"order":"W1","cents":1}`)}
		_, err = c.reg.Invoke(t.Context(), registry.Call{Session: own, Action: "look", Params: call.Params})
		require.NoError(t, err)
		c.instead = nil
		_, err = c.reg.Invoke(t.Context(), call)
		require.NoError(t, err)
		require.Equal(t, 2, c.paid(), "a person's own change shares a transaction too")
		c.instead = func(context.Context) error { return errors.New("no") }
		_, err = c.reg.Invoke(t.Context(), call)
		require.Equal(t, ledger.RunFailed, registry.CodeOf(err))
		require.Equal(t, 2, c.paid())
		require.Equal(t, []ledger.Event{ledger.EventRead, ledger.EventStarted, ledger.EventFinished, ledger.EventStarted, ledger.EventFinished},
			c.events(ledger.AuditQuery{Actor: "sam"}))
	})
}

func TestUnitEndsWithItsRun(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		c := openTill(t, s, s.Store)
		_, err := sqlledger.Tx(t.Context())
		require.ErrorIs(t, err, sqlledger.ErrNoUnit, "outside of a run")
		own, err := authz.NewPersonSession("shop", sam)
		require.NoError(t, err)
		res, err := c.reg.Invoke(t.Context(), registry.Call{Session: own, Action: "look", Params: []byte(`{"order":"W1","cents":1}`)})
		require.NoError(t, err)
		require.Equal(t, "true", res.Value, "a read has nothing to commit")
		var join func() (*sql.Tx, error)
		c.instead = func(ctx context.Context) error {
			join = func() (*sql.Tx, error) { return sqlledger.Tx(ctx) }
			return nil
		}
		_, _, err = c.approve()
		require.NoError(t, err)
		_, err = join()
		require.ErrorIs(t, err, sqlledger.ErrNoUnit, "after the run")
	})
}

// TestUnitRefusesOtherCalls: what would wait for the run's own transaction is refused at once, and alike on every
// database.
func TestUnitRefusesOtherCalls(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		c := openTill(t, s, s.Store)
		c.instead = func(ctx context.Context) error {
			_, err := c.reg.Invoke(ctx, registry.Call{Action: "look", Params: []byte(`{"order":"W1","cents":1}`)})
			return err
		}
		_, row, err := c.approve()
		require.ErrorIs(t, err, sqlledger.ErrInUnit)
		require.Equal(t, ledger.Failed, row.Outcome)
		require.Zero(t, c.paid())
		c.instead = func(ctx context.Context) error {
			for _, err := range []error{
				second(s.Proposal(ctx, "shop", "x")), second(s.Proposals(ctx, ledger.Query{Scope: "shop"})),
				second(s.Audit(ctx, ledger.AuditQuery{Scope: "shop"})), second(s.Tally(ctx, ledger.TallyQuery{Scope: "shop"})),
				second(s.Due(ctx, time.Now(), 1)), second(s.Purge(ctx, ledger.Purge{Scope: "shop", Before: time.Now()})),
			} {
				require.ErrorIs(t, err, sqlledger.ErrInUnit)
			}
			return nil
		}
		_, _, err = c.approve()
		require.NoError(t, err)
		require.Equal(t, 1, c.paid())
	})
}

func second[T any](_ T, err error) error { return err }

// TestUnitCommitLost cuts the connection at the commit of the run's transaction: what is told is what happened.
func TestUnitCommitLost(t *testing.T) {
	servers(t, func(t *testing.T, e engine) {
		s := e.open(t)
		far, p := e.through(t, s)
		c := openTill(t, s, far)
		want := 0
		for _, what := range []cut{after, before, late, after, before, late} {
			c.instead = func(context.Context) error { p.once(what); return nil }
			_, row, err := c.approve()
			p.arm(nil)
			if err == nil {
				want++
				require.Equal(t, ledger.Succeeded, row.Outcome)
			} else {
				require.ErrorIs(t, err, ledger.ErrUncommitted)
				require.Equal(t, ledger.RunFailed, registry.CodeOf(err))
				require.Equal(t, ledger.Failed, row.Outcome)
			}
			require.Equal(t, want, c.paid(), "a success is committed, and a failure is not, cut %d", what)
			require.Equal(t, what == before, err != nil, "a commit that arrived is one, also a late one")
			require.Len(t, c.events(ledger.AuditQuery{Proposal: row.ID, Event: ledger.EventFinished}), 1)
		}
		require.EqualValues(t, 6, c.runs.Load(), "no run is repeated")
	})
}

// TestUnitClaimsFirst: while the run's transaction is open, others see the claim, and not what the run wrote.
func TestUnitClaimsFirst(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		other := e.twin(t, s, nil)
		c := openTill(t, s, s.Store)
		var seen []ledger.Proposal
		c.instead = func(ctx context.Context) (err error) {
			seen, err = other.Proposals(context.WithoutCancel(ctx), ledger.Query{Scope: "shop"})
			return err
		}
		_, _, err := c.approve()
		require.NoError(t, err)
		require.Len(t, seen, 1)
		require.Equal(t, ledger.Claimed, seen[0].Decision)
		require.Equal(t, ledger.Running, seen[0].Outcome)
	})
}
