package registry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func subscribe(t *testing.T, s *shop, session authz.Session) *registry.Subscription {
	sub, err := s.reg.Subscribe(session)
	require.NoError(t, err)
	t.Cleanup(sub.Close)
	return sub
}

func (s *shop) note(order string) error {
	_, err := s.reg.Invoke(context.Background(), registry.Call{Session: person(s.t, olga).WithRun("r7"), Action: "add_note", Params: []byte(`{"order_id":"` + order + `"}`)})
	return err
}

func TestChangesFollowSuccess(t *testing.T) {
	s := open(t)
	sub := subscribe(t, s, person(t, sam))
	d := s.opened(sam)
	none(t, sub)
	s.run = func(context.Context, Refund) (any, error) {
		none(t, sub)
		return nil, nil
	}
	s.pass(time.Second)
	_, err := s.desk.Approve(t.Context(), d)
	require.NoError(t, err)
	change, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, registry.Change{
		Scope: "shop", Action: "refund_order", Targets: []authz.Path{authz.MustPath("/users/carla/orders/W1")},
		Proposal: d.Proposal, Run: "run-1", At: s.reg.Now(),
	}, change)
	require.Equal(t, ledger.Succeeded, s.row(d.Proposal).Outcome)

	require.NoError(t, s.note("W2"))
	change, err = sub.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, registry.Change{
		Scope: "shop", Action: "add_note", Targets: []authz.Path{authz.MustPath("/users/dave/orders/W2")}, Run: "r7", At: s.reg.Now(),
	}, change)

	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	s.run = fails(errors.New("no"))
	_, err = s.desk.Approve(t.Context(), s.opened(sam))
	require.Error(t, err)
	require.NoError(t, s.desk.Dismiss(t.Context(), "shop", s.opened(sam).Proposal, sam, "no"))
	none(t, sub)
}

func TestChangesAreFiltered(t *testing.T) {
	s := open(t)
	require.NoError(t, s.people.Set("moon", staff()))
	moon, err := authz.NewPersonSession("moon", olga)
	require.NoError(t, err)
	far, hers := subscribe(t, s, moon), subscribe(t, s, person(t, carla))
	model := subscribe(t, s, session(t, "bot", authz.For(dave)))
	require.NoError(t, s.note("W2"))
	require.NoError(t, s.note("W1"))
	require.NoError(t, s.note("W2"))
	none(t, far)
	c, err := hers.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "/users/carla/orders/W1", c.Targets[0].String())
	require.Zero(t, c.Missed, "what is none of hers is not missed")
	none(t, hers)
	for range 2 {
		c, err = model.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, "/users/dave/orders/W2", c.Targets[0].String(), "of what the principal may read")
	}
	none(t, model)

	// It is filtered as things are when it is read.
	require.NoError(t, s.note("W1"))
	s.edit("carla", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	none(t, hers)

	_, err = s.reg.Subscribe(authz.Session{})
	require.ErrorIs(t, err, authz.ErrSession)
}

// What administers the scope has the whole scope for a target, which any staff may read.
func TestChangesOfAdministration(t *testing.T) {
	s := open(t, func(s *shop, p *plan) {
		p.Actions = append(p.Actions, registry.Define("close_shop", registry.Spec[struct{}]{
			Description: "Close.", Mode: authz.Propose, Permission: "shop:close", Explicit: true,
		}, func(context.Context, struct{}) (string, error) { return "", nil }))
	})
	owner, editor := subscribe(t, s, person(t, olga)), subscribe(t, s, person(t, sam))
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, olga), Action: "close_shop", Params: []byte(`{}`)})
	require.NoError(t, err)
	require.NoError(t, s.note("W1"))
	for _, action := range []string{"close_shop", "add_note"} {
		c, err := owner.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, action, c.Action)
	}
	c, err := editor.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, "add_note", c.Action)
	require.Zero(t, c.Missed)
	none(t, editor)
}

// Nobody waits for a slow subscriber. What it lost it is told, as a number.
func TestSlowSubscriber(t *testing.T) {
	s := open(t)
	slow, quick := subscribe(t, s, person(t, olga)), subscribe(t, s, person(t, olga))
	const all = 1000
	for range all {
		require.NoError(t, s.note("W1"))
		c, err := quick.Next(t.Context())
		require.NoError(t, err)
		require.Zero(t, c.Missed)
	}
	got, missed := 0, 0
	for got+missed < all {
		c, err := slow.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, got == 0, c.Missed > 0, "all that was lost came before the first")
		got, missed = got+1, missed+c.Missed
	}
	require.Equal(t, all, got+missed)
	require.Greater(t, got, 100)
	none(t, slow)
}

func TestChangesLostToTheSourceAreMissed(t *testing.T) {
	down := errors.New("directory is away")
	s := open(t, func(s *shop, p *plan) {
		p.Source = authz.SourceFunc(func(ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
			if s.ownerOf("down") != "" {
				return nil, down
			}
			return s.people.Facts(ctx, scope, ids)
		})
	})
	sub := subscribe(t, s, person(t, olga))
	for range 3 {
		require.NoError(t, s.note("W1"))
	}
	s.give("down", "yes")
	for range 2 {
		_, err := sub.Next(t.Context())
		require.ErrorIs(t, err, down)
	}
	s.give("down", "")
	c, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, c.Missed)
}

func TestClosedSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		sub, err := s.reg.Subscribe(person(t, olga))
		require.NoError(t, err)
		waiting := make(chan error)
		go func() { _, err := sub.Next(t.Context()); waiting <- err }()
		synctest.Wait()
		sub.Close()
		require.ErrorIs(t, <-waiting, registry.ErrClosed)
		sub.Close()
		require.NoError(t, s.note("W1"))
		_, err = sub.Next(t.Context())
		require.ErrorIs(t, err, registry.ErrClosed)

		sub = subscribe(t, s, person(t, olga))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = sub.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		go func() { c, err := sub.Next(t.Context()); _ = c; waiting <- err }()
		synctest.Wait()
		require.NoError(t, s.note("W1"))
		require.NoError(t, <-waiting, "one who waits is woken")
	})
}

func TestSubscribersAndChangesAtOnce(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if sub, err := s.reg.Subscribe(person(t, olga)); err == nil {
					sub.Close()
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				_ = s.note("W1")
			}
		})
	}
	sub := subscribe(t, s, person(t, olga))
	wg.Wait()
	require.NoError(t, s.note("W1"))
	c, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, c.Missed, 400)
}

// Whoever keeps something that depends on facts hears of changes in every scope, and of nothing else.
func TestOnChangeSaysOnlyThatSomethingChanged(t *testing.T) {
	s := open(t)
	heard := 0
	stop := s.reg.OnChange(func() { heard++ })
	other := s.reg.OnChange(func() {})
	require.NoError(t, s.note("W2"))
	require.Equal(t, 1, heard)
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	s.run = fails(errors.New("no"))
	_, err = s.desk.Approve(t.Context(), s.opened(sam))
	require.Error(t, err)
	require.Equal(t, 1, heard, "a read and a failure change nothing")
	other()
	require.NoError(t, s.note("W1"))
	require.Equal(t, 2, heard)
	stop()
	stop()
	require.NoError(t, s.note("W1"))
	require.Equal(t, 2, heard)
}
