package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
)

// linearizes lets goroutines change, read and audit two proposals that ask for the same, and looks for one order of
// the calls that explains every answer. Some contexts end in the middle of a call, and some answers are thrown away:
// such a call may have been applied at any time since, or never. Many short histories find more than a long one.
func linearizes(t *suite) {
	for n := range 8 {
		h := &history{store: t.store, scope: authz.Scope(fmt.Sprint("history-", n))}
		race(4, func(w int) { h.work(t.Context(), rand.New(rand.NewPCG(uint64(n), uint64(w))), w) })
		for row := range 2 {
			h.do(t.Context(), step{kind: "read", row: row})
			h.do(t.Context(), step{kind: "audit", row: row})
		}
		require.Empty(t, h.failed, "calls that nobody cancelled")
		if !porcupine.CheckOperations(rowModel, h.calls) {
			require.Fail(t, "no order of these calls explains their answers", "%s", h)
		}
	}
}

// step is one call of a history. Its row is 0 or 1.
type step struct {
	kind      string
	row       int
	claim     string
	late      bool // the claim comes after the proposal expired
	successor int
}

// answer is what is known of a call that was answered.
type answer struct {
	err    string // "", "conflict" or "missing"; "unknown" if there is no answer
	row    rowState
	sees   bool // row is what the proposal looked like
	events string
}

// rowState is what the contract says about a proposal: the state of the model, and what a call can see of it.
type rowState struct {
	exists             bool
	decision           ledger.Decision
	claim              string
	finished, verified bool
	successor          int
}

func (r rowState) events() string {
	events := []ledger.Event{}
	for event, is := range map[ledger.Event]bool{
		ledger.EventProposed: r.exists, ledger.EventStarted: r.decision == ledger.Claimed, ledger.EventDismissed: r.decision == ledger.Dismissed,
		ledger.EventFinished: r.finished, ledger.EventVerified: r.verified,
	} {
		if is {
			events = append(events, event)
		}
	}
	slices.Sort(events)
	return fmt.Sprint(events)
}

// rowModel is the contract of Store about two identical proposals, one call after the other. A call without an answer
// needs no choice of whether it was applied: it ends after all others, where its effect is not seen.
var rowModel = porcupine.Model{
	Init: func() any { return [2]rowState{} },
	Step: func(state, input, output any) (bool, any) {
		rows, c, got := state.([2]rowState), input.(step), output.(answer)
		want := c.apply(&rows)
		if got.err == "unknown" {
			return true, rows
		}
		if !got.sees {
			want.row = rowState{}
		}
		want.row.successor, want.sees = 0, got.sees // a row does not name its successor
		return want == got, rows
	},
}

// apply changes the rows as the contract says, and returns the answer.
func (c step) apply(rows *[2]rowState) answer {
	r := &rows[c.row]
	if c.kind == "propose" {
		for _, other := range rows {
			if other.exists && other.decision == ledger.Undecided {
				return answer{row: other}
			}
		}
		if r.exists {
			return answer{err: "conflict"}
		}
		r.exists = true
		return answer{row: *r}
	}
	switch {
	case c.kind == "audit":
		return answer{events: r.events()}
	case c.kind == "successor":
		if r.successor == c.successor {
			return answer{}
		}
		return answer{err: "missing"}
	case !r.exists:
		return answer{err: "missing"}
	case c.kind == "read":
	case c.kind == "claim" && r.decision == ledger.Undecided && !c.late:
		r.decision, r.claim = ledger.Claimed, c.claim
	case c.kind == "claim" && r.claim == c.claim:
	case c.kind == "dismiss" && r.decision == ledger.Undecided:
		r.decision = ledger.Dismissed
	case c.kind == "revise" && r.decision == ledger.Undecided:
		r.decision, r.successor = ledger.Dismissed, c.successor
		return answer{}
	case c.kind == "finish" && r.decision == ledger.Claimed && r.claim == c.claim && !r.finished:
		r.finished = true
	case c.kind == "verify" && r.decision == ledger.Claimed && !r.verified:
		r.verified = true
	default:
		return answer{err: "conflict", row: *r}
	}
	return answer{row: *r}
}

// history is what happened in one scope. Its clock counts calls and answers.
type history struct {
	store  ledger.Store
	scope  authz.Scope
	clock  atomic.Int64
	end    atomic.Pointer[context.CancelFunc] // of a context that the next answer to anybody ends
	mu     sync.Mutex
	calls  []porcupine.Operation
	failed []error
}

var callKinds = strings.Fields("propose propose claim claim claim dismiss revise finish finish verify read read audit successor")

func (h *history) work(ctx context.Context, random *rand.Rand, worker int) {
	for n := range 8 {
		c := step{kind: callKinds[random.IntN(len(callKinds))], row: random.IntN(2), claim: fmt.Sprint("claim-", random.IntN(3)), successor: 10 + random.IntN(40)}
		switch c.late = random.IntN(6) == 0; {
		case c.kind == "claim" && c.late:
			c.claim = "late"
		case c.kind == "revise":
			c.successor = 10 + 10*worker + n
		}
		ctx, cancel := context.WithCancel(ctx)
		switch random.IntN(8) {
		case 0:
			h.end.Store(&cancel)
			h.do(ctx, c)
		case 1:
			h.add(c, h.clock.Add(1), math.MaxInt64, h.ask(ctx, c, "unknown"))
		default:
			h.do(ctx, c)
		}
		cancel()
		if end := h.end.Swap(nil); end != nil {
			(*end)()
		}
	}
}

func (h *history) do(ctx context.Context, c step) {
	at := h.clock.Add(1)
	a := h.ask(ctx, c, "")
	ended := h.clock.Add(1)
	if a.err == "unknown" {
		ended = math.MaxInt64
	}
	h.add(c, at, ended, a)
}

func (h *history) add(c step, at, ended int64, a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, porcupine.Operation{Input: c, Call: at, Output: a, Return: ended})
}

// ask makes the call. What is said of it instead of the answer is what the caller remembers.
func (h *history) ask(ctx context.Context, c step, instead string) answer {
	p, a, err := h.send(ctx, c)
	switch {
	case instead != "":
		return answer{err: instead}
	case errors.Is(err, ledger.ErrConflict):
		a.err = "conflict"
	case errors.Is(err, ledger.ErrNotFound):
		a.err = "missing"
	case err != nil:
		if ctx.Err() == nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.failed = append(h.failed, fmt.Errorf("%+v: %w", c, err))
		}
		return answer{err: "unknown"}
	}
	if a.sees = a.sees && a.err != "missing" && (a.err == "" || c.kind != "propose"); a.sees {
		a.row = rowState{exists: true, decision: p.Decision, claim: p.Claim, finished: p.Outcome != ledger.Running, verified: p.Verdict != ledger.Unverified}
	}
	return a
}

func (h *history) send(ctx context.Context, c step) (p ledger.Proposal, a answer, err error) {
	at := At(time.Minute)
	e := NewEntry(h.scope, c.row+1, func(p *ledger.Proposal) { p.Params = params(`{}`) })
	row := e.Proposal
	a.sees = true
	switch c.kind {
	case "propose":
		p, err = h.store.Propose(ctx, e)
	case "claim":
		if c.late {
			at = At(time.Hour)
		}
		p, err = h.store.Claim(ctx, NewClaim(row, c.claim, at))
	case "dismiss":
		p, err = h.store.Dismiss(ctx, NewDismissal(row, at))
	case "revise":
		p, err = h.store.Revise(ctx, NewRevision(row, c.successor, at))
		a.sees = err != nil // or it is the successor
	case "finish":
		a.sees = false
		row.Claim = c.claim
		err = h.store.Finish(ctx, NewFinish(row, at))
	case "verify":
		a.sees = false
		err = h.store.Verify(ctx, NewVerification(row, at))
	case "read":
		p, err = h.store.Proposal(ctx, h.scope, row.ID)
	case "successor":
		a.sees = false
		_, err = h.store.Proposal(ctx, h.scope, NewRevision(row, c.successor, at).Entry.Proposal.ID)
	case "audit":
		a.sees = false
		var trail []ledger.Record
		trail, err = h.store.Audit(ctx, ledger.AuditQuery{Scope: h.scope, Proposal: row.ID})
		events := []ledger.Event{}
		for _, r := range trail {
			events = append(events, r.Event)
		}
		slices.Sort(events)
		a.events = fmt.Sprint(events)
	}
	return p, a, err
}

// String lists the calls by their beginning.
func (h *history) String() string {
	slices.SortFunc(h.calls, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, c := range h.calls {
		fmt.Fprintf(&b, "%d to %d: %+v: %+v\n", c.Call, c.Return, c.Input, c.Output)
	}
	return b.String()
}
