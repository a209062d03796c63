package authz_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sallyport-dev/sallyport/authz"
)

// answers are a view's answers to every question about one session, by question.
type answers map[string]authz.Decision

// ask puts every question about a session to a world.
func ask(t require.TestingT, w *world, s authz.Session) answers {
	v, all := w.view(t), answers{}
	flag := func(allowed bool) authz.Decision { return authz.Decision{Allowed: allowed} }
	for i, tool := range w.tools {
		all[fmt.Sprint("available ", i)] = v.Available(s, i)
		all[fmt.Sprint("listed ", i)] = flag(slices.Contains(v.AppendTools(nil, s), i))
		all[fmt.Sprint("could ", i)] = flag(v.Could(s, i))
		for _, path := range paths {
			all[fmt.Sprint("may ", tool.Permission, path)] = flag(v.May(s, tool.Permission, path))
			all[fmt.Sprint("may read ", path)] = flag(v.MayRead(s, path))
			for _, q := range []authz.Question{authz.ToPerform, authz.ToAsk} {
				all[fmt.Sprint("check ", i, path, q)] = v.Check(s, i, []authz.Path{path}, q)
				all[fmt.Sprint("person ", i, path, q)] = v.Person(s.Human(), i, []authz.Path{path}, q)
			}
		}
	}
	return all
}

// noMore fails if something is allowed in narrow that is refused in wide.
func noMore(t require.TestingT, narrow, wide answers) {
	for question, d := range narrow {
		if d.Allowed && !wide[question].Allowed {
			require.Fail(t, "more is allowed", "%s: %+v, %+v", question, d, wide[question])
		}
	}
}

// law runs a property over random worlds and sessions.
func law(t *testing.T, holds func(t *rapid.T, p pick, w *world, s authz.Session)) {
	rapid.Check(t, func(t *rapid.T) {
		p := pickFrom(t)
		w := randomWorld(p, 1+p(5), 4)
		holds(t, p, w, w.randomSession(p, t))
	})
}

// actorOrRole returns the overrides of some actor or role of the facts.
func (w *world) actorOrRole(p pick) *[]authz.Override {
	n := p(len(w.facts.Actors) + len(w.facts.Roles))
	if n < len(w.facts.Actors) {
		return &w.facts.Actors[n].Overrides
	}
	return &w.facts.Roles[n-len(w.facts.Actors)].Overrides
}

func (w *world) randomOverride(p pick, e authz.Effect) authz.Override {
	return authz.Override{At: one(p, paths), Effect: e, Of: []authz.Permission{one(p, []authz.Permission{
		one(p, w.tools).Permission, askOf(one(p, w.tools)), authz.Every,
	})}}
}

// TestDeniesOnlySubtract: more denies, more cuts and narrower allowlists allow nothing more.
func TestDeniesOnlySubtract(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		if len(w.facts.Actors) == 0 {
			return
		}
		less, narrow := w.clone(), s
		for range 1 + p(3) {
			actor := &less.facts.Actors[p(len(less.facts.Actors))]
			switch p(6) {
			case 0:
				list := less.actorOrRole(p)
				*list = append(*list, less.randomOverride(p, authz.Deny))
			case 1:
				actor.Grants = append(actor.Grants, authz.Grant{Tool: less.randomTool(p)})
			case 2:
				less.facts.Settings.Disabled = append(less.facts.Settings.Disabled, less.randomTool(p))
			case 3:
				less.facts.Settings.Ceiling = min(less.facts.Settings.Ceiling, authz.Mode(p(4)))
			case 4:
				actor.Active = false
			case 5:
				narrow = narrow.WithTools(authz.Only(one(p, w.tools).Name, one(p, w.tools).Name))
			}
		}
		noMore(t, ask(t, less, narrow), ask(t, w, s))
	})
}

// TestAllowsOnlyAdd: more allows refuse nothing more. This is about overrides and grants; a role can bring
// overrides of its own, and viewer as the only one a ceiling.
func TestAllowsOnlyAdd(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		if len(w.facts.Actors) == 0 {
			return
		}
		more := w.clone()
		for range 1 + p(3) {
			if p.chance(50) {
				list := more.actorOrRole(p)
				*list = append(*list, more.randomOverride(p, authz.Allow))
				continue
			}
			actor := &more.facts.Actors[p(len(more.facts.Actors))]
			actor.Grants = append(actor.Grants, authz.Grant{Tool: more.randomTool(p), Effect: authz.Allow})
		}
		noMore(t, ask(t, w, s), ask(t, more, s))
	})
}

// TestOrderIsIrrelevant: facts are sets. Decisions and their reasons are the same in any order.
func TestOrderIsIrrelevant(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		mixed := w.clone()
		shuffle(p, mixed.facts.Actors)
		shuffle(p, mixed.facts.Roles)
		shuffle(p, mixed.facts.Settings.Disabled)
		for i := range mixed.facts.Roles {
			shuffle(p, mixed.facts.Roles[i].Permissions)
			shuffle(p, mixed.facts.Roles[i].Overrides)
		}
		for i := range mixed.facts.Actors {
			a := &mixed.facts.Actors[i]
			shuffle(p, a.Roles)
			shuffle(p, a.Grants)
			shuffle(p, a.Overrides)
			if len(a.Roles) > 0 && p.chance(30) {
				a.Roles = append(a.Roles, a.Roles[0]) // to hold a role twice is to hold it
			}
		}
		require.Equal(t, ask(t, w, s), ask(t, mixed, s))
	})
}

// TestOthersAreIrrelevant: facts about actors on whom a session does not depend change none of its answers.
func TestOthersAreIrrelevant(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		other := w.clone()
		other.facts.Actors = slices.DeleteFunc(other.facts.Actors, func(a authz.Actor) bool { return !slices.Contains(s.Actors(), a.ID) })
		require.Equal(t, ask(t, w, s), ask(t, other, s))
		other.facts.Actors = append(other.facts.Actors, authz.Actor{
			ID: "passer-by", Kind: authz.Model, Active: true, Roles: []string{authz.Owner},
			Overrides: []authz.Override{w.randomOverride(p, authz.Effect(p(2))), w.randomOverride(p, authz.Effect(p(2)))},
			Grants:    []authz.Grant{{Tool: w.randomTool(p), Effect: authz.Effect(p(2))}},
		})
		other.facts.Roles = append(other.facts.Roles, authz.Role{Name: "of nobody", Overrides: []authz.Override{w.randomOverride(p, authz.Deny)}})
		require.Equal(t, ask(t, w, s), ask(t, other, s))
	})
}

// TestCatalogIsAvailability: what is listed is what is available; what is not available is allowed nowhere;
// and nothing that is ruled out for some link of the chain is allowed. A model is not asked whether it may
// perform a change.
func TestCatalogIsAvailability(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		v, given := w.view(t), []int{7, 3}
		listed := v.AppendTools(slices.Clone(given), s)
		require.Equal(t, given, listed[:2], "what the caller had stays")
		require.True(t, slices.IsSorted(listed[2:]))
		for i := range w.tools {
			available := v.Available(s, i).Allowed
			require.Equal(t, available, slices.Contains(listed[2:], i), "%s: %+v", s, w.tools[i])
			for _, path := range paths {
				for _, q := range []authz.Question{authz.ToPerform, authz.ToAsk} {
					if q == authz.ToPerform && s.Kind() == authz.Model && w.tools[i].Mode != authz.Read {
						continue
					}
					allowed := v.Check(s, i, []authz.Path{path}, q).Allowed
					require.False(t, allowed && !available, "%s: %+v on %s", s, w.tools[i], path)
					require.False(t, allowed && !v.Could(s, i), "%s: %+v on %s", s, w.tools[i], path)
				}
			}
		}
	})
}

// TestAuthorityIsAnIntersection: a chain may exactly what each of its links may alone, in whatever order the
// models delegated, and so delegating step by step is delegating at once.
func TestAuthorityIsAnIntersection(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, _ authz.Session) {
		v := w.view(t)
		order := slices.Clone(models[:3])
		shuffle(p, order)
		list := one(p, []authz.Allowlist{authz.Any(), authz.Only(one(p, w.tools).Name, one(p, w.tools).Name)})
		person := authz.LoggedIn(one(p, humans))
		chain := func(behalf authz.Behalf, ids ...authz.ID) authz.Session {
			s, err := authz.NewSession("shop", ids[0], behalf)
			require.NoError(t, err)
			for _, id := range ids[1:] {
				s, err = s.Delegate(id)
				require.NoError(t, err)
			}
			return s.WithTools(list)
		}
		whole, reverse := chain(authz.For(person), order...), chain(authz.For(person), order[2], order[1], order[0])
		part, rest := chain(authz.Background(), order[0], order[1]), chain(authz.Background(), order[2])
		own, err := authz.NewPersonSession("shop", person)
		require.NoError(t, err)
		for i, tool := range w.tools {
			for _, path := range paths {
				at := []authz.Path{path}
				for _, q := range []authz.Question{authz.ToPerform, authz.ToAsk} {
					all := v.Check(part, i, at, q).Allowed && v.Check(rest, i, at, q).Allowed && v.Check(own, i, at, q).Allowed
					require.Equal(t, all, v.Check(whole, i, at, q).Allowed, "%s: %+v on %s", whole, tool, path)
					require.Equal(t, all, v.Check(reverse, i, at, q).Allowed, "%s: %+v on %s", reverse, tool, path)
					require.Equal(t, v.Check(own, i, at, q), v.Person(person, i, at, q), "a person's own session is the person")
				}
				held := v.May(part, tool.Permission, path) && v.May(rest, tool.Permission, path) && v.May(own, tool.Permission, path)
				require.Equal(t, held, v.May(whole, tool.Permission, path))
				if v.MayRead(whole, path) {
					require.True(t, v.MayRead(part, path) && v.MayRead(rest, path) && v.MayRead(own, path))
				}
			}
		}
	})
}

// TestViewerReads: a model whose only role is viewer has the ceiling read, whatever overrides and grants say.
func TestViewerReads(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, _ authz.Session) {
		w.facts.Settings.Ceiling = authz.Execute
		w.facts.Actors = []authz.Actor{{
			ID: "assistant", Kind: authz.Model, Active: true,
			Roles:     one(p, [][]string{{authz.Viewer}, {authz.Viewer, authz.Viewer}, {"gone", authz.Viewer}}),
			Overrides: []authz.Override{{At: authz.Root(), Effect: authz.Allow, Of: []authz.Permission{authz.Every}}},
		}}
		for _, tool := range w.tools {
			w.facts.Actors[0].Grants = append(w.facts.Actors[0].Grants, authz.Grant{Tool: tool.Name, Effect: authz.Allow})
		}
		w.facts.Settings.Disabled = nil
		s, err := authz.NewSession("shop", "assistant", authz.Background())
		require.NoError(t, err)
		v := w.view(t)
		for i, tool := range w.tools {
			at := authz.Root()
			if own := ownTarget(tool); !own.IsZero() {
				at = own
			}
			d := v.Check(s, i, []authz.Path{at}, authz.ToAsk)
			require.Equal(t, tool.Mode == authz.Read, d.Allowed, "%+v", tool)
			if !d.Allowed {
				require.Equal(t, authz.ReasonAboveCeiling, d.Reason)
			}
		}
	})
}

// TestZeroQuestions: whatever the facts, zero values get no.
func TestZeroQuestions(t *testing.T) {
	law(t, func(t *rapid.T, p pick, w *world, s authz.Session) {
		v := w.view(t)
		none := s.WithTools(authz.Allowlist{})
		for i := range w.tools {
			for _, path := range paths {
				at := []authz.Path{path}
				require.False(t, v.Check(authz.Session{}, i, at, authz.ToAsk).Allowed)
				require.False(t, v.Person(authz.Person{}, i, at, authz.ToPerform).Allowed)
				require.False(t, v.Check(s, i, []authz.Path{path, {}}, authz.ToAsk).Allowed)
				require.False(t, s.Kind() == authz.Model && v.Check(none, i, at, authz.ToAsk).Allowed)
				require.False(t, v.May(authz.Session{}, w.tools[i].Permission, path))
				require.False(t, v.MayRead(authz.Session{}, path))
			}
			require.False(t, v.Check(s, i, nil, authz.ToAsk).Allowed)
			require.False(t, v.Available(authz.Session{}, i).Allowed)
			require.False(t, v.Could(authz.Session{}, i))
			require.False(t, v.May(s, w.tools[i].Permission, authz.Path{}))
		}
		require.False(t, v.MayRead(s, authz.Path{}))
		require.False(t, v.May(s, "", authz.Root()))
		require.False(t, v.Human(authz.Person{}).Allowed)
		require.Empty(t, v.AppendTools(nil, authz.Session{}))
		require.False(t, s.Kind() == authz.Model && len(v.AppendTools(nil, none)) > 0)
	})
}
