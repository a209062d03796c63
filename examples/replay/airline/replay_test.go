package airline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/replay/airline"
)

// load returns the recording, held against the counts that its description gives, with its ground truth.
func load(t *testing.T) (*airline.Data, *airline.Truths) {
	t.Helper()
	data, err := airline.Load()
	require.NoError(t, err)
	require.Len(t, data.Tasks, 40)
	require.Len(t, data.Conversations, 160)

	calls := map[airline.Effect]int{}
	for _, task := range data.Tasks {
		for _, call := range task.Calls {
			calls[call.Effect]++
		}
	}
	require.Equal(t, map[airline.Effect]int{airline.Write: 50, airline.Read: 82, airline.Pure: 5, airline.Handoff: 4}, calls)

	calls = map[airline.Effect]int{}
	refused := 0
	for _, c := range data.Conversations {
		require.Equal(t, "gpt-4o", c.Model)
		for _, call := range c.Calls {
			calls[call.Effect]++
			if !call.OK {
				require.Equal(t, airline.Write, call.Effect)
				refused++
			}
		}
	}
	require.Equal(t, map[airline.Effect]int{airline.Write: 164 + 70, airline.Read: 614, airline.Pure: 179, airline.Handoff: 33}, calls)
	require.Equal(t, 70, refused)

	truth, err := airline.Truth(t.Context(), data)
	require.NoError(t, err)
	return data, truth
}

func printed(columns ...airline.Column) string {
	var b strings.Builder
	airline.Print(&b, columns...)
	return b.String()
}

// The proof that this is the airline that was recorded: every answer, every changed record and value of every
// task and conversation is as it was.
func TestTheAirlineIsTheRecordedOne(t *testing.T) {
	data, truth := load(t)
	require.Equal(t, 141, truth.Calls)
	require.Empty(t, truth.Differences)

	r, err := airline.Ungated(t.Context(), data, truth)
	require.NoError(t, err)
	require.Equal(t, &airline.Report{
		Conversations: 160, Reached: 64, Unchanged: 60,
		Calls: 1060, Others: 826, Answered: 826, Writes: 234, Entered: 234,
		Ran: 164, RanAlike: 164, RanFailed: 70, Missing: 120,
	}, r)
}

// Nobody is there: the model reads as recorded, and nothing that it asks for happens.
func TestNobodyApproves(t *testing.T) {
	data, truth := load(t)
	r, err := airline.Replay(t.Context(), data, truth, nil)
	require.NoError(t, err)
	require.Equal(t, &airline.Report{
		Gated:         true,
		Conversations: 160, Reached: 60, Unchanged: 160, Explained: 160,
		Calls: 1060, Others: 826, Answered: 826, Writes: 234,
		Refused: 3, Same: 18, Proposed: 213, Expired: 213,
		StoppedRan: 164, StoppedRefused: 70, Missing: 120,
	}, r)
	require.Equal(t, r.Writes, r.Refused+r.Same+r.Proposed)
}

// The operator approves what the task needs, and the airline ends up right more often than without a gate.
func TestTheGroundTruthIsApproved(t *testing.T) {
	data, truth := load(t)
	ungated, err := airline.Ungated(t.Context(), data, truth)
	require.NoError(t, err)
	nobody, err := airline.Replay(t.Context(), data, truth, nil)
	require.NoError(t, err)
	r, err := airline.Replay(t.Context(), data, truth, airline.Exactly)
	require.NoError(t, err)
	t.Log("\n" + printed(airline.Column{"no gate", ungated}, airline.Column{"nobody approves", nobody}, airline.Column{"exact approval", r}))

	require.Equal(t, &airline.Report{
		Gated:         true,
		Conversations: 160, Reached: 90, Unchanged: 111, Explained: 160,
		Calls: 1060, Others: 826, Answered: 826, Writes: 234, Entered: 80,
		Refused: 3, Proposed: 231, Approved: 80, Dismissed: 151,
		Ran: 80, RanAlike: 74, RanOther: 6,
		StoppedRan: 84, StoppedRefused: 70, Missing: 120,
	}, r)
	require.Equal(t, 154, r.Stopped())
	require.Equal(t, 50*4, r.Approved+r.Missing, "each write of the ground truth was approved or never asked for")
}

// The figures above mean something only if they can come out otherwise.

func TestWhoApprovesEverythingHasNoGate(t *testing.T) {
	data, truth := load(t)
	r, err := airline.Replay(t.Context(), data, truth, airline.Everything)
	require.NoError(t, err)
	require.Equal(t, &airline.Report{
		Gated:         true,
		Conversations: 160, Reached: 64, Unchanged: 60, Explained: 160,
		Calls: 1060, Others: 826, Answered: 826, Writes: 234, Entered: 234,
		Proposed: 234, Approved: 234, Ran: 164, RanAlike: 164, RanFailed: 70, Missing: 120,
	}, r)
}

func TestAnAlteredRecordingIsReported(t *testing.T) {
	data, truth := load(t)
	var read, write int // calls of the first conversation with an approved write
	c := &data.Conversations[find(t, data, truth)]
	for i, call := range c.Calls {
		switch {
		case call.Effect == airline.Read:
			read = i
		case call.Effect == airline.Write && call.OK:
			write = i
		}
	}
	data = &airline.Data{Conversations: []airline.Conversation{*c}}
	before, err := airline.Replay(t.Context(), data, truth, airline.Exactly)
	require.NoError(t, err)
	require.Empty(t, before.Differences)
	require.Equal(t, 1, before.RanAlike)

	c.Calls[read].Result = []byte(`"something else"`)
	c.Calls[write].Changes = c.Calls[write].Changes[1:]
	r, err := airline.Replay(t.Context(), data, truth, airline.Exactly)
	require.NoError(t, err)
	require.Len(t, r.Differences, 1)
	require.Contains(t, r.Differences[0], `recorded "something else"`)
	require.Equal(t, before.Answered-1, r.Answered)
	require.Equal(t, 1, r.RanOther)
	require.Zero(t, r.RanAlike)
	require.Contains(t, printed(airline.Column{"altered", r}), `recorded "something else"`)

	r, err = airline.Ungated(t.Context(), data, truth)
	require.NoError(t, err)
	require.Len(t, r.Differences, 2)
}

// find returns a conversation in which one write runs if the ground truth is approved.
func find(t *testing.T, data *airline.Data, truth *airline.Truths) int {
	t.Helper()
	for i, c := range data.Conversations {
		r, err := airline.Replay(t.Context(), &airline.Data{Conversations: []airline.Conversation{c}}, truth, airline.Exactly)
		require.NoError(t, err)
		if r.RanAlike == 1 && r.Writes == 1 {
			return i
		}
	}
	t.Fatal("there is no such conversation")
	return 0
}

func TestAnAlteredTaskIsReported(t *testing.T) {
	data, _ := load(t)
	data.Tasks = data.Tasks[:1]
	data.Tasks[0].Calls[0].Records[0].AfterSHA256 = ""
	data.Tasks[0].Final["users/nobody"] = ""
	truth, err := airline.Truth(t.Context(), data)
	require.NoError(t, err)
	require.Len(t, truth.Differences, 2)
}

func TestBrokenCallsAreErrors(t *testing.T) {
	for _, call := range []airline.Call{
		{Name: "no_such_tool", Arguments: []byte(`{}`)},
		{Name: "think", Arguments: []byte(`{"thought":1}`)},
		{Name: "think", Arguments: []byte(`{"idea":""}`)},
	} {
		_, err := airline.Truth(t.Context(), &airline.Data{Tasks: []airline.Task{{ID: "t", Calls: []airline.Call{call}}}})
		require.ErrorContains(t, err, "airline: t: call 0: ")
	}
}
