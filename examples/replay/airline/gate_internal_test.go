package airline

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
	"github.com/sallyport-dev/sallyport/examples/replay/airline/office"
	"github.com/sallyport-dev/sallyport/ledger"
)

// some returns a conversation in which the model reads and writes a reservation of its customer.
func some(t *testing.T) (*Data, *Truths, Conversation) {
	t.Helper()
	data, err := Load()
	require.NoError(t, err)
	truth, err := Truth(t.Context(), data)
	require.NoError(t, err)
	i := slices.IndexFunc(data.Conversations, func(c Conversation) bool {
		names := map[string]bool{}
		for _, call := range c.Calls {
			names[call.Name] = true
		}
		return names["get_reservation_details"] && names["update_reservation_flights"]
	})
	return data, truth, data.Conversations[i]
}

func TestTheCatalogIsTheAirline(t *testing.T) {
	_, _, c := some(t)
	w, err := newWorld()
	require.NoError(t, err)
	s, err := w.session(c)
	require.NoError(t, err)
	catalog, err := w.gate.Catalog(t.Context(), s)
	require.NoError(t, err)
	changes := 0
	names := map[string]bool{}
	for _, tool := range catalog {
		names[tool.Name] = true
		if tool.Mode != authz.Read {
			changes++
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(tools)), slices.Sorted(maps.Keys(names)))
	require.Equal(t, 6, changes)
}

func TestACustomerHasNothingOfAnother(t *testing.T) {
	_, _, c := some(t)
	w, err := newWorld()
	require.NoError(t, err)
	users := slices.Sorted(maps.Keys(w.airline.Snapshot().Data().Users))
	other := users[(slices.Index(users, c.UserID)+1)%len(users)]
	reservation := w.airline.Snapshot().Data().Users[other].Reservations[0]
	s, err := w.session(c)
	require.NoError(t, err)

	answers := map[string]chattools.Answer{}
	for name, arguments := range map[string]string{
		"get_user_details":              `{"user_id":"` + other + `"}`,
		"get_reservation_details":       `{"reservation_id":"` + reservation + `"}`,
		"cancel_reservation":            `{"reservation_id":"` + reservation + `"}`,
		"send_certificate":              `{"user_id":"` + other + `","amount":100}`,
		"update_reservation_passengers": `{"reservation_id":"` + reservation + `","passengers":[]}`,
	} {
		answers[name] = w.gate.Call(t.Context(), s, chattools.Call{Name: name, Arguments: []byte(arguments)})
		require.Equal(t, chattools.Forbidden, answers[name].Status, name)
	}
	for name, arguments := range map[string]string{
		"get_user_details":        `{"user_id":"nobody_0"}`,
		"get_reservation_details": `{"reservation_id":"AAAAAA"}`,
		"cancel_reservation":      `{"reservation_id":"AAAAAA"}`,
		"send_certificate":        `{"user_id":"nobody_0","amount":100}`,
	} {
		unknown := w.gate.Call(t.Context(), s, chattools.Call{Name: name, Arguments: []byte(arguments)})
		require.Equal(t, answers[name], unknown, "what is another's and what does not exist look alike")
	}
	require.Zero(t, w.entered)
}

func TestNoNegativeAmounts(t *testing.T) {
	_, _, c := some(t)
	w, err := newWorld()
	require.NoError(t, err)
	s, err := w.session(c)
	require.NoError(t, err)
	answer := w.gate.Call(t.Context(), s, chattools.Call{Name: "send_certificate", Arguments: []byte(`{"user_id":"` + c.UserID + `","amount":-1}`)})
	require.Equal(t, chattools.Invalid, answer.Status)
}

// In the session of another customer nothing is answered as recorded that is about the first one, and no write
// is even proposed.
func TestTheWrongCustomerIsReported(t *testing.T) {
	data, truth, c := some(t)
	c.UserID = data.Conversations[len(data.Conversations)-1].UserID
	r, err := Replay(t.Context(), &Data{Conversations: []Conversation{c}}, truth, Everything)
	require.NoError(t, err)
	require.Less(t, r.Answered, r.Others)
	require.Len(t, r.Differences, r.Others-r.Answered)
	require.Equal(t, r.Writes, r.Refused)
	require.Zero(t, r.Entered)
}

func TestUnreadableArgumentsAreReported(t *testing.T) {
	_, truth, c := some(t)
	for i := range c.Calls {
		c.Calls[i].Arguments = []byte([]string{`{"surprise":true}`, `{"surprise":`}[i%2])
	}
	r, err := Replay(t.Context(), &Data{Conversations: []Conversation{c}}, truth, Everything)
	require.NoError(t, err)
	require.Equal(t, r.Calls, r.Invalid)
	require.Len(t, r.Differences, r.Calls)
}

// A change that nobody approved is found, whoever makes it.
func TestAChangeBehindTheGateIsReported(t *testing.T) {
	_, truth, c := some(t)
	w, err := newWorld()
	require.NoError(t, err)
	r := &replay{world: w, Report: new(Report), truth: truth}
	r.approves = func(Step, []Step) bool {
		_, err := w.airline.SendCertificate(t.Context(), office.SendCertificate{UserID: c.UserID, Amount: 1})
		require.NoError(t, err)
		return false
	}
	require.NoError(t, r.conversation(t.Context(), c))
	require.Zero(t, r.Explained)
	require.Equal(t, []string{c.ID + ": the database holds something else than what was approved"}, r.Differences)
}

// What an approved run came to is held against the airline without the gate.
func TestAnAlteredResultIsReported(t *testing.T) {
	_, truth, c := some(t)
	w, err := newWorld()
	require.NoError(t, err)
	r := &replay{world: w, Report: new(Report), truth: truth, approves: Everything}
	require.NoError(t, r.conversation(t.Context(), c))
	require.Empty(t, r.Differences)
	rows, err := w.book.Proposals(t.Context(), ledger.Query{Scope: scope, Run: c.ID, At: w.now})
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	first := rows[len(rows)-1]
	first.Outcome, first.Result = ledger.Succeeded, []byte(`"something else"`)
	fresh, err := office.Open()
	require.NoError(t, err)
	require.NoError(t, r.again(t.Context(), c, fresh, &first))
	require.Len(t, r.Differences, 1)
	require.Contains(t, r.Differences[0], `came to "something else"`)
}

func TestBelongs(t *testing.T) {
	_, _, c := some(t)
	w, err := newWorld()
	require.NoError(t, err)
	s, err := w.session(c)
	require.NoError(t, err)
	r := &replay{world: w}
	user := w.airline.Snapshot().Data().Users[c.UserID]
	require.True(t, r.belongs([]byte(`{"user_id":"`+c.UserID+`"}`), s))
	require.True(t, r.belongs([]byte(`{"reservation_id":"`+user.Reservations[0]+`"}`), s))
	for _, others := range []string{`{"user_id":"nobody_0"}`, `{"reservation_id":"AAAAAA"}`, `{}`, `[]`} {
		require.False(t, r.belongs([]byte(others), s), others)
	}
}

func TestTranscriptsThatDoNotPair(t *testing.T) {
	one := message{Role: "assistant"}
	one.ToolCalls = append(one.ToolCalls, struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments_raw"`
	}{ID: "call_1", Name: "think"})
	for _, messages := range [][]message{
		{one},
		{one, {Role: "tool", ToolCallID: "call_2"}},
		{{Role: "assistant", ToolCalls: append(one.ToolCalls, one.ToolCalls...)}, {Role: "tool", ToolCallID: "call_1"}},
	} {
		_, err := transcript{ID: "c", Messages: messages}.calls()
		require.ErrorContains(t, err, "c: message 0 ")
	}
	calls, err := transcript{Messages: []message{one, {Role: "tool", ToolCallID: "call_1", Effect: Pure}}}.calls()
	require.NoError(t, err)
	require.Len(t, calls, 1)
}
