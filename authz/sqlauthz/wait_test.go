package sqlauthz_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/authz/authztest"
	"github.com/sallyport-dev/sallyport/authz/sqlauthz"
)

// TestEditPanics: nobody waits for an edit that panicked, and nothing of it is kept.
func TestEditPanics(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		d := e.open(t)
		far := d.twin(t, func(o *sqlauthz.Options) { o.Timeout = time.Hour })
		set(t, d, "shop", authztest.Full())
		require.PanicsWithValue(t, "no", func() {
			_ = far.Edit(t.Context(), "shop", func(f *authz.Facts) error { f.Actors = nil; panic("no") })
		})
		require.Equal(t, authztest.Full().Actors, facts(t, far, "shop").Actors)
		set(t, far, "shop", authztest.Full())
	})
}

// TestFactsWaitWithTheirContext: who asks while somebody else reads the facts, for however long, waits no longer than
// their own context.
func TestFactsWaitWithTheirContext(t *testing.T) {
	d := engines[1].open(t)
	far := d.twin(t, nil)
	set(t, d, "shop", authztest.Full())
	tx, err := d.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.Exec("LOCK TABLE " + d.prefix + "authz_actors")
	require.NoError(t, err)
	read := make(chan error, 1)
	go func() {
		_, err := far.Facts(context.Background(), "shop", nil)
		read <- err
	}()
	require.Eventually(t, func() bool { // until that one waits for the table
		var waits int
		err := d.db.QueryRow("SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = CAST($1 AS regclass)", d.prefix+"authz_actors").Scan(&waits)
		return err == nil && waits == 1
	}, 10*time.Second, 5*time.Millisecond)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		_, err := far.Facts(ctx, "shop", nil)
		asked <- err
	}()
	select {
	case err := <-asked:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-time.After(10 * time.Second):
		require.Fail(t, "it waits for the other one")
	}
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-read)
	require.Equal(t, authztest.Full().Actors, facts(t, far, "shop").Actors)
}
