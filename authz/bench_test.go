package authz_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// benchWorld is a directory in which every layer has something to say: 1,000 tools with a permission each,
// half of them reads, some disabled, denied by grant or explicit, and overrides of the model and the person
// spread over a tree of depth six.
func benchWorld(overrides int) *world {
	w := &world{facts: authz.Facts{Settings: authz.Settings{Ceiling: authz.Propose}}}
	assistant := authz.Actor{ID: "assistant", Kind: authz.Model, Active: true, Roles: []string{authz.Owner, "clerk"}}
	olga := authz.Actor{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}}
	var perms []authz.Permission
	for i := range 1000 {
		tool := authz.Tool{
			Name: fmt.Sprintf("tool_%03d", i), Permission: authz.Permission(fmt.Sprintf("things%d:edit", i)),
			Mode: authz.Mode(1 + i%2), Explicit: i%50 == 7,
		}
		w.tools, perms = append(w.tools, tool), append(perms, tool.Permission)
		switch {
		case i%100 == 3:
			w.facts.Settings.Disabled = append(w.facts.Settings.Disabled, tool.Name)
		case i%100 == 5:
			assistant.Grants = append(assistant.Grants, authz.Grant{Tool: tool.Name})
		case i%100 == 7:
			assistant.Grants = append(assistant.Grants, authz.Grant{Tool: tool.Name, Effect: authz.Allow})
		}
	}
	w.roles = []authz.Role{{Name: "clerk", Permissions: perms[:100]}}
	for i := range overrides {
		at := authz.MustPath(fmt.Sprintf("/a%d/b%d/c%d", i%4, i/4%5, i/20))
		of := perms[i%1000 : i%1000+1]
		assistant.Overrides = append(assistant.Overrides, authz.Override{At: at, Effect: authz.Effect(i % 2), Of: of})
		olga.Overrides = append(olga.Overrides, authz.Override{At: at, Effect: authz.Allow, Of: of})
	}
	w.facts.Actors = []authz.Actor{assistant, olga}
	return w
}

// benchSession has an allowlist of every tool, so that this layer costs the most.
func benchSession(b *testing.B, w *world) authz.Session {
	names := make([]string, 0, len(w.tools))
	for _, tool := range w.tools {
		names = append(names, tool.Name)
	}
	return modelSession(b).WithTools(authz.Only(names...))
}

// BenchmarkCheck asks a model and its principal about one target six levels deep, all layers on.
func BenchmarkCheck(b *testing.B) {
	for _, overrides := range []int{2, 20, 200} {
		b.Run(fmt.Sprintf("overrides=%d", overrides), func(b *testing.B) {
			w := benchWorld(overrides)
			v, s := w.view(b), benchSession(b, w)
			targets := []authz.Path{authz.MustPath("/a1/b0/c0/d/e/f")}
			require.True(b, v.Check(s, 500, targets, authz.ToPerform).Allowed)
			b.ReportAllocs()
			tool := 0
			for b.Loop() {
				tool = (tool + 7) % len(w.tools)
				v.Check(s, tool, targets, authz.ToAsk)
			}
		})
	}
}

// BenchmarkCheckAllowed asks the same about one tool that every layer lets through, so that nothing ends early.
func BenchmarkCheckAllowed(b *testing.B) {
	for _, overrides := range []int{2, 200} {
		b.Run(fmt.Sprintf("overrides=%d", overrides), func(b *testing.B) {
			w := benchWorld(overrides)
			v, s := w.view(b), benchSession(b, w)
			targets := []authz.Path{authz.MustPath("/a1/b0/c0/d/e/f")}
			require.True(b, v.Check(s, 501, targets, authz.ToAsk).Allowed)
			b.ReportAllocs()
			for b.Loop() {
				v.Check(s, 501, targets, authz.ToAsk)
			}
		})
	}
}

// BenchmarkCatalog lists what 1,000 tools leave to one session, into a given slice.
func BenchmarkCatalog(b *testing.B) {
	for _, overrides := range []int{2, 200} {
		w := benchWorld(overrides)
		v, all := w.view(b), benchSession(b, w)
		few := all.WithTools(authz.Only("tool_001", "tool_100", "tool_501", "tool_999", "tool_998", "tool_500"))
		for _, bench := range []struct {
			name    string
			session authz.Session
		}{{"any", modelSession(b)}, {"only=6", few}, {"only=1000", all}} {
			b.Run(fmt.Sprintf("overrides=%d/%s", overrides, bench.name), func(b *testing.B) {
				buf := v.AppendTools(make([]int, 0, 1000), bench.session)
				require.Greater(b, len(buf), 3)
				b.ReportAllocs()
				for b.Loop() {
					buf = v.AppendTools(buf[:0], bench.session)
				}
			})
		}
	}
}

// BenchmarkCompile reads changed facts: a new view, and the actors of one decision.
func BenchmarkCompile(b *testing.B) {
	for _, overrides := range []int{2, 200} {
		b.Run(fmt.Sprintf("overrides=%d", overrides), func(b *testing.B) {
			w := benchWorld(overrides)
			source := func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { f := w.facts; return &f, nil }
			p, err := authz.NewPolicy(authz.SourceFunc(source), w.tools, w.roles)
			require.NoError(b, err)
			s, targets := modelSession(b), []authz.Path{authz.Root()}
			b.ReportAllocs()
			for b.Loop() {
				v, err := p.View(b.Context(), "shop", s.Actors()...)
				if err != nil {
					b.Fatal(err)
				}
				v.Check(s, 0, targets, authz.ToPerform)
			}
		})
	}
}

// TestNoAllocations holds the two paths that every call and every turn take.
func TestNoAllocations(t *testing.T) {
	w := benchWorld(200)
	v, s, targets := w.view(t), modelSession(t).WithTools(authz.Only("tool_001", "tool_500")), []authz.Path{authz.MustPath("/a1/b0/c0/d/e/f")}
	buf := v.AppendTools(make([]int, 0, 1000), s)
	require.Zero(t, testing.AllocsPerRun(100, func() { v.Check(s, 500, targets, authz.ToPerform) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { v.Check(s, 3, targets, authz.ToPerform) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = v.AppendTools(buf[:0], s) }))
}
