package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// An operator learns why, also about a tool that is hidden; the explanation is of the decision that the gate
// makes.
func TestExplain(t *testing.T) {
	s := open(t)
	explain := func(model authz.ID, person authz.Person, action string, targets ...authz.Path) authz.Explanation {
		session, err := authz.NewSession("shop", model, authz.For(person))
		require.NoError(t, err)
		e, err := s.reg.Explain(t.Context(), olga, session, action, targets...)
		require.NoError(t, err)
		return e
	}
	carlas, daves := authz.MustPath("/users/carla/orders/W1"), authz.MustPath("/users/dave/orders/W2")
	for name, test := range map[string]struct {
		e       authz.Explanation
		allowed bool
		reason  authz.Reason
		who     authz.ID
	}{
		"a hidden tool":               {explain("scout", carla, "refund_order"), false, authz.ReasonAboveCeiling, "scout"},
		"a tool that is there":        {explain("bot", carla, "refund_order"), true, authz.ReasonRole, "bot"},
		"the customer's own order":    {explain("bot", carla, "refund_order", carlas), true, authz.ReasonRole, "bot"},
		"another customer's order":    {explain("bot", carla, "refund_order", daves), false, authz.ReasonNoPermission, "carla"},
		"a read of one's own order":   {explain("scout", carla, "find_order", carlas), true, authz.ReasonRole, "scout"},
		"a model that is deactivated": {explain("off", carla, "find_order", carlas), false, authz.ReasonInactive, "off"},
	} {
		require.Equal(t, test.allowed, test.e.Decision.Allowed, "%s: %s", name, test.e)
		require.Equal(t, test.reason, test.e.Decision.Reason, "%s: %s", name, test.e)
		require.Equal(t, test.who, test.e.Decision.Who, "%s: %s", name, test.e)
		require.Contains(t, test.e.String(), "->", name)
	}
}

func TestReverseQuestions(t *testing.T) {
	s := open(t)
	daves := authz.MustPath("/users/dave/orders/W2")
	for name, test := range map[string]struct {
		action string
		q      authz.Question
		want   []authz.ID
	}{
		"who may approve a refund":  {"refund_order", authz.ToPerform, []authz.ID{"olga", "sam", "tina"}},
		"who may ask for a refund":  {"refund_order", authz.ToAsk, []authz.ID{"aide", "bot", "dave", "olga", "sam", "tina"}},
		"who may look at the order": {"find_order", authz.ToAsk, []authz.ID{"aide", "bot", "dave", "olga", "sam", "scout", "tina"}},
	} {
		got, err := s.reg.WhoMay(t.Context(), olga, "shop", test.action, test.q, daves)
		require.NoError(t, err, name)
		require.Equal(t, test.want, got, name)
	}
	for id, want := range map[authz.ID][]string{
		"carla": {"find_order", "refund_order"}, "sam": {"add_note", "find_order", "refund_order"},
		"scout": {"find_order"}, "gone": nil, "nobody": nil,
	} {
		got, err := s.reg.Below(t.Context(), olga, "shop", id, authz.MustPath("/users/carla"))
		require.NoError(t, err)
		require.Equal(t, want, got, "what %s may do below carla's path", id)
	}
	got, err := s.reg.Below(t.Context(), olga, "shop", "carla", authz.MustPath("/users/dave"))
	require.NoError(t, err)
	require.Empty(t, got)
}

// Nobody but an overseer looks behind the decisions.
func TestOnlyAnOverseerIsTold(t *testing.T) {
	s := open(t)
	session, err := authz.NewSession("shop", "bot", authz.For(carla))
	require.NoError(t, err)
	for name, who := range map[string]authz.Person{
		"an editor": sam, "a customer": carla, "an owner who was deactivated": authz.LoggedIn("gone"),
		"a model": authz.LoggedIn("bot"), "nobody": {}, "a stranger": authz.LoggedIn("mallory"),
	} {
		_, err := s.reg.Explain(t.Context(), who, session, "find_order")
		require.Equal(t, ledger.Forbidden, registry.CodeOf(err), name)
		_, err = s.reg.WhoMay(t.Context(), who, "shop", "find_order", authz.ToPerform, authz.Root())
		require.Equal(t, ledger.Forbidden, registry.CodeOf(err), name)
		_, err = s.reg.Below(t.Context(), who, "shop", "carla", authz.Root())
		require.Equal(t, ledger.Forbidden, registry.CodeOf(err), name)
	}
	_, err = s.reg.Explain(t.Context(), olga, session, "no_such_tool")
	require.Equal(t, ledger.Unknown, registry.CodeOf(err))
	_, err = s.reg.WhoMay(t.Context(), olga, "moon", "find_order", authz.ToPerform, authz.Root())
	require.Equal(t, ledger.Unavailable, registry.CodeOf(err))
	_, err = s.reg.Explain(t.Context(), authz.LoggedIn("audrey"), session, "find_order")
	require.NoError(t, err, "an auditor with "+string(registry.ReadProposals))
}
