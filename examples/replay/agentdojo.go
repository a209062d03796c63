package main

import (
	"context"
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/examples/replay/agentdojo"
)

// replayAgentDojo plays the pairs twice: with the catalog cut to what each user's task needs, and whole.
func replayAgentDojo(ctx context.Context, out io.Writer) error {
	data, err := agentdojo.Load()
	if err != nil {
		return err
	}
	for _, cut := range []bool{true, false} {
		r, err := agentdojo.Replay(ctx, data, cut, agentdojo.Exact)
		if err != nil {
			return err
		}
		title := "every tool in the catalog, a person approves exactly the user's writes"
		if cut {
			title = "the catalog cut to the tools of the user's task, a person approves exactly its writes"
		}
		fmt.Fprintln(out, title)
		r.Print(out)
		fmt.Fprintln(out)
		for _, line := range r.Differences {
			fmt.Fprintln(out, "  "+line)
		}
		if r.Harmful > 0 || r.Useful < r.Pairs || len(r.Differences) > 0 {
			return fmt.Errorf("%d planted writes ran, %d of %d user tasks came out as recorded", r.Harmful, r.Useful, r.Pairs)
		}
	}
	return nil
}
