package bfcl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sallyport-dev/sallyport/examples/replay/bfcl"
)

// What the authors of the recording say about it.
const (
	tools, reads, writes       = 128, 77, 51
	tasks, turns               = 160, 598
	calls, callsThatChanged    = 917, 525
	breakSchema, largeIntegers = 1, 2
)

func load(t *testing.T) *bfcl.Data {
	t.Helper()
	data, err := bfcl.Load()
	require.NoError(t, err)
	require.Len(t, data.Tools, tools)
	require.Len(t, data.Tasks, tasks)
	return data
}

// What the replay is held against follows from the recording alone.
func TestReplay(t *testing.T) {
	data := load(t)
	effects := map[string]string{}
	for _, tool := range data.Tools {
		effects[tool.Name] = tool.Effect
	}
	inserted, wanted, unwanted, made := 0, 0, 0, map[string]int{}
	for _, task := range data.Tasks {
		inserted += len(task.Withheld)
		used := map[string]bool{}
		for _, turn := range task.Turns {
			for _, call := range turn.Calls {
				used[call.Name] = true
				made[effects[call.Name]]++
			}
		}
		for _, names := range task.Withheld {
			for _, name := range names {
				if used[name] {
					wanted++
				} else {
					unwanted++
				}
			}
		}
	}

	r, err := bfcl.Replay(t.Context(), data)
	require.NoError(t, err)
	t.Log("\n" + r.String())
	require.Empty(t, r.Differences)
	require.Equal(t, tools, r.Tools)
	require.Equal(t, tasks, r.Tasks)
	require.Equal(t, turns, r.Turns)
	require.Equal(t, inserted, r.Inserted)
	require.Equal(t, turns+inserted, r.Catalogs, "every catalog is the computed set")
	require.Equal(t, wanted, r.Early)
	require.Equal(t, wanted, r.Passed, "every call that was tried early passes later")
	require.Equal(t, unwanted, r.Unused)
	for _, why := range []string{"withheld", "excluded", "of another class"} {
		require.Positive(t, r.Refused[why], why)
	}
	require.Equal(t, calls, r.Calls)
	require.Equal(t, made["read"], r.Reads)
	require.Equal(t, made["write"]-breakSchema, r.Writes, "all but a write that is not valid")
	require.Equal(t, callsThatChanged-breakSchema, r.Changed)
	require.Equal(t, calls-breakSchema, r.Runs)
	require.Equal(t, r.Writes, r.Executed)
	require.Equal(t, largeIntegers, r.Large)
	require.Len(t, r.Invalid, breakSchema)
	require.Equal(t, `close_ticket {"ticket_id":"ticket_001"}: The arguments are not valid: /ticket_id: expected integer.`, r.Invalid[0])
}

func TestTheRecordingIsWhatItsAuthorsSay(t *testing.T) {
	data := load(t)
	class, effect, writing := map[string]string{}, map[string]int{}, map[string]bool{}
	for _, tool := range data.Tools {
		require.Empty(t, class[tool.Name], "names are unique across classes")
		class[tool.Name] = tool.Class
		effect[tool.Effect]++
		writing[tool.Name] = tool.Effect == "write"
	}
	require.Equal(t, map[string]int{"read": reads, "write": writes}, effect)
	recordedTurns, recordedCalls, changed := 0, 0, 0
	for _, task := range data.Tasks {
		recordedTurns += len(task.Turns)
		for _, turn := range task.Turns {
			for _, call := range turn.Calls {
				recordedCalls++
				require.Equal(t, class[call.Name], call.Class)
				require.Contains(t, task.Classes, call.Class)
				require.NotContains(t, task.Excluded, call.Name)
				if call.Expect.Changed {
					changed++
					require.True(t, writing[call.Name], "%s: %s changed something", task.ID, call.Name)
				}
			}
		}
	}
	require.Equal(t, turns, recordedTurns)
	require.Equal(t, calls, recordedCalls)
	require.Equal(t, callsThatChanged, changed)
}

// Of the ways to read the index of the turn that brings functions, the one that the package takes is the one
// under which the turn before it needs them.
func TestFunctionsArriveAfterTheTurnThatNeedsThem(t *testing.T) {
	data := load(t)
	needed := map[int]int{}
	for _, task := range data.Tasks {
		require.Len(t, task.Withheld, 1)
		for at, names := range task.Withheld {
			require.LessOrEqual(t, at, len(task.Turns))
			for offset := -2; offset <= 1; offset++ {
				if i := at + offset; i >= 0 && i < len(task.Turns) && slices.ContainsFunc(task.Turns[i].Calls, func(c bfcl.Call) bool {
					return slices.Contains(names, c.Name)
				}) {
					needed[offset]++
				}
			}
		}
	}
	t.Log("tasks in which a turn at that distance from the index needs what arrives:", needed)
	require.Greater(t, needed[-1], tasks*9/10, "mostly")
	for _, offset := range []int{-2, 0, 1} {
		require.Less(t, needed[offset], tasks/10)
	}
}

func TestFunctionsThatNeverArrive(t *testing.T) {
	data := load(t)
	data.Tasks = data.Tasks[:1]
	data.Tasks[0].Withheld = map[int][]string{9: {"sort"}}
	_, err := bfcl.Replay(t.Context(), data)
	require.ErrorContains(t, err, "functions arrive after turn")
}

func TestEveryDifferenceIsPrinted(t *testing.T) {
	r := bfcl.Report{Invalid: []string{"this call"}, Differences: []string{"this one", "and that one"}}
	table := r.String()
	require.Contains(t, table, "differences                                                     2\n")
	for _, line := range slices.Concat(r.Invalid, r.Differences) {
		require.Equal(t, 1, strings.Count(table, line+"\n"))
	}
}
