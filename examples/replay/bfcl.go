package main

import (
	"context"
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/examples/replay/bfcl"
)

func replayBFCL(ctx context.Context, out io.Writer) error {
	data, err := bfcl.Load()
	if err != nil {
		return err
	}
	r, err := bfcl.Replay(ctx, data)
	if err != nil {
		return err
	}
	fmt.Fprint(out, r)
	if n := len(r.Differences); n > 0 {
		return fmt.Errorf("%d differences", n)
	}
	return nil
}
