package chattools_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const (
	notYou   = "You, or the person you are acting for, are not permitted to do this."
	notThere = "There is no such record, or it is not one you may act on."
	notHere  = "This cannot be done from within another call."
)

// A tool that the model could use stays in the catalog when its principal may not, and says so.
func TestAPersonWithoutThePermission(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", nell)
	require.Equal(t, editorTools, s.names(t, session))
	for name, arguments := range map[string]string{
		"find_order": `{"order":"a1"}`, "opening_hours": `{}`, "refund_order": `{"order":"a1","cents":5}`,
		"add_note": `{"order":"no such order","text":"x"}`, "proposal_status": `{"proposal":"x"}`,
	} {
		a := s.call(t, session, name, arguments)
		require.Equal(t, chattools.Answer{Status: chattools.Forbidden, Text: notYou}, a, name)
	}
	require.Zero(t, s.targets.Load(), "a record was looked up for somebody without any rights")
}

// Nothing tells a record that is not there from one that is somebody else's, or from one on which a deny lies.
func TestRecordsOutOfReachAreAlike(t *testing.T) {
	s := openShop(t, nil)
	s.edit(t, "ann", func(_ *authz.Facts, a *authz.Actor) {
		a.Overrides = append(a.Overrides, authz.Override{
			At: authz.MustPath("/customers/ann/a2"), Effect: authz.Deny, Of: []authz.Permission{authz.Every},
		})
	})
	s.edit(t, "assistant", func(_ *authz.Facts, a *authz.Actor) {
		a.Overrides = []authz.Override{{At: authz.MustPath("/customers/bob"), Effect: authz.Deny, Of: []authz.Permission{authz.Every}}}
	})
	for _, person := range []authz.Person{ann, bob} {
		session := sessionOf(t, "assistant", person)
		for _, tool := range []string{"find_order", "refund_order"} {
			cents := map[string]string{"refund_order": `,"cents":5`}[tool]
			want := `{"status":"forbidden","text":"` + notThere + `"}`
			for _, order := range []string{"b1", "a2", "none", "", "..", "a/1", "a\u0000"} {
				arguments := `{"order":` + text(t, order) + cents + `}`
				require.Equal(t, want, text(t, s.call(t, session, tool, arguments)), "%s %s %q", person.ID(), tool, order)
			}
		}
	}
	s.target = func(string) ([]authz.Path, error) { return nil, nil }
	require.Equal(t, notThere, s.call(t, sessionOf(t, "assistant", ann), "find_order", `{"order":"a1"}`).Text)
}

// A principal who was deactivated, or never was, has no rights; the model's tools are not touched by it.
func TestAPersonWhoIsGone(t *testing.T) {
	s := openShop(t, nil)
	s.edit(t, "ann", func(_ *authz.Facts, a *authz.Actor) { a.Active = false })
	for _, id := range []authz.ID{"ann", "nobody", "watcher"} {
		a := s.call(t, sessionOf(t, "assistant", authz.LoggedIn(id)), "find_order", `{"order":"a1"}`)
		require.Equal(t, chattools.Answer{Status: chattools.Forbidden, Text: notYou}, a, id)
	}
}

// A read's run function cannot smuggle a change in, nor decide about a proposal, nor act as somebody else.
func TestInsideARead(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	waiting := s.call(t, session, "refund_order", `{"order":"a1","cents":1}`).Proposal
	for name, try := range map[string]func(context.Context) chattools.Answer{
		"a change": func(ctx context.Context) chattools.Answer {
			return s.gate.Call(ctx, session, chattools.Call{Name: "refund_order", Arguments: []byte(`{"order":"a1","cents":5}`)})
		},
		"another model": func(ctx context.Context) chattools.Answer {
			return s.gate.Call(ctx, sessionOf(t, "second", olga), chattools.Call{Name: "opening_hours", Arguments: []byte(`{}`)})
		},
		"another person": func(ctx context.Context) chattools.Answer {
			return s.gate.Call(ctx, sessionOf(t, "assistant", ann), chattools.Call{Name: "opening_hours", Arguments: []byte(`{}`)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var inner chattools.Answer
			s.find = func(ctx context.Context, _ orderID) (any, error) { inner = try(ctx); return inner.Status, nil }
			require.Equal(t, `{"status":"done","result":"forbidden"}`, text(t, s.call(t, session, "find_order", `{"order":"a1"}`)))
			require.Equal(t, chattools.Answer{Status: chattools.Forbidden, Text: notHere}, inner)
		})
	}
	t.Run("a decision", func(t *testing.T) {
		s.find = func(ctx context.Context, _ orderID) (any, error) {
			_, err := s.desk.Open(ctx, scope, waiting, olga)
			require.Equal(t, ledger.Forbidden, registry.CodeOf(err))
			err = s.desk.Dismiss(ctx, scope, waiting, olga, "from inside")
			require.Equal(t, ledger.Forbidden, registry.CodeOf(err))
			_, err = s.desk.Revise(ctx, scope, waiting, olga, []byte(`{"order":"a1","cents":9}`))
			require.Equal(t, ledger.Forbidden, registry.CodeOf(err))
			return nil, err
		}
		require.Equal(t, chattools.Failed, s.call(t, session, "find_order", `{"order":"a1"}`).Status)
	})
	require.EqualValues(t, 4, s.runs.Load(), "something but the four reads ran")
}
