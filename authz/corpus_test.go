package authz_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
)

// corpusCase is one file of the decision corpus; testdata/README.md says what the fields mean.
type corpusCase struct {
	Guards    string
	Facts     authz.Facts
	Unknown   []string
	Questions []question
}

// question is one question of a case, with its answer.
type question struct {
	Model, For, Own, Person authz.ID
	Via                     []authz.ID
	Tools                   *[]string
	Scope                   authz.Scope

	Ask        string
	Tool       string
	Permission authz.Permission
	Targets    []string

	Allowed bool
	Reason  authz.Reason
	Who     authz.ID
	At      string // the target that was refused
}

func decodeFile(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into), file)
}

// session returns the session of who asks.
func (q question) session(t *testing.T) authz.Session {
	t.Helper()
	scope := q.Scope
	if scope == "" {
		scope = "shop"
	}
	chain := append([]authz.ID{q.Model}, q.Via...)
	behalf := authz.Background()
	if q.For != "" {
		behalf = authz.For(authz.LoggedIn(q.For))
	}
	s, err := authz.NewSession(scope, chain[len(chain)-1], behalf)
	if q.Own != "" {
		s, err = authz.NewPersonSession(scope, authz.LoggedIn(q.Own))
	}
	require.NoError(t, err)
	for i := len(chain) - 2; i >= 0; i-- {
		s, err = s.Delegate(chain[i])
		require.NoError(t, err)
	}
	if q.Tools != nil {
		s = s.WithTools(authz.Only(*q.Tools...))
	}
	return s
}

// answer puts the question to a view. A text that is no path stands for the path that a host failed to make.
func (q question) answer(t *testing.T, v *authz.View, tools map[string]int) authz.Decision {
	t.Helper()
	targets := make([]authz.Path, len(q.Targets))
	for i, text := range q.Targets {
		targets[i], _ = authz.ParsePath(text)
	}
	tool, known := tools[q.Tool]
	require.True(t, known || q.Ask == "may" || q.Ask == "read", "the tool %q", q.Tool)
	ask := authz.ToPerform
	switch q.Ask {
	case "propose":
		ask = authz.ToAsk
	case "perform":
	case "available":
		return v.Available(q.session(t), tool)
	case "could":
		return authz.Decision{Allowed: v.Could(q.session(t), tool)}
	case "may":
		return authz.Decision{Allowed: v.May(q.session(t), q.Permission, targets[0])}
	case "read":
		return authz.Decision{Allowed: v.MayRead(q.session(t), targets[0])}
	default:
		require.Fail(t, "unknown question", q.Ask)
	}
	if q.Person != "" {
		return v.Person(authz.LoggedIn(q.Person), tool, targets, ask)
	}
	return v.Check(q.session(t), tool, targets, ask)
}

// TestCorpus replays the decision corpus.
func TestCorpus(t *testing.T) {
	var shared struct {
		Tools []authz.Tool
		Roles []authz.Role
	}
	decodeFile(t, filepath.Join("testdata", "tools.json"), &shared)
	numbers := map[string]int{}
	for i, tool := range shared.Tools {
		numbers[tool.Name] = i
	}
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.json"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 40)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var c corpusCase
			decodeFile(t, file, &c)
			require.True(t, strings.HasSuffix(c.Guards, "."), "a sentence says what the case guards")
			require.NotEmpty(t, c.Questions)
			source := authz.SourceFunc(func(context.Context, authz.Scope, []authz.ID) (*authz.Facts, error) { return &c.Facts, nil })
			p, err := authz.NewPolicy(source, shared.Tools, shared.Roles)
			require.NoError(t, err)
			v, err := p.View(t.Context(), "shop")
			require.NoError(t, err)
			require.Equal(t, c.Unknown, v.Unknown())
			for i, q := range c.Questions {
				want := authz.Decision{Allowed: q.Allowed, Reason: q.Reason, Who: q.Who}
				if q.At != "" {
					want.Target = authz.MustPath(q.At)
				}
				got := q.answer(t, v, numbers)
				require.Equal(t, want, got, "question %d: %+v", i, q)
				if q.Ask == "available" {
					require.Equal(t, q.Allowed, slices.Contains(v.AppendTools(nil, q.session(t)), numbers[q.Tool]), "the catalog")
				}
			}
		})
	}
}
