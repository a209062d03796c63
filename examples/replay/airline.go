package main

import (
	"context"
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/examples/replay/airline"
)

// replayAirline plays the conversations without a gate, with nobody to approve, and with a person who approves
// exactly what the task needs.
func replayAirline(ctx context.Context, out io.Writer) error {
	data, err := airline.Load()
	if err != nil {
		return err
	}
	truth, err := airline.Truth(ctx, data)
	if err != nil {
		return err
	}
	ungated, err := airline.Ungated(ctx, data, truth)
	if err != nil {
		return err
	}
	nobody, err := airline.Replay(ctx, data, truth, nil)
	if err != nil {
		return err
	}
	exact, err := airline.Replay(ctx, data, truth, airline.Exactly)
	if err != nil {
		return err
	}
	airline.Print(out,
		airline.Column{Title: "no gate", Report: ungated},
		airline.Column{Title: "nobody approves", Report: nobody},
		airline.Column{Title: "exact approval", Report: exact},
	)
	for _, line := range truth.Differences {
		fmt.Fprintln(out, "  ground truth: "+line)
	}
	differences := len(truth.Differences) + len(ungated.Differences) + len(nobody.Differences) + len(exact.Differences)
	if differences > 0 || nobody.Entered > 0 {
		return fmt.Errorf("%d differences, %d writes ran without approval", differences, nobody.Entered)
	}
	return nil
}
