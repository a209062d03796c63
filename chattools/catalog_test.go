package chattools_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

var (
	readTools   = []string{"find_order", "opening_hours", "proposal_status"}
	editorTools = []string{"add_note", "find_order", "opening_hours", "proposal_status", "refund_order"}
)

func TestCatalogIsWhatTheModelCould(t *testing.T) {
	s := openShop(t, nil)
	for _, test := range []struct {
		name   string
		model  authz.ID
		person authz.Person
		want   []string
	}{
		{"an editor", "assistant", olga, editorTools},
		{"an editor for a person without rights", "assistant", nell, editorTools},
		{"an editor in the background", "assistant", authz.Person{}, editorTools},
		{"a viewer sees reads only", "watcher", olga, readTools},
		{"an owner sees no explicit tool without a grant", "boss", olga, editorTools},
		{"a model without roles", "blank", olga, []string{}},
		{"an inactive model", "retired", olga, []string{}},
		{"an unknown model", "nobody", olga, []string{}},
		{"a human's id as a model", "ann", olga, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, s.names(t, sessionOf(t, test.model, test.person)))
		})
	}
}

func TestCatalogAsAModelReadsIt(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga).WithTools(authz.Only("refund_order", "opening_hours", "no_such_tool"))
	tools, err := s.gate.Catalog(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, `[{"name":"opening_hours","title":"opening_hours","description":"Say when the shop is open.",`+
		`"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{},"additionalProperties":false,"type":"object"},`+
		`"mode":"read"},{"name":"refund_order","title":"Refund","description":"Refund part of an order.",`+
		`"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{`+
		`"order":{"type":"string","maxLength":32,"description":"The order's number"},`+
		`"cents":{"type":"integer","maximum":100000,"minimum":1}},"additionalProperties":false,"type":"object","required":["order","cents"]},`+
		`"mode":"propose","destructive":true}]`, text(t, tools))
}

// An explicit tool needs role and grant together.
func TestExplicitToolNeedsAGrant(t *testing.T) {
	s := openShop(t, nil)
	grant := func(_ *authz.Facts, a *authz.Actor) {
		a.Grants = append(a.Grants, authz.Grant{Tool: "close_shop", Effect: authz.Allow})
	}
	s.edit(t, "boss", grant)
	s.edit(t, "assistant", grant)
	require.Contains(t, s.names(t, sessionOf(t, "boss", olga)), "close_shop")
	require.NotContains(t, s.names(t, sessionOf(t, "assistant", olga)), "close_shop", "a grant gives no permission")
	require.Equal(t, chattools.NeedsApproval, s.call(t, sessionOf(t, "boss", olga), "close_shop", `{}`).Status)
	require.Zero(t, s.runs.Load())
}

// The permission to see proposals belongs to the registry and is no tool, whoever is granted it.
func TestOversightIsNoTool(t *testing.T) {
	s := openShop(t, nil)
	s.edit(t, "boss", func(_ *authz.Facts, a *authz.Actor) {
		a.Grants = []authz.Grant{{Tool: string(registry.ReadProposals), Effect: authz.Allow}}
	})
	boss := sessionOf(t, "boss", olga)
	require.Equal(t, editorTools, s.names(t, boss))
	require.Equal(t, chattools.Unknown, s.call(t, boss, string(registry.ReadProposals), `{}`).Status)
}

func TestCatalogFollowsTheSettings(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	for _, step := range []struct {
		ceiling authz.Mode
		want    []string
	}{
		{authz.Read, readTools},
		{authz.Propose, []string{"find_order", "opening_hours", "proposal_status", "refund_order"}},
		{authz.Execute, editorTools},
		{0, readTools},
	} {
		s.edit(t, "assistant", func(f *authz.Facts, _ *authz.Actor) { f.Settings.Ceiling = step.ceiling })
		require.Equal(t, step.want, s.names(t, session), "ceiling %v", step.ceiling)
	}
}

func TestNoPartialCatalog(t *testing.T) {
	broken := func(t *testing.T, source authz.SourceFunc) *shop {
		return openShop(t, func(c *registry.Config) { c.Source = source })
	}
	elsewhere, err := authz.NewSession("elsewhere", "assistant", authz.For(olga))
	require.NoError(t, err)
	for _, test := range []struct {
		name    string
		shop    *shop
		session authz.Session
		code    ledger.Code
	}{
		{"no session", openShop(t, nil), authz.Session{}, ledger.Unavailable},
		{"an unknown scope", openShop(t, nil), elsewhere, ledger.Unavailable},
		{"a source that fails", broken(t, func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) {
			return nil, errPrivate
		}), sessionOf(t, "assistant", olga), ledger.RunFailed},
		{"a source that panics", broken(t, func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) {
			panic(errPrivate)
		}), sessionOf(t, "assistant", olga), ledger.RunFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			tools, err := test.shop.gate.Catalog(t.Context(), test.session)
			require.Empty(t, tools)
			require.Equal(t, test.code, registry.CodeOf(err))
			_, typed := errors.AsType[*registry.Refusal](err)
			require.True(t, typed)

			have := []*chattools.Tool{{Name: "mine"}}
			have, err = test.shop.gate.AppendCatalog(t.Context(), have, test.session)
			require.Error(t, err)
			require.Equal(t, []*chattools.Tool{{Name: "mine"}}, have)
		})
	}
}

func TestAppendCatalogKeepsWhatIsThere(t *testing.T) {
	s := openShop(t, nil)
	have, err := s.gate.AppendCatalog(t.Context(), []*chattools.Tool{{Name: "mine"}}, sessionOf(t, "watcher", olga))
	require.NoError(t, err)
	require.Len(t, have, 1+len(readTools))
	require.Equal(t, "mine", have[0].Name)
	require.Same(t, s.desk, s.gate.Desk())
}
