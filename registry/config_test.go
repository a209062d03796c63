package registry_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

func done[P any](context.Context, P) (string, error) { return "", nil }

// sound is a specification without faults, changed.
func sound(mode authz.Mode, change func(*registry.Spec[Order])) registry.Spec[Order] {
	s := registry.Spec[Order]{Description: "Does it.", Permission: "x:edit", Mode: mode}
	if change != nil {
		change(&s)
	}
	return s
}

func defined(name string, mode authz.Mode, change func(*registry.Spec[Order])) *registry.Action {
	return registry.Define(name, sound(mode, change), done[Order])
}

// faultsOf builds a registry of the actions and returns what is wrong, as one line each.
func faultsOf(t *testing.T, change func(*registry.Config), actions ...*registry.Action) []string {
	c := registry.Config{Actions: actions, Source: new(authz.Memory), Ledger: new(ledger.Memory), Keys: ring(t)}
	if change != nil {
		change(&c)
	}
	reg, err := registry.New(c)
	if err == nil {
		return nil
	}
	require.Nil(t, reg, "a registry with faults must not exist")
	var lines []string
	for _, f := range err.(*registry.ConfigError).Faults {
		require.NotEmpty(t, f.Field)
		require.Contains(t, err.Error(), f.String())
		lines = append(lines, f.String())
	}
	return lines
}

func TestFaultsOfOneAction(t *testing.T) {
	type spec = registry.Spec[Order]
	version := func(context.Context, Order) (string, error) { return "", nil }
	preview := func(context.Context, Order) ([]registry.Difference, error) { return nil, nil }
	read := func(context.Context, Order) (float64, error) { return 0, nil }
	measured := func(m registry.Measure[Order]) func(*spec) {
		return func(s *spec) { m.Read = read; s.Measure = m }
	}
	for _, c := range []struct {
		name   string
		mode   authz.Mode
		change func(*spec)
		want   []string
	}{
		{"nothing wrong", authz.Propose, nil, nil},
		{"nothing wrong, disabled", authz.Propose, func(s *spec) { s.Disabled = true }, nil},
		{"no mode", 0, nil, []string{"Mode: is required"}},
		{"unknown mode", 9, nil, []string{"Mode: is required"}},
		{"no permission", authz.Read, func(s *spec) { s.Permission = "" }, []string{"Permission: is required"}},
		{"every permission", authz.Propose, func(s *spec) { s.Permission = authz.Every }, []string{"Permission: is required"}},
		{"every ask permission", authz.Propose, func(s *spec) { s.Ask = authz.Every }, []string{"Permission: is required"}},
		{"no description", authz.Read, func(s *spec) { s.Description = "" }, []string{"Description: is required"}},
		{"unknown risk", authz.Read, func(s *spec) { s.Risk = "none" }, []string{"Risk: must be"}},
		{"destructive read", authz.Read, func(s *spec) { s.Destructive = true }, []string{"Destructive: a read destroys nothing"}},
		{"destructive read, disabled", authz.Read, func(s *spec) { s.Destructive, s.Disabled = true, true }, []string{"Destructive: a read destroys nothing"}},
		{"read with four eyes", authz.Read, func(s *spec) { s.FourEyes = true }, []string{"Mode: a read has no"}},
		{"read with ask", authz.Read, func(s *spec) { s.Ask = "x:ask" }, []string{"Mode: a read has no"}},
		{"read with version", authz.Read, func(s *spec) { s.Version = version }, []string{"Mode: a read has no"}},
		{"read with preview", authz.Read, func(s *spec) { s.Preview = preview }, []string{"Mode: a read has no"}},
		{"read with measure", authz.Read, measured(registry.Measure[Order]{Better: registry.Lower}), []string{"Mode: a read has no"}},
		{"measure without direction", authz.Propose, measured(registry.Measure[Order]{}), []string{"Measure.Better: must be"}},
		{"measure with unknown direction", authz.Propose, measured(registry.Measure[Order]{Better: 7}), []string{"Measure.Better: must be"}},
		{"negative tolerance", authz.Propose, measured(registry.Measure[Order]{Better: registry.Higher, Tolerance: -1}), []string{"Measure: tolerance"}},
		{"tolerance NaN", authz.Propose, measured(registry.Measure[Order]{Better: registry.Higher, Tolerance: math.NaN()}), []string{"Measure: tolerance"}},
		{"infinite tolerance", authz.Propose, measured(registry.Measure[Order]{Better: registry.Higher, Tolerance: math.Inf(1)}), []string{"Measure: tolerance"}},
		{"negative delay", authz.Propose, measured(registry.Measure[Order]{Better: registry.Higher, After: -1}), []string{"Measure: tolerance"}},
		{"sentence with an unknown name", authz.Propose, func(s *spec) { s.Sentence = "Of {oder_id}." }, []string{"Sentence: {oder_id} is no parameter"}},
		{"sentence with a brace open", authz.Propose, func(s *spec) { s.Sentence = "Of {order_id" }, []string{"Sentence: {order_id} is no parameter"}},
		{"sentence with a brace closed", authz.Propose, func(s *spec) { s.Sentence = "Of }." }, []string{"Sentence: a brace is closed"}},
		{"schema that is no JSON", authz.Propose, func(s *spec) { s.Schema = json.RawMessage(`{"type"`) }, []string{"Schema: params: "}},
		{"schema of no object", authz.Propose, func(s *spec) { s.Schema = json.RawMessage(`{"type":"string"}`) }, []string{"Schema: params: "}},
		{"schema that reads a file", authz.Propose, func(s *spec) {
			s.Schema = json.RawMessage(`{"type":"object","properties":{"order_id":{"$ref":"file:///etc/passwd"}}}`)
		}, []string{"Schema: params: "}},
		{"schema that does not compile", authz.Propose, func(s *spec) {
			s.Schema = json.RawMessage(`{"type":"object","properties":{"order_id":{"pattern":"("}}}`)
		}, []string{"Schema: params: "}},
		{"many", 0, func(s *spec) { *s = spec{Risk: "x", Ask: "*", Disabled: true} }, []string{"Permission: ", "Description: ", "Risk: ", "Mode: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := faultsOf(t, nil, defined("do_it", c.mode, c.change))
			require.Len(t, got, len(c.want), "%q", got)
			for i, want := range c.want {
				require.True(t, strings.HasPrefix(got[i], `action "do_it": `+want), got[i])
			}
		})
	}
}

func TestFaultsOfNames(t *testing.T) {
	for name, sound := range map[string]bool{
		"a": true, "find_order": true, "find-order-2": true, "A" + strings.Repeat("b", 63): true,
		"": false, "2nd": false, "_x": false, "a b": false, "a.b": false, "a:b": false, "ä": false, "a\n": false, "a/b": false,
		"a" + strings.Repeat("b", 64): false, "a\x00": false, "ａ": false,
	} {
		if got := faultsOf(t, nil, defined(name, authz.Read, nil)); sound {
			require.Empty(t, got, name)
		} else {
			require.Len(t, got, 1, "%q", name)
			require.Contains(t, got[0], "name: must be a letter")
		}
	}
	for _, pair := range [][2]string{{"foo", "foo"}, {"foo", "Foo"}, {"foo-bar", "foo_bar"}, {"Foo-Bar", "foo_bar"}} {
		for _, disabled := range []bool{false, true} {
			got := faultsOf(t, nil, defined(pair[0], authz.Read, nil),
				defined(pair[1], authz.Read, func(s *registry.Spec[Order]) { s.Disabled = disabled }))
			require.Len(t, got, 1, pair)
			require.Contains(t, got[0], "ignores case")
		}
	}
}

// Two types of one name would share one definition, and one of them the other's limits.
func TestFaultsOfTypes(t *testing.T) {
	type A struct {
		N int `json:"n"`
	}
	first := A{}
	both := func() *registry.Action {
		type A struct {
			S string `json:"s"`
		}
		return defineOf(first, A{})
	}()
	got := faultsOf(t, nil, both)
	require.Len(t, got, 1)
	require.Contains(t, got[0], "Schema: ")
	require.Contains(t, got[0], "would both be called")

	raw := registry.Define("raw", registry.Spec[json.RawMessage]{Description: "d", Permission: "p", Mode: authz.Read}, done[json.RawMessage])
	require.Equal(t, []string{`action "raw": Schema: is required for raw parameters`}, faultsOf(t, nil, raw))

	number := registry.Define("number", registry.Spec[int]{Description: "d", Permission: "p", Mode: authz.Read}, done[int])
	require.Contains(t, faultsOf(t, nil, number)[0], "must be a struct")

	none := registry.Define[Order, string]("none", sound(authz.Read, nil), nil)
	require.Equal(t, []string{`action "none": run: is required`}, faultsOf(t, nil, none))
}

func defineOf[A, B any](A, B) *registry.Action {
	type P struct {
		First  A `json:"first"`
		Second B `json:"second"`
	}
	return registry.Define("both", registry.Spec[P]{Description: "d", Permission: "p", Mode: authz.Read}, done[P])
}

func TestFaultsBetweenActions(t *testing.T) {
	type spec = registry.Spec[Order]
	with := func(permission, ask authz.Permission, disabled bool) func(*spec) {
		return func(s *spec) { s.Permission, s.Ask, s.Disabled = permission, ask, disabled }
	}
	propose := func(list ...authz.Permission) func(*registry.Config) {
		return func(c *registry.Config) { c.ProposeOnly = list }
	}
	for _, disabled := range []bool{false, true} {
		for _, c := range []struct {
			name    string
			config  func(*registry.Config)
			actions []*registry.Action
			want    []string
		}{
			{"execute of a propose-only permission", propose("r:edit"),
				[]*registry.Action{defined("a", authz.Execute, with("r:edit", "", disabled))}, []string{`action "a": Mode: is execute, but "r:edit"`}},
			{"execute with a propose-only ask permission", propose("r:ask"),
				[]*registry.Action{defined("a", authz.Execute, with("r:edit", "r:ask", disabled))}, []string{`action "a": Mode: is execute, but "r:ask"`}},
			{"execute of both", propose("r:edit", "r:ask"),
				[]*registry.Action{defined("a", authz.Execute, with("r:edit", "r:ask", disabled))}, []string{`action "a": Mode`, `action "a": Mode`}},
			{"propose of a propose-only permission", propose("r:edit"),
				[]*registry.Action{defined("a", authz.Propose, with("r:edit", "r:ask", disabled))}, nil},
			{"propose-only of nothing", propose("r:edti"),
				[]*registry.Action{defined("a", authz.Propose, with("r:edit", "", disabled))}, []string{`ProposeOnly: no action has the permission "r:edti"`}},
			{"a read shares its permission with a change", nil,
				[]*registry.Action{defined("a", authz.Read, with("r", "", disabled)), defined("b", authz.Propose, with("r", "", false))},
				[]string{`action "a": Permission: "r" is shared with "b"`}},
			{"a read shares its permission with an ask permission", nil,
				[]*registry.Action{defined("a", authz.Read, with("r", "", false)), defined("b", authz.Execute, with("s", "r", disabled))},
				[]string{`action "a": Permission: "r" is shared with "b"`}},
			{"two reads share one", nil,
				[]*registry.Action{defined("a", authz.Read, with("r", "", false)), defined("b", authz.Read, with("r", "", disabled))}, nil},
			{"the registry's own permission", nil,
				[]*registry.Action{defined("a", authz.Propose, with(registry.ReadProposals, "", disabled))}, []string{`action "a": Permission: "proposals:read" is the registry's own`}},
			{"the registry's own permission to ask", nil,
				[]*registry.Action{defined("a", authz.Propose, with("x", registry.ReadProposals, disabled))}, []string{`action "a": Permission: "proposals:read" is the registry's own`}},
		} {
			got := faultsOf(t, c.config, c.actions...)
			require.Len(t, got, len(c.want), "%s: %q", c.name, got)
			for i := range c.want {
				require.True(t, strings.HasPrefix(got[i], c.want[i]), got[i])
			}
		}
	}
}

func TestFaultsOfTheConfiguration(t *testing.T) {
	got := faultsOf(t, func(c *registry.Config) { *c = registry.Config{} })
	require.Equal(t, []string{"Source: is required", "Ledger: is required", "Keys: is required"}, got)

	for _, c := range []struct {
		name   string
		change func(*registry.Config)
		want   string
	}{
		{"a zero ring", func(c *registry.Config) { c.Keys = new(token.Ring) }, "Keys: is required"},
		{"longer than the ring allows", func(c *registry.Config) { c.Lifetime = 24*time.Hour + time.Second }, "Lifetime: must be between a second and the key ring's 24h0m0s"},
		{"longer by default", func(c *registry.Config) { c.Keys, _ = c.Keys.WithMaxLife(4 * time.Minute) }, "Lifetime: must be between"},
		{"negative", func(c *registry.Config) { c.Lifetime = -time.Second }, "Lifetime: must be between"},
		{"a fraction of a second", func(c *registry.Config) { c.Lifetime = 1500 * time.Millisecond }, "Lifetime: and RunLimit are positive"},
		{"negative run limit", func(c *registry.Config) { c.RunLimit = -1 }, "Lifetime: and RunLimit are positive"},
		{"negative limits", func(c *registry.Config) { c.Limits = &ledger.Limits{Principal: -1} }, "Limits: must not be negative"},
		{"a nil action", func(c *registry.Config) { c.Actions = []*registry.Action{nil} }, "Actions: one is nil"},
		{"an action that Define did not make", func(c *registry.Config) {
			c.Actions = []*registry.Action{{Name: "x", Permission: "p", Mode: authz.Read}}
		},
			`action "x": Actions: one was not made by Define`},
		{"a role of unknown permissions", func(c *registry.Config) { c.Roles = []authz.Role{{Name: "r", Permissions: []authz.Permission{"nope"}}} }, "policy: authz: "},
		{"a role of a shipped name", func(c *registry.Config) { c.Roles = []authz.Role{{Name: authz.Owner}} }, "policy: authz: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := faultsOf(t, c.change)
			require.Len(t, got, 1)
			require.True(t, strings.HasPrefix(got[0], c.want), got[0])
		})
	}
	require.Empty(t, faultsOf(t, func(c *registry.Config) { c.Lifetime = 24 * time.Hour }), "the cap itself is allowed")
}

// One attempt tells everything, in the order of the actions.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := registry.New(registry.Config{
		ProposeOnly: []authz.Permission{"refunds:edit", "nothing"},
		Actions: []*registry.Action{
			nil,
			defined("find", authz.Read, func(s *registry.Spec[Order]) { s.Destructive, s.Description = true, "" }),
			defined("refund", authz.Execute, func(s *registry.Spec[Order]) { s.Permission, s.Disabled = "refunds:edit", true }),
			defined("Find", authz.Read, nil),
		},
	})
	require.EqualError(t, err, `registry: the configuration is not valid:
	Source: is required
	Ledger: is required
	Keys: is required
	Actions: one is nil
	action "find": Description: is required: a model chooses by it
	action "find": Destructive: a read destroys nothing; declare what it changes as Propose or Execute
	action "refund": Mode: is execute, but "refunds:edit" is propose-only
	action "Find": name: is also "find" for somebody who ignores case or mixes up - and _
	ProposeOnly: no action has the permission "nothing"`)
}

func TestActions(t *testing.T) {
	s := open(t, func(_ *shop, p *plan) {
		p.Actions = []*registry.Action{defined("absent", authz.Read, func(s *registry.Spec[Order]) { s.Disabled = true })}
	})
	var names []string
	for _, a := range s.reg.Actions() {
		names = append(names, a.Name)
	}
	require.Equal(t, []string{"add_note", "find_order", "refund_order"}, names)
	require.Nil(t, s.reg.Lookup("absent"), "a disabled action is not there")
	require.Nil(t, s.reg.Lookup(string(registry.ReadProposals)))
	require.Equal(t, "refund_order", s.reg.Lookup("refund_order").Title)
	s.reg.Actions()[0] = nil
	require.NotNil(t, s.reg.Actions()[0], "the list is the caller's own")
}

// What an approval is about is in the definition; how it is told is not.
func TestDefinition(t *testing.T) {
	type spec = registry.Spec[Order]
	base := defined("a", authz.Propose, nil).Definition
	require.Equal(t, base, defined("a", authz.Propose, nil).Definition)
	for name, other := range map[string]*registry.Action{
		"name":       defined("b", authz.Propose, nil),
		"mode":       defined("a", authz.Execute, nil),
		"permission": defined("a", authz.Propose, func(s *spec) { s.Permission = "y" }),
		"ask":        defined("a", authz.Propose, func(s *spec) { s.Ask = "y" }),
		"revision":   defined("a", authz.Propose, func(s *spec) { s.Revision = "2" }),
		"schema":     defined("a", authz.Propose, func(s *spec) { s.Schema = json.RawMessage(`{"type":"object"}`) }),
		"explicit":   defined("a", authz.Propose, func(s *spec) { s.Explicit = true }),
		"four eyes":  defined("a", authz.Propose, func(s *spec) { s.FourEyes = true }),
		"fold clash": defined("a", authz.Propose, func(s *spec) { s.FoldClash = true }),
		"target": defined("a", authz.Propose, func(s *spec) {
			s.Target = registry.At(authz.Root(), func(o Order) string { return o.ID })
		}),
	} {
		require.NotEqual(t, base, other.Definition, name)
	}
	require.Equal(t, base, defined("a", authz.Propose, func(s *spec) { s.Title, s.Reach = "Other", "words" }).Definition)
}
