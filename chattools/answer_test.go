package chattools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

// Every status, as a model reads it. The texts are fixed: a change here is a change for every host.
func TestEveryStatusAsAModelReadsIt(t *testing.T) {
	for _, test := range []struct {
		name   string
		person authz.Person
		call   chattools.Call
		find   func(context.Context, orderID) (any, error)
		want   string
	}{
		{"done", olga, chattools.Call{ID: "7", Name: "find_order", Arguments: []byte(`{"order":"a1"}`)}, nil,
			`{"call_id":"7","status":"done","result":{"order":"a1","owner":"ann"}}`},
		{"done, without an id", olga, chattools.Call{Name: "opening_hours", Arguments: []byte(`{}`)}, nil,
			`{"status":"done","result":"9 to 17"}`},
		{"needs_approval", ann, chattools.Call{ID: "7", Name: "refund_order", Arguments: []byte(`{"order":"a1","cents":5}`)}, nil,
			`{"call_id":"7","status":"needs_approval","text":"This needs a person's approval and waits for it. Nothing has been changed yet.","proposal":"PROPOSAL"}`},
		{"forbidden, whatever the record", nell, chattools.Call{ID: "7", Name: "find_order", Arguments: []byte(`{"order":"a1"}`)}, nil,
			`{"call_id":"7","status":"forbidden","text":"You, or the person you are acting for, are not permitted to do this."}`},
		{"forbidden on this record", ann, chattools.Call{ID: "7", Name: "find_order", Arguments: []byte(`{"order":"b1"}`)}, nil,
			`{"call_id":"7","status":"forbidden","text":"There is no such record, or it is not one you may act on."}`},
		{"invalid", olga, chattools.Call{ID: "7", Name: "refund_order", Arguments: []byte(`{"order":"a1","cents":0}`)}, nil,
			`{"call_id":"7","status":"invalid","text":"The arguments are not valid: /cents: expected integer, at least 1, at most 100000."}`},
		{"unknown", olga, chattools.Call{ID: "7", Name: "approve"}, nil,
			`{"call_id":"7","status":"unknown","text":"There is no such tool."}`},
		{"failed, privately", olga, chattools.Call{ID: "7", Name: "find_order", Arguments: []byte(`{"order":"a1"}`)},
			func(context.Context, orderID) (any, error) { return nil, errPrivate },
			`{"call_id":"7","status":"failed","text":"The call failed."}`},
		{"failed, in public", olga, chattools.Call{ID: "7", Name: "find_order", Arguments: []byte(`{"order":"a1"}`)},
			func(context.Context, orderID) (any, error) {
				return nil, fmt.Errorf("%w: %w", errPrivate, registry.Public(errors.New("The shop is closed on Sundays.")))
			},
			`{"call_id":"7","status":"failed","text":"The shop is closed on Sundays."}`},
		{"truncated", olga, chattools.Call{ID: "7", Name: "find_order", Arguments: []byte(`{"order":"a1"}`), Truncated: true}, nil,
			`{"call_id":"7","status":"invalid","text":"The call was cut off before it was complete. Nothing was run."}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := openShop(t, nil)
			s.find = test.find
			a := s.gate.Call(t.Context(), sessionOf(t, "assistant", test.person), test.call)
			if a.Status == chattools.NeedsApproval {
				require.Len(t, a.Proposal, 36)
				a.Proposal = "PROPOSAL"
			}
			require.Equal(t, test.want, text(t, a))
		})
	}
}

func TestLimitedAsAModelReadsIt(t *testing.T) {
	s := openShop(t, func(c *registry.Config) { c.Limits = &ledger.Limits{Session: 1} })
	session := sessionOf(t, "assistant", ann)
	require.Equal(t, chattools.NeedsApproval, s.call(t, session, "refund_order", `{"order":"a1","cents":1}`).Status)
	require.Equal(t, `{"status":"limited","text":"Too many proposals are waiting for a decision. Wait until some are decided."}`,
		text(t, s.call(t, session, "refund_order", `{"order":"a1","cents":2}`)))
}

// A call that was cut off is not what was meant, even where its arguments happen to be whole.
func TestATruncatedCallNeverRuns(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", olga)
	for name, arguments := range map[string]string{
		"find_order": `{"order":"a1"}`, "opening_hours": `{}`, "refund_order": `{"order":"a1","cents":5}`, "add_note": `{"order":"a1","text":"x"}`,
	} {
		for _, raw := range []json.RawMessage{[]byte(arguments), []byte(arguments[:len(arguments)-1]), nil} {
			a := s.gate.Call(t.Context(), session, chattools.Call{Name: name, Arguments: raw, Truncated: true})
			require.Equal(t, chattools.Invalid, a.Status, name)
			require.Contains(t, a.Text, "cut off")
		}
	}
	require.Zero(t, s.runs.Load())
	require.Zero(t, s.targets.Load())
	open, err := s.desk.Pending(t.Context(), scope, olga, ledger.Cursor{})
	require.NoError(t, err)
	require.Empty(t, open)
}

// Whatever a call id holds, it comes back and changes nothing.
func TestCallIDsIdentifyNothing(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", ann)
	first := s.gate.Call(t.Context(), session, chattools.Call{ID: "same", Name: "refund_order", Arguments: []byte(`{"order":"a1","cents":1}`)})
	other := s.gate.Call(t.Context(), session, chattools.Call{ID: "same", Name: "refund_order", Arguments: []byte(`{"order":"a1","cents":2}`)})
	again := s.gate.Call(t.Context(), session, chattools.Call{ID: "another", Name: "refund_order", Arguments: []byte(`{"cents":1,"order":"a1"}`)})
	require.NotEqual(t, first.Proposal, other.Proposal)
	require.Equal(t, first.Proposal, again.Proposal)
	require.Equal(t, "another", again.CallID)
}

// A person's own session may come through the gate too: it reads, and a change waits like a model's.
func TestAPersonAtTheGate(t *testing.T) {
	s := openShop(t, nil)
	session, err := authz.NewPersonSession(scope, ann)
	require.NoError(t, err)
	require.Equal(t, []string{"find_order", "opening_hours", "proposal_status", "refund_order"}, s.names(t, session))
	require.Equal(t, chattools.Done, s.call(t, session, "find_order", `{"order":"a1"}`).Status)
	a := s.call(t, session, "refund_order", `{"order":"a1","cents":5}`)
	require.Equal(t, chattools.NeedsApproval, a.Status)
	require.NoError(t, s.approve(t, a.Proposal))
	require.Equal(t, `{"status":"done","result":{"action":"refund_order","proposal":"`+a.Proposal+`","result":5,"status":"done"}}`,
		text(t, sorted(t, s.call(t, session, "proposal_status", `{"proposal":"`+a.Proposal+`"}`))))
}

// The model sees what became of its proposal by the same gate.
func TestWhatBecameOfIt(t *testing.T) {
	s := openShop(t, nil)
	session := sessionOf(t, "assistant", ann)
	a := s.call(t, session, "refund_order", `{"order":"a1","cents":5}`)
	status := func() string {
		var r struct {
			Status string `json:"status"`
		}
		require.NoError(t, json.Unmarshal(s.call(t, session, "proposal_status", `{"proposal":"`+a.Proposal+`"}`).Result, &r))
		return r.Status
	}
	require.Equal(t, "waiting", status())
	s.pass(5 * time.Minute)
	require.Equal(t, "expired", status())
}

// sorted gives an answer's result a fixed order of members.
func sorted(t *testing.T, a chattools.Answer) chattools.Answer {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(a.Result, &v))
	a.Result = json.RawMessage(text(t, v))
	return a
}
