package store

import (
	"context"
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
)

// Office is the shop that the actions work on: in memory, or in an archive in the ledger's database.
type Office struct {
	Shop    atomic.Pointer[backoffice.Shop] // in memory
	archive *archive
	Runs    atomic.Int64 // writes whose run function was entered
}

// Reset opens the shop with fresh sample data.
func (o *Office) Reset(ctx context.Context) error {
	sample, err := backoffice.Sample()
	if err != nil {
		return err
	}
	if o.archive != nil {
		return o.archive.reset(ctx, sample)
	}
	o.Shop.Store(backoffice.New(sample))
	return nil
}

// Now returns the shop as it is, to be read.
func (o *Office) Now(ctx context.Context) (*backoffice.Shop, error) {
	if o.archive != nil {
		return o.archive.now(ctx)
	}
	return o.Shop.Load(), nil
}

// change lets do change the shop. With an archive what it changed is kept when the run's outcome is.
func (o *Office) change(ctx context.Context, do func(*backoffice.Shop) error) error {
	if o.archive != nil {
		return o.archive.change(ctx, do)
	}
	return do(o.Shop.Load())
}
