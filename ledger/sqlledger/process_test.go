package sqlledger_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/sqlledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// The children that are cashiers learn from their environment what to do.
const cashierVariable = "SALLYPORT_TEST_CASHIER"

// callers is how many people or calls of a model each child is at once.
const callers = 32

// cashierChild is a process of its own over the tables of the test that started it. It says "here" where it is to be
// killed, and "done" at its end.
func cashierChild(task string) error {
	field := strings.Split(task, "\n")
	job, paid := field[0], field[4]
	e := engines[slices.IndexFunc(engines, func(e engine) bool { return e.name == field[1] })]
	at, err := strconv.Atoi(field[5])
	if err != nil {
		return err
	}
	steps := 0
	step := func() {
		if steps++; steps == at {
			fmt.Println("here")
			select {}
		}
	}
	db, err := e.dial(field[2])
	if err != nil {
		return err
	}
	alone := job == "pay" || job == "share"
	if alone {
		connector, err := e.server(field[2])
		if err != nil {
			return err
		}
		db = sql.OpenDB(&brittle{Connector: connector, dsn: field[2], fail: func(string) (error, error) {
			step()
			return nil, nil
		}})
		db.SetMaxOpenConns(1)
	}
	s, err := sqlledger.New(db, e.dialect, sqlledger.Options{Prefix: field[3], Timeout: time.Minute})
	if err != nil {
		return err
	}
	cashier, err := newCashier(s, paid)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if job == "share" {
		cashier.effect = func(ctx context.Context, call registry.Current) error {
			tx, err := sqlledger.Tx(ctx)
			if err == nil {
				step()
				_, err = tx.ExecContext(ctx, "INSERT INTO "+field[3]+"uses_payments (claim, cents) VALUES ('"+call.Claim+"', 1)")
			}
			return err
		}
	}
	if alone {
		cashier.step = step
		p, err := cashier.propose(ctx, at)
		if err == nil {
			err = cashier.approve(ctx, p.ID, sam)
		}
		if err == nil {
			fmt.Println("done")
		}
		return err
	}

	open, err := s.Proposals(ctx, ledger.Query{Scope: "shop"})
	if err != nil {
		return err
	}
	fmt.Println("here")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var mu sync.Mutex
	var unexpected error
	together(callers, func(i int) error {
		for n := range open {
			p := open[(n+i)%len(open)]
			var err error
			if job == "approve" {
				err = cashier.approve(ctx, p.ID, sam)
			} else {
				_, err = cashier.reg.RedeemStanding(ctx, "shop", p.ID)
			}
			refusal, ok := errors.AsType[*registry.Refusal](err)
			if err == nil || ok && (refusal.Code == ledger.Spent || job == "standing" && refusal.Code == ledger.NeedsApproval) {
				continue
			}
			mu.Lock()
			unexpected = errors.Join(unexpected, err)
			mu.Unlock()
		}
		return nil
	})
	if unexpected == nil {
		fmt.Println("done")
	}
	return unexpected
}

// process is a running child.
type process struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Reader
}

func (e engine) start(t *testing.T, s *store, job, paid string, at int) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0])}
	p.Env = append(os.Environ(), cashierVariable+"="+strings.Join([]string{job, e.name, s.dsn, s.prefix, paid, strconv.Itoa(at)}, "\n"))
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	return p
}

// says reads the child's next word, and nothing if it ended without one.
func (p *process) says() string {
	line, _ := p.out.ReadString('\n') // what ended says ""
	return strings.TrimSpace(line)
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Process.Kill())
	require.Error(t, p.Wait(), "killed")
}

// TestKillAtEveryStep kills a process before each call of the database that it makes between its start and the record
// of its run's outcome, and before and after the effect. Another process then tries all of it again.
func TestKillAtEveryStep(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		var lost, interrupted, late int
		for k := 1; ; k++ {
			child := e.start(t, s, "pay", cashier.paid, k)
			word := child.says()
			if word == "done" {
				require.NoError(t, child.Wait())
				require.Greater(t, k, 16)
				break
			}
			require.Equal(t, "here", word)
			child.kill(t)

			rows := s.agree(t, "shop", cashier.runs(t))
			p, err := cashier.propose(t.Context(), k) // the same again, which is the open one if there is one
			require.NoError(t, err)
			before, was := rows[p.ID]
			again := cashier.approve(t.Context(), p.ID, tina)
			require.NoError(t, again, "step %d", k)
			require.Len(t, cashier.runs(t)[p.ID], 1)
			switch {
			case !was: // it was never proposed, or is claimed: what is claimed never runs again
				for id, row := range rows {
					if row.Decision == ledger.Claimed && row.Outcome == ledger.Running {
						require.Equal(t, ledger.Spent, code(t, cashier.approve(t.Context(), id, tina)))
						require.Equal(t, ledger.StateInterrupted, row.State(row.RunBy))
					}
				}
			default:
				require.Equal(t, ledger.Undecided, before.Decision)
				late++
			}
		}
		runs := cashier.runs(t)
		for id, row := range s.agree(t, "shop", runs) {
			if row.Outcome == ledger.Running && row.Decision == ledger.Claimed {
				interrupted++
				if len(runs[id]) == 0 {
					lost++
				}
			}
		}
		t.Logf("%d were approved later, %d are interrupted, %d of them without an effect", late, interrupted, lost)
		require.Positive(t, late)
		require.Greater(t, interrupted, lost, "killed after the effect")
		require.Positive(t, lost, "killed after the claim and before the effect")
	})
}

// TestKillInASharedTransaction kills a process at the same steps of a run that writes in the ledger's transaction: what it
// wrote is there if the outcome is, and not otherwise.
func TestKillInASharedTransaction(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		c := openTill(t, s, s.Store)
		for k := 1; ; k++ {
			child := e.start(t, s, "share", "", k)
			word := child.says()
			if word == "done" {
				require.NoError(t, child.Wait())
				break
			}
			require.Equal(t, "here", word)
			child.kill(t)
		}
		list, err := s.Proposals(t.Context(), ledger.Query{Scope: "shop"})
		require.NoError(t, err)
		outcomes := map[ledger.Outcome]int{}
		for _, p := range list {
			if p.Decision == ledger.Claimed {
				outcomes[p.Outcome]++
				require.Equal(t, p.Outcome == ledger.Succeeded, c.count(p.Claim) == 1, "%s", p.Outcome)
			}
		}
		require.Equal(t, 1, outcomes[ledger.Succeeded], "the one that was not killed: %v", outcomes)
		require.Greater(t, outcomes[ledger.Running], 5, "killed after the claim: %v", outcomes)
		require.Equal(t, 1, c.paid())
	})
}

// TestApproversOfTwoProcesses has 64 people over two processes approve the same proposals at once.
func TestApproversOfTwoProcesses(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		for n := range 3 {
			_, err := cashier.propose(t.Context(), n)
			require.NoError(t, err)
		}
		two := []*process{e.start(t, s, "approve", cashier.paid, 0), e.start(t, s, "approve", cashier.paid, 0)}
		for _, p := range two {
			require.Equal(t, "here", p.says())
		}
		for _, p := range two {
			_, err := io.WriteString(p.in, "go\n")
			require.NoError(t, err)
		}
		for _, p := range two {
			require.Equal(t, "done", p.says())
			require.NoError(t, p.Wait())
		}
		require.Len(t, cashier.runs(t), 3)
		for _, row := range s.agree(t, "shop", cashier.runs(t)) {
			require.Equal(t, ledger.Succeeded, row.Outcome)
		}
	})
}

// TestStandingGrantOfTwoProcesses has 64 calls over two processes use a standing grant for three, one of the processes
// is killed in the middle of it, and another one tries everything again.
func TestStandingGrantOfTwoProcesses(t *testing.T) {
	atOnce(t, func(t *testing.T, e engine) {
		s := e.open(t)
		cashier := s.cashier(t, s)
		for n := range 4 {
			_, err := cashier.desk.Propose(t.Context(), registry.Call{Session: cashier.model, Action: "add_note", Params: fmt.Appendf(nil, `{"order":"W42","cents":%d}`, n)})
			require.NoError(t, err)
		}
		for round := range 2 {
			two := []*process{e.start(t, s, "standing", cashier.paid, 0)}
			if round == 0 {
				two = append(two, e.start(t, s, "standing", cashier.paid, 0))
			}
			for _, p := range two {
				require.Equal(t, "here", p.says())
			}
			for _, p := range two {
				_, err := io.WriteString(p.in, "go\n")
				require.NoError(t, err)
			}
			if round == 0 {
				require.Eventually(t, func() bool { _, err := os.Stat(cashier.paid); return err == nil }, time.Minute, time.Millisecond)
				two[0].kill(t)
				two = two[1:]
			}
			for _, p := range two {
				require.Equal(t, "done", p.says())
				require.NoError(t, p.Wait())
			}
		}
		claimed := 0
		for _, row := range s.agree(t, "shop", cashier.runs(t)) {
			if row.Decision == ledger.Claimed {
				claimed++
				require.Equal(t, "grant-1", row.Grant)
			}
		}
		var uses int
		require.NoError(t, s.db.QueryRow(s.q("SELECT COUNT(*) FROM {uses}")).Scan(&uses))
		require.Equal(t, []int{3, 3}, []int{claimed, uses}, "as many claims and uses as the grant has")
		require.LessOrEqual(t, len(cashier.runs(t)), 3)
		require.NotEmpty(t, cashier.runs(t))
	})
}
