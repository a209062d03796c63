package sqlledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
)

// The children of TestKill learn from their environment what to do.
const childVariable = "SALLYPORT_TEST_CHILD"

// child proposes, claims, runs and finishes until it is killed, the same proposals as every child before it. A run
// appends a line to a file, which is its effect.
func child(task string) error {
	field := strings.Split(task, "\n")
	var e engine
	for _, candidate := range engines {
		if candidate.name == field[0] {
			e = candidate
		}
	}
	ctx := context.Background()
	db, err := e.dial(field[1])
	if err != nil {
		return err
	}
	s, err := sqlledger.New(db, e.dialect, sqlledger.Options{Prefix: field[2]})
	if err != nil {
		return err
	}
	effects, err := os.OpenFile(field[3], os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := 1; n < 10_000; n++ {
		entry := ledgertest.NewEntry("shop", n)
		if _, err := s.Propose(ctx, entry); err != nil && !errors.Is(err, ledger.ErrConflict) {
			return err
		}
		p, err := s.Claim(ctx, ledgertest.NewClaim(entry.Proposal, fmt.Sprint("click of ", os.Getpid()), entry.Proposal.CreatedAt))
		switch {
		case errors.Is(err, ledger.ErrConflict):
			continue
		case err != nil:
			return err
		}
		if _, err := fmt.Fprintln(effects, p.ID, p.Claim); err != nil {
			return err
		}
		if err := s.Finish(ctx, ledgertest.NewFinish(p, p.CreatedAt)); err != nil {
			return err
		}
	}
	return nil
}

// TestKill kills processes at any point between a proposal and its outcome, two at work at a time, and lets others
// try all of it again.
func TestKill(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		s := e.open(t)
		effects := filepath.Join(t.TempDir(), "effects")
		for round := range 6 {
			var running []*exec.Cmd
			for range 2 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childVariable+"="+strings.Join([]string{e.name, s.dsn, s.prefix, effects}, "\n"))
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				line, err := bufio.NewReader(out).ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, "ready\n", line)
				running = append(running, cmd)
			}
			time.Sleep(time.Duration(20+17*round) * time.Millisecond) // somewhere in the middle of something
			for _, cmd := range running {
				require.NoError(t, cmd.Process.Kill())
				require.Error(t, cmd.Wait(), "killed")
			}
		}

		text, err := os.ReadFile(effects)
		require.NoError(t, err)
		ran := map[string]string{}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			id, claim, _ := strings.Cut(line, " ")
			require.NotContains(t, ran, id, "a proposal ran twice")
			ran[id] = claim
		}
		list, err := s.Proposals(t.Context(), ledger.Query{Scope: "shop", Limit: 10_000})
		require.NoError(t, err)
		finished, interrupted := 0, 0
		for _, p := range list {
			trail, err := s.Audit(t.Context(), ledger.AuditQuery{Scope: "shop", Proposal: p.ID})
			require.NoError(t, err)
			want := []ledger.Event{ledger.EventProposed}
			if p.Decision == ledger.Claimed {
				want = append(want, ledger.EventStarted)
			}
			if p.Outcome != ledger.Running {
				want = append(want, ledger.EventFinished)
				finished++
			} else if p.Decision == ledger.Claimed {
				interrupted++
			}
			var got []ledger.Event
			for _, r := range trail {
				got = append(got, r.Event)
			}
			require.Equal(t, want, got, "a record for each change, and none without one")
			if claim, ok := ran[p.ID]; ok {
				require.Equal(t, claim, p.Claim, "what ran had claimed")
			}
		}
		for id := range ran {
			_, err := s.Proposal(t.Context(), "shop", id)
			require.NoError(t, err, "what ran is there")
		}
		t.Logf("%d ran, %d finished, %d interrupted, %d rows", len(ran), finished, interrupted, len(list))
		require.Positive(t, finished)
	})
}
