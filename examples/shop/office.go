package main

import (
	"context"
	"sync/atomic"

	"github.com/sallyport-dev/sallyport/examples/shop/backoffice"
)

// office is the shop that the actions work on: in memory, or in an archive in the ledger's database.
type office struct {
	shop    atomic.Pointer[backoffice.Shop] // in memory
	archive *archive
	runs    atomic.Int64 // writes whose run function was entered
}

// reset opens the shop with fresh sample data.
func (o *office) reset(ctx context.Context) error {
	sample, err := backoffice.Sample()
	if err != nil {
		return err
	}
	if o.archive != nil {
		return o.archive.reset(ctx, sample)
	}
	o.shop.Store(backoffice.New(sample))
	return nil
}

// now returns the shop as it is, to be read.
func (o *office) now(ctx context.Context) (*backoffice.Shop, error) {
	if o.archive != nil {
		return o.archive.now(ctx)
	}
	return o.shop.Load(), nil
}

// change lets do change the shop. With an archive what it changed is kept when the run's outcome is.
func (o *office) change(ctx context.Context, do func(*backoffice.Shop) error) error {
	if o.archive != nil {
		return o.archive.change(ctx, do)
	}
	return do(o.shop.Load())
}
