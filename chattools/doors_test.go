package chattools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval"
	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/approval/console"
	"github.com/sallyport-dev/sallyport/approval/token"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// exact is what the run functions of every door get.
type exact struct {
	Signed   int64  `json:"signed"`
	Unsigned uint64 `json:"unsigned"`
}

// doorway is one way for parameters to reach a run function: it returns the hash under which they are known,
// or the code of the refusal.
type doorway struct {
	name string
	pass func(t *testing.T, params string) (canon.Hash, ledger.Code)
}

// Whatever door parameters come through, equal documents have one hash and reach the run function as the same
// value, and a document that is refused at one door is refused at all.
func TestEveryDoorIsExact(t *testing.T) {
	var got exact
	run := func(_ context.Context, p exact) (exact, error) { got = p; return p, nil }
	people, book := new(authz.Memory), new(ledger.Memory)
	require.NoError(t, people.Set("s", authz.Facts{Settings: authz.Settings{Ceiling: authz.Execute}, Actors: []authz.Actor{
		{ID: "model", Kind: authz.Model, Active: true, Roles: []string{authz.Editor}},
		{ID: "olga", Kind: authz.Human, Active: true, Roles: []string{authz.Owner}},
	}}))
	key, err := token.NewKey("k1")
	require.NoError(t, err)
	keys, err := token.NewRing("test", key)
	require.NoError(t, err)
	reg, err := registry.New(registry.Config{
		Actions: []*registry.Action{
			registry.Define("read", registry.Spec[exact]{Description: "d", Permission: "x:read", Mode: authz.Read}, run),
			registry.Define("change", registry.Spec[exact]{Description: "d", Permission: "x:edit", Mode: authz.Propose}, run),
		},
		Source: people, Ledger: book, Keys: keys, Limits: &ledger.Limits{},
	})
	require.NoError(t, err)
	desk := approval.NewDesk(reg)
	gate := chattools.NewGate(desk)
	olga := authz.LoggedIn("olga")
	model, err := authz.NewSession("s", "model", authz.For(olga))
	require.NoError(t, err)
	person, err := authz.NewPersonSession("s", olga)
	require.NoError(t, err)

	ctx := t.Context()
	latest := func(t *testing.T) canon.Hash { // of the parameters on the latest record
		t.Helper()
		trail, err := book.Audit(ctx, ledger.AuditQuery{Scope: "s", Limit: 1 << 20})
		require.NoError(t, err)
		return trail[len(trail)-1].Params.Hash()
	}
	codes := map[chattools.Status]ledger.Code{chattools.Done: ledger.Done, chattools.Invalid: ledger.Invalid}
	doors := []doorway{
		{"canonical form", func(_ *testing.T, params string) (canon.Hash, ledger.Code) {
			o, err := canon.Parse([]byte(params), canon.Options{})
			if err != nil {
				return canon.Hash{}, ledger.Invalid
			}
			return o.Hash(), ledger.Done
		}},
		{"Invoke, a person's change", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
			_, err := reg.Invoke(ctx, registry.Call{Session: person, Action: "change", Params: []byte(params)})
			return latest(t), registry.CodeOf(err)
		}},
		{"Invoke, a model's read", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
			_, err := reg.Invoke(ctx, registry.Call{Session: model, Action: "read", Params: []byte(params)})
			return latest(t), registry.CodeOf(err)
		}},
		{"the gate, a read", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
			a := gate.Call(ctx, model, chattools.Call{Name: "read", Arguments: []byte(params)})
			return latest(t), codes[a.Status]
		}},
		{"the gate, a change that is approved", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
			a := gate.Call(ctx, model, chattools.Call{Name: "change", Arguments: []byte(params)})
			if a.Status == chattools.Invalid {
				return canon.Hash{}, ledger.Invalid
			}
			o, err := desk.Open(ctx, "s", a.Proposal, olga)
			require.NoError(t, err)
			require.NoError(t, o.Refusal)
			_, err = desk.Approve(ctx, o.Redemption())
			return o.Proposal.Params.Hash(), registry.CodeOf(err)
		}},
		{"a revision that is approved", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
			a := gate.Call(ctx, model, chattools.Call{Name: "change", Arguments: []byte(`{"signed":5,"unsigned":5}`)})
			p, err := desk.Revise(ctx, "s", a.Proposal, olga, []byte(params))
			if err != nil {
				require.NoError(t, desk.Dismiss(ctx, "s", a.Proposal, olga, "test"))
				return canon.Hash{}, registry.CodeOf(err)
			}
			o, err := desk.Open(ctx, "s", p.Proposal.ID, olga)
			require.NoError(t, err)
			_, err = desk.Approve(ctx, o.Redemption())
			return o.Proposal.Params.Hash(), registry.CodeOf(err)
		}},
	}

	web, err := console.New(console.Config{Gate: func() *chattools.Gate { return gate }, Who: func(r *http.Request) (console.Caller, error) {
		if r.Header.Get("X-Model") != "" {
			return console.Caller{Model: model}, nil
		}
		return console.Caller{Scope: "s", Person: olga}, nil
	}})
	require.NoError(t, err)
	defer web.Close()
	post := func(model bool, path, body string) (int, map[string]string) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if model {
			r.Header.Set("X-Model", "1")
		}
		w := httptest.NewRecorder()
		web.ServeHTTP(w, r)
		var answer map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		texts := map[string]string{}
		for name, value := range answer {
			texts[name] = strings.Trim(string(value), `"`)
		}
		return w.Code, texts
	}
	overHTTP := map[int]ledger.Code{http.StatusOK: ledger.Done, http.StatusUnprocessableEntity: ledger.Invalid}
	doors = append(doors, doorway{"HTTP, a person's change", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
		status, _ := post(false, "/actions/change/invoke", params)
		return latest(t), overHTTP[status]
	}}, doorway{"HTTP, a model's read", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
		status, _ := post(true, "/actions/read/invoke", params)
		return latest(t), overHTTP[status]
	}}, doorway{"HTTP, a model's change that is revised and approved over HTTP", func(t *testing.T, params string) (canon.Hash, ledger.Code) {
		status, answer := post(true, "/actions/change/invoke", params)
		if status == http.StatusUnprocessableEntity {
			return canon.Hash{}, ledger.Invalid
		}
		require.Equal(t, http.StatusAccepted, status)
		status, answer = post(false, "/proposals/"+answer["proposal"]+"/revise", `{"params":`+params+`}`)
		require.Equal(t, http.StatusCreated, status)
		hash, err := canon.ParseHash(answer["params_hash"])
		require.NoError(t, err)
		status, _ = post(false, "/proposals/"+answer["proposal"]+"/approve", `{"token":"`+answer["token"]+`","shown":"`+answer["params_hash"]+`"}`)
		return hash, overHTTP[status]
	}})

	// Around ±2^53, ±2^63 and 2^64: what fits int64 and uint64 passes with every digit, the rest is refused.
	two := big.NewInt(2)
	for _, n := range []int64{53, 63, 64} {
		for _, sign := range []int64{1, -1} {
			for offset := int64(-2); offset <= 2; offset++ {
				v := new(big.Int).Exp(two, big.NewInt(n), nil)
				v.Mul(v, big.NewInt(sign)).Add(v, big.NewInt(offset))
				signed, unsigned := "0", "0"
				fits := true
				switch {
				case v.IsInt64() && v.Sign() < 0:
					signed = v.String()
				case v.IsInt64():
					signed, unsigned = v.String(), v.String()
				default:
					unsigned, fits = v.String(), v.IsUint64()
				}
				for _, spelling := range []string{`{"signed":%s,"unsigned":%s}`, `{ "unsigned" : %[2]s.0 , "signed":%[1]s }`} {
					params := fmt.Sprintf(spelling, signed, unsigned)
					var want canon.Hash
					for _, door := range doors {
						got = exact{Signed: 42, Unsigned: 42}
						hash, code := door.pass(t, params)
						if !fits {
							require.Equal(t, ledger.Invalid, code, "%s: %s", door.name, params)
							require.Equal(t, exact{42, 42}, got, "%s: %s ran", door.name, params)
							continue
						}
						require.Equal(t, ledger.Done, code, "%s: %s", door.name, params)
						if door.name == "canonical form" {
							want = hash
							continue
						}
						require.Equal(t, want, hash, "%s: %s", door.name, params)
						require.Equal(t, signed, fmt.Sprint(got.Signed), "%s: %s", door.name, params)
						require.Equal(t, unsigned, fmt.Sprint(got.Unsigned), "%s: %s", door.name, params)
					}
				}
			}
		}
	}
}
