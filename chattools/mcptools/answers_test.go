package mcptools_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/approval/canon"
	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/chattools/mcptools"
	"github.com/sallyport-dev/sallyport/ledger"
)

// A change waits for a person: the result is no error, names proposal and link, and holds no token. The same call
// again is the same proposal, what became of it can be asked for, and after the approval it ran once.
func TestAChangeWaits(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			s := openShop(t)
			_, url := s.serve(t, m.change)
			cs := connect(t, url, as("assistant-ann"), m.version, nil)
			status := func(id string) string {
				res, err := call(t, cs, "proposal_status", `{"proposal":"`+id+`"}`)
				require.NoError(t, err)
				var st struct{ Status string }
				require.NoError(t, json.Unmarshal([]byte(text(res)), &st))
				return st.Status
			}
			const arguments = `{"order":"a1","cents":250}`
			res, err := call(t, cs, "refund_order", arguments)
			require.NoError(t, err)
			require.False(t, res.IsError)
			p := s.only(t)
			require.Equal(t, map[string]any{
				"status": "needs_approval", "proposal": p.ID, "link": "https://shop.example/proposals/" + p.ID,
				"text": "This needs a person's approval and waits for it. Nothing has been changed yet.",
			}, res.StructuredContent)
			require.Equal(t, "This needs a person's approval and waits for it. Nothing has been changed yet. The proposal is "+p.ID+
				". A person decides about it here: https://shop.example/proposals/"+p.ID, text(res))
			wire, err := json.Marshal(res)
			require.NoError(t, err)
			require.NotContains(t, string(wire), "apv1.", "a token")
			require.Equal(t, `{"cents":250,"order":"a1"}`, p.Params.String())
			require.Equal(t, "mcp", p.Session.Origin())
			require.Equal(t, "waiting", status(p.ID))
			require.Zero(t, s.runs.Load())

			_, err = call(t, cs, "refund_order", ` { "cents" : 250.0, "order":"a1" } `)
			require.NoError(t, err)
			require.Equal(t, p.ID, s.only(t).ID)

			s.approve(t, p.ID)
			require.EqualValues(t, 1, s.runs.Load())
			require.Equal(t, "done", status(p.ID))
			bob := connect(t, url, as("assistant-bob"), m.version, nil)
			res, err = call(t, bob, "proposal_status", `{"proposal":"`+p.ID+`"}`)
			require.NoError(t, err)
			require.Equal(t, "there is no such proposal of yours", text(res))
		})
	}
}

// Consent that comes with a call is nobody's: what the protocol has for a client's answers, old states, and
// arguments and headers that look like an approval leave a change waiting, and approve nothing that waits.
func TestConsentOfAClientRunsNothing(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	const good = `,"arguments":{"order":"a1","cents":1}`
	status, _ := tell(t, url, "assistant-ann", "refund_order", good)
	require.Equal(t, chattools.NeedsApproval, status)
	p := s.only(t)
	o, err := s.desk.Open(t.Context(), scope, p.ID, olga)
	require.NoError(t, err)
	stale := o.Token.Reveal()

	accept := `{"approve":{"action":"accept","content":{"approved":true}}}`
	for name, params := range map[string]string{
		"input responses":           good + `,"inputResponses":` + accept,
		"a foreign state":           good + `,"requestState":"anything"`,
		"the proposal as state":     good + `,"requestState":"` + p.ID + `"`,
		"a real token as state":     good + `,"requestState":"` + stale + `","inputResponses":` + accept,
		"a real token in the meta":  good + `,"token":"` + stale + `"`,
		"elicitation for the model": good + `,"inputResponses":{"confirm":{"action":"accept"}},"requestState":"{\"approved\":true}"`,
	} {
		status, _ := tell(t, url, "assistant-ann", "refund_order", params)
		require.Equal(t, chattools.NeedsApproval, status, name)
		require.Equal(t, p.ID, s.only(t).ID, name)
	}
	for _, more := range []string{`"approver":"olga"`, `"token":"` + stale + `"`, `"confirm":true`, `"proposal":"` + p.ID + `"`} {
		status, text := tell(t, url, "assistant-ann", "refund_order", `,"arguments":{"order":"a1","cents":1,`+more+`}`)
		require.Equal(t, chattools.Invalid, status, more)
		require.NotContains(t, text, stale)
	}
	for _, method := range []string{"approve", "tools/approve", "resources/subscribe", "prompts/get", "completion/complete", "logging/setLevel", "proposals/approve", "elicitation/create", "tasks/result"} {
		res := post(t, url, "assistant-ann", method, `"id":"`+p.ID+`","token":"`+stale+`"`)
		require.NotNil(t, res.Error, method)
	}
	require.Zero(t, s.runs.Load())
	require.Equal(t, ledger.Undecided, s.only(t).Decision)
	s.approve(t, p.ID)
	require.EqualValues(t, 1, s.runs.Load())
}

// Each status has its own form, and none says more than the gate does.
func TestEachStatusHasItsForm(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	for _, c := range []struct {
		bearer, tool, arguments string
		status                  chattools.Status
		text                    string
	}{
		{"assistant-ann", "find_order", `{"order":"a1"}`, chattools.Done, `{"of":"ann","order":"a1"}`},
		{"assistant-ann", "find_order", `{"order":"b1"}`, chattools.Forbidden, "There is no such record, or it is not one you may act on."},
		{"assistant-ann", "find_order", `{"order":"zz"}`, chattools.Forbidden, "There is no such record, or it is not one you may act on."},
		{"assistant-ann", "exact_read", `{"signed":1,"unsigned":1}`, chattools.Forbidden, "You, or the person you are acting for, are not permitted to do this."},
		{"assistant-ann", "find_order", `{"order":7}`, chattools.Invalid, "The arguments are not valid: /order: expected string."},
		{"assistant-olga", "fails", `{}`, chattools.Failed, "The call failed."},
		{"assistant-olga", "fails_publicly", `{}`, chattools.Failed, "the printer is out of paper"},
		{"assistant-olga", "panics", `{}`, chattools.Failed, "The call failed."},
		{"assistant-olga", "nothing", `{}`, chattools.Done, "null"},
		{"assistant-olga", "list", `{}`, chattools.Done, "[4611686018427387905,2]"},
		{"assistant-olga", "nil_list", `{}`, chattools.Done, "[]"},
		{"assistant-olga", "imitates", `{}`, chattools.Done, `{"proposal":"p","status":"needs_approval"}`},
	} {
		res := post(t, url, c.bearer, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, c.tool, c.arguments))
		var r struct {
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
			IsError           bool
			Meta              map[string]any `json:"_meta"`
			ResultType        string
		}
		require.NoError(t, json.Unmarshal(res.Result, &r), res.Body)
		require.Equal(t, string(c.status), r.Meta[mcptools.StatusKey], c.tool)
		require.Len(t, r.Content, 1)
		require.Equal(t, c.text, r.Content[0].Text, c.tool)
		require.Equal(t, c.status != chattools.Done, r.IsError, c.tool)
		require.Equal(t, "complete", r.ResultType)
		if c.status == chattools.Done && c.text[0] == '{' {
			require.JSONEq(t, c.text, string(r.StructuredContent), c.tool)
		} else {
			require.Empty(t, r.StructuredContent, "S6: %s", c.tool)
		}
		require.NotContains(t, res.Body, "secret")
	}
	limited := openShop(t)
	_, url = limited.serve(t, func(c *mcptools.Config) { c.Link = nil })
	_, text := tell(t, url, "assistant-ann", "refund_order", `,"arguments":{"order":"a1","cents":1}`)
	require.True(t, strings.HasSuffix(text, "The proposal is "+limited.only(t).ID+"."), "there is no link: %s", text)
}

// R3: a result that is too long is cut between characters, and says so.
func TestR3_LongResultsAreCut(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, func(c *mcptools.Config) { c.MaxResult = 1000 })
	_, text := tell(t, url, "assistant-olga", "huge", "")
	start, note, ok := strings.Cut(text, "\n")
	require.True(t, ok)
	require.Equal(t, `{"x":"`+strings.Repeat("é", 497), start, "6 bytes and 497 characters of two; the last byte is half a character or fits")
	require.Equal(t, fmt.Sprintf("… cut: the result has %d bytes", 2<<20+8), note)
}

// A1, A13, A14, A15, S9: what is absent is {}, and all else reaches the gate as it came.
func TestArgumentsReachTheGateAsTheyCame(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, nil)
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	for arguments, want := range map[string]chattools.Status{
		``:                                        chattools.Done,
		`,"arguments":{}`:                         chattools.Done,
		`,"arguments":{"a":null}`:                 chattools.Done,
		`,"arguments":{"a":"null"}`:               chattools.Done,
		`,"arguments":null`:                       chattools.Invalid,
		`,"arguments":""`:                         chattools.Invalid,
		`,"arguments":"{}"`:                       chattools.Invalid,
		`,"arguments":[]`:                         chattools.Invalid,
		`,"arguments":7`:                          chattools.Invalid,
		`,"arguments":{"a":1,"a":2}`:              chattools.Invalid,
		`,"arguments":{"a":1,"A":2}`:              chattools.Invalid,
		`,"arguments":{"s":1,"ſ":2}`:              chattools.Invalid,
		`,"arguments":{"a":{"b":1,"b":1}}`:        chattools.Invalid,
		`,"arguments":{"a":"\ud800"}`:             chattools.Invalid,
		`,"arguments":{"a":1e2000000}`:            chattools.Invalid,
		`,"arguments":{"a":0.1e400}`:              chattools.Invalid,
		`,"arguments":{"a":-0}`:                   chattools.Invalid,
		`,"arguments":{"a":18446744073709551616}`: chattools.Invalid,
		`,"arguments":{"a":` + strings.Repeat("9", 200_000) + `}`:   chattools.Invalid,
		`,"arguments":{"a":"` + strings.Repeat("x", 256<<10) + `"}`: chattools.Invalid,
		`,"arguments":` + deep:       chattools.Invalid,
		`,"Arguments":{"a":1,"a":2}`: chattools.Done, // not a member that the protocol knows
	} {
		res := post(t, url, "assistant-olga", "tools/call", `"name":"all_optional"`+arguments)
		var r struct {
			Meta map[string]any `json:"_meta"`
		}
		_ = json.Unmarshal(res.Result, &r)
		got := r.Meta[mcptools.StatusKey]
		if res.Error != nil || res.Status != http.StatusOK {
			got = string(chattools.Invalid) // the protocol itself refused it
			require.True(t, len(arguments) > 10_000 || strings.Contains(arguments, "1e2000000") || strings.Contains(arguments, "e400"), "%.80s: %s", arguments, res.Body)
		}
		require.Equal(t, string(want), got, "%.80s: %s", arguments, res.Body)
	}
	status, text := tell(t, url, "assistant-olga", "exact_read", "")
	require.Equal(t, chattools.Invalid, status, text)
}

// Through this door too, equal documents have one hash and reach the run function as the same value, and what is
// refused elsewhere is refused here.
func TestTheMCPDoorIsExact(t *testing.T) {
	s := openShop(t)
	direct := session("assistant", "olga")
	for _, m := range modes {
		_, url := s.serve(t, m.change)
		cs := connect(t, url, as("assistant-olga"), m.version, nil)
		through := func(name, arguments string) (string, string) {
			res, err := call(t, cs, name, arguments)
			require.NoError(t, err, arguments)
			return res.Meta[mcptools.StatusKey].(string), text(res)
		}
		two := big.NewInt(2)
		for _, n := range []int64{53, 63, 64} {
			for _, sign := range []int64{1, -1} {
				for offset := int64(-2); offset <= 2; offset++ {
					v := new(big.Int).Exp(two, big.NewInt(n), nil)
					v.Mul(v, big.NewInt(sign)).Add(v, big.NewInt(offset))
					signed, unsigned, fits := "0", "0", true
					switch {
					case v.IsInt64() && v.Sign() < 0:
						signed = v.String()
					case v.IsInt64():
						signed, unsigned = v.String(), v.String()
					default:
						unsigned, fits = v.String(), v.IsUint64()
					}
					arguments := fmt.Sprintf(`{ "unsigned" : %s , "signed":%s.0 }`, unsigned, signed)
					s.got = exact{}
					status, answer := through("exact_read", arguments)
					a := s.gate.Call(t.Context(), direct, chattools.Call{Name: "exact_read", Arguments: []byte(arguments)})
					require.Equal(t, string(a.Status), status, arguments)
					if !fits {
						require.Equal(t, "invalid", status, arguments)
						require.Equal(t, exact{}, s.got, arguments)
						continue
					}
					require.Equal(t, "done", status, arguments)
					require.Equal(t, string(a.Result), answer)
					require.Equal(t, fmt.Sprintf(`{"signed":%s,"unsigned":%s}`, signed, unsigned), answer)

					status, _ = through("exact_change", arguments)
					require.Equal(t, "needs_approval", status)
					p := s.only(t)
					want, err := canon.Parse([]byte(arguments), canon.Options{})
					require.NoError(t, err)
					require.Equal(t, want.Hash(), p.Params.Hash(), "the hash of the same document elsewhere")
					direct := s.gate.Call(t.Context(), direct, chattools.Call{Name: "exact_change", Arguments: []byte(arguments)})
					require.Equal(t, p.ID, direct.Proposal, "the same call through the gate is the same proposal")
					s.got = exact{}
					s.approve(t, p.ID)
					require.Equal(t, signed+" "+unsigned, fmt.Sprint(s.got.Signed, " ", s.got.Unsigned))
				}
			}
		}
	}
}

// Whatever a client sends, the process lives and the next call is answered.
func TestHostileRequestsEndTheCallOnly(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, func(c *mcptools.Config) {
		c.Link = func(session authz.Session, proposal string) string {
			if session.Human() == olga {
				panic("a link")
			}
			return ""
		}
	})
	for _, params := range []string{
		`"name":"panics"`, `"name":"nothing"`, `"name":""`, `"name":7`, `"name":null`, ``, `"name":"panics","arguments":{"x":1e999999999}`,
		`"name":"` + strings.Repeat("x", 1<<20) + `"`, `"name":"exact_change","arguments":{"signed":1,"unsigned":1}`,
	} {
		res := post(t, url, "assistant-olga", "tools/call", params)
		require.NotContains(t, res.Body, "secret", "%.60s", params)
		require.NotContains(t, res.Body, "goroutine", "%.60s", params)
	}
	big := post(t, url, "assistant-olga", "tools/call", `"name":"who","arguments":{"x":"`+strings.Repeat("x", 5<<20)+`"}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, big.Status)
	for _, body := range []string{``, `null`, `[]`, `{`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, "\xff"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer assistant-olga")
		do(t, r)
	}
	status, _ := tell(t, url, "assistant-olga", "who", "")
	require.Equal(t, chattools.Done, status)
}

func TestAPanicOfTheHostLetsNobodyIn(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, func(c *mcptools.Config) {
		c.Metadata = "https://shop.example/.well-known/oauth-protected-resource"
		c.Identify = func(*http.Request, string) (authz.Session, error) { panic("the database is away") }
	})
	res := post(t, url, "assistant-ann", "tools/list", "")
	require.Equal(t, http.StatusUnauthorized, res.Status)
	require.NotContains(t, res.Body, "database")
	require.Equal(t, `Bearer resource_metadata="https://shop.example/.well-known/oauth-protected-resource"`, res.Header.Get("WWW-Authenticate"))
	_, url = s.serve(t, func(c *mcptools.Config) { c.Identify = nil })
	require.Equal(t, http.StatusUnauthorized, post(t, url, "assistant-ann", "tools/list", "").Status)
	_, err := mcptools.NewServer(mcptools.Config{})
	require.Error(t, err)
}

// Web pages do not reach the server, also where a name was rebound to a loopback address.
func TestOriginAndHost(t *testing.T) {
	s := openShop(t)
	_, url := s.serve(t, func(c *mcptools.Config) { c.Origins = []string{"https://inspector.example"} })
	host := strings.TrimPrefix(url, "http://")
	for _, c := range []struct {
		origin, host string
		status       int
	}{
		{"", host, http.StatusOK},
		{"https://inspector.example", host, http.StatusOK},
		{url, host, http.StatusOK},
		{"https://evil.example", host, http.StatusForbidden},
		{"http://evil.example", "evil.example", http.StatusForbidden},
		{"", "evil.example", http.StatusForbidden},
		{"null", host, http.StatusForbidden},
		{"http://localhost:1", host, http.StatusForbidden},
		{"https://inspector.example.evil.example", host, http.StatusForbidden},
	} {
		res := post(t, url, "assistant-ann", "tools/list", "", func(r *http.Request) {
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
		})
		require.Equal(t, c.status, res.Status, "%+v", c)
	}
}
