package office_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/console/internal/office"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
	"github.com/sallyport-dev/sallyport/registry/directory"
)

// desk is an office with a registry behind it: olga owns, ed edits, vera looks. The book can be made to fail.
type desk struct {
	t      *testing.T
	office *office.Office
	gate   *chattools.Gate
	book   *book
	now    time.Time
}

// book is a ledger that cannot be read while broken, and not be written while sealed.
type book struct {
	ledger.Store
	broken, full bool
}

var errDisk = errors.New("the disk is gone")

func (b *book) Proposals(ctx context.Context, q ledger.Query) ([]ledger.Proposal, error) {
	if b.broken {
		return nil, errDisk
	}
	return b.Store.Proposals(ctx, q)
}

func (b *book) Audit(ctx context.Context, q ledger.AuditQuery) ([]ledger.Record, error) {
	if b.broken {
		return nil, errDisk
	}
	return b.Store.Audit(ctx, q)
}

func (b *book) Tally(ctx context.Context, q ledger.TallyQuery) ([]ledger.Tally, error) {
	if b.broken {
		return nil, errDisk
	}
	return b.Store.Tally(ctx, q)
}

func (b *book) Uses(ctx context.Context, scope authz.Scope, grants []string) (map[string]int, error) {
	if b.broken {
		return nil, errDisk
	}
	return b.Store.Uses(ctx, scope, grants)
}

func (b *book) Append(ctx context.Context, r ledger.Record) error {
	if b.full {
		return errDisk
	}
	return b.Store.Append(ctx, r)
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	people := new(authz.Memory)
	human := func(id authz.ID, role string) authz.Actor {
		return authz.Actor{ID: id, Kind: authz.Human, Active: true, Roles: []string{role}}
	}
	require.NoError(t, people.Set("s", authz.Facts{Settings: authz.Settings{Ceiling: authz.Propose}, Actors: []authz.Actor{
		human("olga", authz.Owner), human("ed", authz.Editor), human("vera", authz.Viewer),
		{ID: "bot", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}, Grants: []authz.Grant{{Tool: "note", Effect: authz.Allow, Standing: &authz.Standing{
			ID: "g1", By: "olga", Since: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Until: time.Date(2026, 3, 3, 9, 0, 0, 0, time.UTC), Below: authz.Root(),
		}}}},
	}}))
	keys, err := token.NewRing("test", token.Key{ID: "k1", Secret: []byte("a ring secret of 32 bytes: 012345")})
	require.NoError(t, err)
	d := &desk{t: t, book: &book{Store: new(ledger.Memory)}, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	type note struct {
		N int `json:"n"`
	}
	tools := []*registry.Action{registry.Define("note", registry.Spec[note]{
		Description: "Notes.", Permission: "notes:edit", Mode: authz.Propose, Sentence: "Note {n}.",
	}, func(_ context.Context, n note) (int, error) { return n.N, nil })}
	reg, err := registry.New(registry.Config{
		Actions: append(directory.Actions(directory.Config{Directory: people, Keys: keys, Tools: tools}), tools...),
		Source:  people, Ledger: d.book, Keys: keys, Limits: &ledger.Limits{}, Now: func() time.Time { return d.now },
	})
	require.NoError(t, err)
	d.gate = chattools.NewGate(approval.NewDesk(reg))
	d.office = office.New(func() *chattools.Gate { return d.gate })
	return d
}

func (d *desk) enter(id authz.ID) *office.Visit {
	d.t.Helper()
	v, err := d.office.Enter(d.t.Context(), "s", authz.LoggedIn(id))
	require.NoError(d.t, err)
	return v
}

func (d *desk) propose(n int) string {
	d.t.Helper()
	d.now = d.now.Add(time.Millisecond)
	s, err := authz.NewSession("s", "bot", authz.Background())
	require.NoError(d.t, err)
	a := d.gate.Call(d.t.Context(), s, chattools.Call{Name: "note", Arguments: fmt.Appendf(nil, `{"n":%d}`, n)})
	require.Equal(d.t, chattools.NeedsApproval, a.Status)
	return a.Proposal
}

// Nobody comes in but a known, active human of the scope.
func TestEnter(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		scope  authz.Scope
		person authz.Person
		reason string
	}{
		{"s", authz.Person{}, "invalid_session"}, {"", authz.LoggedIn("olga"), "invalid_session"},
		{"s", authz.LoggedIn("bot"), "wrong_kind"}, {"s", authz.LoggedIn("ghost"), "unknown_actor"}, {"other", authz.LoggedIn("olga"), "unknown_scope"},
	} {
		_, err := d.office.Enter(t.Context(), c.scope, c.person)
		r, ok := errors.AsType[*registry.Refusal](err)
		require.True(t, ok)
		require.Equal(t, ledger.Unavailable, r.Code)
		require.Equal(t, c.reason, r.Reason)
	}
	v := d.enter("ed")
	require.Equal(t, authz.Scope("s"), v.Scope())
	require.Equal(t, authz.ID("ed"), v.Person().ID())
	require.Equal(t, office.Origin, v.Session().Origin())
	require.Same(t, d.gate.Desk().Registry(), v.Registry())
}

// The inbox has what waits, counts what the person may decide, and says when there is more than it looked at.
func TestInbox(t *testing.T) {
	d := newDesk(t)
	for i := range 3 {
		d.propose(i)
	}
	for who, mine := range map[authz.ID]int{"olga": 3, "ed": 3} {
		in, err := d.enter(who).Inbox(t.Context(), office.Filter{})
		require.NoError(t, err)
		require.Len(t, in.Rows, 3)
		require.Equal(t, mine, in.Mine)
		require.False(t, in.More)
		require.Equal(t, "Note 2.", in.Rows[0].Sentence)
	}
	in, err := d.enter("vera").Inbox(t.Context(), office.Filter{})
	require.NoError(t, err)
	require.Empty(t, in.Rows)
	require.Zero(t, in.Mine)

	for i := range office.LookSize {
		d.propose(100 + i)
	}
	in, err = d.enter("olga").Inbox(t.Context(), office.Filter{Mine: true})
	require.NoError(t, err)
	require.True(t, in.More)
	require.Len(t, in.Rows, office.LookSize)
	before, err := office.ParseCursor(in.Next)
	require.NoError(t, err)
	in, err = d.enter("olga").Inbox(t.Context(), office.Filter{Before: before})
	require.NoError(t, err)
	require.Len(t, in.Rows, 3, "the rest")

	d.now = d.now.Add(time.Hour)
	in, err = d.enter("olga").Inbox(t.Context(), office.Filter{})
	require.NoError(t, err)
	require.Empty(t, in.Rows, "what expired waits no longer")
}

// A ledger that cannot be read is a refusal of every view and never an empty page; an export that cannot be
// recorded is not made.
func TestViewsFailClosed(t *testing.T) {
	d := newDesk(t)
	id := d.propose(1)
	v := d.enter("olga")
	ctx := t.Context()
	views := map[string]func() error{
		"inbox":     func() error { _, err := v.Inbox(ctx, office.Filter{}); return err },
		"proposals": func() error { _, err := v.Proposals(ctx, office.Filter{}); return err },
		"open":      func() error { _, err := v.Open(ctx, id); return err },
		"people":    func() error { _, err := v.People(ctx); return err },
		"audit":     func() error { _, err := v.Audit(ctx, office.AuditFilter{}); return err },
		"outcomes":  func() error { _, err := v.Outcomes(ctx, time.Time{}, time.Time{}); return err },
		"matrix":    func() error { _, err := v.Matrix(ctx); return err },
		"head":      func() error { _, err := v.Head(ctx); return err },
		"after":     func() error { _, err := v.After(ctx, 0, 10); return err },
	}
	for name, view := range views {
		require.NoError(t, view(), name)
	}
	d.book.broken = true
	for name, view := range views {
		err := view()
		require.ErrorIs(t, err, errDisk, name)
		require.Equal(t, ledger.RunFailed, registry.CodeOf(err), name)
	}
	d.book.broken, d.book.full = false, true
	_, err := v.Export(ctx, office.AuditFilter{})
	require.Equal(t, ledger.Unrecorded, registry.CodeOf(err))
	_, err = v.Settings(ctx)
	require.Equal(t, ledger.Unrecorded, registry.CodeOf(err), "a read that cannot be recorded is not answered")
}

// A cursor is what a page gave, or refused.
func TestCursors(t *testing.T) {
	for _, text := range []string{"x", "!", "eCB5", "MjAyNi0wMy0wMlQwOTowMDowMFo", "MjAyNi0wMy0wMlQwOTowMDowMFog"} {
		_, err := office.ParseCursor(text)
		require.ErrorIs(t, err, office.ErrCursor, text)
	}
	c, err := office.ParseCursor("")
	require.NoError(t, err)
	require.Zero(t, c)
}
