package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func (s *shop) invoke(session authz.Session, action, params string) {
	_, err := s.reg.Invoke(context.Background(), registry.Call{Session: session, Action: action, Params: []byte(params)})
	require.Error(s.t, err)
}

// stands sums up how many refusals the trail stands for.
func (s *shop) stands(q ledger.AuditQuery) (records, refusals int) {
	q.Event = ledger.EventRefused
	for _, r := range s.trail(q) {
		records, refusals = records+1, refusals+max(r.Count, 1)
	}
	return records, refusals
}

// Equal refusals are on record when there has been one, two, four and so on of them, each record with how many
// came since the last; a minute later the next one carries the rest.
func TestEqualRefusalsAreCounted(t *testing.T) {
	s := open(t)
	for range 1000 {
		s.invoke(bot(t), "add_note", `{"order_id":"W1"}`)
		s.pass(time.Millisecond)
	}
	var counts []int
	for _, r := range s.trail(ledger.AuditQuery{}) {
		counts = append(counts, r.Count)
	}
	require.Equal(t, []int{1, 1, 2, 4, 8, 16, 32, 64, 128, 256}, counts)
	s.pass(time.Minute)
	s.invoke(bot(t), "add_note", `{"order_id":"W1"}`)
	records, refusals := s.stands(ledger.AuditQuery{})
	require.Equal(t, 11, records)
	require.Equal(t, 1001, refusals)

	s.pass(time.Minute)
	s.invoke(bot(t), "add_note", `{"order_id":"W1"}`)
	records, refusals = s.stands(ledger.AuditQuery{})
	require.Equal(t, 12, records, "a later one has a record of its own")
	require.Equal(t, 1002, refusals)
}

func TestEqualRefusalsAtOnce(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 64 {
				s.invoke(bot(t), "add_note", `{"order_id":"W1"}`)
			}
		})
	}
	wg.Wait()
	records, refusals := s.stands(ledger.AuditQuery{})
	require.Equal(t, 11, records)
	require.Equal(t, 1024, refusals)
}

// Refusals that differ in who, what or why are all on record.
func TestDifferentRefusalsAreRecorded(t *testing.T) {
	s := open(t)
	want := 0
	for _, session := range []authz.Session{bot(t), session(t, "aide", authz.For(carla)), session(t, "bot", authz.For(dave)), session(t, "bot", authz.Background()), person(t, carla)} {
		for _, call := range [][2]string{
			{"find_order", `{`}, {"find_order", `{"a":1,"a":2}`}, {"find_order", `{}`}, {"find_order", `{"order_id":"W9"}`}, {"refund_order", `{`}, {"find_ordr", `{}`},
		} {
			s.invoke(session, call[0], call[1])
			want++
		}
	}
	records, _ := s.stands(ledger.AuditQuery{})
	require.Equal(t, want, records)

	first, second := s.propose().Proposal.ID, ""
	p, err := s.desk.Propose(t.Context(), registry.Call{Session: bot(t), Action: "refund_order", Params: []byte(`{"order_id":"W1","cents":1}`)})
	require.NoError(t, err)
	second = p.Proposal.ID
	for _, id := range []string{first, second} {
		for _, who := range []authz.Person{sam, tina} {
			_, err := s.reg.Redeem(t.Context(), registry.Redemption{Scope: "shop", Proposal: id, Operator: who})
			s.refused(err, ledger.BadToken, "malformed")
			want++
		}
	}
	records, _ = s.stands(ledger.AuditQuery{})
	require.Equal(t, want, records)
}

// What a model makes up, tools or ids, gets no record of its own, whatever else is wrong with the call.
func TestMadeUpNamesAreCounted(t *testing.T) {
	moon, err := authz.NewSession("moon", "bot", authz.Background())
	require.NoError(t, err)
	down := errors.New("directory is away")
	for name, c := range map[string]struct {
		session authz.Session
		scope   authz.Scope
	}{
		"unknown tools": {bot(t), "shop"}, "of an unknown scope": {moon, "moon"}, "by a model that is off": {session(t, "off", authz.Background()), "shop"},
		"while there are no facts": {session(t, "down", authz.Background()), "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, func(s *shop, p *plan) {
				p.Source = authz.SourceFunc(func(ctx context.Context, scope authz.Scope, ids []authz.ID) (*authz.Facts, error) {
					if ids[0] == "down" {
						return nil, down
					}
					return s.people.Facts(ctx, scope, ids)
				})
			})
			for i := range 1000 {
				s.invoke(c.session, fmt.Sprintf("tool_%d", i), `{}`)
			}
			records, refusals := s.stands(ledger.AuditQuery{Scope: c.scope})
			require.Equal(t, 10, records)
			require.Equal(t, 512, refusals)
		})
	}
	s := open(t)
	for range 1000 {
		s.invoke(authz.Session{}, fmt.Sprintf("tool_%d", s.now.Add(1)), `{}`)
		_, err := s.reg.Review(t.Context(), "shop", fmt.Sprint(s.now.Load()), sam)
		require.Error(t, err)
	}
	records, _ := s.stands(ledger.AuditQuery{})
	require.Equal(t, 10, records)
}

// However many different refusals there are, each is on record, and what is remembered of them is bounded: a
// flood of different ones makes the count start again.
func TestFloodOfDifferentRefusals(t *testing.T) {
	s := open(t)
	const all = 10_000
	for i := range all {
		s.invoke(session(t, authz.ID(fmt.Sprintf("ghost-%d", i)), authz.Background()), "add_note", `{}`)
	}
	records, refusals := s.stands(ledger.AuditQuery{})
	require.Equal(t, all, records)
	require.Equal(t, all, refusals)
	for range 2 {
		s.invoke(session(t, "ghost-0", authz.Background()), "add_note", `{}`)
	}
	records, _ = s.stands(ledger.AuditQuery{})
	require.Equal(t, all+2, records, "the first of them was forgotten, so it is a first one again")
}

// Names and errors that are too long or no text are cut with a mark, in valid UTF-8.
func TestHostileTexts(t *testing.T) {
	const bytes = 100_000
	for name, text := range map[string]string{
		"long": strings.Repeat("x", bytes), "wide": strings.Repeat("€", bytes/3), "invalid": strings.Repeat("a\xff", bytes/2),
		"shifted": "x" + strings.Repeat("€", bytes/3), "astral": "xy" + strings.Repeat("😀", bytes/4),
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.invoke(bot(t), text, `{}`)
			rec := s.trail(ledger.AuditQuery{})[0]
			require.True(t, utf8.ValidString(rec.Action))
			require.LessOrEqual(t, len(rec.Action), 128+len("…"))
			require.True(t, strings.HasSuffix(rec.Action, "…"))

			s.look = func(context.Context) error { return errors.New(text) }
			s.invoke(bot(t), "find_order", `{"order_id":"W1"}`)
			s.run = fails(errors.New(text))
			s.read = func() (float64, error) { return 0, errors.New(text) }
			d := s.opened(sam)
			_, err := s.desk.Approve(t.Context(), d)
			require.Error(t, err)
			s.run = nil
			other := s.opened(sam)
			_, err = s.desk.Approve(t.Context(), other)
			require.NoError(t, err)
			trail := s.trail(ledger.AuditQuery{})
			for _, text := range []string{trail[1].Error, s.row(d.Proposal).Error, s.row(other.Proposal).Unmeasured} {
				require.True(t, utf8.ValidString(text))
				require.Greater(t, len(text), 4000)
				require.Less(t, len(text), 4300)
				require.Contains(t, text, "… (")
				require.Contains(t, text, " bytes)")
			}
		})
	}
	s := open(t)
	s.invoke(bot(t), "short\xff", `{}`)
	require.Equal(t, "short\uFFFD", s.trail(ledger.AuditQuery{})[0].Action)
	exact := strings.Repeat("x", 4096)
	s.look = func(context.Context) error { return errors.New(exact) }
	s.invoke(bot(t), "find_order", `{"order_id":"W1"}`)
	require.Equal(t, exact, s.trail(ledger.AuditQuery{})[1].Error)
}
