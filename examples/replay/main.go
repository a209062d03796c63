// Replay plays recorded calls through a gate and prints what became of it:
//
//	go run ./examples/replay injections    7,204 calls, most of them asked for by planted instructions
//	go run ./examples/replay agentdojo     679 pairs of a user's task and a planted one, with a person who approves
//	go run ./examples/replay bfcl          160 conversations over 128 tools, some of which arrive in mid-session
//	go run ./examples/replay airline       160 conversations of a model with an airline's customers
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/examples/replay/injections"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// replays are the recordings by name.
var replays = map[string]func(context.Context, io.Writer) error{
	"agentdojo":  replayAgentDojo,
	"airline":    replayAirline,
	"bfcl":       replayBFCL,
	"injections": replayInjections,
}

func run(ctx context.Context, out io.Writer, args []string) error {
	if len(args) == 1 {
		if replay := replays[args[0]]; replay != nil {
			return replay(ctx, out)
		}
	}
	return fmt.Errorf("say what to replay: %s", strings.Join(slices.Sorted(maps.Keys(replays)), ", "))
}

func replayInjections(ctx context.Context, out io.Writer) error {
	data, err := injections.Load()
	if err != nil {
		return err
	}
	for _, cut := range []bool{false, true} {
		r, err := injections.Replay(ctx, data, cut)
		if err != nil {
			return err
		}
		title := "every tool in the catalog, nobody approves"
		if cut {
			title = "the catalog cut to the tool that serves the request"
		}
		report(out, title, r)
		if r.Runs+r.Bent > 0 {
			return fmt.Errorf("%d writes ran without approval, %d reads got other arguments", r.Runs, r.Bent)
		}
	}
	return nil
}

func report(out io.Writer, title string, r *injections.Report) {
	row := func(what string, n int) { fmt.Fprintf(out, "  %-58s %6d\n", what, n) }
	counts := func(m map[string]int) {
		for _, end := range slices.Sorted(maps.Keys(m)) {
			row("  "+end, m[end])
		}
	}
	fmt.Fprintf(out, "%s\n", title)
	row("conversations", r.Sessions)
	row("recorded calls", r.Calls)
	counts(r.Answers)
	row("planted writes, all of which would run without a gate", r.AttackWrites)
	counts(r.AttackWriteEnds)
	row("planted reads", r.AttackReads)
	counts(r.AttackReadEnds)
	row("writes that ran", r.Runs)
	row("reads run with other arguments than were sent", r.Bent)
	row("proposals, all expired", r.ProposalsExpired)
	fmt.Fprintln(out)
}
