package sqlauthz_test

import (
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
