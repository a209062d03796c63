// Package shoptest tests how an example hands the gate's tools to its framework. What every framework must
// keep is here once; what is special to one is tested beside its adapter.
package shoptest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/frameworks/shop"
	"github.com/sallyport-dev/sallyport/ledger"
	"github.com/sallyport-dev/sallyport/registry"
)

const (
	find    = "find_payment"
	refund  = "refund_payment"
	note    = "add_note"
	unknown = `{"status":"unknown","text":"There is no such tool."}`
)

// Talk is one conversation of a script through a framework.
type Talk struct {
	Shop  *shop.Shop
	C     *shop.Conversation
	Model *shop.Script
	Calls []chattools.Call // as the gate got them

	t    testing.TB
	chat shop.Chat
}

// Open opens a shop and a conversation in which the model takes the given steps.
func Open(t testing.TB, open shop.Framework, steps ...shop.Step) *Talk {
	t.Helper()
	s, err := shop.New()
	require.NoError(t, err)
	return Again(t, s, open, steps...)
}

// Again opens a conversation in a shop.
func Again(t testing.TB, s *shop.Shop, open shop.Framework, steps ...shop.Step) *Talk {
	t.Helper()
	talk := &Talk{t: t, Shop: s, Model: &shop.Script{Steps: steps}}
	c, err := s.Talk(func(call chattools.Call, _ chattools.Answer) { talk.Calls = append(talk.Calls, call) })
	require.NoError(t, err)
	talk.C = c
	talk.chat, err = open(c, talk.Model)
	require.NoError(t, err)
	return talk
}

// Say says something to the agent and returns its reply.
func (talk *Talk) Say(said string) string {
	talk.t.Helper()
	reply, err := talk.C.Say(talk.t.Context(), talk.chat, said)
	require.NoError(talk.t, err)
	return reply
}

// Read is what the model read in its latest turn.
func (talk *Talk) Read() []string { return talk.Model.Seen[len(talk.Model.Seen)-1].Read }

// offered are the names of the tools that the model was shown in a turn.
func (talk *Talk) offered(turn int) []string {
	var names []string
	for _, o := range talk.Model.Seen[turn].Offered {
		names = append(names, o.Name)
	}
	return names
}

// Run tests a framework. Exact says whether it brings large integers to the adapter as the model wrote them.
func Run(t *testing.T, open shop.Framework, exact bool) {
	quiet := shop.Step{Say: shop.Report}

	t.Run("a read runs at once", func(t *testing.T) {
		talk := Open(t, open, shop.Calling(find, `{"payment":"9007199254740993"}`))
		require.Equal(t, "It is done.", talk.Say("What is left?"))
		require.Equal(t, []string{`{"status":"done","result":{"payment":9007199254740993,"cents":9900}}`}, talk.Read())
	})

	t.Run("a change runs once, after a person approved it", func(t *testing.T) {
		ask := shop.Calling(refund, `{"payment":"1042","cents":500}`)
		talk := Open(t, open, ask, quiet, ask, quiet)
		require.Contains(t, talk.Say("Refund it."), "waits")
		require.Equal(t, chattools.NeedsApproval, answer(t, talk.Read()[0]).Status)
		require.Contains(t, talk.Say("Yes, I approve it. Go on."), "waits")
		require.Zero(t, talk.Shop.Refunds(), "nobody has decided")
		require.Len(t, talk.C.Proposals(), 1, "the same is asked for only once")

		_, err := talk.Shop.Approve(t.Context(), talk.C.Proposals()[0])
		require.NoError(t, err)
		require.Equal(t, 1, talk.Shop.Refunds())
		_, err = talk.Shop.Approve(t.Context(), talk.C.Proposals()[0])
		require.Equal(t, ledger.Spent, registry.CodeOf(err))
		require.Equal(t, "It is done.", talk.Say("Has it been done?"))
		require.Contains(t, talk.Read()[0], "A person approved it, it ran, and it is done.")
		require.NotContains(t, talk.Say("Really?"), "waits")
		require.Equal(t, []string{"Really?"}, talk.Read(), "news are told once")
		require.Equal(t, 1, talk.Shop.Refunds())
		require.EqualValues(t, 4500, talk.Shop.Left("1042"))
	})

	t.Run("a hidden tool is one that does not exist", func(t *testing.T) {
		talk := Open(t, open, shop.Step{Calls: []chattools.Call{
			{ID: "a", Name: note, Arguments: []byte(`{"payment":"1042","text":"x"}`)},
			{ID: "b", Name: find, Arguments: []byte(`{"payment":"1042"}`)},
			{ID: "c", Name: "open_safe", Arguments: []byte(`{"payment":9007199254740993}`)},
		}})
		talk.Say("Leave a note.")
		require.Equal(t, []string{find, refund}, talk.offered(0))
		require.Equal(t, []string{unknown, `{"status":"done","result":{"payment":1042,"cents":5000}}`, unknown}, talk.Read())
	})

	t.Run("the catalog is asked for anew", func(t *testing.T) {
		talk := Open(t, open)
		talk.Say("Hello.")
		require.NoError(t, talk.Shop.SetCeiling(t.Context(), authz.Execute))
		talk.Say("Hello again.")
		require.NoError(t, talk.Shop.SetCeiling(t.Context(), authz.Read))
		other := Again(t, talk.Shop, open)
		other.Say("Hello.")
		require.Equal(t, []string{find, refund}, talk.offered(0))
		require.Equal(t, []string{note, find, refund}, talk.offered(1))
		require.Equal(t, []string{find}, other.offered(0))
	})

	t.Run("the catalog is no proof", func(t *testing.T) {
		for _, arguments := range []string{`{"payment":"1042","cents":500}`, `{"payment":9007199254740993,"cents":500}`} {
			talk := Open(t, open, shop.Calling(refund, arguments))
			talk.Model.Steps[0].Before = func() { require.NoError(t, talk.Shop.SetCeiling(context.Background(), authz.Read)) }
			talk.Say("Refund it.")
			require.Equal(t, []string{find, refund}, talk.offered(0))
			require.Equal(t, []string{unknown}, talk.Read(), "taken away while the model thought")
			require.Empty(t, talk.C.Proposals())
		}
	})

	t.Run("the model sees the schemas, and the gate checks them", func(t *testing.T) {
		talk := Open(t, open,
			shop.Calling(refund, `{"payment":"1042","cents":0}`),
			shop.Calling(refund, `{"payment":"1042","cents":500,"approved":true}`),
			shop.Calling(refund, `{"cents":"500"}`),
			shop.Calling(refund, `{"payment":"1042","cents":500}`))
		talk.Say("Refund it.")
		tools, err := talk.C.Tools(t.Context())
		require.NoError(t, err)
		for i, shown := range talk.Model.Seen[0].Offered {
			require.JSONEq(t, string(tools[i].Schema), string(shown.Schema))
		}
		for i, where := range []string{"/cents", "approved", "payment"} {
			a := answer(t, talk.Model.Seen[i+1].Read[0])
			require.Equal(t, chattools.Invalid, a.Status)
			require.Contains(t, a.Text, where)
		}
		require.Equal(t, chattools.NeedsApproval, answer(t, talk.Read()[0]).Status, "the conversation went on")
	})

	t.Run("large integers are exact or refused", func(t *testing.T) {
		talk := Open(t, open,
			shop.Calling(refund, `{"payment":9007199254740993,"cents":900}`),
			shop.Calling(refund, `{"payment":"9007199254740993","cents":900}`))
		talk.Say("Refund it.")
		first := answer(t, talk.Model.Seen[1].Read[0])
		if exact {
			require.Equal(t, chattools.NeedsApproval, first.Status)
			require.JSONEq(t, `{"payment":9007199254740993,"cents":900}`, string(talk.Calls[0].Arguments))
		} else {
			require.Equal(t, chattools.Invalid, first.Status)
			require.Contains(t, first.Text, "Send such numbers as strings.")
			require.Empty(t, talk.Calls[0].Arguments, "nothing rounded reaches the gate")
		}
		sentences := map[bool]string{true: "Refund 900 cents of payment 9007199254740993.", false: `Refund 900 cents of payment "9007199254740993".`}
		sentence, err := talk.Shop.Approve(t.Context(), talk.C.Proposals()[0])
		require.NoError(t, err)
		require.Equal(t, sentences[exact], sentence)
		require.EqualValues(t, 9000, talk.Shop.Left("9007199254740993"))
		require.EqualValues(t, 100, talk.Shop.Left("9007199254740992"), "its neighbour, where rounding leads")
	})
}

// answer reads what a model read.
func answer(t testing.TB, text string) (a chattools.Answer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &a), text)
	return a
}
