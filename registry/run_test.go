package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

type silent struct{}

func (silent) MarshalJSON() ([]byte, error) { panic("no words") }

// runs are ways for a run to end. Each of them is an end: the proposal is spent and says how it went.
var runs = []struct {
	name    string
	run     func(context.Context, Refund) (any, error)
	outcome ledger.Outcome
	result  string
	text    string // of the error on record
	told    string // of it, what a model may read
}{
	{"a value", func(context.Context, Refund) (any, error) { return map[string]int{"b": 2, "a": 1}, nil }, ledger.Succeeded, `{"a":1,"b":2}`, "", ""},
	{"nothing", func(context.Context, Refund) (any, error) { return nil, nil }, ledger.Succeeded, `null`, "", ""},
	{"raw JSON", func(context.Context, Refund) (any, error) { return json.RawMessage(`{"a": 1}`), nil }, ledger.Succeeded, `{"a": 1}`, "", ""},
	{"no raw JSON", func(context.Context, Refund) (any, error) { return json.RawMessage(nil), nil }, ledger.Succeeded, `null`, "", ""},
	{"raw text that is no JSON", func(context.Context, Refund) (any, error) { return json.RawMessage(`{"a":`), nil }, ledger.Succeeded, "", "no JSON form", ""},
	{"a value without JSON form", func(context.Context, Refund) (any, error) { return make(chan int), nil }, ledger.Succeeded, "", "no JSON form", ""},
	{"a value that panics when encoded", func(context.Context, Refund) (any, error) { return silent{}, nil }, ledger.Succeeded, "", "no JSON form: panic: no words", ""},
	{"an error", func(context.Context, Refund) (any, error) { return "half", errors.New("card declined") }, ledger.Failed, "", "card declined", ""},
	{"a public error", func(context.Context, Refund) (any, error) {
		return nil, errors.Join(errors.New("inside"), registry.Public(errors.New("card expired")))
	}, ledger.Failed, "", "inside\ncard expired", "card expired"},
	{"a panic", func(context.Context, Refund) (any, error) { panic("index out of range") }, ledger.Failed, "", "panic: index out of range", ""},
	{"a panic of nothing", func(context.Context, Refund) (any, error) { panic(nil) }, ledger.Failed, "", "panic called with nil argument", ""},
	{"its own cancellation", func(context.Context, Refund) (any, error) { return nil, context.Canceled }, ledger.Failed, "", "context canceled", ""},
}

func TestRunsThatEnd(t *testing.T) {
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			s.run = c.run
			d := s.opened(sam)
			s.pass(time.Second)
			res, err := s.desk.Approve(t.Context(), d)
			row := s.row(d.Proposal)
			if c.outcome == ledger.Succeeded {
				require.NoError(t, err)
				require.Equal(t, d.Proposal, res.Proposal)
				require.Equal(t, c.result, string(res.JSON))
				require.Equal(t, s.reg.Now().Add(registry.DefaultVerifyAfter), row.VerifyAt)
				require.Empty(t, row.Unmeasured)
			} else {
				r := refusal(t, err, ledger.RunFailed, "")
				require.Equal(t, d.Proposal, r.Proposal.ID)
				require.Zero(t, res.JSON)
				require.Equal(t, "the run failed", row.Unmeasured)
				require.Equal(t, s.reg.Now(), row.VerifyAt)
			}
			require.Equal(t, ledger.Claimed, row.Decision)
			require.Equal(t, authz.ID("sam"), row.DecidedBy)
			require.Equal(t, ledger.StateExecuted, row.State(s.reg.Now()))
			require.Equal(t, c.outcome, row.Outcome)
			require.Equal(t, c.result, string(row.Result))
			require.Contains(t, row.Error, c.text)
			require.Equal(t, c.text == "", row.Error == "")
			require.Equal(t, c.told, row.Told)
			require.Equal(t, s.reg.Now(), row.FinishedAt)

			trail := s.trail(ledger.AuditQuery{Proposal: d.Proposal})
			require.Len(t, trail, 3)
			end := trail[2]
			require.Equal(t, ledger.EventFinished, end.Event)
			require.Equal(t, row.Claim, end.Claim)
			require.Equal(t, row.Error, end.Error)
			require.Equal(t, c.result, string(end.Result))

			_, err = s.desk.Approve(t.Context(), d)
			s.refused(err, ledger.Spent, "executed")
		})
	}
}

func TestPersonsRunsThatEnd(t *testing.T) {
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			s.run = c.run
			res, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "refund_order", Params: []byte(refundW1)})
			if c.outcome == ledger.Succeeded {
				require.NoError(t, err)
				require.Equal(t, c.result, string(res.JSON))
			} else {
				refusal(t, err, ledger.RunFailed, "")
			}
			trail := s.trail(ledger.AuditQuery{})
			require.Len(t, trail, 2)
			require.Equal(t, ledger.EventFinished, trail[1].Event)
			require.Equal(t, c.outcome == ledger.Succeeded, trail[1].Code == ledger.Done)
			require.Contains(t, trail[1].Error, c.text)
		})
	}
}

// exits calls f on a goroutine that f may end, and waits for it.
func exits(f func()) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
		returned = true
	}()
	<-done
	return returned
}

// A host's function that ends its goroutine takes the caller with it, but not the record.
func TestRunsThatEndTheirGoroutine(t *testing.T) {
	for name, prepare := range map[string]func(*shop, *plan){
		"the run": func(s *shop, _ *plan) {
			s.run = func(context.Context, Refund) (any, error) { runtime.Goexit(); return nil, nil }
		},
		"the measure": func(s *shop, _ *plan) { s.read = func() (float64, error) { runtime.Goexit(); return 0, nil } },
		"the version, after the claim": func(s *shop, p *plan) {
			p.refund.Version = func(context.Context, Refund) (string, error) {
				if len(s.trail(ledger.AuditQuery{Event: ledger.EventStarted})) > 0 {
					runtime.Goexit()
				}
				return "1", nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, prepare)
			d := s.opened(sam)
			require.False(t, exits(func() { _, _ = s.desk.Approve(t.Context(), d) }))
			row := s.row(d.Proposal)
			require.Equal(t, ledger.Failed, row.Outcome)
			require.Equal(t, "the run ended its goroutine", row.Error)
			require.Equal(t, "the run failed", row.Unmeasured)
			require.Zero(t, s.effects.Load())
		})
	}
	s := open(t)
	s.run = func(context.Context, Refund) (any, error) { runtime.Goexit(); return nil, nil }
	s.look = func(context.Context) error { runtime.Goexit(); return nil }
	for action, params := range map[string]string{"refund_order": refundW1, "find_order": `{"order_id":"W1"}`} {
		require.False(t, exits(func() {
			_, _ = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: action, Params: []byte(params)})
		}))
		trail := s.trail(ledger.AuditQuery{Action: action})
		end := trail[len(trail)-1]
		require.NotEqual(t, ledger.EventStarted, end.Event)
		require.Equal(t, ledger.RunFailed, end.Code)
		require.Equal(t, "the run ended its goroutine", end.Error)
	}
}

// A caller who goes away during the run is heard by the run; what came of it is on record all the same.
func TestCallerGoesAway(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.run = func(ctx context.Context, _ Refund) (any, error) { cancel(); return nil, ctx.Err() }
	d := s.opened(sam)
	_, err := s.desk.Approve(ctx, d)
	require.ErrorIs(t, refusal(t, err, ledger.RunFailed, ""), context.Canceled)
	require.Equal(t, ledger.Failed, s.row(d.Proposal).Outcome)

	// One who went before the claim spends nothing.
	d = s.opened(sam)
	_, err = s.desk.Approve(ctx, d)
	require.ErrorIs(t, s.refused(err, ledger.RunFailed, "cancelled"), context.Canceled)
	require.Equal(t, ledger.Undecided, s.row(d.Proposal).Decision)
	o, err := s.desk.Open(ctx, "shop", d.Proposal, sam)
	require.NoError(t, err)
	require.True(t, o.Token.IsZero())
	refusal(t, o.Refusal, ledger.RunFailed, "cancelled")
	_, err = s.reg.Invoke(ctx, registry.Call{Session: person(t, sam), Action: "add_note", Params: noteW1})
	require.ErrorIs(t, refusal(t, err, ledger.Unrecorded, ""), context.Canceled)
	require.Zero(t, s.effects.Load())
}

// Neither a run nor what is asked of the host around it outlasts the limit, if it listens to its context.
func TestRunLimit(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		prepare func(*shop, *plan)
		outcome ledger.Outcome
		code    ledger.Code
		reason  string
	}{
		"the run": {func(s *shop, _ *plan) {
			s.run = func(ctx context.Context, _ Refund) (any, error) { return nil, hang(ctx) }
		}, ledger.Failed, ledger.RunFailed, ""},
		"the measure": {func(s *shop, p *plan) {
			p.refund.Measure.Read = func(ctx context.Context, _ Refund) (float64, error) { return 0, hang(ctx) }
			s.run = func(ctx context.Context, _ Refund) (any, error) { return nil, hang(ctx) }
		}, ledger.Failed, ledger.RunFailed, ""},
		"the version, after the claim": {func(s *shop, p *plan) {
			p.refund.Version = func(ctx context.Context, _ Refund) (string, error) {
				if len(s.trail(ledger.AuditQuery{Event: ledger.EventStarted})) > 0 {
					return "", hang(ctx)
				}
				return "", nil
			}
		}, ledger.Failed, ledger.RunFailed, "version"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, c.prepare, func(_ *shop, p *plan) { p.RunLimit = time.Minute })
				d := s.opened(sam)
				from := time.Now()
				_, err := s.desk.Approve(t.Context(), d)
				require.ErrorIs(t, refusal(t, err, c.code, c.reason), context.DeadlineExceeded)
				require.Equal(t, time.Minute, time.Since(from), "one limit for everything after the claim")
				row := s.row(d.Proposal)
				require.Equal(t, c.outcome, row.Outcome)
				require.Equal(t, row.DecidedAt.Add(time.Minute), row.RunBy)
			})
		})
	}
}

// A run that does not listen ends late. It was shown as interrupted until then; how it ended is still kept.
func TestLateRun(t *testing.T) {
	s := open(t)
	d := s.opened(sam)
	s.run = func(context.Context, Refund) (any, error) {
		s.pass(registry.DefaultRunLimit - time.Microsecond)
		row := s.row(d.Proposal)
		require.Equal(t, ledger.StateExecuted, row.State(s.reg.Now()))
		s.pass(time.Microsecond)
		require.Equal(t, ledger.StateInterrupted, row.State(s.reg.Now()))
		return "late", nil
	}
	_, err := s.desk.Approve(t.Context(), d)
	require.NoError(t, err)
	row := s.row(d.Proposal)
	require.Equal(t, ledger.StateExecuted, row.State(s.reg.Now()))
	require.Equal(t, `"late"`, string(row.Result))
}

// Every run decodes its own parameters: what a host's function writes into them reaches nobody.
func TestParametersAreDecodedAfresh(t *testing.T) {
	type tags struct {
		Tags []string `json:"tags"`
	}
	var got []string
	spec := registry.Spec[tags]{
		Description: "Tag.", Permission: "tags:edit", Mode: authz.Execute,
		Target: func(_ context.Context, p tags) ([]authz.Path, error) {
			p.Tags[0] = "changed"
			return []authz.Path{authz.Root()}, nil
		},
	}
	s := open(t, func(_ *shop, p *plan) {
		p.Actions = []*registry.Action{registry.Define("tag", spec, func(_ context.Context, p tags) (bool, error) {
			got = append(got, p.Tags...)
			p.Tags[0] = "changed too"
			return true, nil
		})}
	})
	for range 2 {
		_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, olga), Action: "tag", Params: []byte(`{"tags":["shown"]}`)})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"shown", "shown"}, got)
}
