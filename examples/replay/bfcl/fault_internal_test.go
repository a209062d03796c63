package bfcl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/authz"
	"github.com/sallyport-dev/sallyport/chattools"
)

// only returns a gate for some of the tasks.
func only(t *testing.T, ids ...string) *gate {
	t.Helper()
	data, err := Load()
	require.NoError(t, err)
	data.Tasks = slices.DeleteFunc(data.Tasks, func(task Task) bool { return !slices.Contains(ids, task.ID) })
	require.Len(t, data.Tasks, len(ids))
	g, err := newGate(data)
	require.NoError(t, err)
	return g
}

// differences plays and requires that each text is in one of the differences.
func differences(t *testing.T, g *gate, texts ...string) {
	t.Helper()
	r, err := g.replay(t.Context())
	require.NoError(t, err)
	all := strings.Join(r.Differences, "\n")
	for _, text := range texts {
		require.Contains(t, all, text)
	}
}

func TestAForgottenDenyGrantIsADifference(t *testing.T) {
	g := only(t, "bfcl_0")
	first := true
	g.withhold = func(ctx context.Context, names []string) error {
		if !first {
			return nil // the function never arrives
		}
		first = false
		return g.deny(ctx, names)
	}
	differences(t, g, "bfcl_0 turn 3: the catalog is", "bfcl_0 turn 4: the catalog is", `turn 3: sort {"file_name":"final_report.pdf"} came to unknown`)
	require.Equal(t, 1, g.report.Early)
	require.Zero(t, g.report.Passed)
	require.Equal(t, 3, g.report.Catalogs, "of the turns before")
}

func TestAMissingDenyGrantIsADifference(t *testing.T) {
	g := only(t, "bfcl_0")
	g.withhold = func(context.Context, []string) error { return nil }
	differences(t, g, "turn 0: the catalog is", "sort ran out of turn", "turn 2: sort, withheld, is answered")
}

func TestAnAllowlistThatIsTooWideIsADifference(t *testing.T) {
	g := only(t, "bfcl_0")
	c, err := g.begin(t.Context(), g.data.Tasks[0])
	require.NoError(t, err)
	c.session, err = authz.NewSession(scope, model, authz.For(authz.LoggedIn(user)))
	require.NoError(t, err)
	require.NoError(t, c.play(t.Context()))
	all := strings.Join(g.report.Differences, "\n")
	require.Contains(t, all, "turn 0: the catalog is")
	require.Contains(t, all, "book_flight, of another class, is answered")
	require.Contains(t, all, "cp, excluded, is answered")
	require.Zero(t, g.report.Refused["of another class"])
}

// The other number is the same to whoever compares as float64.
func TestOneDigitIsADifference(t *testing.T) {
	const recordedDigits, other = "9876543210123456", "9876543210123457"
	var a, b float64
	require.NoError(t, json.Unmarshal([]byte(recordedDigits), &a))
	require.NoError(t, json.Unmarshal([]byte(other), &b))
	require.Equal(t, a, b)
	g := only(t, "bfcl_130", "bfcl_136")
	g.backend = func(c Call) (json.RawMessage, error) {
		return bytes.ReplaceAll(c.Expect.Result, []byte(recordedDigits), []byte(other)), nil
	}
	differences(t, g, "bfcl_130 turn", "bfcl_136 turn", other)
	require.Len(t, g.report.Differences, 2)
	require.Zero(t, g.report.Large)
}

func TestAFailureThatWasNotRecordedIsADifference(t *testing.T) {
	g := only(t, "bfcl_0")
	g.backend = func(Call) (json.RawMessage, error) { return nil, errors.New("disk on fire") }
	differences(t, g, "cd {\"folder\":\"document\"} is not approved", "grep")
	require.Zero(t, g.report.Reads+g.report.Writes)
}

// No recorded call has failed; what the recording would say of one reaches the model as the recorded text.
func TestARecordedFailureIsAnsweredWithItsText(t *testing.T) {
	g := only(t, "bfcl_0")
	turns := g.data.Tasks[0].Turns
	for _, call := range []*Call{&turns[0].Calls[0], &turns[1].Calls[1]} { // a write and a read
		call.Expect = Expect{Error: "no such folder"}
	}
	r, err := g.replay(t.Context())
	require.NoError(t, err)
	require.Empty(t, r.Differences)
	require.Equal(t, r.Calls, r.Reads+r.Writes)

	g = only(t, "bfcl_0")
	g.data.Tasks[0].Turns[0].Calls[0].Expect = Expect{Error: "no such folder"}
	g.backend = func(c Call) (json.RawMessage, error) { return json.RawMessage("{}"), nil }
	differences(t, g, "recorded  no such folder")
}

func TestASchemaThatTakesTheBrokenCallIsADifference(t *testing.T) {
	g := only(t, "bfcl_173")
	for i, tool := range g.data.Tools {
		if tool.Name == "close_ticket" {
			g.data.Tools[i].Parameters = bytes.ReplaceAll(tool.Parameters, []byte(`"integer"`), []byte(`"string"`))
		}
	}
	g, err := newGate(g.data)
	require.NoError(t, err)
	differences(t, g, "although ticket_id does not fit its schema", "of close_ticket is expired by")
	require.Empty(t, g.report.Invalid)
}

// The operator approves the recorded call and no other.
func TestTheOperatorApprovesOnlyWhatWasRecorded(t *testing.T) {
	g := only(t, "bfcl_0")
	task := g.data.Tasks[0]
	c, err := g.begin(t.Context(), task)
	require.NoError(t, err)
	call := task.Turns[0].Calls[0]
	c.expected = &call
	a, _ := c.ask(t.Context(), call.Name, json.RawMessage(`{"folder":"elsewhere"}`))
	require.Equal(t, chattools.NeedsApproval, a.Status)
	_, err = c.approve(t.Context(), a.Proposal, call)
	require.ErrorContains(t, err, `proposed is cd {"folder":"elsewhere"}, recorded cd {"folder":"document"}`)
	_, err = c.approve(t.Context(), "no-proposal", call)
	require.Error(t, err)
	require.Zero(t, g.runs)
}

// A read that runs with anything but the recorded arguments is noted where it runs.
func TestOtherArgumentsAreADifference(t *testing.T) {
	g := only(t, "bfcl_0")
	task := g.data.Tasks[0]
	c, err := g.begin(t.Context(), task)
	require.NoError(t, err)
	call := task.Turns[1].Calls[1]
	c.expected = &call
	a, _ := c.ask(t.Context(), call.Name, json.RawMessage(`{"file_name":"other","pattern":"x"}`))
	require.Equal(t, chattools.Done, a.Status)
	require.Len(t, g.report.Differences, 1)
	require.Contains(t, g.report.Differences[0], `grep ran with {"file_name":"other","pattern":"x"}, recorded`)
}
