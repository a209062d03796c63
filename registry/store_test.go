package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/ledger/ledgertest"
	"github.com/sallyport-dev/sallyport/registry"
)

// faulty is a shop whose store fails on demand.
func faulty(t *testing.T, changes ...func(*shop, *plan)) (*shop, *ledgertest.Faulty) {
	var f *ledgertest.Faulty
	s := open(t, append(changes, func(_ *shop, p *plan) {
		p.store = func(real ledger.Store) ledger.Store {
			f = ledgertest.NewFaulty(real)
			return f
		}
	})...)
	return s, f
}

// started counts the starts on record, in the store that nobody tampers with.
func (s *shop) started() int { return len(s.trail(ledger.AuditQuery{Event: ledger.EventStarted})) }

func TestNoRunWithoutAClaim(t *testing.T) {
	for _, fault := range []ledgertest.Fault{
		{Method: "Claim"}, {Method: "Claim", After: true}, {Method: "Claim", Err: ledger.ErrConflict}, {Method: "Claim", Err: ledger.ErrNotFound},
	} {
		s, f := faulty(t)
		d := s.opened(sam)
		f.Inject(fault)
		_, err := s.desk.Approve(t.Context(), d)
		require.Error(t, err)
		require.Zero(t, s.effects.Load(), "%+v", fault)
		row := s.row(d.Proposal)
		if fault.After { // the claim is on record though its answer was lost: spent, and nothing ran
			s.refused(err, ledger.Spent, "executed")
			require.Equal(t, ledger.Claimed, row.Decision)
			require.Equal(t, ledger.StateInterrupted, row.State(row.RunBy))
		} else {
			require.Equal(t, ledger.Undecided, row.Decision)
		}
		f.Heal()
		_, err = s.desk.Approve(t.Context(), d)
		require.Equal(t, fault.After, err != nil)
	}
	s, f := faulty(t)
	d := s.opened(sam)
	f.Inject(ledgertest.Fault{Method: "Claim"})
	_, err := s.desk.Approve(t.Context(), d)
	require.ErrorIs(t, s.refused(err, ledger.Unrecorded, ""), ledgertest.ErrFault)
	require.Equal(t, d.Proposal, refusal(t, err, ledger.Unrecorded, "").Proposal.ID)
}

func TestNoRunWithoutAStartOnRecord(t *testing.T) {
	for _, after := range []bool{false, true} {
		s, f := faulty(t)
		f.Inject(ledgertest.Fault{Method: "Append", Nth: 1, After: after})
		_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "add_note", Params: noteW1})
		require.ErrorIs(t, refusal(t, err, ledger.Unrecorded, ""), ledgertest.ErrFault)
		require.Zero(t, s.effects.Load())
	}
}

// TestARowThatCannotBeRead is as tampered as one whose seal does not hold.
func TestARowThatCannotBeRead(t *testing.T) {
	s, f := faulty(t)
	d := s.opened(sam)
	f.Inject(ledgertest.Fault{Method: "Proposal", Err: ledger.ErrTampered})
	_, err := s.desk.Approve(t.Context(), d)
	require.ErrorIs(t, refusal(t, err, ledger.Tampered, ""), ledger.ErrTampered)
	_, err = s.desk.Open(t.Context(), "shop", d.Proposal, sam)
	require.Equal(t, ledger.Tampered, registry.CodeOf(err))
	require.Zero(t, s.effects.Load())
}

func TestNoIDNoRun(t *testing.T) {
	s := open(t, func(_ *shop, p *plan) { p.Random = empty{} })
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "add_note", Params: noteW1})
	require.ErrorIs(t, refusal(t, err, ledger.Unrecorded, ""), errEmpty)
	require.Zero(t, s.effects.Load())
	require.Empty(t, s.trail(ledger.AuditQuery{}))
}

var errEmpty = errors.New("no randomness")

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, errEmpty }

func TestEndThatCannotBeRecorded(t *testing.T) {
	for _, after := range []bool{false, true} {
		s, f := faulty(t)
		d := s.opened(sam)
		f.Inject(ledgertest.Fault{Method: "Finish", After: after})
		sub, err := s.reg.Subscribe(person(t, sam))
		require.NoError(t, err)
		_, err = s.desk.Approve(t.Context(), d)
		require.ErrorIs(t, refusal(t, err, ledger.Interrupted, ""), ledgertest.ErrFault)
		require.EqualValues(t, 1, s.effects.Load())
		row := s.row(d.Proposal)
		require.Equal(t, ledger.StateExecuted, row.State(s.reg.Now()))
		if after {
			require.Equal(t, ledger.Succeeded, row.Outcome)
		} else {
			require.Equal(t, ledger.StateInterrupted, row.State(row.RunBy))
			require.Empty(t, row.Outcome)
		}
		f.Heal()
		_, err = s.desk.Approve(t.Context(), d)
		s.refused(err, ledger.Spent, "executed")
		s.pass(registry.DefaultRunLimit)
		_, err = s.desk.Approve(t.Context(), d)
		require.Equal(t, ledger.Spent, registry.CodeOf(err), "never run again")
		require.EqualValues(t, 1, s.effects.Load())
		none(t, sub)
	}
	// A run that failed and whose end is not on record says both.
	s, f := faulty(t)
	boom := errors.New("card declined")
	s.run = fails(boom)
	d := s.opened(sam)
	f.Inject(ledgertest.Fault{Method: "Finish"})
	_, err := s.desk.Approve(t.Context(), d)
	r := refusal(t, err, ledger.Interrupted, "")
	require.ErrorIs(t, r, boom)
	require.ErrorIs(t, r, ledgertest.ErrFault)

	s, f = faulty(t)
	f.Inject(ledgertest.Fault{Method: "Append", Nth: 2})
	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "add_note", Params: noteW1})
	refusal(t, err, ledger.Interrupted, "")
	require.EqualValues(t, 1, s.effects.Load())
	require.Equal(t, 1, s.started())
}

// With a fault at every call of the store in turn, before and after it is applied: no effect without a start on
// record, at most one effect for a proposal, and no claim of success where there was none.
func TestFaultAtEveryCall(t *testing.T) {
	for _, scenario := range []struct {
		name string
		run  func(s *shop) error
	}{
		{"propose, open, approve", func(s *shop) error {
			p, err := s.desk.Propose(t.Context(), registry.Call{Session: bot(t), Action: "refund_order", Params: []byte(refundW1)})
			if err != nil {
				return err
			}
			o, err := s.desk.Open(t.Context(), "shop", p.Proposal.ID, sam)
			if err != nil {
				return err
			}
			if _, err = s.desk.Approve(t.Context(), o.Redemption()); err == nil {
				return nil
			}
			for range 3 { // the operator clicks again
				if _, again := s.desk.Approve(t.Context(), o.Redemption()); again == nil {
					return nil
				}
			}
			return err
		}},
		{"a person's change", func(s *shop) error {
			_, err := s.reg.Invoke(t.Context(), registry.Call{Session: person(t, sam), Action: "add_note", Params: noteW1})
			return err
		}},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			faults := 0
			real := new(ledger.Memory)
			for fault, store := range ledgertest.Sweep(func() ledger.Store { real = new(ledger.Memory); return real }) {
				t.Run(fault, func(t *testing.T) {
					s := open(t, func(s *shop, p *plan) {
						s.memory = real
						p.store = func(ledger.Store) ledger.Store { return store }
					})
					err := scenario.run(s)
					if store.Hit() {
						faults++
					} else {
						require.NoError(t, err)
					}
					effects, started := int(s.effects.Load()), s.started()
					require.LessOrEqual(t, effects, 1)
					require.LessOrEqual(t, effects, started, "an effect without a start on record")
					require.LessOrEqual(t, started, 1)
					if err == nil {
						require.Equal(t, 1, effects)
						require.Len(t, s.trail(ledger.AuditQuery{Event: ledger.EventFinished}), 1)
					}
					if code := registry.CodeOf(err); code == ledger.Unrecorded {
						require.Zero(t, effects, "an effect that was said not to have happened")
					}
					store.Heal()
					rows, err := s.memory.Proposals(t.Context(), ledger.Query{Scope: "shop"})
					require.NoError(t, err)
					for _, p := range rows {
						require.Equal(t, p.Decision == ledger.Claimed, started == 1)
						if p.Outcome == ledger.Running && p.Decision == ledger.Claimed {
							require.Equal(t, ledger.StateInterrupted, p.State(p.RunBy))
						}
					}
				})
			}
			require.Greater(t, faults, 3, "faults that were met")
		})
	}
}

// What a model reads is on record, or it does not read it.
func TestReadsAreRecorded(t *testing.T) {
	s, f := faulty(t)
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: bot(t), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	trail := s.trail(ledger.AuditQuery{})
	require.Len(t, trail, 1)
	require.Equal(t, ledger.EventRead, trail[0].Event)
	require.Equal(t, ledger.Done, trail[0].Code)
	require.Equal(t, "run-1", trail[0].Session.Run())
	require.Empty(t, trail[0].Result, "what was read is not copied into the trail")

	s.look = func(context.Context) error { return errors.New("disk") }
	_, err = s.reg.Invoke(t.Context(), registry.Call{Session: bot(t), Action: "find_order", Params: noteW1})
	refusal(t, err, ledger.RunFailed, "")
	trail = s.trail(ledger.AuditQuery{})
	require.Equal(t, "disk", trail[1].Error)
	require.Equal(t, ledger.RunFailed, trail[1].Code)

	s.look = nil
	for _, after := range []bool{false, true} {
		f.Heal()
		f.Inject(ledgertest.Fault{Method: "Append", After: after})
		res, err := s.reg.Invoke(t.Context(), registry.Call{Session: bot(t), Action: "find_order", Params: noteW1})
		require.ErrorIs(t, refusal(t, err, ledger.Unrecorded, ""), ledgertest.ErrFault)
		require.Zero(t, res)
	}
}

func TestReadsThatAreNotRecorded(t *testing.T) {
	s, f := faulty(t, func(_ *shop, p *plan) { p.SkipReads = true })
	f.Inject(ledgertest.Fault{})
	res, err := s.reg.Invoke(t.Context(), registry.Call{Session: bot(t), Action: "find_order", Params: noteW1})
	require.NoError(t, err)
	require.Equal(t, `"carla"`, string(res.JSON))
	require.Empty(t, s.trail(ledger.AuditQuery{}))
	require.Zero(t, f.Calls(""))
}

// A refusal is a refusal, whether or not it can be recorded.
func TestRefusalThatCannotBeRecorded(t *testing.T) {
	s, f := faulty(t)
	f.Inject(ledgertest.Fault{Method: "Append"})
	_, err := s.reg.Invoke(t.Context(), registry.Call{Session: bot(t), Action: "add_note", Params: noteW1})
	refusal(t, err, ledger.Forbidden, "no_permission")
}
